"""How skills stand with what is installed now. Reads metadata; installs nothing."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import final

from prime_skills_ext.catalog.looking import is_file
from prime_skills_ext.environment import closure
from prime_skills_ext.environment.closure import Gap, Index, Installed
from prime_skills_ext.environment.facts import OURS, Request
from prime_skills_ext.environment.fingerprint import kernel_paths
from prime_skills_ext.environment.plan import (
    Failure,
    Wanted,
    needs,
    plan_installs,
    spread_failures,
)
from prime_skills_ext.environment.record import Record, SkillRecord
from prime_skills_ext.environment.venv import Generation
from prime_skills_ext.environment.wanted import names_of, read_wanted
from prime_skills_ext.skill.model import Diagnostic

__all__ = [
    "Assessment",
    "assess",
    "check",
    "conflict",
    "find_gaps",
    "gone",
    "is_loaded",
    "is_readable",
    "look",
]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Assessment:
    """How skills stand, by identity.

    Attributes:
        failed: Whose requirements are not met.
        known: What the record says about those that are installed.
        notes: What somebody should know.
    """

    failed: Mapping[Path, Failure] = field(default_factory=dict)
    known: Mapping[Path, SkillRecord] = field(default_factory=dict)
    notes: tuple[Diagnostic, ...] = ()


def assess(
    request: Request,
    *,
    generation: Generation | None,
    record: Record,
    otherwise: Failure,
) -> Assessment:
    """Who could work as things are.

    Args:
        request: Which skills, and where.
        generation: What is there.
        record: What is known about it.
        otherwise: Why whoever lacks something cannot be helped.
    """
    wanted = read_wanted(request.skills, record=record, extra=request.extra)
    paths: tuple[Path, ...] = ()
    if request.environment.mode != "own":
        root = request.environment.base or request.environment.root
        paths = kernel_paths(apart_from=root)
    index = look(paths, generation=generation)
    wanted = check(wanted, index=index)
    plan = plan_installs(
        wanted,
        record=record,
        unavailable=names_of(request.unavailable),
        gone=gone(record),
        retry=True,  # what failed for want of a network may be there by now
    )
    failed = dict(plan.failed)
    for item in wanted:
        if item.key in failed:
            continue
        found = find_gaps(item, wanted=wanted, index=index)
        if found or not _is_settled(item, record=record):
            missing = ", ".join(str(gap.requirement) for gap in found)
            reason = f"it needs {missing}; {otherwise.reason}" if missing else None
            failed[item.key] = otherwise._replace(reason=reason or otherwise.reason)
    spread_failures(wanted, siblings=plan.siblings, failed=failed)
    return Assessment(
        failed={
            item.skill.identity: failed[item.key]
            for item in wanted
            if item.key in failed
        },
        known={
            item.skill.identity: record.skills[item.key]
            for item in wanted
            if item.key in plan.unchanged and item.key not in failed
        },
        notes=plan.notes,
    )


def look(kernel: Sequence[Path], *, generation: Generation | None) -> Index:
    """Everything that is installed in the kernel and in the generation."""
    site = [] if generation is None else [generation.site_packages]
    return closure.index(kernel=kernel, environment=site)


def check(wanted: Sequence[Wanted], *, index: Index) -> tuple[Wanted, ...]:
    """Mark those that contradict the kernel's own packages."""
    return tuple(
        item
        if item.problem is not None
        else replace(
            item,
            problem=conflict(item, gaps=find_gaps(item, wanted=wanted, index=index)),
        )
        for item in wanted
    )


def find_gaps(
    item: Wanted, *, wanted: Sequence[Wanted], index: Index
) -> tuple[Gap, ...]:
    """What a skill needs of others, skills and ours apart, and does not find."""
    skills = {one.name for one in wanted}
    return closure.gaps(needs(item), index=index, ignore=OURS | skills)


def conflict(item: Wanted, *, gaps: Sequence[Gap]) -> Failure | None:
    """Why the kernel as it is cannot serve a skill, if it cannot."""
    for gap in gaps:
        if gap.found is None or not gap.found.is_kernels:
            continue
        through = f" (through {' → '.join(gap.chain)})" if gap.chain else ""
        bare = f"{gap.requirement.name}{gap.requirement.specifier}"
        return Failure(
            reason=f"skill {item.skill.name} needs {bare}{through}, the kernel has "
            f"{gap.found.name} {gap.found.version}{_loaded(gap.found)} at "
            f"{gap.found.path.parent}",
            fix=f"uv pip install --python {sys.executable} '{bare}', then restart the "
            f"kernel; or relax it in the pyproject.toml of {item.skill.name}",
        )
    return None


def _loaded(found: Installed) -> str:
    return " loaded" if is_loaded(found) else ""


def is_loaded(found: Installed) -> bool:
    """Whether this process has imported something of a distribution."""
    site = found.path.parent
    files = PathDistribution(found.path).files or ()
    tops = {path.parts[0].partition(".")[0] for path in files if path.suffix == ".py"}
    modules = (sys.modules.get(top) for top in tops)
    return any(
        (file := getattr(module, "__file__", None)) and Path(file).is_relative_to(site)
        for module in modules
    )


def gone(record: Record) -> tuple[str, ...]:
    """Keys of the record whose folders no longer exist."""
    return tuple(
        key for key, skill in record.skills.items() if not is_file(skill.pyproject_path)
    )


def is_readable(item: Wanted) -> bool:
    """Whether its requirements are known without its build backend."""
    project = item.project
    return (
        project is not None
        and project.name is not None
        and "dependencies" not in project.dynamic
    )


def _is_settled(item: Wanted, *, record: Record) -> bool:
    """Whether its requirements are known, from its metadata or from the record."""
    if is_readable(item):
        return True
    known = record.skills.get(item.key)
    return (
        known is not None
        and known.state == "installed"
        and known.fingerprint == item.fingerprint
    )
