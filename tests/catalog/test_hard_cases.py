"""What stops a naive walk: each returns promptly, with one diagnostic, skill found."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from prime_skills_ext.catalog.cache import SkillCache
from prime_skills_ext.catalog.discovery import discover
from prime_skills_ext.catalog.places import find_places
from prime_skills_ext.catalog.sources import find_sources
from prime_skills_ext.catalog.survey import Choices, survey
from tests.catalog.conftest import MakeSource, codes, names
from tests.conftest import MakeSkill

#: Tells an answer from a hang; the slowest of them takes a fiftieth of it.
PROMPTLY_S = 10.0


def two_loops(folder: Path) -> None:
    """Two links that lead back, which is exponential to whoever follows them."""
    (folder / "one").symlink_to(folder)
    (folder / "group").mkdir()
    (folder / "group" / "two").symlink_to("..")


def two_links_to_each_other(folder: Path) -> None:
    """Neither leads anywhere; the one that could be a skill's file is told."""
    (folder / "one.txt").symlink_to("SKILL.txt")
    (folder / "SKILL.txt").symlink_to("one.txt")
    (folder / "b").mkdir()
    (folder / "b" / "SKILL.md").symlink_to("SKILL.md")


def large_tree(folder: Path) -> None:
    """Fifty thousand files in more folders than are searched."""
    file = folder / "notes.txt"
    file.touch()
    for number in range(2500):
        place = folder / "a-large-tree" / str(number % 50) / str(number)
        place.mkdir(parents=True)
        for name in "abcdefghijklmnopqrst":
            # links are files as good as any, and made in half the time
            os.link(file, f"{place}/{name}.txt")


def fifo(folder: Path) -> None:
    """Whoever opens it waits for a writer."""
    (folder / "b").mkdir()
    os.mkfifo(folder / "b" / "SKILL.md")


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (two_loops, "link-loop"),
        (two_links_to_each_other, "dangling-link"),
        (large_tree, "walk-too-wide"),
        (fifo, "skill-file-not-regular"),
    ],
)
def test_hard_case_is_prompt_and_one_diagnostic(
    make: Callable[[Path], None],
    code: str,
    tmp_path: Path,
    make_skill: MakeSkill,
    make_source: MakeSource,
) -> None:
    """With and without a cache, and the skill beside it is there."""
    make_skill(tmp_path / "skills", "word-count")
    make(tmp_path / "skills")
    check_answer(tmp_path, code=code, make_source=make_source)


def test_hard_case_unreadable_folder(
    unprivileged_folder: Path, make_skill: MakeSkill, make_source: MakeSource
) -> None:
    """It may hold skills; nobody can tell."""
    make_skill(unprivileged_folder / "skills", "word-count")
    (unprivileged_folder / "skills" / "b").mkdir(mode=0)
    check_answer(unprivileged_folder, code="unreadable", make_source=make_source)


def check_answer(place: Path, *, code: str, make_source: MakeSource) -> None:
    skills, agent = place / "skills", place / "agent"
    agent.mkdir()
    start = time.monotonic()
    found = [
        discover([make_source(skills)], cache=cache)
        for cache in (None, SkillCache(agent), SkillCache(agent))
    ]
    assert time.monotonic() - start < PROMPTLY_S
    assert [["word-count"]] * 3 == [names(item) for item in found]
    assert [[code]] * 3 == [codes(item) for item in found]


@pytest.fixture
def vanished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory that is no longer there."""
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    yield folder
    # what monkeypatch goes back to does exist
    os.chdir(tmp_path)


def test_hard_case_vanished_working_directory(
    vanished: Path, home: Path, make_skill: MakeSkill
) -> None:
    """The user's skills are still found, and one diagnostic says what is wrong."""
    make_skill(home / ".agents" / "skills", "word-count")
    start = time.monotonic()
    places = find_places(environ={"HOME": str(home), "PWD": str(vanished)})
    sources, problems = find_sources(places, environ={})
    found = discover(sources)
    assert time.monotonic() - start < PROMPTLY_S
    assert "word-count" in names(found)
    assert (["working-directory-missing"], []) == (
        [item.code for item in problems],
        codes(found),
    )


@pytest.fixture
def guarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A link that can be seen and not read, like another process's in ``/proc``."""
    link = tmp_path / "guarded"
    link.symlink_to("nowhere")
    readlink = os.readlink

    def guard(path: str | os.PathLike[str]) -> str:
        if os.fspath(path) == str(link):
            raise PermissionError(13, "Permission denied", str(path))
        return readlink(path)

    monkeypatch.setattr(os, "readlink", guard)
    return link


@pytest.mark.parametrize(
    "place",
    [
        ".agents/skills/link",
        ".agents/skills/link.md",
        ".agents/skills/a/SKILL.md",
        ".prime/agent/skills",
        ".prime/agent/settings.json",
        "../home/.prime/agent/auth.json",
        "../home/.prime/agent/trust.json",
    ],
)
def test_link_to_what_nobody_may_read_costs_nothing_else(
    place: str, guarded: Path, project: Path, home: Path, make_skill: MakeSkill
) -> None:
    """A repository can hold a link to anything."""
    make_skill(project / ".agents" / "skills", "word-count")
    link = project / place
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(guarded)
    places = find_places(environ=os.environ, project=project, home=home)
    found = survey(places, environ={}, choices=Choices(explicit=[link]))
    assert "word-count" in [item.skill.name for item in found.selection.winners]
