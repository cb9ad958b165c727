"""The check-up: what it says, and that what it says helps."""

from __future__ import annotations

from pathlib import Path

from prime_skills_ext import snapshot
from prime_skills_ext.doctor import examine
from prime_skills_ext.manager import SkillManager
from tests.conftest import write_skill


def _doctor(**environ: str) -> dict[str, tuple[str, str | None]]:
    manager = SkillManager(environ={"PATH": "", **environ})
    return {check.title: (check.detail, check.fix) for check in examine(manager).checks}


def _told(manager: SkillManager) -> list[tuple[str, str, str]]:
    return [(each.title, each.state, each.detail) for each in examine(manager).checks]


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


def test_every_state_is_counted(home: Path) -> None:
    """Those that need nothing are told by their number."""
    write_skill(home / ".agents" / "skills", "prose")
    told = _doctor()["skills"]
    assert ("2 instructions, 1 ready, 1 needs-credential", None) == told


def test_clash_is_told_with_both_places(home: Path) -> None:
    """Who has the name, and how the other one is reached."""
    write_skill(home / ".agents" / "skills", "skill-creator")
    detail, fix = _doctor()["overrides"]
    assert "(user:.agents/skills: skill-creator) overrides builtin" in detail
    assert "`%skill show skill-creator@builtin`" in (fix or "")


def test_what_a_listing_cuts_is_told(home: Path) -> None:
    """A model chooses by what it is shown; trigger text counts."""
    header = f"name: long\ndescription: {'d' * 200}\nwhen_to_use: {'w' * 100}\n"
    folder = write_skill(home / ".agents" / "skills", "long", frontmatter=header)
    (detail,) = (it[2] for it in _told(SkillManager(environ={})) if it[0] == "long")
    expected = "a listing shows 250 of the 303 characters of its description"
    assert f"{expected} ({folder / 'SKILL.md'})" == detail


def test_slow_imports_are_named(home: Path) -> None:
    """The three slowest with the stages, and whoever takes more than a second."""
    names = ["a", "b", "c", "d"]
    root = home / ".agents" / "skills"
    paths = [write_skill(root, it, python="") / "SKILL.md" for it in names]
    manager = SkillManager(environ={})
    manager.load_run = snapshot.Run(
        stages=(("discover", 0.01), ("bind", 2.0)),
        imports=dict(zip(paths, [0.2, 1.5, 0.05, 0.1], strict=True)),
    )
    told = {title: (state, detail) for title, state, detail in _told(manager)}
    assert (
        "ok",
        (
            "load 2.01 s: discover 10.0 ms, import 1.85 s, bind 150 ms\n"
            "slowest imports: b 1.50 s, a 200 ms, d 100 ms\n"
            "`%skill timeline` draws it"
        ),
    ) == told["time"]
    assert ("note", "its import takes 1.50 s of every load") == told["b"]
    assert not told.keys() & {"a", "c", "d"}
