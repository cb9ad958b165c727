"""Using a skill by its instructions, here: what the settings say, and whose hooks run.

Who may have them, and what becomes of their text, is ``prompt``'s to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, final

from prime_skills_ext.catalog.discovery import Candidate
from prime_skills_ext.catalog.status import SkillStatus
from prime_skills_ext.catalog.trust import Distrust
from prime_skills_ext.kernel.skills import run_sync
from prime_skills_ext.prompt.activation import (
    Activation,
    Fork,
    ShellPolicy,
    activate,
    permit,
)
from prime_skills_ext.prompt.hooks import Place, hooks_of
from prime_skills_ext.prompt.session import session_id
from prime_skills_ext.skill.model import Caller

__all__ = ["Terms", "as_trusted_now", "use"]


@final
class Terms(NamedTuple):
    """On what terms a skill is used by its instructions.

    Attributes:
        project: The project's root.
        environ: The environment variables of inline commands and hooks.
        shell_policy: What becomes of inline commands.
        shell_timeout_s: Longest that one may take, in seconds.
        fork: Hands a ``context: fork`` skill to a sub-agent; ``None`` without a host.
        are_hooks_on: Whether hooks run; asked each time.
    """

    project: Path
    environ: Mapping[str, str]
    shell_policy: ShellPolicy
    shell_timeout_s: float
    fork: Fork | None
    are_hooks_on: Callable[[], bool]


def as_trusted_now(
    status: SkillStatus, *, distrust: Callable[[Candidate], Distrust | None]
) -> SkillStatus:
    """Return how a skill stands, with its trust looked at once more.

    Its instructions are read when it is used, so what was trusted when the kernel
    last looked is not enough: a pin binds every byte, and trust may be taken back.

    Args:
        status: The skill and how it stood.
        distrust: Says why it is not trusted, if it is not.
    """
    if not status.is_trusted:
        return status
    why = distrust(Candidate(status.skill, status.source))
    if why is None:
        return status
    return replace(
        status, state="untrusted", is_trusted=False, reason=why.reason, fix=why.fix
    )


def use(
    status: SkillStatus, arguments: str, *, caller: Caller, terms: Terms
) -> Activation:
    """Read a skill's instructions and make them ready for a model.

    Args:
        status: The skill and how it stands.
        arguments: What is given with it, as written.
        caller: Who asks.
        terms: On what terms.

    Raises:
        SkillPermissionError: A hook refused it, or it is not meant for this caller.
        PrimeSkillsError: What ``prompt.activation.activate`` raises.
    """
    work = partial(
        activate,
        status,
        arguments=arguments,
        project=terms.project,
        session=session_id(),
        environ=terms.environ,
        shell_policy=terms.shell_policy,
        shell_timeout_s=terms.shell_timeout_s,
        caller=caller,
        fork=terms.fork,
    )
    place = Place(
        project=terms.project, environ=terms.environ, is_on=terms.are_hooks_on
    )
    hooks = hooks_of(status, place=place) if status.skill.hooks else None
    if hooks is None:
        return work()
    permit(status, caller=caller)  # nothing runs for who may not use it
    made: list[Activation] = []

    def activated() -> str:
        made.append(work())
        return str(made[0])  # hooks are told the text, as a model is

    hooks.around_sync(activated, tool_input={"args": arguments}, wait=run_sync)
    return made[0]
