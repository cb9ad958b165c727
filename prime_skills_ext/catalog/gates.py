"""What keeps a skill from being offered, before anybody installs or imports it.

Pure: what only the world knows comes in as ``Facts``. A gate is one function in
``_GATES``; the first that objects gives the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, final

from prime_skills_ext.catalog.credentials import declared_credential, is_met
from prime_skills_ext.catalog.discovery import Candidate
from prime_skills_ext.catalog.selection import Selection
from prime_skills_ext.catalog.trust import Distrust

__all__ = ["Facts", "Problem", "State", "gates"]

State = Literal[
    "ready",
    "instructions",
    "stale",
    "untrusted",
    "disabled",
    "needs-credential",
    "needs-host",
    "needs-requirement",
    "install-failed",
    "import-failed",
    "name-taken",
    "shadowed",
    "removed",
]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """Why a skill does not work here, and the way out.

    Attributes:
        state: What the table says.
        reason: One sentence, without a full stop.
        fix: One command or instruction.
    """

    state: State
    reason: str
    fix: str


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """What only the world knows.

    Attributes:
        environ: The environment variables that a skill would see.
        credentials: Providers for which a key is stored.
        distrust: Why a skill is not trusted, by identity.
    """

    environ: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    credentials: frozenset[str] = frozenset()
    distrust: Mapping[Path, Distrust] = field(
        default_factory=lambda: MappingProxyType({})
    )


_Gate = Callable[[Candidate, Selection, Facts], Problem | None]


def gates(selection: Selection, *, facts: Facts) -> Mapping[Path, Problem]:
    """Say which winners may not be used, by identity.

    Args:
        selection: Who stands for each name.
        facts: What only the world knows.
    """
    problems: dict[Path, Problem] = {}
    for candidate in selection.winners:
        for gate in _GATES:
            problem = gate(candidate, selection, facts)
            if problem is not None:
                problems[candidate.skill.identity] = problem
                break
    return problems


def _needs_trust(
    candidate: Candidate, selection: Selection, facts: Facts
) -> Problem | None:
    identity = candidate.skill.identity
    if identity not in selection.untrusted:
        return None
    why = facts.distrust.get(identity, Distrust())
    return Problem(state="untrusted", reason=why.reason, fix=why.fix)


def _needs_credential(
    candidate: Candidate, selection: Selection, facts: Facts
) -> Problem | None:
    del selection
    need = declared_credential(candidate.skill)
    if need is None or is_met(need, stored=facts.credentials, environ=facts.environ):
        return None
    stored = f'put the key under "{need.provider}" into auth.json'
    stored += " of the agent directory"
    return Problem(
        state="needs-credential",
        reason=f"it needs a key for {need.provider}",
        fix=f"set the environment variable {need.variable}, or {stored}"
        if need.variable
        else stored,
    )


#: Asked in this order. Settings, hosts, requirements and paths join here.
_GATES: Final[tuple[_Gate, ...]] = (_needs_trust, _needs_credential)
