"""Bring an environment up to date, under its lock.

Adds to the current generation where adding is enough; where something would have to
be replaced it builds the next one beside it. What works is never made worse: the old
generation stays current until the new one has been verified.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from prime_skills_ext import process
from prime_skills_ext.environment import record as records
from prime_skills_ext.environment.apply import Item
from prime_skills_ext.environment.assessment import (
    check,
    find_gaps,
    gone,
    is_readable,
    look,
)
from prime_skills_ext.environment.choice import changed_under
from prime_skills_ext.environment.facts import Facts, Request, facts
from prime_skills_ext.environment.filling import LINKS, Filled, Filling, lines_of
from prime_skills_ext.environment.generations import staged
from prime_skills_ext.environment.narration import subject
from prime_skills_ext.environment.plan import (
    RETRY_FIX,
    Failure,
    Wanted,
    plan_installs,
)
from prime_skills_ext.environment.pruning import prune
from prime_skills_ext.environment.record import Record, SkillRecord
from prime_skills_ext.environment.settlement import Renewal, Task, settle
from prime_skills_ext.environment.uv import Uv
from prime_skills_ext.environment.venv import (
    Environment,
    Generation,
    current,
    pointed,
)
from prime_skills_ext.environment.wanted import names_of, read_wanted
from prime_skills_ext.errors import InstallError
from prime_skills_ext.progress import ProgressEvent

__all__ = ["rebuild", "renew"]

VERIFY_TIMEOUT_S = 60.0


def renew(request: Request, *, world: Facts, uv: Uv) -> Renewal:
    """Do what ``plan`` says.

    Raises:
        InstallError: Not even what is no skill could be installed.
        ProcessError: uv could not make an environment.
        OSError: The disk does not take it.
    """
    environment = request.environment
    generation = current(environment)
    record = _last_record(environment)
    is_fit = generation is not None and (world.is_inside or record.base == world.base)
    task = _plan(
        request,
        world=world,
        uv=uv,
        record=record,
        usable=generation if is_fit else None,
    )
    if generation is not None and is_fit:
        # the runtime's own requirements may have been out of reach the last time
        is_done = record.runtime_complete or not request.retry
        if is_done and not task.plan.steps:
            return settle(task, generation=generation, filled=Filled(), record=record)
        filled = _fill(task, generation=generation, is_new=False)
        if not filled.needs_replacement:
            return settle(task, generation=generation, filled=filled, record=record)
    return _replace(task, old=generation if is_fit else None, record=record)


def rebuild(request: Request, *, world: Facts, uv: Uv) -> Renewal:
    """Build everything anew beside what is there, and put it in its place.

    Raises:
        InstallError: It could not be built, or would lack a skill that is installed
            now; what was current stays current.
        ProcessError: uv could not make an environment.
        OSError: The disk does not take it.
    """
    environment = request.environment
    record = _last_record(environment)
    task = _plan(request, world=world, uv=uv, record=record, usable=None)
    return _replace(task, old=current(environment), record=record, is_rebuild=True)


def _plan(
    request: Request,
    *,
    world: Facts,
    uv: Uv,
    record: Record,
    usable: Generation | None,
) -> Task:
    wanted = read_wanted(request.skills, record=record, extra=request.extra)
    index = look(world.kernel_paths, generation=usable)
    wanted = check(wanted, index=index)
    found = {item.key: find_gaps(item, wanted=wanted, index=index) for item in wanted}
    if usable is None:
        again = set(found)
    else:
        again = {
            key for key, missing in found.items() if missing and _is_in(record, key)
        }
        if record.kernel != world.kernel:  # the kernel changed: failures may be cured
            again |= {key for key in found if not _is_in(record, key)}
    plan = plan_installs(
        wanted,
        record=record,
        unavailable=names_of(request.unavailable),
        gone=gone(record),
        retry=request.retry,
        tool=uv.identity,
        again=again,
    )
    content = {item.key for item in wanted if is_readable(item) and not found[item.key]}
    return Task(
        request=request,
        world=world,
        uv=uv,
        wanted=wanted,
        plan=plan,
        record=record,
        reachable=frozenset(content),
    )


def _is_in(record: Record, key: str) -> bool:
    known = record.skills.get(key)
    return known is not None and known.state == "installed"


def _fill(task: Task, *, generation: Generation, is_new: bool) -> Filled:
    """Hand everything to uv: what is new, and what must not break because of it."""
    steps = [step.wanted for step in task.plan.steps]
    task.request.tell(ProgressEvent(stage="resolving", message=subject(len(steps))))
    world = task.world
    if is_new and world.is_inside:
        world = facts(task.request.environment)
    filling = Filling(
        environment=task.request.environment,
        generation=generation,
        world=world,
        uv=task.uv,
        progress=task.request.progress,
        wanted=task.wanted,
        is_new=is_new,
    )
    return filling.fill(steps, items=_items(task, is_new=is_new))


def _items(task: Task, *, is_new: bool) -> list[Item]:
    """The batch, highest precedence first; nothing that a step replaces."""
    steps = {step.wanted.key for step in task.plan.steps}
    store = task.request.environment.root / "wheels"
    stored = frozenset(path.as_uri() for path in store.glob("*/*.whl"))
    stored |= {f"./{LINKS}/{path.name}" for path in store.parent.glob(f"{LINKS}/*")}
    index = look(task.world.kernel_paths, generation=None)
    items: list[Item] = []
    for item in task.wanted:
        known = task.record.skills.get(item.key)
        if item.key in task.plan.unchanged and known and _is_at_hand(known, stored):
            items.append(_recorded(known, is_selected=True, is_new=is_new))
        elif item.key in steps or item.key in task.plan.unchanged:
            lines = lines_of(item, store=store, wanted=task.wanted, index=index)
            is_installed = item.key not in steps and not is_new
            items.append(
                _fresh(item, task=task, lines=lines, is_installed=is_installed)
            )
    # what only other kernels want must not break because of this one
    taken = {item.name for item in task.wanted} | {""}
    selected = {item.key for item in task.wanted}.union(task.plan.stale)
    for key, known in task.record.skills.items():
        name = known.project or ""
        if key not in selected and name not in taken and _is_at_hand(known, stored):
            taken.add(name)
            items.append(_recorded(known, is_selected=False, is_new=is_new))
    return items


def _is_at_hand(known: SkillRecord, stored: frozenset[str]) -> bool:
    """Whether uv can be given what it was given before."""
    line = known.line or ""
    place = line.removeprefix("-e ").rpartition(" @ ")[2]
    is_there = line.startswith("-e file:") or place in stored
    return known.state == "installed" and is_there


def _recorded(known: SkillRecord, *, is_selected: bool, is_new: bool) -> Item:
    return Item(
        key=known.package_path,
        name=known.project or known.import_name,
        lines=(known.line or "", *known.extra),
        siblings=known.siblings,
        is_known=True,
        is_installed=not is_new,
        is_selected=is_selected,
    )


def _fresh(
    item: Wanted, *, task: Task, lines: tuple[str, ...], is_installed: bool
) -> Item:
    siblings = task.plan.siblings[item.key]
    return Item(
        key=item.key,
        name=item.name,
        lines=lines,
        siblings=tuple(key for key in siblings if key not in task.plan.failed),
        is_known=_is_in(task.record, item.key),
        is_installed=is_installed,
        is_built=item.project is not None and not item.project.static,
    )


def _replace(
    task: Task, *, old: Generation | None, record: Record, is_rebuild: bool = False
) -> Renewal:
    """Build the next generation; keep the old one if that gains nothing."""
    environment = task.request.environment
    message = "Making an environment for skills"
    task.request.tell(ProgressEvent(stage="environment", message=message))
    prune(environment.root, leftovers=False)
    with staged(environment, uv=task.uv, kernel_paths=task.world.kernel_paths) as stage:
        filled = _fill(task, generation=stage.generation, is_new=True)
        if filled.base_failure is not None:
            error = InstallError(
                filled.base_failure.reason, fix=filled.base_failure.fix
            )
            error.add_note(filled.base_failure.log)
            raise error
        if is_rebuild:
            _refuse_loss(task, filled=filled)
        broken = [key for key in task.plan.unchanged if key not in filled.present]
        if not is_rebuild and old is not None and (broken or not filled.entries):
            kept_old = _refused(task, filled=filled, broken=broken)
            return settle(task, generation=old, filled=kept_old, record=record)
        if environment.mode == "own":
            message = "Checking the new environment"
            task.request.tell(ProgressEvent(stage="checking", message=message))
            _verify(stage.generation, environment=environment)
        kept = {key: one for key, one in record.skills.items() if key in filled.present}
        world = facts(environment) if task.world.is_inside else task.world
        result = settle(
            replace(task, world=world),
            generation=stage.generation,
            filled=filled,
            record=Record(base=world.base, rebuilt=is_rebuild, skills=kept),
        )
        generation = stage.publish()
    restart = changed_under(generation, environment=environment)
    return replace(result, generation=generation, restart=restart)


def _refuse_loss(task: Task, *, filled: Filled) -> None:
    """What was asked for was the same again, not less of it."""
    for item in task.wanted:
        if not _is_in(task.record, item.key) or item.key in filled.present:
            continue
        failure = filled.failed.get(item.key) or task.plan.failed.get(item.key)
        why = "" if failure is None else f": {failure.reason}"
        error = InstallError(
            f"the environment was not rebuilt, because {item.skill.name} would be "
            f"missing{why}",
            fix=RETRY_FIX if failure is None else failure.fix,
        )
        error.add_note("" if failure is None else failure.log)
        raise error


def _refused(task: Task, *, filled: Filled, broken: Sequence[str]) -> Filled:
    """The old generation is kept: whoever wanted the new one fails, nobody else."""
    names = {item.key: item.skill.name for item in task.wanted}
    beside = ", ".join(names[key] for key in broken)
    otherwise = Failure(
        reason=f"it cannot be installed beside {beside}",
        fix=f"relax what it requires, then {RETRY_FIX}",
    )
    keys = [step.wanted.key for step in task.plan.steps]
    return Filled(
        failed={key: filled.failed.get(key, otherwise) for key in keys},
        cut_off=filled.cut_off,
    )


def _verify(generation: Generation, *, environment: Environment) -> None:
    """A kernel can start in it."""
    process.run(
        [generation.python, "-c", "import ipykernel.kernelapp, prime_skills_ext, rlm"],
        cwd=environment.root,
        timeout_s=VERIFY_TIMEOUT_S,
    )


def _last_record(environment: Environment) -> Record:
    """The record of the current generation, even if that is not well any more."""
    last = pointed(environment.root)
    return Record() if last is None else records.read(last.record)
