"""Pure: what has to be done so that the environment holds what is selected.

Compares the selection with the record as a set; the order of either never matters.
Touches no disk and starts nothing: what the disk says comes in as ``Wanted``.
"""

from __future__ import annotations

import graphlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from prime_skills_ext.environment.failure import RETRY_FIX, Failure
from prime_skills_ext.environment.record import Record, SkillRecord
from prime_skills_ext.skill.model import Diagnostic, Skill
from prime_skills_ext.skill.pyproject import Project

__all__ = [
    "RETRY_FIX",
    "Failure",
    "InstallPlan",
    "Step",
    "Wanted",
    "is_current",
    "needs",
    "parse_requirements",
    "plan_installs",
    "required_names",
    "spread_failures",
]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """A selected skill, with what its files say.

    Attributes:
        skill: The skill; Python-backed.
        key: Its package path, as in the record.
        pyproject_hash: Of its ``pyproject.toml``.
        fingerprint: Of all its inputs; ``None`` if they cannot be read.
        project: Its metadata; ``None`` if that cannot be read.
        extra: Requirements added for imports that it does not declare.
        problem: What can be told without uv, if something is wrong.
    """

    skill: Skill
    key: str
    pyproject_hash: str
    fingerprint: str | None
    project: Project | None
    extra: tuple[str, ...] = ()
    problem: Failure | None = None

    @property
    def name(self) -> str:
        """Canonical name of its distribution."""
        declared = None if self.project is None else self.project.name
        return canonicalize_name(declared or self.skill.import_name)


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One skill that has to be installed.

    Attributes:
        wanted: The skill.
        siblings: Keys of the selected skills that it requires.
    """

    wanted: Wanted
    siblings: tuple[str, ...] = ()


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class InstallPlan:
    """What to do.

    Attributes:
        steps: What to install, dependencies first.
        unchanged: Keys that are installed as they are.
        stale: Keys of the record whose folders are gone.
        failed: Keys that cannot be installed, or failed before and did not change.
        siblings: Key to the keys that it requires, for every selected skill.
        notes: What somebody should know.
    """

    steps: tuple[Step, ...] = ()
    unchanged: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    failed: Mapping[str, Failure] = field(default_factory=dict)
    siblings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[Diagnostic, ...] = ()


def plan_installs(
    wanted: Sequence[Wanted],
    *,
    record: Record,
    unavailable: Mapping[str, str] | None = None,
    gone: Collection[str] = (),
    retry: bool = False,
    tool: str = "",
    again: Collection[str] = (),
) -> InstallPlan:
    """Decide what to install.

    Args:
        wanted: The selected Python-backed skills, highest precedence first.
        record: What is installed.
        unavailable: Distribution names of skills that exist but are not selected,
            with the skill's name.
        gone: Keys of the record whose folders no longer exist.
        retry: Try again what failed before.
        tool: Identity of the uv that would be used.
        again: Keys that have to be installed whatever the record says.
    """
    failed: dict[str, Failure] = {}
    by_name = _by_name(wanted, failed=failed)
    missing = {**_names_of(gone, record=record), **(unavailable or {})}
    siblings: dict[str, tuple[str, ...]] = {}
    for item in wanted:
        first = by_name[item.name]
        # who shares the name of another waits for that one, in the record too
        siblings[item.key] = (
            _siblings(item, by_name=by_name, missing=missing, failed=failed)
            if first is item
            else (first.key,)
        )
    changed = {
        item.key
        for item in wanted
        if item.key not in failed
        and (
            item.key in again
            or not is_current(item, siblings[item.key], record, retry=retry, tool=tool)
        )
    }
    _remember(wanted, record=record, changed=changed, siblings=siblings, failed=failed)
    spread_failures(wanted, siblings=siblings, failed=failed)
    todo = [item for item in wanted if item.key in changed and item.key not in failed]
    order, notes = _order(todo, siblings=siblings)
    return InstallPlan(
        steps=tuple(Step(wanted=item, siblings=siblings[item.key]) for item in order),
        unchanged=tuple(
            item.key
            for item in wanted
            if item.key not in changed and item.key not in failed
        ),
        stale=tuple(sorted(gone)),
        failed=failed,
        siblings=siblings,
        notes=notes,
    )


def needs(item: Wanted) -> tuple[Requirement, ...]:
    """What a skill requires here: declared, added, and with markers that apply."""
    declared = () if item.project is None else item.project.dependencies
    every = (*declared, *parse_requirements(item.extra))
    return tuple(
        requirement
        for requirement in every
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""})
    )


def parse_requirements(lines: Iterable[str]) -> tuple[Requirement, ...]:
    """Requirements out of text; what is none is left out."""
    found = []
    for line in lines:
        try:
            found.append(Requirement(line))
        except InvalidRequirement:
            continue
    return tuple(found)


def required_names(lines: Iterable[str]) -> tuple[str, ...]:
    """Canonical names of the distributions that requirements in text name."""
    return tuple(canonicalize_name(item.name) for item in parse_requirements(lines))


def is_current(
    item: Wanted,
    siblings: Collection[str],
    record: Record,
    *,
    retry: bool,
    tool: str,
) -> bool:
    """Whether the record already says all there is to say about a skill.

    Args:
        item: The skill.
        siblings: Keys of the selected skills that it requires.
        record: What is installed, or failed before.
        retry: A failure counts as nothing said.
        tool: Identity of the uv at hand; another one may succeed where one failed.
    """
    known = record.skills.get(item.key)
    if known is None or item.fingerprint is None:
        return False
    if known.fingerprint != item.fingerprint or set(known.siblings) != set(siblings):
        return False
    if known.state == "installed":
        return True
    return not retry and known.tool == tool


def spread_failures(
    wanted: Iterable[Wanted],
    *,
    siblings: Mapping[str, Sequence[str]],
    failed: dict[str, Failure],
) -> None:
    """Let whatever requires a failed skill fail because of it.

    Args:
        wanted: The selected skills.
        siblings: Key to the keys that it requires.
        failed: By key; grows.
    """
    items = {item.key: item for item in wanted}
    grew = True
    while grew:
        grew = False
        for key in items:
            cause = next((one for one in siblings[key] if one in failed), None)
            if cause is None or key in failed:
                continue
            name = items[cause].skill.name
            failed[key] = Failure(
                reason=f"because {name} failed: {failed[cause].reason}",
                fix=failed[cause].fix,
                log=failed[cause].log,
            )
            grew = True


def _by_name(
    wanted: Iterable[Wanted], *, failed: dict[str, Failure]
) -> dict[str, Wanted]:
    names: dict[str, Wanted] = {}
    for item in wanted:
        first = names.setdefault(item.name, item)
        if item.problem is not None:
            failed[item.key] = item.problem
        elif first is not item:
            failed[item.key] = Failure(
                reason=f"its project name {item.name} is also the one of "
                f"the skill {first.skill.name}",
                fix=f"change [project] name in {item.skill.directory.name}"
                "/pyproject.toml",
            )
    return names


def _names_of(gone: Iterable[str], *, record: Record) -> dict[str, str]:
    skills: list[SkillRecord] = [
        record.skills[key] for key in gone if key in record.skills
    ]
    return {skill.project: skill.import_name for skill in skills if skill.project}


def _siblings(
    item: Wanted,
    *,
    by_name: Mapping[str, Wanted],
    missing: Mapping[str, str],
    failed: dict[str, Failure],
) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for requirement in needs(item):
        name = canonicalize_name(requirement.name)
        if name in by_name:
            if by_name[name] is not item:
                found[by_name[name].key] = None
        elif name in missing and item.key not in failed:
            failed[item.key] = Failure(
                reason=f"it requires the skill {missing[name]}, which is not "
                "available here",
                fix=f"%skill show {missing[name]}",
            )
    return tuple(found)


def _remember(
    wanted: Iterable[Wanted],
    *,
    record: Record,
    changed: set[str],
    siblings: Mapping[str, Sequence[str]],
    failed: dict[str, Failure],
) -> None:
    """Carry over what failed before; but look again if a required skill changed."""
    for item in wanted:
        known = record.skills.get(item.key)
        if item.key in changed or item.key in failed or known is None:
            continue
        if known.state != "failed":
            continue
        if any(key in changed for key in siblings[item.key]):
            changed.add(item.key)
            continue
        failed[item.key] = Failure(reason=known.reason, fix=known.fix, log=known.log)


def _order(
    items: Sequence[Wanted], *, siblings: Mapping[str, Sequence[str]]
) -> tuple[list[Wanted], tuple[Diagnostic, ...]]:
    by_key = {item.key: item for item in items}
    graph = {
        key: [one for one in siblings[key] if one in by_key] for key in sorted(by_key)
    }
    sorter = graphlib.TopologicalSorter(graph)
    try:
        sorter.prepare()
    except graphlib.CycleError as error:
        names = [by_key[key].skill.name for key in error.args[1]]
        note = Diagnostic(
            code="dependency-cycle",
            message=f"skills require each other in a circle: {' → '.join(names)}; "
            "they are installed together, in the order of their paths",
            fix="remove one of these dependencies",
            path=by_key[error.args[1][0]].skill.directory,
        )
        return [by_key[key] for key in sorted(by_key)], (note,)
    order: list[Wanted] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        order += [by_key[key] for key in ready]
        sorter.done(*ready)
    return order, ()
