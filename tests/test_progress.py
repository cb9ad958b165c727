"""What long work tells, and who hears it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from prime_skills_ext.manager import SkillManager
from prime_skills_ext.progress import Feed, ProgressEvent, counted

_ONE = ProgressEvent(stage="building", message="1 of 2 built", done=1, total=2)
_TWO = ProgressEvent(stage="building", message="2 of 2 built", done=2, total=2)


def test_feed_tells_everybody_in_order() -> None:
    """Each listener hears each step once."""
    first: list[ProgressEvent] = []
    second: list[ProgressEvent] = []
    feed = Feed(first.append, second.append)

    with feed.work():
        feed.tell(_ONE)
        feed.tell(_TWO)

    assert [_ONE, _TWO] == first == second


def test_w34_who_joins_midway_hears_the_latest_step() -> None:
    """It is told at once where work is, then what the others are told."""
    feed, late = Feed(), list[ProgressEvent]()

    with feed.work():
        feed.tell(_ONE)
        stop = feed.listen(late.append)
        feed.tell(_TWO)
        stop()
        stop()
        feed.tell(_ONE)

    assert [_ONE, _TWO] == late


def test_w34_who_joins_afterwards_hears_nothing_of_the_past() -> None:
    """Work that has ended, well or not, is not told as if it were going on."""
    feed, late = Feed(), list[ProgressEvent]()

    def work() -> None:
        with feed.work():
            feed.tell(_ONE)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    feed.listen(late.append)

    assert [] == late


@pytest.mark.parametrize(("count", "text"), [(0, "0 skills"), (1, "1 skill")])
def test_counted_is_english(count: int, text: str) -> None:
    """One is not many."""
    assert text == counted(count, "skill")


def _manager(
    home: Path, folder: Path, progress: Callable[[ProgressEvent], None]
) -> SkillManager:
    environ = {
        "HOME": str(home),
        "PRIME_AGENT_CODING_AGENT_DIR": str(home / "agent"),
        "PI_OFFLINE": "1",
    }
    return SkillManager(
        environ=environ, namespace={}, progress=progress, skill_paths=[str(folder)]
    )


@pytest.mark.integration
def test_125_3_callback_gets_setup_and_ready_and_stderr_nothing(
    home: Path,
    tmp_path: Path,
    make_skill: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """§12.5 #3: from the first step to the last, as values that are JSON."""
    monkeypatch.chdir(tmp_path)
    skills = tmp_path / "skills"
    for name in ("told-a", "told-b"):
        make_skill(skills, name, python="def run():\n    return 1\n")
    told: list[ProgressEvent] = []
    manager = _manager(home, skills, told.append)
    manager.no_skills = True

    manager.load()
    manager.unload()

    stages = list(dict.fromkeys(event.stage for event in told))
    assert ["environment", "resolving", "installing", "importing", "ready"] == stages
    assert "Making an environment for skills" == told[0].message
    last = {"message": "2 skills ready", "done": 2, "total": 2, "skill": None}
    assert {"stage": "ready", **last} == json.loads(json.dumps(asdict(told[-1])))
    importing = [event for event in told if event.stage == "importing"]
    assert [("told-a", 0, 2), ("told-b", 1, 2)] == [
        (event.skill, event.done, event.total) for event in importing
    ]
    assert ("", "") == capfd.readouterr()


@pytest.mark.integration
def test_nothing_is_told_when_nothing_moves(
    home: Path,
    tmp_path: Path,
    make_skill: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A reload without a change has no step, hence no end of one either."""
    monkeypatch.chdir(tmp_path)
    skills = tmp_path / "skills"
    make_skill(skills, "told-c", python="def run():\n    return 1\n")
    told: list[ProgressEvent] = []
    manager = _manager(home, skills, told.append)
    manager.no_skills = True
    manager.load()
    told.clear()

    manager.reload()
    manager.unload()

    assert [] == told


@pytest.mark.integration
def test_ready_counts_what_is_not(
    home: Path,
    tmp_path: Path,
    make_skill: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The end tells how many of the skills work."""
    monkeypatch.chdir(tmp_path)
    skills = tmp_path / "skills"
    make_skill(skills, "told-d", python="def run():\n    return 1\n")
    make_skill(skills, "told-e", python="raise ValueError('broken')\n")
    told: list[ProgressEvent] = []
    manager = _manager(home, skills, told.append)
    manager.no_skills = True

    manager.load()
    manager.unload()

    assert "1 of 2 skills ready" == told[-1].message
    assert (1, 2) == (told[-1].done, told[-1].total)
