"""Write down what was installed, and say what it means for each selected skill.

The one place that turns the outcome of a batch into the record. Installs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

from prime_skills_ext.environment import record as records
from prime_skills_ext.environment.facts import Facts, Request
from prime_skills_ext.environment.filling import Filled
from prime_skills_ext.environment.fingerprint import stamp
from prime_skills_ext.environment.plan import (
    Failure,
    InstallPlan,
    Wanted,
    spread_failures,
)
from prime_skills_ext.environment.record import Record, SkillRecord
from prime_skills_ext.environment.uv import Uv
from prime_skills_ext.environment.venv import Generation
from prime_skills_ext.skill.model import Diagnostic

__all__ = ["Renewal", "Task", "settle"]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """Everything that is known before anything is done.

    Attributes:
        request: What was asked for.
        world: What surrounds the environment.
        uv: What installs.
        wanted: The selected skills, read.
        plan: What to do about them.
        record: What was there.
        reachable: Keys of those that can be imported as things are.
    """

    request: Request
    world: Facts
    uv: Uv
    wanted: tuple[Wanted, ...]
    plan: InstallPlan
    record: Record
    reachable: frozenset[str]


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


def settle(
    task: Task, *, generation: Generation, filled: Filled, record: Record
) -> Renewal:
    """Write down what is so now, and say it.

    Args:
        task: What was known before.
        generation: What is current, or about to be.
        filled: What came of the batch.
        record: What is written about ``generation`` so far.

    Raises:
        OSError: The disk does not take the record.
    """
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
        rebuilt=record.rebuilt,
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
    task: Task,
    filled: Filled,
    failed: Mapping[str, Failure],
    lenient: Mapping[str, Failure],
) -> SkillRecord | None:
    """What to write about one selected skill; ``None`` leaves what is written."""
    siblings = task.plan.siblings[item.key]
    if item.key in filled.entries and item.key not in failed:
        return filled.entries[item.key]._replace(
            siblings=siblings, tool=task.uv.identity
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
