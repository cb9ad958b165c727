"""Using a skill by its instructions, here: what the settings say, and whose project.

Who may have them, and what becomes of their text, is ``prompt``'s to say.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Final, NamedTuple, final

from prime_skills_ext.catalog.places import Places
from prime_skills_ext.catalog.status import SkillStatus
from prime_skills_ext.prompt.activation import (
    Activation,
    Caller,
    Fork,
    ShellPolicy,
    activate,
)

__all__ = ["SESSION_VARIABLE", "Terms", "session_of", "use"]

#: Where a host tells its session's id.
SESSION_VARIABLE: Final = "CLAUDE_SESSION_ID"


@final
class Terms(NamedTuple):
    """On what terms skills are used by their instructions.

    Attributes:
        places: The directories that everything is found from.
        session: The session's id.
        environ: The environment variables to go by.
        shell_policy: What becomes of inline commands.
        shell_timeout_s: Longest that one may take, in seconds.
        fork: Hands a ``context: fork`` skill to a sub-agent.
    """

    places: Places
    session: str
    environ: Mapping[str, str]
    shell_policy: ShellPolicy
    shell_timeout_s: float
    fork: Fork | None


def session_of(environ: Mapping[str, str]) -> str:
    """Return the host's id of the session; without a host a new one."""
    return environ.get(SESSION_VARIABLE) or uuid.uuid4().hex


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
        PrimeSkillsError: As ``prompt.activation.activate`` has it.
    """
    return activate(
        status,
        arguments=arguments,
        project=terms.places.project_root,
        session=terms.session,
        environ=terms.environ,
        shell_policy=terms.shell_policy,
        shell_timeout_s=terms.shell_timeout_s,
        caller=caller,
        fork=terms.fork,
    )
