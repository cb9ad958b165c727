"""The check-up: what it says, and that what it says helps."""

from __future__ import annotations

from pathlib import Path

from prime_skills_ext.doctor import examine
from prime_skills_ext.manager import SkillManager


def _doctor(**environ: str) -> dict[str, tuple[str, str | None]]:
    manager = SkillManager(environ={"PATH": "", **environ})
    return {check.title: (check.detail, check.fix) for check in examine(manager).checks}


def test_failed_start_is_told_with_one_fix(home: Path) -> None:
    """What the launcher left behind: its reason and its own fix, nothing beside."""
    error = "it could not be made: no space left\nFix: make room, then restart"

    detail, fix = _doctor(PRIME_SKILLS_LAUNCH_ERROR=error)["kernelspec"]

    assert detail.endswith("own environment: it could not be made: no space left")
    assert "make room, then restart" == fix


def test_failed_start_without_a_fix_is_tried_again(home: Path) -> None:
    """Installing for a terminal would not make the kernel's own environment."""
    _, fix = _doctor(PRIME_SKILLS_LAUNCH_ERROR="OSError: odd")["kernelspec"]

    assert "restart the kernel" == fix
