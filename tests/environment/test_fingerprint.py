"""What counts as a change."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.environment.fingerprint import (
    UNREADABLE,
    fingerprint,
    kernel_paths,
    pyproject_hash,
    signature,
)
from prime_skills_ext.environment.record import Record
from prime_skills_ext.environment.wanted import MAX_PYPROJECT_BYTES, read_wanted


def mark(skill: Any, *inputs: str, extra: tuple[str, ...] = ()) -> str | None:
    package = skill.python
    digest = pyproject_hash(package)
    return fingerprint(package, pyproject_hash=digest, inputs=inputs, extra=extra)


@pytest.mark.parametrize("name", ["pyproject.toml", "setup.py", "setup.cfg", "uv.lock"])
def test_in02_every_input_changes_the_fingerprint(new_skill: Any, name: str) -> None:
    """A file that decides how it is installed counts, when it appears and changes."""
    skill = new_skill("a")
    marks = [mark(skill)]
    for text in ("# one\n", "# two\n"):
        (skill.directory / name).write_text(text, encoding="utf-8")
        marks.append(mark(skill))
    assert len(set(marks)) == 3


def test_in02_declared_files_and_additions_change_the_fingerprint(
    new_skill: Any,
) -> None:
    """So does a file that metadata names, and an added requirement."""
    skill = new_skill("a", files={"needs.txt": "x"})
    marks = {mark(skill), mark(skill, "needs.txt"), mark(skill, extra=("httpx",))}
    assert len(marks) == 3


def test_in02_another_python_changes_the_fingerprint(
    new_skill: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it required may not be what it requires there."""
    skill = new_skill("a")
    before = mark(skill)
    monkeypatch.setattr(sys, "version", f"{sys.version} (another build)")
    assert mark(skill) != before


def test_source_does_not_change_the_fingerprint(new_skill: Any) -> None:
    """Code is imported from where it is: editing it installs nothing."""
    skill = new_skill("a")
    before = mark(skill)
    (skill.python.src / "a" / "__init__.py").write_text("x = 1\n", encoding="utf-8")
    assert mark(skill) == before


def test_in02_unreadable_input_gives_no_fingerprint(new_skill: Any) -> None:
    """What cannot be hashed is never equal."""
    skill = new_skill("a", files={"folder/x": ""})
    assert mark(skill, "folder") is None
    skill.python.pyproject.unlink()
    assert (pyproject_hash(skill.python), mark(skill)) == (UNREADABLE, None)


def test_signature_follows_added_distributions(tmp_path: Path) -> None:
    """Installing something into the kernel is noticed without reading it."""
    marks = [signature([tmp_path]), signature([tmp_path])]
    (tmp_path / "new.dist-info").mkdir()
    marks += [signature([tmp_path]), signature([tmp_path / "missing"])]
    assert (marks[0], len(set(marks))) == (marks[1], 3)


def test_kernel_paths_leave_environments_of_ours_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither an overlay nor the working directory is part of the kernel."""
    mine = tmp_path / "venvs" / "site-packages"
    mine.mkdir(parents=True)
    before = kernel_paths(apart_from=tmp_path / "venvs")
    monkeypatch.setattr(sys, "path", [*sys.path, "", str(tmp_path), str(mine)])
    assert kernel_paths(apart_from=tmp_path / "venvs") == before
    assert mine in kernel_paths(apart_from=tmp_path / "other")


@pytest.mark.parametrize("name", ["uv.lock", "README.md", "pyproject.toml"])
def test_di11_a_fifo_among_the_inputs_does_not_block(new_skill: Any, name: str) -> None:
    """Opening it would wait for a writer for ever; it counts as unreadable."""
    skill = new_skill("a")
    package = skill.python
    (package.directory / name).unlink(missing_ok=True)
    os.mkfifo(package.directory / name)
    mark = pyproject_hash(package)
    assert fingerprint(package, pyproject_hash=mark, inputs=("README.md",)) is None
    (wanted,) = read_wanted([skill], record=Record(), extra={})
    assert (wanted.problem is None) == (name != "pyproject.toml")


def test_di11_a_pyproject_that_is_no_text_is_not_read_to_its_end(
    new_skill: Any,
) -> None:
    """A disk image under that name costs its skill, not the memory."""
    skill = new_skill("a")
    os.truncate(skill.python.pyproject, MAX_PYPROJECT_BYTES + 1)
    (wanted,) = read_wanted([skill], record=Record(), extra={})
    assert wanted.problem is not None
    assert "longer than" in wanted.problem.reason
