"""nbconvert to HTML: what an export keeps of the tables, in light and in dark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest

from tests.browser.lab import write_notebook
from tests.browser.readable import unreadable
from tests.conftest import write_skill

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.integration]

#: Every kind of card, in the order of the cells that show them.
CARDS = {
    "table": "%skill",
    "all": "%skill list --all",
    "skill": "%skill word-count",
    "failed": "%skill broken",
    "doctor": "%skill doctor",
    "timeline": "%skill timeline",
    "check": "%skill check --fix",
    "prompt": "%skill prompt",
    "budget": "%skill budget",
    "cut": "%skill budget --budget 300",
    "use": "%skill use house-style a letter to the neighbours, and keep it short",
    "uses": "%skill stats",
    "message": "%skill disable house-style",
    "reload": "%reload_skills",
    "help": "%skill --help",
}
WORD_COUNT = '''
    async def run(text: str, top: int = 3) -> dict[str, int]:
        """Count the most frequent words.

        Args:
            text: What to count in.
            top: How many words.
        """
        return {}
'''
BODY = """\
# Counting

Call `await word_count(text, top=3)` for **short** texts; see [the
standard](https://agentskills.io).

1. Read the text.
2. Count.

| option | meaning |
|---|---|
| `top` | how many words |

```python
await word_count("a b a")
```
"""


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> nbformat.NotebookNode:
    """A notebook with one card of each kind, run in a kernel of this Python."""
    from nbclient import NotebookClient

    folder = tmp_path_factory.mktemp("exported")
    home, project = folder / "home", folder / "project"
    (project / ".git").mkdir(parents=True)
    _write_skills(home / ".agents" / "skills")
    write_skill(project / ".agents" / "skills", "theirs", python="def run(): ...")
    write_skill(project / ".agents" / "skills", "edit")
    # takes part in the reload
    late = home / ".agents" / "skills" / "word-count" / "src/word_count/__init__.py"
    cells = ["%load_ext prime_skills_ext", *CARDS.values()]
    cells[-2] = f"open({str(late)!r}, 'a').write('LIMIT = 1\\n')\n{cells[-2]}"
    path = write_notebook(project / "cards.ipynb", *cells, kernel="python3")
    document: nbformat.NotebookNode = nbformat.read(path, as_version=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        client = NotebookClient(
            document, timeout=120, resources={"metadata": {"path": str(project)}}
        )
        client.execute()
    return document


def _write_skills(root: Path) -> None:
    write_skill(
        root,
        "word-count",
        description="Counts the words of a text. Use when asked which are frequent.",
        body=BODY,
        python=WORD_COUNT,
    )
    write_skill(root, "broken", python="import sys\nsys.exit(3)\n")
    write_skill(root, "house-style", description="How we write. Use for prose.")
    write_skill(
        root,
        "a-name-that-is-as-long-as-the-standard-allows-it-to-be-and-so-on",
        description="x" * 300 + " " + "Does many things. " * 20,
    )
    header = "name: needs\ndescription: Needs. Use it.\nrequires: {bins: [no-such]}\n"
    write_skill(root, "needs", frontmatter=header)
    write_skill(root, "Sloppy", frontmatter="name: sloppy\ndescription: Does: it\n")


@pytest.fixture(params=["light", "dark"])
def exported(
    request: pytest.FixtureRequest, executed: nbformat.NotebookNode, tmp_path: Path
) -> Path:
    """The notebook as nbconvert writes it, in a theme."""
    from nbconvert import HTMLExporter

    html, _ = HTMLExporter(theme=request.param).from_notebook_node(executed)
    file = tmp_path / f"{request.param}.html"
    file.write_text(html, encoding="utf-8")
    return file


@pytest.mark.parametrize("width", [1280, 480])
def test_export_keeps_every_card_readable(
    width: int, exported: Path, page: Page, artefacts: Path
) -> None:
    """With its style: shape, colours and contrast hold without JupyterLab."""
    from playwright.sync_api import expect

    page.set_viewport_size({"width": width, "height": 900})
    # nbconvert's page asks hosts for scripts that none of our cards needs
    page.route("http*://**", lambda route: route.abort())
    page.goto(exported.as_uri())
    cards = page.locator(".prime-skills")
    expect(cards).to_have_count(len(CARDS))
    for name, card in zip(CARDS, cards.all(), strict=True):
        card.screenshot(path=artefacts / f"export-{name}-{width}-{exported.stem}.png")
    faults = {
        name: unreadable(card) for name, card in zip(CARDS, cards.all(), strict=True)
    }
    assert {} == {name: told for name, told in faults.items() if told}
    table = cards.first.get_by_role("table", name="Skills")
    expect(table.get_by_role("rowheader", name="broken")).to_have_css(
        "text-align", "left"
    )
    badge = cards.first.locator(".ps-badge", has_text="import-failed")
    expect(badge).to_have_css("border-radius", "999px")
