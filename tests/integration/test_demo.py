"""The README's first command, in a fresh copy on a machine without uv."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import nbformat
import pytest

from prime_skills_ext import process
from prime_skills_ext.process import Completed
from tests.integration.conftest import REPOSITORY, uv

pytestmark = [pytest.mark.integration, pytest.mark.network]

#: What a clone does not have.
_NOT_COMMITTED = (".*", "__pycache__", "dist", "build", "demo-output", "uv.lock")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """This repository as somebody else gets it."""
    folder = tmp_path / "clone"
    shutil.copytree(REPOSITORY, folder, ignore=shutil.ignore_patterns(*_NOT_COMMITTED))
    return folder


@pytest.fixture
def newcomer(tmp_path: Path, home: Path) -> dict[str, str]:
    """The variables of a shell with a Python that may install, and no uv."""
    venv = tmp_path / "any"
    uv("venv", "--quiet", "--seed", "--python", sys.executable, venv)
    path = f"{venv / 'bin'}{os.pathsep}{os.defpath}"
    # what runs there is another copy: it must not count as coverage of this one
    kept = {k: v for k, v in os.environ.items() if not k.startswith("COVERAGE_")}
    return {**kept, "PATH": path, "HOME": str(home)}


def in_a_shell(line: str, *, cwd: Path, environ: dict[str, str]) -> Completed:
    """Type a line into a shell."""
    return process.run(
        ["bash", "-c", line], cwd=cwd, env=environ, timeout_s=280, check=False
    )


def test_the_readmes_first_command_runs_the_main_job(
    clone: Path, newcomer: dict[str, str]
) -> None:
    """Every cell, the tables and results, and an executed copy where it says."""
    readme = (clone / "README.md").read_text(encoding="utf-8")
    line = re.findall(r"^```bash\n(.*?)\n```$", readme, flags=re.DOTALL | re.MULTILINE)[
        0
    ]
    assert "uv run prime-skills demo" in line
    done = in_a_shell(line, cwd=clone, environ=newcomer)
    assert 0 == done.returncode, done.stderr
    source = nbformat.read(clone / "notebooks" / "01_quickstart.ipynb", as_version=4)
    cells = [cell for cell in source.cells if cell.cell_type == "code"]
    for number in range(1, len(cells) + 1):
        assert f"cell {number} of {len(cells)} " in done.stdout
    for shown in (
        "Ready to use",
        r"word-count +python +ready",
        r"\{'a': 2\}",
        "~1 word-count",
        r"Cause: SystemExit\(3\)",
        "needs-credential",
    ):
        assert re.search(shown, done.stdout), shown
    place = re.search(r"^The executed notebook: (.*)$", done.stdout, flags=re.MULTILINE)
    assert place is not None
    copy = nbformat.read(clone / place[1], as_version=4)
    ran = [cell for cell in copy.cells if cell.cell_type == "code"]
    assert [cell.source for cell in cells] == [cell.source for cell in ran]
    assert [bool(cell.outputs) for cell in cells] == [
        bool(cell.outputs) for cell in ran
    ]
    assert "error" not in {out.output_type for cell in ran for out in cell.outputs}

    # the same command in the same clone, with one cell that fails
    quickstart = clone / "notebooks" / "01_quickstart.ipynb"
    source.cells[-1].source = "await edit(nothing=1)"
    nbformat.write(source, quickstart)
    failed = in_a_shell("uv run prime-skills demo", cwd=clone, environ=newcomer)
    assert 1 == failed.returncode
    assert f"cell {len(cells)}: TypeError" in failed.stderr
