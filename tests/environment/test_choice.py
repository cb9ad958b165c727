"""Which generation serves a selection: what is there and fits is used as it is."""

from __future__ import annotations

import importlib
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.environment.activation import activate, deactivate
from prime_skills_ext.environment.choice import changed_under
from prime_skills_ext.environment.installation import InstallReport
from prime_skills_ext.environment.usage import IN_USE, hold, release

pytestmark = pytest.mark.integration

DAY_S = 86_400.0


def number(report: InstallReport) -> str:
    """Which generation serves."""
    assert report.generation is not None
    return report.generation.directory.name


@pytest.fixture
def rivals(world: Any, new_skill: Any) -> tuple[Any, Any]:
    """Two skills that no environment can hold together."""
    world.publish("acme-tool", "1.0")
    world.publish("acme-tool", "2.0")
    return (
        new_skill("old", dependencies=("acme-tool<2",)),
        new_skill("new", dependencies=("acme-tool>=2",)),
    )


def test_ten_switches_between_rivals_install_nothing(
    world: Any, rivals: Any, calls: list[str]
) -> None:
    """Each selection has a generation of its own and keeps it: no uv, no install."""
    old, new = rivals
    built = [number(world.ensure(old)), number(world.ensure(new))]
    calls.clear()
    served = []
    for _ in range(5):
        for skill in (old, new):
            report = world.ensure(skill)
            assert ((), {}, None) == (report.installed, report.failed, report.problem)
            served.append(number(report))
    assert (["1", "2"], ["1", "2"] * 5, []) == (built, served, calls)


def test_switches_with_a_skill_that_fails_in_both_install_nothing(
    world: Any, new_skill: Any, rivals: Any, calls: list[str]
) -> None:
    """IN-01: what cannot be had anywhere is no reason to build again."""
    old, new = rivals
    bad = new_skill("bad", dependencies=("no-such-dist-xyz",))
    world.ensure(old, bad)
    world.ensure(new, bad)
    calls.clear()
    served = []
    for _ in range(2):
        for skill in (old, new):
            report = world.ensure(skill, bad)
            assert [bad.identity] == list(report.failed)
            served.append(number(report))
    assert (["1", "2"] * 2, []) == (served, calls)


def test_failure_of_another_selection_is_not_taken_over(
    world: Any, new_skill: Any, rivals: Any
) -> None:
    """What failed beside others is tried where those are not."""
    old, new = rivals
    report = world.ensure(old, new)
    assert [new.identity] == list(report.failed)
    third = new_skill("third", dependencies=("acme-tool>=2",))
    world.ensure(third)
    assert {} == world.ensure(new, third).failed


def test_current_generation_is_used_where_several_would_do(
    world: Any, new_skill: Any, rivals: Any
) -> None:
    """Current first: the others are looked at only if it does not fit."""
    both = new_skill("both")
    old, new = rivals
    world.ensure(old, both)
    world.ensure(new, both)
    assert "2" == number(world.ensure(both))


def test_kernel_keeps_the_generation_that_it_uses(
    world: Any, new_skill: Any, rivals: Any
) -> None:
    """A newer one that would also do does not move a kernel that runs."""
    both = new_skill("both")
    old, new = rivals
    report = world.ensure(old, both)
    activate(report.generation, owner="test")
    try:
        world.ensure(new, both)
        assert "1" == number(world.ensure(both))
    finally:
        deactivate(owner="test")
    assert "2" == number(world.ensure(both))


def test_switch_in_a_kernel_that_runs_says_restart(world: Any, rivals: Any) -> None:
    """What this process already uses in another version is named."""
    old, new = rivals
    world.ensure(old)
    report = world.ensure(new)
    activate(report.generation, owner="test")
    try:
        assert () == world.ensure(old).restart  # the other serves what comes next
        assert "2.0" == importlib.import_module("acme_tool").version
        assert ("acme-tool",) == world.ensure(old).restart
    finally:
        deactivate(owner="test")
        sys.modules.pop("acme_tool", None)


def test_kernel_inside_is_told_what_its_next_start_changes(
    world: Any, rivals: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own generation comes first until it restarts, whatever it has imported."""
    old, new = (world.ensure(skill).generation for skill in rivals)
    own = world.environment._replace(mode="own")
    monkeypatch.setattr(sys, "prefix", str(old.directory))
    assert ("acme-tool",) == changed_under(new, environment=own)
    assert () == changed_under(old, environment=own)


@pytest.mark.parametrize("damage", ["python", "record", "site"])
def test_damaged_generation_is_not_chosen(world: Any, rivals: Any, damage: str) -> None:
    """Only what is well and as it was recorded is used as it is."""
    old, new = rivals
    first = world.ensure(old).generation
    world.ensure(new)
    if damage == "python":
        first.python.unlink()
    elif damage == "record":
        first.record.unlink()
    else:
        (first.site_packages / "stranger").mkdir()
    report = world.ensure(old)
    assert ("3", {}) == (number(report), report.failed)


def test_choice_is_noted_as_a_use(world: Any, rivals: Any) -> None:
    """What is chosen counts as used now, so that nobody removes it as forgotten."""
    old, new = rivals
    mark: Path = world.ensure(old).generation.directory / IN_USE
    world.ensure(new)
    before = time.time()
    os.utime(mark, (before - 20 * DAY_S, before - 20 * DAY_S))
    world.ensure(old)
    assert before - DAY_S < mark.stat().st_mtime


def test_kernel_that_starts_counts_as_a_use(world: Any, rivals: Any) -> None:
    """Also where a launcher remembered the choice and nobody chose again."""
    generation = world.ensure(rivals[0]).generation
    mark = generation.directory / IN_USE
    before = time.time()
    os.utime(mark, (before - 20 * DAY_S, before - 20 * DAY_S))
    hold(generation)
    release(generation)
    assert before - DAY_S < mark.stat().st_mtime


def test_generation_that_was_chosen_takes_no_write_when_it_is_fresh(
    world: Any, rivals: Any
) -> None:
    """A start writes at most once a day."""
    old, new = rivals
    mark: Path = world.ensure(old).generation.directory / IN_USE
    world.ensure(new)
    before = mark.stat().st_mtime_ns
    world.ensure(old)
    assert before == mark.stat().st_mtime_ns
