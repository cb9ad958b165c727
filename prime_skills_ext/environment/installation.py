"""The one entrance: make the environment hold what the selected skills need.

Decides between nothing to do, something to install, and nothing that can be done;
the work itself is done by ``renewal``. Nothing here raises because of a skill.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

from prime_skills_ext.environment import record as records
from prime_skills_ext.environment.activation import refresh
from prime_skills_ext.environment.assessment import assess
from prime_skills_ext.environment.attempts import failure, recall, remember
from prime_skills_ext.environment.facts import Facts, Request, facts
from prime_skills_ext.environment.fingerprint import stamp
from prime_skills_ext.environment.generations import prepare
from prime_skills_ext.environment.plan import RETRY_FIX, Failure
from prime_skills_ext.environment.record import Command, Record, SkillRecord
from prime_skills_ext.environment.renewal import renew
from prime_skills_ext.environment.uv import Uv, open_uv
from prime_skills_ext.environment.venv import Environment, Generation, current
from prime_skills_ext.environment.wanted import recorded
from prime_skills_ext.errors import PrimeSkillsError
from prime_skills_ext.skill.model import Diagnostic, Skill

__all__ = ["InstallReport", "ensure"]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class InstallReport:
    """What ``ensure`` found or did. Paths are identities of skills.

    Attributes:
        generation: What to overlay or to run in; ``None`` without one.
        installed: Skills that this call installed anew.
        failed: Skills whose requirements are not met.
        restart: Distributions that this process uses in another version than the
            current generation has.
        commands: Commands that each usable skill offers.
        problem: What is wrong with the environment as a whole, if something is.
        diagnostics: Whatever else somebody should know.
    """

    generation: Generation | None
    installed: tuple[Path, ...] = ()
    failed: Mapping[Path, Failure] = field(default_factory=dict)
    restart: tuple[str, ...] = ()
    commands: Mapping[Path, tuple[Command, ...]] = field(default_factory=dict)
    problem: Failure | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


def ensure(
    skills: Sequence[Skill],
    *,
    environment: Environment,
    environ: Mapping[str, str],
    progress: Callable[[str], None] | None = None,
    retry: bool = False,
    allow_install: bool = True,
    unavailable: Sequence[Skill] = (),
    extra_requirements: Mapping[Path, tuple[str, ...]] | None = None,
) -> InstallReport:
    """Make the environment hold what the Python-backed ones among ``skills`` need.

    With nothing changed it reads one record, compares digests, starts no process,
    takes no lock and writes nothing. It never raises because of a skill.

    Args:
        skills: The selected skills, highest precedence first; Markdown ones are
            passed over.
        environment: Where to install.
        environ: Where uv is looked for and what it sees.
        progress: Called with one line per step that moves.
        retry: Try again what failed before and did not change since.
        allow_install: Only look; whatever would have to be installed has failed.
        unavailable: Skills that exist but are not selected: their names are never
            looked up on an index.
        extra_requirements: Identity of a skill to requirements that it needs and
            does not declare; they are recorded with it.
    """
    request = Request(
        skills=[skill for skill in skills if skill.python is not None],
        environment=environment,
        environ=environ,
        progress=progress,
        retry=retry,
        unavailable=unavailable,
        extra=extra_requirements or {},
    )
    try:
        return _ensure(request, allow_install=allow_install)
    except PrimeSkillsError as error:
        return _without(request, problem=failure(error))
    except OSError as error:
        return _without(
            request,
            problem=Failure(
                # without the file: names of drafts differ from one time to the next
                reason=f"the environment in {environment.root} cannot be changed: "
                f"{error.strerror or error}",
                fix="make room and make it writable, or set PRIME_AGENT_KERNEL_VENV "
                f"to another directory; then {RETRY_FIX}",
            ),
        )


def _ensure(request: Request, *, allow_install: bool) -> InstallReport:
    environment = request.environment
    if environment.mode == "custom":
        return _without(
            request,
            problem=Failure(
                reason="its requirements are not installed in the kernel's Python, "
                "and PRIME_AGENT_KERNEL_PYTHON forbids to install there",
                fix=f"install them with {environment.interpreter} -m pip install, or "
                "unset PRIME_AGENT_KERNEL_PYTHON",
            ),
            is_wrong=False,
        )
    generation = current(environment)
    if not request.skills and environment.mode == "overlay":
        return InstallReport(generation=generation)
    world = facts(environment, current=generation)
    warm = _warm(request, world=world, generation=generation)
    if warm is not None:
        return warm
    if not allow_install:
        nothing = Failure(reason="it is not installed yet", fix="%reload_skills")
        return _without(request, problem=nothing, is_wrong=False)
    return _install(request, world=world)


def _install(request: Request, *, world: Facts) -> InstallReport:
    uv = open_uv(request.environ)
    # a start that finds nothing to do takes no lock and does not load one
    from prime_skills_ext.environment.locking import locked  # noqa: PLC0415

    environment = request.environment
    known = recall(request, world=world, uv=uv)
    if known is not None:
        return _without(request, problem=known)
    prepare(environment)
    with locked(environment.root, progress=request.progress):
        # somebody else may have done it, or tried, while this process waited
        warm = _warm(request, world=world, generation=current(environment))
        if warm is not None:
            return warm
        known = recall(request, world=world, uv=uv)
        if known is not None:
            return _without(request, problem=known)
        return _renewed(request, world=world, uv=uv)


def _warm(
    request: Request, *, world: Facts, generation: Generation | None
) -> InstallReport | None:
    """The report, if nothing at all has to be done."""
    if generation is None:
        return None
    record = records.read(generation.record)
    if not (world.is_inside or record.base == world.base):
        return None
    if record.kernel != world.kernel or record.site != stamp(generation.site_packages):
        return None
    known = recorded(request.skills, record=record, extra=request.extra)
    if known is None or _has_to_try_again(known.values(), request=request):
        return None
    if request.retry and not record.runtime_complete:
        return None
    failed = {
        identity: Failure(reason=skill.reason, fix=skill.fix, log=skill.log)
        for identity, skill in known.items()
        if skill.state == "failed"
    }
    return InstallReport(
        generation=generation,
        failed=failed,
        commands=_commands(known, record=record),
    )


def _has_to_try_again(known: Iterable[SkillRecord], *, request: Request) -> bool:
    unsettled = [skill for skill in known if skill.state != "installed"]
    if not unsettled:
        return False
    if request.retry:
        return True
    try:
        tool = open_uv(request.environ).identity
    except (PrimeSkillsError, OSError):
        return False  # nobody could try
    return any(skill.tool != tool for skill in unsettled)


def _renewed(request: Request, *, world: Facts, uv: Uv) -> InstallReport:
    try:
        result = renew(request, world=world, uv=uv)
    except PrimeSkillsError as error:
        remember(request, world=world, uv=uv, failed=failure(error))
        raise
    remember(request, world=world, uv=uv, failed=None)
    notes = refresh(result.generation)
    known = {
        identity: result.record.skills[key]
        for identity, key in result.keys.items()
        if key in result.record.skills and identity not in result.failed
    }
    return InstallReport(
        generation=result.generation,
        installed=result.installed,
        failed=result.failed,
        restart=result.restart,
        commands=_commands(known, record=result.record),
        diagnostics=(*result.notes, *notes),
    )


def _without(
    request: Request, *, problem: Failure, is_wrong: bool = True
) -> InstallReport:
    """What holds if nothing can be installed: whoever has what it needs, works."""
    generation = current(request.environment)
    record = Record() if generation is None else records.read(generation.record)
    result = assess(request, generation=generation, record=record, otherwise=problem)
    return InstallReport(
        generation=generation,
        failed=result.failed,
        commands=_commands(result.known, record=record),
        problem=problem if is_wrong else None,
        diagnostics=result.notes,
    )


def _commands(
    known: Mapping[Path, SkillRecord], *, record: Record
) -> dict[Path, tuple[Command, ...]]:
    offered: dict[Path, tuple[Command, ...]] = {}
    for identity, skill in known.items():
        if skill.state != "installed":
            continue
        commands = tuple(
            command
            for command in skill.commands
            # without what the runtime requires its command line cannot start
            if record.runtime_complete or not command.target.startswith("rlm.")
        )
        if commands:
            offered[identity] = commands
    return offered
