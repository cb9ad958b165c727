"""Bring an environment up to date, under its lock.

Adds to the current generation where adding is enough; where something would have to
be replaced it builds the next one beside it. What works is never made worse: the old
generation stays current until the new one has been verified.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import final

from prime_skills_ext import process
from prime_skills_ext.environment import record as records
from prime_skills_ext.environment.activation import active
from prime_skills_ext.environment.apply import Item
from prime_skills_ext.environment.assessment import (
    check,
    find_gaps,
    gone,
    is_readable,
    look,
)
from prime_skills_ext.environment.facts import Facts, Request, facts, is_inside
from prime_skills_ext.environment.filling import Filled, Filling, lines_of
from prime_skills_ext.environment.fingerprint import stamp
from prime_skills_ext.environment.generations import prune, staged
from prime_skills_ext.environment.plan import (
    Failure,
    InstallPlan,
    Wanted,
    plan_installs,
    spread_failures,
)
from prime_skills_ext.environment.record import Record, SkillRecord
from prime_skills_ext.environment.uv import Uv
from prime_skills_ext.environment.venv import (
    CURRENT,
    Environment,
    Generation,
    current,
    generation_at,
)
from prime_skills_ext.environment.wanted import names_of, read_wanted
from prime_skills_ext.errors import InstallError
from prime_skills_ext.skill.model import Diagnostic

__all__ = ["Renewal", "renew"]

VERIFY_TIMEOUT_S = 60.0


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Renewal:
    """What was done.

    Attributes:
        generation: What is current now.
        record: What it holds.
        keys: Identity to key of the selected skills.
        installed: Identities that were installed anew.
        failed: Identities that were not, and why.
        restart: Distributions that this process uses in another version.
        notes: What somebody should know.
    """

    generation: Generation
    record: Record
    keys: Mapping[Path, str] = field(default_factory=dict)
    installed: tuple[Path, ...] = ()
    failed: Mapping[Path, Failure] = field(default_factory=dict)
    restart: tuple[str, ...] = ()
    notes: tuple[Diagnostic, ...] = ()


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
        if not task.plan.steps:
            return _settle(task, generation=generation, filled=Filled(), record=record)
        filled = _fill(task, generation=generation, is_new=False)
        if not filled.needs_replacement:
            return _settle(task, generation=generation, filled=filled, record=record)
    return _replace(task, old=generation if is_fit else None, record=record)


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class _Task:
    """Everything that is known before anything is done."""

    request: Request
    world: Facts
    uv: Uv
    wanted: tuple[Wanted, ...]
    plan: InstallPlan
    record: Record
    is_rebuild: bool
    reachable: frozenset[str]


def _plan(
    request: Request,
    *,
    world: Facts,
    uv: Uv,
    record: Record,
    usable: Generation | None,
) -> _Task:
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
    return _Task(
        request=request,
        world=world,
        uv=uv,
        wanted=wanted,
        plan=plan,
        record=record,
        is_rebuild=usable is None,
        reachable=frozenset(content),
    )


def _is_in(record: Record, key: str) -> bool:
    known = record.skills.get(key)
    return known is not None and known.state == "installed"


def _fill(task: _Task, *, generation: Generation, is_new: bool) -> Filled:
    """Hand everything to uv: what is new, and what must not break because of it."""
    steps = [step.wanted for step in task.plan.steps]
    task.request.tell(f"installing {len(steps)} skill(s)" if steps else "installing")
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


def _items(task: _Task, *, is_new: bool) -> list[Item]:
    """The batch, highest precedence first; nothing that a step replaces."""
    steps = {step.wanted.key: step for step in task.plan.steps}
    store = task.request.environment.root / "wheels"
    index = look(task.world.kernel_paths, generation=None)
    items: list[Item] = []
    for item in task.wanted:
        if item.key in steps:
            lines = lines_of(item, store=store, wanted=task.wanted, index=index)
            siblings = tuple(
                key for key in steps[item.key].siblings if key not in task.plan.failed
            )
            items.append(
                Item(
                    key=item.key,
                    name=item.name,
                    lines=lines,
                    siblings=siblings,
                    is_built=item.project is not None and not item.project.static,
                )
            )
        elif item.key in task.plan.unchanged:
            known = task.record.skills[item.key]
            items += _recorded(known, is_selected=True, is_new=is_new)
    taken = {item.name for item in task.wanted}
    selected = {item.key for item in task.wanted}
    for key, known in task.record.skills.items():
        if key in selected or key in task.plan.stale or known.project in taken:
            continue
        taken.add(known.project or "")
        items += _recorded(known, is_selected=False, is_new=is_new)
    return items


def _recorded(known: SkillRecord, *, is_selected: bool, is_new: bool) -> list[Item]:
    if known.state != "installed" or known.line is None or known.project is None:
        return []
    return [
        Item(
            key=known.package_path,
            name=known.project,
            lines=(known.line, *known.extra),
            siblings=known.siblings,
            is_installed=not is_new,
            is_selected=is_selected,
        )
    ]


def _replace(task: _Task, *, old: Generation | None, record: Record) -> Renewal:
    """Build the next generation; keep the old one if that gains nothing."""
    environment = task.request.environment
    task.request.tell("making an environment for skills")
    with staged(environment, uv=task.uv, kernel_paths=task.world.kernel_paths) as stage:
        filled = _fill(task, generation=stage.generation, is_new=True)
        if filled.base_failure is not None:
            error = InstallError(
                filled.base_failure.reason, fix=filled.base_failure.fix
            )
            error.add_note(filled.base_failure.log)
            raise error
        if old is not None and not filled.entries:
            return _settle(task, generation=old, filled=filled, record=record)
        if environment.mode == "own":
            _verify(stage.generation, environment=environment)
        kept = {key: one for key, one in record.skills.items() if key in filled.present}
        world = facts(environment) if task.world.is_inside else task.world
        result = _settle(
            replace(task, world=world),
            generation=stage.generation,
            filled=filled,
            record=Record(base=world.base, skills=kept),
        )
        generation = stage.publish()
    prune(environment)
    return replace(result, generation=generation, restart=_restart(generation, old=old))


def _verify(generation: Generation, *, environment: Environment) -> None:
    """A kernel can start in it."""
    process.run(
        [generation.python, "-c", "import ipykernel, prime_skills_ext, rlm"],
        cwd=environment.root,
        timeout_s=VERIFY_TIMEOUT_S,
    )


def _settle(
    task: _Task, *, generation: Generation, filled: Filled, record: Record
) -> Renewal:
    """Write down what is so now, and say it."""
    failed = {**task.plan.failed, **filled.failed}
    lenient = {
        key: failure
        for key, failure in filled.failed.items()
        if key in filled.cut_off and key in task.reachable
    }
    for key in lenient:
        # it has all it needs to be imported; only its command is missing
        del failed[key]
    spread_failures(task.wanted, siblings=task.plan.siblings, failed=failed)
    entries = dict(record.skills)
    for item in task.wanted:
        entry = _entry(item, task=task, filled=filled, failed=failed, lenient=lenient)
        if entry is not None:
            entries[item.key] = entry
    for key in task.plan.stale:
        entries.pop(key, None)
    updated = Record(
        base=record.base if task.world.is_inside else task.world.base,
        kernel=task.world.kernel,
        site=stamp(generation.site_packages),
        runtime_complete=filled.runtime_complete
        if filled.runtime_complete is not None
        else record.runtime_complete,
        skills=entries,
    )
    if updated != record:
        records.write(generation.record, record=updated)
    keys = {item.skill.identity: item.key for item in task.wanted}
    return Renewal(
        generation=generation,
        record=updated,
        keys=keys,
        installed=tuple(one for one, key in keys.items() if key in filled.entries),
        failed={one: failed[key] for one, key in keys.items() if key in failed},
        notes=task.plan.notes,
    )


def _entry(
    item: Wanted,
    *,
    task: _Task,
    filled: Filled,
    failed: Mapping[str, Failure],
    lenient: Mapping[str, Failure],
) -> SkillRecord | None:
    """What to write about one selected skill; ``None`` leaves what is written."""
    siblings = task.plan.siblings[item.key]
    if item.key in filled.entries and item.key not in failed:
        return replace(
            filled.entries[item.key], siblings=siblings, tool=task.uv.identity
        )
    failure = failed.get(item.key) or lenient.get(item.key)
    if failure is None or item.fingerprint is None or item.skill.python is None:
        return None
    project = item.project
    return SkillRecord(
        import_name=item.skill.python.import_name,
        package_path=item.key,
        pyproject_path=str(item.skill.python.pyproject),
        pyproject_hash=item.pyproject_hash,
        fingerprint=item.fingerprint,
        state="failed" if item.key in failed else "partial",
        tool=task.uv.identity,
        project=item.name,
        inputs=() if project is None else project.inputs,
        requirements=() if project is None else tuple(map(str, project.dependencies)),
        extra=item.extra,
        siblings=tuple(key for key in siblings if key in {w.key for w in task.wanted}),
        reason=failure.reason,
        fix=failure.fix,
        log=failure.log,
    )


def _last_record(environment: Environment) -> Record:
    """The record of the current generation, even if that is not well any more."""
    try:
        number = (environment.root / CURRENT).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return Record()
    return records.read(generation_at(environment.root / (number or "0")).record)


def _restart(generation: Generation, *, old: Generation | None) -> tuple[str, ...]:
    """What this process already uses in another version."""
    used = [one for one in active() if one.directory != generation.directory]
    if old is not None and is_inside(old):
        used.append(old)
    new = look((), generation=generation).installed
    changed: set[str] = set()
    for one in used:
        for name, there in look((), generation=one).installed.items():
            if name in new and new[name].version != there.version:
                changed.add(name)
    return tuple(sorted(changed))
