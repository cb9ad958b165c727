"""The one entrance: make the environment hold what the selected skills need.

Decides between nothing to do, something to install, and nothing that can be done;
the work itself is done by ``renewal``. Nothing here raises because of a skill.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, final

from prime_skills_ext.environment import record as records
from prime_skills_ext.environment.activation import refresh
from prime_skills_ext.environment.choice import (
    candidates,
    changed_under,
    is_usable,
)
from prime_skills_ext.environment.facts import Facts, Request, facts
from prime_skills_ext.environment.failure import RETRY_FIX, Failure
from prime_skills_ext.environment.fingerprint import package_path, stamp
from prime_skills_ext.environment.record import Command, Record, SkillRecord
from prime_skills_ext.environment.recorded import recorded
from prime_skills_ext.environment.usage import note_use
from prime_skills_ext.environment.venv import Environment, Generation, current
from prime_skills_ext.errors import PrimeSkillsError
from prime_skills_ext.later import later
from prime_skills_ext.progress import Listener
from prime_skills_ext.skill.model import Diagnostic, Skill

if TYPE_CHECKING:
    from prime_skills_ext.environment import (
        assessment,
        attempts,
        generations,
        locking,
        renewal,
    )
    from prime_skills_ext.environment import uv as uvs
    from prime_skills_ext.environment.uv import Uv
else:
    # the cold half: what looks into packages, locks, starts uv and writes
    assessment = later("prime_skills_ext.environment.assessment")
    attempts = later("prime_skills_ext.environment.attempts")
    generations = later("prime_skills_ext.environment.generations")
    locking = later("prime_skills_ext.environment.locking")
    renewal = later("prime_skills_ext.environment.renewal")
    uvs = later("prime_skills_ext.environment.uv")

__all__ = ["InstallReport", "ensure"]


@final
class InstallReport(NamedTuple):
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
    failed: Mapping[Path, Failure] = MappingProxyType({})
    restart: tuple[str, ...] = ()
    commands: Mapping[Path, tuple[Command, ...]] = MappingProxyType({})
    problem: Failure | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


def ensure(
    skills: Sequence[Skill],
    *,
    environment: Environment,
    environ: Mapping[str, str],
    progress: Listener | None = None,
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
        progress: Told every step, if there is something to do.
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
        return _without(request, problem=attempts.failure(error))
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
    warm = _chosen(request, world=world, current=generation)
    if warm is not None:
        return warm
    if not allow_install:
        nothing = Failure(reason="it is not installed yet", fix="%reload_skills")
        return _without(request, problem=nothing, is_wrong=False)
    return _install(request, world=world)


def _install(request: Request, *, world: Facts) -> InstallReport:
    environment = request.environment
    uv = uvs.open_uv(request.environ)
    known = attempts.recall(request, world=world, uv=uv)
    if known is not None:
        return _without(request, problem=known)
    generations.prepare(environment)
    with locking.locked(environment.root, progress=request.progress):
        generations.mend(environment)
        # somebody else may have done it, or tried, while this process waited
        generation = current(environment)
        warm = _chosen(request, world=world, current=generation)
        if warm is not None:
            return warm
        known = attempts.recall(request, world=world, uv=uv)
        if known is not None:
            return _without(request, problem=known)
        return _renewed(request, world=world, uv=uv)


def _chosen(
    request: Request, *, world: Facts, current: Generation | None
) -> InstallReport | None:
    """The report, if one of the generations that are there does as it is."""
    environment = request.environment
    for generation in candidates(environment, current=current):
        is_other = generation != current
        if is_other and environment.mode == "own":
            # what surrounds the one that this process runs in is right by definition
            world = facts(environment, current=generation)
        warm = _warm(request, world=world, generation=generation)
        if warm is not None and not is_other:
            return warm
        if warm is None:
            continue
        failed = [
            package_path(skill.python)
            for skill in request.skills
            if skill.python is not None and skill.identity in warm.failed
        ]
        if is_usable(
            generation, failed=failed, environment=environment, current=current
        ):
            note_use(generation)
            changed = changed_under(generation, environment=environment)
            return warm._replace(restart=changed)
    return None


def _warm(
    request: Request, *, world: Facts, generation: Generation
) -> InstallReport | None:
    """The report, if nothing at all has to be done."""
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
        tool = uvs.open_uv(request.environ).identity
    except (PrimeSkillsError, OSError):
        return False  # nobody could try
    return any(skill.tool != tool for skill in unsettled)


def _renewed(request: Request, *, world: Facts, uv: Uv) -> InstallReport:
    try:
        result = renewal.renew(request, world=world, uv=uv)
    except PrimeSkillsError as error:
        attempts.remember(request, world=world, uv=uv, failed=attempts.failure(error))
        raise
    attempts.remember(request, world=world, uv=uv, failed=None)
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
    result = assessment.assess(
        request, generation=generation, record=record, otherwise=problem
    )
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
