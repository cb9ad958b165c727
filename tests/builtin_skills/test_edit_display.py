"""What edit shows of its change, and how it explains itself."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import prime_skills_ext


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    """A running IPython shell."""
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    yield shell
    shell.history_manager.end_session() if shell.history_manager else None
    InteractiveShell.clear_instance()


@pytest.mark.usefixtures("shell")
async def test_edit_displays_the_change_in_ipython(
    edit: ModuleType, tmp_path: Path
) -> None:
    """A host gets the change as data, everybody else a unified diff."""
    file = tmp_path / "file"
    file.write_bytes(b"1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9\r\n")
    with capture_output() as captured:
        await edit.run(file, "5\n6", "five")
    assert captured.stdout == ""
    (output,) = captured.outputs
    assert output.data["application/vnd.prime-agent.diff+json"] == {
        "path": str(file),
        "old_str": "5\n6",
        "new_str": "five",
        "start_line": 5,
    }
    assert output.data["text/plain"].splitlines() == [
        f"--- {file}",
        f"+++ {file}",
        "@@ -2,8 +2,7 @@",
        *(" 2", " 3", " 4", "-5", "-6", "+five", " 7", " 8", " 9"),
    ]


@pytest.mark.parametrize(
    ("before", "old", "new", "hunk"),
    [
        (b"a", "a", "b", ["@@ -1,1 +1,1 @@", "-a", "+b"]),
        (b"a\n", "a", "a\na", ["@@ -1,1 +1,2 @@", " a", "+a"]),
        (b"x\nx\ny\n", "x\ny", "y", ["@@ -1,3 +1,2 @@", "-x", " x", " y"]),
    ],
)
@pytest.mark.usefixtures("shell")
async def test_edit_displays_a_change_at_either_end_of_a_file(
    edit: ModuleType,
    tmp_path: Path,
    *,
    before: bytes,
    old: str,
    new: str,
    hunk: list[str],
) -> None:
    """A diff near the ends counts the lines that there are."""
    file = tmp_path / "file"
    file.write_bytes(before)
    with capture_output() as captured:
        await edit.run(file, old, new)
    assert captured.outputs[0].data["text/plain"].splitlines()[2:] == hunk


async def test_edit_succeeds_when_nothing_can_be_displayed(
    edit: ModuleType,
    tmp_path: Path,
    shell: InteractiveShell,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A broken front end does not deny an edit that took place."""
    file = tmp_path / "file"
    file.write_bytes(b"a")
    monkeypatch.setattr(shell, "display_pub", object())
    assert await edit.run(file, "a", "b") == f"Edited {file}"


def test_edit_prints_only_its_answer_in_a_shell(tmp_path: Path) -> None:
    """As a command it displays nothing beside its result."""
    package = Path(prime_skills_ext.__file__).parent
    file = tmp_path / "file"
    file.write_bytes(b"a\r\n")
    code = "import sys; sys.argv[0] = 'edit'; from rlm.skill import cli; cli()"
    paths = (package / "runtime/src", package / "builtin_skills/edit/src")
    done = subprocess.run(
        [sys.executable, "-c", code, str(file), "a", "- b"],
        env={"PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"Edited {file}\n"
    assert file.read_bytes() == b"- b\r\n"


def test_edit_explains_itself(edit: ModuleType) -> None:
    """The docstring is what a model reads: every argument and error is in it."""
    assert list(inspect.signature(edit.run).parameters) == [
        "path",
        "old_str",
        "new_str",
    ]
    manual = inspect.getdoc(edit.run) or ""
    for part in ("Args:", "Returns:", "Raises:", "exactly once", "FileNotFoundError"):
        assert part in manual
