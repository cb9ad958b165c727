"""``%skill timeline`` through the doors: what a load and a reload took."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prime_skills_ext.__main__ import main
from prime_skills_ext.manager import SkillManager
from prime_skills_ext.timeline import tell
from prime_skills_ext.views.timeline import Course
from tests.conftest import write_skill

CODE = "def run() -> int:\n    return 1\n"


def _kinds(course: Course) -> list[tuple[str, str | None]]:
    return [(span.kind, span.skill) for span in course.spans]


def test_load_is_told_by_stage_and_skill(home: Path) -> None:
    """Discover, select, install, each import, bind."""
    root = home / ".agents" / "skills"
    write_skill(root, "one", python=CODE)
    write_skill(root, "two", python=CODE)
    manager = SkillManager(namespace={}, no_skills=True, skill_paths=[str(root)])
    try:
        manager.load()
        (course,) = tell(manager).courses
    finally:
        manager.unload()
    assert "Load" == course.title
    assert [
        ("discover", None),
        ("select", None),
        ("install", None),
        ("import", None),
        ("import", "one"),
        ("import", "two"),
        ("bind", None),
    ] == _kinds(course)


def test_reload_is_told_beside_the_load(home: Path) -> None:
    """The last one that found something; one that found nothing is no news."""
    root = home / ".agents" / "skills"
    folder = write_skill(root, "one", python=CODE)
    manager = SkillManager(namespace={}, no_skills=True, skill_paths=[str(root)])
    try:
        write_skill(root, "other", python=CODE)
        manager.load()
        manager.reload()
        assert ["Load"] == [course.title for course in tell(manager).courses]
        (folder / "src" / "one" / "__init__.py").write_text(CODE.replace("1", "22"))
        manager.reload()
        load, last = tell(manager).courses
        assert [("import", "one")] == [kind for kind in _kinds(last) if kind[1]]
        manager.reload()
        assert (load, last) == tell(manager).courses
        write_skill(root, "new", python=CODE)
        manager.reload()
        # all stages ran, and what was there was not imported again
        last = tell(manager).courses[1]
        assert [("import", "new")] == [kind for kind in _kinds(last) if kind[1]]
    finally:
        manager.unload()


def test_terminal_tells_what_it_looked_at(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It imports nothing, and says where imports are shown."""
    assert 0 == main(["timeline"])
    told = capsys.readouterr().out
    assert told.startswith("Look: ")
    assert "In a kernel `%skill timeline` shows the imports, too" in told
    assert 0 == main(["timeline", "--json"])
    (course,) = json.loads(capsys.readouterr().out)["courses"]
    assert ["discover", "select", "install", "bind"] == [
        span["kind"] for span in course["spans"]
    ]
