"""JupyterLab as people use it: the kernel, the table, Tab, ``?``, interrupt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest

from prime_skills_ext.__main__ import main
from tests.browser.lab import KERNEL, Lab, Notebook, Theme, write_notebook
from tests.browser.readable import unreadable
from tests.conftest import write_skill
from tests.integration.conftest import REPOSITORY

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.integration, pytest.mark.network]

QUICKSTART = REPOSITORY / "notebooks" / "01_quickstart.ipynb"
LIVE = "live.ipynb"
INTERRUPTED = re.compile("CancelledError|KeyboardInterrupt")
NAP = '''
    import asyncio

    async def run(seconds: float = 1.0) -> str:
        """Sleep, and say so before and after."""
        print("asleep")
        await asyncio.sleep(seconds)
        return "awake"
'''


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A person's home with a skill that takes its time, and one that is broken."""
    home = tmp_path_factory.mktemp("home")
    skills = home / ".agents" / "skills"
    write_skill(skills, "nap", description="Sleeps. Use when tired.", python=NAP)
    write_skill(skills, "broken", python="import sys\nsys.exit(3)\n")
    write_skill(skills, "house-style", description="How we write. Use for prose.")
    header = "name: letters\ndescription: Writes letters. Use for mail.\n"
    hinted = f"{header}argument-hint: to WHOM about WHAT\n"
    body = "# A letter\n\nWrite it $ARGUMENTS, and keep it **short**.\n"
    write_skill(skills, "letters", frontmatter=hinted, body=body)
    return home


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that JupyterLab shows, with the notebooks."""
    folder = tmp_path_factory.mktemp("work")
    (folder / ".git").mkdir()
    document = nbformat.read(QUICKSTART, as_version=4)
    # nothing is shown that was not computed here, by a kernel that a person chose
    document.metadata.pop("kernelspec", None)
    for cell in document.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    nbformat.write(document, folder / QUICKSTART.name)
    write_notebook(folder / LIVE, *[""] * 4, kernel="prime-skills")
    return folder


@pytest.fixture(scope="module")
def lab(
    home: Path, work: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Lab]:
    """JupyterLab with the kernel that our own command installed."""
    prefix = tmp_path_factory.mktemp("prefix")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        assert 0 == main(["kernelspec", "install", "--prefix", str(prefix)])
    environ = {
        "HOME": str(home),
        "JUPYTER_PATH": str(prefix / "share" / "jupyter"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
    }
    state = tmp_path_factory.mktemp("state")
    with Lab(work, state=state, environ=environ) as started:
        yield started


def test_quickstart_runs_in_the_kernel_of_the_kernelspec(
    lab: Lab, page: Page, artefacts: Path
) -> None:
    """Run All shows the tables, and no cell fails; light and dark."""
    from playwright.sync_api import expect

    notebook = lab.open(page, QUICKSTART.name, workspace="quickstart")
    notebook.choose_kernel(KERNEL)
    notebook.menu("Run", "Run All Cells")
    notebook.has_run(-1)
    assert 0 == page.locator(".jp-RenderedText[data-mime-type*='error']").count()
    table = notebook.output(1).get_by_role("table", name="Skills")
    expect(table.get_by_role("rowheader", name="edit")).to_be_visible()
    expect(table.get_by_text("skill-creator").first).to_be_visible()
    themes: tuple[Theme, ...] = ("light", "dark")
    for theme in themes:
        notebook.use_theme(theme)
        table.scroll_into_view_if_needed()
        page.screenshot(path=artefacts / f"quickstart-page-{theme}.png")
        for number, shown in enumerate(page.locator(".prime-skills").all()):
            shown.scroll_into_view_if_needed()
            shown.screenshot(path=artefacts / f"quickstart-{number}-{theme}.png")
            assert [] == unreadable(shown)


@pytest.fixture
def live(lab: Lab, page: Page) -> Notebook:
    """A notebook of empty cells in the kernel of the kernelspec, which is idle."""
    notebook = lab.open(page, LIVE, workspace="live")
    notebook.is_idle()
    notebook.run(0, "print('here', nap.__name__)")
    notebook.has_run(0)
    return notebook


def test_mx09_tab_offers_subcommands_and_skill_names(live: Notebook) -> None:
    """In JupyterLab's own completer; a choice is taken over."""
    from playwright.sync_api import expect

    live.type(1, "%skill ")
    live.complete("doctor")
    for word in ("doctor", "trust", "nap", "websearch"):
        expect(live.completion(word)).to_be_attached()
    live.page.keyboard.type("hou")
    expect(live.completion("doctor")).to_have_count(0)
    live.page.keyboard.press("Enter")
    expect(live.cells.nth(1).locator(".cm-content")).to_have_text("%skill house-style")


def test_a_skill_is_used_from_a_cell(live: Notebook, artefacts: Path) -> None:
    """Tab tells what it takes; its card is folded, what was said stands below."""
    from playwright.sync_api import expect

    live.type(1, "/skill:")
    live.complete("letters")
    # JupyterLab shows the type of a word in lower case
    hint = live.page.locator(".jp-Completer").get_by_text("to whom about what")
    expect(hint).to_be_visible()
    live.page.screenshot(path=artefacts / "slash-completion.png")
    live.page.keyboard.type("let")
    expect(live.completion("house-style")).to_have_count(0)
    live.page.keyboard.press("Enter")
    content = live.cells.nth(1).locator(".cm-content")
    expect(content).to_have_text("/skill:letters")
    live.run(2, "/skill:letters to Ada about {nothing}?")
    card = live.output(2).locator(".prime-skills")
    expect(card).to_contain_text("to Ada about {nothing}?")
    expect(card.get_by_text("and keep it")).to_be_hidden()
    card.locator("summary").click()
    expect(card.get_by_text("and keep it")).to_be_visible()
    card.screenshot(path=artefacts / "activation.png")
    assert [] == unreadable(card)
    live.run(3, "%skill budget --budget 120")
    report = live.output(3).locator(".prime-skills")
    expect(report).to_contain_text("of 120 characters")
    report.screenshot(path=artefacts / "budget.png")
    assert [] == unreadable(report)


def test_kb04_a_question_mark_shows_signature_and_docstring_of_run(
    live: Notebook, artefacts: Path
) -> None:
    """Those of ``run``, not of the module that is called."""
    from playwright.sync_api import expect

    live.run(1, "nap?")
    shown = live.output(1)
    expect(shown).to_contain_text("nap(seconds: float = 1.0) -> str")
    expect(shown).to_contain_text("Sleep, and say so before and after.")
    live.page.screenshot(path=artefacts / "question-mark.png")


def test_as01_interrupt_ends_an_awaiting_skill(live: Notebook) -> None:
    """Long before the skill would end by itself; the kernel goes on."""
    from playwright.sync_api import expect

    live.run(1, "await nap(3600)")
    expect(live.output(1)).to_contain_text("asleep")
    live.interrupt()
    expect(live.output(1)).to_contain_text(INTERRUPTED)
    live.has_run(1)
    # JupyterLab wants what comes right after a cell that failed to be dropped
    live.is_idle()
    live.run(2, "await nap(0)")
    expect(live.output(2)).to_contain_text("'awake'")
