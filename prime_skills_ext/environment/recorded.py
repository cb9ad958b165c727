"""Whether what a record says of the selected skills is still true.

The question of every start, so it compares digests only: nothing is parsed, and what
parses is not loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prime_skills_ext.catalog.looking import real_paths
from prime_skills_ext.environment import record as records
from prime_skills_ext.environment.facts import is_inside
from prime_skills_ext.environment.fingerprint import fingerprint, pyproject_hash
from prime_skills_ext.environment.record import Record, SkillRecord
from prime_skills_ext.environment.venv import RECORD_NAME, Generation
from prime_skills_ext.later import later
from prime_skills_ext.skill.model import Skill

if TYPE_CHECKING:
    from prime_skills_ext.environment import plan
else:
    plan = later("prime_skills_ext.environment.plan")  # asked about what has failed

__all__ = ["borrowed", "linked", "recorded"]


def linked(
    generation: Generation | None, *, is_own: bool
) -> Mapping[str, tuple[SkillRecord, ...]]:
    """The skills whose links may be on ``sys.path``, by import name.

    Args:
        generation: What is used.
        is_own: This process runs in a generation of ours, which may be another one:
            a project's environment is overlaid on it.
    """
    places = {Path(sys.prefix) / RECORD_NAME} if is_own else set()
    places |= {generation.record} if generation is not None else set()
    found: dict[str, tuple[SkillRecord, ...]] = {}
    for place in places:
        for known in records.read(place).skills.values():
            found[known.import_name] = (*found.get(known.import_name, ()), known)
    return found


def borrowed(
    generation: Generation | None, links: Mapping[str, tuple[SkillRecord, ...]]
) -> tuple[Path, ...]:
    """Folders on ``sys.path`` that do not belong to what the kernel itself has."""
    every = (known for them in links.values() for known in them)
    folders = tuple(Path(known.package_path) / "src" for known in every)
    # where the kernel runs inside it, its packages are the kernel's own
    if generation is None or is_inside(generation):
        return folders
    return (*folders, generation.site_packages)


def recorded(
    skills: Sequence[Skill],
    *,
    record: Record,
    extra: Mapping[Path, tuple[str, ...]],
) -> dict[Path, SkillRecord] | None:
    """What the record says about each skill, if it is still true for all of them.

    Compares digests only: nothing is parsed, so that a warm start stays cheap.

    Args:
        skills: The selected ones.
        record: What is installed.
        extra: Identity to requirements that it needs and does not declare.

    Returns:
        By identity; ``None`` as soon as one of them is new, changed, or stood on
        skills that are not there any more.
    """
    found: dict[Path, SkillRecord] = {}
    packages = [(skill, skill.python) for skill in skills if skill.python is not None]
    keys = real_paths(package.directory for _, package in packages)
    for (skill, package), key in zip(packages, keys, strict=True):
        known = record.skills.get(key)
        if known is None or known.import_name != package.import_name:
            return None
        if not set(extra.get(skill.identity, ())) <= set(known.extra):
            return None
        mark = fingerprint(
            package,
            pyproject_hash=pyproject_hash(package),
            inputs=known.inputs,
            extra=known.extra,
            key=key,
        )
        if mark is None or mark != known.fingerprint:
            return None
        found[skill.identity] = known
    return found if _stands(found.values()) else None


def _stands(known: Collection[SkillRecord]) -> bool:
    """Whether the selection leaves what was said about each skill true."""
    here = {skill.package_path for skill in known}
    if not all(here.issuperset(skill.siblings) for skill in known):
        return False
    projects = {skill.project: skill.package_path for skill in known}
    for skill in known:
        if skill.state != "failed":
            continue
        # it may have failed because a skill was missing that is here now
        for name in plan.required_names(skill.requirements):
            provider = projects.get(name)
            if provider not in {None, skill.package_path, *skill.siblings}:
                return False
    return True
