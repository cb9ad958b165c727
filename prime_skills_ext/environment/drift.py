"""Find what was changed behind our back, so that a skill's requirement is not met.

A load trusts time stamps; this looks at every requirement of every installed skill,
over both environments. Reads metadata; changes nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from prime_skills_ext.environment import closure
from prime_skills_ext.environment import record as records
from prime_skills_ext.environment.assessment import look
from prime_skills_ext.environment.closure import Gap, Index
from prime_skills_ext.environment.facts import OURS
from prime_skills_ext.environment.fingerprint import (
    kernel_paths,
    package_path,
    stamp,
)
from prime_skills_ext.environment.plan import parse_requirements
from prime_skills_ext.environment.record import SkillRecord
from prime_skills_ext.environment.venv import Environment, Generation
from prime_skills_ext.skill.model import Skill

__all__ = ["Drift", "find_drift"]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Drift:
    """A requirement of an installed skill that was met and is not any more.

    Attributes:
        skill: Name of the skill.
        reason: What it needs, through what, and what is there instead, and where.
        fix: What to do about it.
    """

    skill: str
    reason: str
    fix: str


def find_drift(
    skills: Sequence[Skill], *, environment: Environment, generation: Generation
) -> tuple[Drift, ...]:
    """Check the requirements of the installed ones among ``skills``.

    Args:
        skills: The selected skills.
        environment: What they are installed in.
        generation: The generation that is used here.
    """
    record = records.read(generation.record)
    kernel = (
        ()
        if environment.mode == "own"
        else kernel_paths(apart_from=environment.base or environment.root)
    )
    index = look(kernel, generation=generation)
    ours = OURS | {one.project for one in record.skills.values() if one.project}
    is_seen = record.site != stamp(generation.site_packages)
    return tuple(
        _drift(skill, gap=gap, is_seen=is_seen)
        for skill in skills
        if skill.python is not None
        and (known := record.skills.get(package_path(skill.python))) is not None
        and known.state != "failed"
        for gap in _gaps(known, index=index, ours=ours)
    )


def _gaps(known: SkillRecord, *, index: Index, ours: frozenset[str]) -> tuple[Gap, ...]:
    wanted = parse_requirements((*known.requirements, *known.extra))
    return closure.gaps(wanted, index=index, ignore=ours)


def _drift(skill: Skill, *, gap: Gap, is_seen: bool) -> Drift:
    through = f" (through {' → '.join(gap.chain)})" if gap.chain else ""
    bare = f"{gap.requirement.name}{gap.requirement.specifier}"
    there = "which is not there any more"
    # a load notices what changes a directory; what does not is built anew
    fix = "%reload_skills" if is_seen else "%skill env rebuild"
    if gap.found is not None:
        there = f"and {gap.found.name} {gap.found.version} is at"
        there += f" {gap.found.path.parent}"
        if gap.found.is_kernels:
            fix = f"uv pip install --python {sys.executable} '{bare}'"
    return Drift(
        skill=skill.name,
        reason=f"it needs {bare}{through}, {there}",
        fix=f"{fix}, then restart the kernel",
    )
