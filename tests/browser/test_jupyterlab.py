"""JupyterLab as people use it: the kernel, the table, Tab, ``?``, interrupt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest

from prime_skills_ext.__main__ import main
from tests.browser.lab import KERNEL, TIMEOUT_S, Lab, write_notebook
from tests.conftest import write_skill
from tests.integration.conftest import REPOSITORY

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.integration, pytest.mark.network]

QUICKSTART = REPOSITORY / "notebooks" / "01_quickstart.ipynb"
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
    write_notebook(folder / "live.ipynb", *[""] * 4, kernel="prime-skills")
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
    expect(notebook.prompt(-1)).to_have_text(
        re.compile(r"\[\d+\]:"), timeout=TIMEOUT_S * 1000
    )
    assert 0 == page.locator(".jp-RenderedText[data-mime-type*='error']").count()
    table = notebook.output(1).get_by_role("table", name="Skills")
    expect(table.get_by_role("rowheader", name="edit")).to_be_visible()
    expect(table.get_by_text("skill-creator").first).to_be_visible()
    for theme in ("light", "dark"):
        notebook.use_theme(theme)
        for number, shown in enumerate(page.locator(".prime-skills").all()):
            shown.scroll_into_view_if_needed()
            shown.screenshot(path=artefacts / f"quickstart-{number}-{theme}.png")
