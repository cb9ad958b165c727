"""The check-up: what it says, and that what it says helps."""

from __future__ import annotations

from pathlib import Path

import pytest

from prime_skills_ext import snapshot
from prime_skills_ext.doctor import examine
from prime_skills_ext.manager import SkillManager
from tests.conftest import MakeSkill, Run, write_skill


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


@pytest.mark.integration
@pytest.mark.usefixtures("place")
def test_a_skill_that_failed_is_told_with_the_file_to_correct(
    run: Run, home: Path, make_skill: MakeSkill
) -> None:
    """Neither a requirement nor code stands in ``SKILL.md``."""
    root = home / ".agents" / "skills"
    project = make_skill(root, "bad-project", python="def run(): pass")
    (project / "pyproject.toml").write_text("[project", encoding="utf-8")
    code = make_skill(root, "bad-code", python="1 / 0")
    lost = make_skill(root, "bad-import", python="import acme_tool")
    run("%load_ext prime_skills_ext")

    told = {check.title: check for check in run("%skill doctor").checks}

    assert told["bad-project"].detail.endswith(f" ({project / 'pyproject.toml'})")
    assert told["bad-code"].detail.endswith(f" ({code / 'src'})")
    assert told["bad-import"].detail.endswith(f" ({lost / 'src'})")
    assert (
        "add what brings `acme_tool` to `dependencies` in its pyproject.toml, or "
        "repair its code, then run %reload_skills"
    ) == told["bad-import"].fix


@pytest.mark.integration
@pytest.mark.usefixtures("place")
def test_a_missing_uv_is_one_problem_and_no_older_log_is_told(
    run: Run, home: Path, make_skill: MakeSkill, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What uv said the last time has nothing to do with it."""
    root = home / ".agents" / "skills"
    needy = make_skill(
        root, "needy", python="def run(): pass", dependencies=("acme-x<0",)
    )
    monkeypatch.delenv("PRIME_SKILLS_UV")
    monkeypatch.setenv("PI_OFFLINE", "1")
    make_skill(root, "plain", python="def run(): pass")
    run("%load_ext prime_skills_ext")
    assert "error" in run("%skill log needy").text
    monkeypatch.setenv("PRIME_SKILLS_UV", "/nowhere/uv")
    project = (needy / "pyproject.toml").read_text(encoding="utf-8")
    (needy / "pyproject.toml").write_text(project.replace("acme-x", "acme-y"))
    run("%reload_skills")

    found = run("%skill doctor").checks

    wrong = [check.title for check in found if check.state == "problem"]
    assert ["uv", "needy"] == wrong
    assert run("%skill log needy").text.startswith(
        "needy left no log: it failed before uv was asked: it needs acme-y"
    )


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


def test_pb04_cap_that_is_set_is_the_one_that_counts(home: Path) -> None:
    """No note about what is not cut."""
    header = f"name: long\ndescription: {'d' * 200}\nwhen_to_use: {'w' * 100}\n"
    write_skill(home / ".agents" / "skills", "long", frontmatter=header)
    manager = SkillManager(environ={}, listing_entry_chars=303)
    assert [] == [it for it in _told(manager) if it[0] in ("long", "listing")]


def test_pb01_budget_that_is_too_small_is_told(home: Path) -> None:
    """What is missing for that reason, how often, and the setting that keeps it."""
    write_skill(home / ".agents" / "skills", "one", description="d" * 100)
    detail, fix = _doctor(SLASH_COMMAND_TOOL_CHAR_BUDGET="90")["listing"]
    assert "name alone: all entries together may have 90 characters" in detail
    assert "%config SkillManager.listing_chars = " in (fix or "")


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
