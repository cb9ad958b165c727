"""``context: fork``: a skill that a sub-agent of the host carries out.

It says what is asked of the host and what its answer means. How a host is asked is
the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from prime_skills_ext.errors import HostError
from prime_skills_ext.skill.model import Skill

__all__ = ["REQUEST", "Ask", "fork"]

REQUEST: Final = "rlm.run"

#: Asks the host: the type of a request and its fields in, the fields of the answer out.
Ask = Callable[[str, dict[str, Any]], Mapping[str, Any]]

#: Longest name of a sub-agent.
_MAX_NAME_CHARS: Final = 64
#: What stands for the model of whoever asks.
_INHERITED: Final = "inherit"


def fork(text: str, *, skill: Skill, ask: Ask, protocol: int | None = None) -> str:
    """Have a sub-agent of the host do what a skill says.

    Args:
        text: What it is to do: the activated body and arguments.
        skill: Whose text it is; names the sub-agent, its model and its effort.
        ask: Asks the host and waits.
        protocol: What an announced host speaks. ``None`` is the reference's, which
            knows neither ``agent`` nor ``background`` and never waits.

    Returns:
        What the sub-agent said, and nothing else. Where the host does not wait for
        it, one sentence that says so, with the sub-agent's name.

    Raises:
        HostError: There is no host, or it did not run the skill: ``code`` and
            ``details`` are the host's.
    """
    name = skill.name.strip()[:_MAX_NAME_CHARS].strip()
    wanted: dict[str, Any] = {"name": name, **_options(skill)}
    if protocol is not None:
        if skill.agent is not None:
            wanted["agent"] = skill.agent
        # said in any case: without it a host answers as soon as it took the work on
        wanted["background"] = skill.background is True
    try:
        reply = ask(REQUEST, {"prompt": text, "kwargs": wanted})
    except HostError as error:
        raise HostError(
            f"the skill {skill.name} runs in a sub-agent, and {error.message}",
            fix=f"{error.fix.rstrip('.')}; or remove `context: fork` from {skill.path}",
            path=skill.path,
            code=error.code,
            details=error.details,
        ) from error
    result = reply.get("result")
    if isinstance(result, str):
        # no kernel can send half a sign, and would leave its cell unanswered
        return result.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    started = reply.get("name")
    if isinstance(started, str) and started:
        return (
            f'The skill "{skill.name}" runs in the sub-agent "{started}". '
            "Its answer is not here: it comes as a message of the agent host."
        )
    raise HostError(
        f"the agent host says neither what became of the skill {skill.name} nor "
        "which sub-agent runs it",
        fix=f"see what the agent host answers to {REQUEST}",
        path=skill.path,
    )


def _options(skill: Skill) -> dict[str, str]:
    options = {"model": skill.model, "thinking": skill.effort}
    return {
        key: value
        for key, value in options.items()
        if value is not None and value != _INHERITED
    }
