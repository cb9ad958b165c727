"""What keeps a skill from being offered, before anybody installs or imports it.

Pure: what only the world knows comes in as ``Facts``. A gate is one function in
``_GATES``; the first that objects gives the reason. The order is the one in which a
person has to go: what the project's owner decides, what is to be given, what this
kernel lacks, what does not matter here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, final

from prime_skills_ext.catalog.credentials import is_met, needed_credential
from prime_skills_ext.catalog.discovery import Candidate
from prime_skills_ext.catalog.hosts import needed_requests
from prime_skills_ext.catalog.selection import Selection
from prime_skills_ext.catalog.trust import Distrust

__all__ = ["Facts", "Problem", "State", "gates"]

_SHOWN: Final = 3  # patterns of one skill that a reason names

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
class Problem(NamedTuple):
    """Why a skill does not work here, and the way out.

    Attributes:
        state: What the table says.
        reason: One sentence, without a full stop.
        fix: One command or instruction.
        log: The last lines of what a tool said about it, possibly empty.
    """

    state: State
    reason: str
    fix: str
    log: str = ""


@final
class Facts(NamedTuple):
    """What only the world knows.

    Attributes:
        environ: The environment variables that a skill would see.
        credentials: Providers for which a key is stored.
        handlers: Requests that an agent host answers; ``None`` without a host.
        programs: Those of the required programs that are on ``PATH``.
        patterns: Those ``paths`` of skills that match a file of the project.
        uses: What the code of a skill uses of the bridge to a host, by identity.
        distrust: Why a skill is not trusted, by identity.
    """

    environ: Mapping[str, str] = MappingProxyType({})
    credentials: frozenset[str] = frozenset()
    handlers: frozenset[str] | None = None
    programs: frozenset[str] = frozenset()
    patterns: frozenset[tuple[str, ...]] = frozenset()
    uses: Mapping[Path, frozenset[str]] = MappingProxyType({})
    distrust: Mapping[Path, Distrust] = MappingProxyType({})


_Gate = Callable[[Candidate, Selection, Facts], Problem | None]


def gates(selection: Selection, *, facts: Facts) -> Mapping[Path, Problem]:
    """Say which winners and disabled skills may not be used, by identity.

    Args:
        selection: Who stands for each name.
        facts: What only the world knows.
    """
    problems = {
        item.candidate.skill.identity: Problem(
            state="disabled", reason=item.by.reason, fix=item.by.fix
        )
        for item in selection.disabled
    }
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
    skill = candidate.skill
    need = needed_credential(skill, uses=facts.uses.get(skill.identity, ()))
    if need is None or is_met(need, stored=facts.credentials, environ=facts.environ):
        return None
    fix = f"%skill login {need.name}"
    if need.variable:
        fix = f"`{fix}`, or set the environment variable {need.variable}"
    return Problem(
        state="needs-credential", reason=f"it needs a key for {need.name}", fix=fix
    )


def _needs_host(
    candidate: Candidate, selection: Selection, facts: Facts
) -> Problem | None:
    del selection
    skill = candidate.skill
    needed = needed_requests(skill, uses=facts.uses.get(skill.identity, ()))
    missing = [name for name in needed if name not in (facts.handlers or ())]
    if not missing:
        return None
    if facts.handlers is None:
        reason = "it needs an agent host, and none is connected to this kernel"
    else:
        reason = f"the agent host does not answer {_listed(missing)}"
    return Problem(
        state="needs-host",
        reason=reason,
        fix="use it in a kernel that an agent host with this ability has started",
    )


def _needs_requirement(
    candidate: Candidate, selection: Selection, facts: Facts
) -> Problem | None:
    del selection
    skill = candidate.skill
    programs = [name for name in skill.requires.bins if name not in facts.programs]
    need = needed_credential(skill, uses=facts.uses.get(skill.identity, ()))
    # a key that is kept is handed over as its variable, so it counts as set
    kept = need.variable if need is not None else None
    variables = [
        name
        for name in skill.requires.env
        if name != kept and not facts.environ.get(name, "").strip()
    ]
    if not programs and not variables:
        return None
    lacks = [f"the program {name}" for name in programs]
    lacks += [f"the environment variable {name}" for name in variables]
    steps = [f"install {name}" for name in programs]
    steps += [f"set {name}" for name in variables]
    return Problem(
        state="needs-requirement",
        reason=f"it needs {_listed(lacks)}",
        fix=f"{', '.join(steps)}, then run %reload_skills",
    )


def _matches_nothing(
    candidate: Candidate, selection: Selection, facts: Facts
) -> Problem | None:
    del selection
    paths = candidate.skill.paths
    if not paths or paths in facts.patterns:
        return None
    return Problem(
        state="needs-requirement",
        reason=f"it is for files that this project does not have: {_few(paths)}",
        fix="use it in a project that has such files, or add one and run "
        "%reload_skills",
    )


def _listed(items: Sequence[str]) -> str:
    *others, last = items
    return f"{', '.join(others)} and {last}" if others else last


def _few(items: Sequence[str]) -> str:
    shown = ", ".join(items[:_SHOWN])
    return f"{shown} …" if len(items) > _SHOWN else shown


#: Asked in this order of those that are not disabled.
_GATES: Final[tuple[_Gate, ...]] = (
    _needs_trust,
    _needs_credential,
    _needs_host,
    _needs_requirement,
    _matches_nothing,
)
