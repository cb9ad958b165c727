"""uv's lines as steps: the line that people see moves while uv works."""

from __future__ import annotations

from typing import Any

import pytest

from prime_skills_ext.environment.narration import Narrator
from prime_skills_ext.progress import ProgressEvent

#: What uv 0.13 writes to a pipe.
_WORDS = """\
Using Python 3.11.7 environment at: /e/1
Resolved 11 packages in 268ms
   Building word-count @ file:///skills/word-count
   Building other @ file:///skills/other
Downloading pandas (12.4MiB)
 Downloaded pandas
      Built other @ file:///skills/other
      Built word-count @ file:///skills/word-count
Prepared 4 packages in 677ms
Installed 11 packages in 6ms
 + word-count==0.1.0 (from file:///skills/word-count)
"""


def _narrate(words: str, **keywords: Any) -> list[ProgressEvent]:
    told: list[ProgressEvent] = []
    narrator = Narrator(told.append, **keywords)
    for line in words.splitlines():
        narrator(line)
    return told


def test_long_install_moves_step_by_step() -> None:
    """Every line that says how far uv is becomes a step, without paths and times."""
    told = _narrate(_WORDS, skills=12, builds=3, names={"word-count": "Word Count"})

    assert [
        ("resolving", "11 packages resolved", None, None),
        ("building", "0 of 3 built", 0, 3),
        ("building", "0 of 3 built", 0, 3),
        ("downloading", "downloading pandas (12.4MiB)", 0, 1),
        ("downloading", "downloaded pandas", 1, 1),
        ("building", "1 of 3 built", 1, 3),
        ("building", "2 of 3 built", 2, 3),
        ("installing", "4 packages prepared", None, None),
        ("installing", "11 packages installed", 12, 12),
    ] == [
        (e.stage, e.message.removeprefix("Installing 12 skills · "), e.done, e.total)
        for e in told
    ]
    assert ["Word Count", "Word Count"] == [e.skill for e in told if e.skill]


def test_build_that_nobody_expected_is_counted() -> None:
    """What skills require may have to be built, too."""
    told = _narrate("Building a==1\nBuilding b==2\nBuilt a==1\n", skills=1)

    assert [(0, 1), (0, 2), (1, 2)] == [(e.done, e.total) for e in told]


def test_second_attempt_counts_nothing_twice() -> None:
    """Uv is called again without a culprit, or with a network."""
    told = _narrate("Building a @ file:///a\nBuilt a @ file:///a\n" * 2, skills=2)

    assert [(0, 1), (1, 1), (1, 1), (1, 1)] == [(e.done, e.total) for e in told]


@pytest.mark.parametrize(
    "line", ["", "warning: something", " + a==1", "Checked 3 packages in 1ms"]
)
def test_other_lines_are_passed_over(line: str) -> None:
    """Uv may say what it likes."""
    assert [] == _narrate(line, skills=1)


def test_environment_without_skills_is_for_kernels() -> None:
    """In own mode there is something to install even so."""
    told = _narrate("Resolved 1 package in 3ms", skills=0)

    assert ["Installing what kernels need · 1 package resolved"] == [
        event.message for event in told
    ]


@pytest.mark.integration
def test_real_builds_are_counted(world: Any, new_skill: Any) -> None:
    """A backend that has to run is followed from the first build to the last."""
    files = {"setup.cfg": "[metadata]\n"}  # enough that its backend builds it
    skills = [
        new_skill(f"built-{number}", backend="uv_build", files=files)
        for number in range(3)
    ]

    report = world.ensure(*skills)

    assert {} == dict(report.failed)
    stages = list(dict.fromkeys(event.stage for event in world.told))
    assert ["environment", "resolving", "building", "installing"] == stages
    builds = [event for event in world.told if event.stage == "building"]
    assert {3} == {event.total for event in builds}
    assert {"built-0", "built-1", "built-2"} == {event.skill for event in builds}
    assert "Installing 3 skills · 3 of 3 built" == builds[-1].message
    assert (3, 3) == (world.told[-1].done, world.told[-1].total)
