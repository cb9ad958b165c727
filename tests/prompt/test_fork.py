"""What is asked of a host for ``context: fork``, and what its answer means."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.errors import HostError
from prime_skills_ext.prompt.fork import fork
from prime_skills_ext.skill.model import Skill
from tests.conftest import as_skill

FULL = {"model": "p/m", "effort": "high", "agent": "Explore", "background": True}


class Host:
    """Answers, and remembers what it was asked."""

    def __init__(self, **answer: object) -> None:
        self.answer = answer
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def ask(self, kind: str, payload: dict[str, Any]) -> dict[str, object]:
        self.asked.append((kind, payload))
        return self.answer


@pytest.fixture
def skill(tmp_path: Path) -> Skill:
    """One without any wish."""
    return as_skill(tmp_path / "tidy-up")


def test_the_result_is_the_text_and_nothing_else(skill: Skill) -> None:
    """To the character."""
    host = Host(result=" Done.\n", rlm_child_id="c1", name="tidy-up")
    assert " Done.\n" == fork("Go.", skill=skill, ask=host.ask, protocol=1)
    assert "" == fork("Go.", skill=skill, ask=Host(result="").ask, protocol=1)


def test_half_a_sign_is_what_no_kernel_can_send(skill: Skill) -> None:
    """The cell that shows the result would never be answered."""
    host = Host(result="half \ud800, whole \ud83d\ude00")
    said = fork("Go.", skill=skill, ask=host.ask, protocol=1)
    assert "half \ufffd, whole \U0001f600" == said


@pytest.mark.parametrize(
    ("wishes", "protocol", "kwargs"),
    [
        ({}, None, {"name": "tidy-up"}),
        ({}, 1, {"name": "tidy-up", "background": False}),
        (FULL, None, {"name": "tidy-up", "model": "p/m", "thinking": "high"}),
        (
            FULL,
            1,
            {
                "name": "tidy-up",
                "model": "p/m",
                "thinking": "high",
                "agent": "Explore",
                "background": True,
            },
        ),
        ({"model": "inherit"}, None, {"name": "tidy-up"}),
        ({"name": "n" * 70}, None, {"name": "n" * 64}),
        ({"name": "n" * 63 + " m"}, None, {"name": "n" * 63}),
    ],
)
def test_a_host_is_asked_what_it_understands(
    skill: Skill,
    wishes: dict[str, Any],
    protocol: int | None,
    kwargs: dict[str, object],
) -> None:
    """§6.3: the reference's refuses what it does not know."""
    host = Host(result="")
    fork("Go.", skill=replace(skill, **wishes), ask=host.ask, protocol=protocol)
    assert [("rlm.run", {"prompt": "Go.", "kwargs": kwargs})] == host.asked


@pytest.mark.parametrize("protocol", [None, 1])
def test_a_host_that_does_not_wait_is_no_answer_and_says_who_works(
    skill: Skill, protocol: int | None
) -> None:
    """§6.4: ``run`` returns once the sub-agent is admitted."""
    host = Host(rlm_child_id="c1", name="tidy-up-2", session_dir="/s", model="p/m")
    expected = (
        'The skill "tidy-up" runs in the sub-agent "tidy-up-2". Its answer is not '
        "here: it comes as a message of the agent host."
    )
    assert expected == fork("Go.", skill=skill, ask=host.ask, protocol=protocol)


@pytest.mark.parametrize("answer", [{}, {"result": 5}, {"name": ""}, {"name": 1}])
def test_an_answer_that_says_nothing_is_an_error(
    skill: Skill, answer: dict[str, object]
) -> None:
    """And no empty result."""
    with pytest.raises(HostError, match="says neither what became of") as caught:
        fork("Go.", skill=skill, ask=Host(**answer).ask, protocol=1)
    assert skill.path == caught.value.path


def test_an_error_of_the_host_is_passed_on_with_a_way_out(skill: Skill) -> None:
    """Its words, its structure, and which skill it was."""

    def refuse(_kind: str, _payload: dict[str, Any]) -> dict[str, object]:
        raise HostError(
            "sub-agents are 3 deep already", fix="wait.", code="depth", details=[3]
        )

    with pytest.raises(HostError) as caught:
        fork("Go.", skill=skill, ask=refuse)
    error = caught.value
    assert (
        "the skill tidy-up runs in a sub-agent, and sub-agents are 3 deep already"
        == error.message
    )
    assert f"wait; or remove `context: fork` from {skill.path}" == error.fix
    assert ("depth", [3]) == (error.code, error.details)
    assert isinstance(error.__cause__, HostError)
