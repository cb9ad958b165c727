"""What ``%skill check`` does: find the skills that are meant, and judge each strictly.

It reads the manager's snapshot for the names and neighbours of skills. It changes
nothing but, when told to, what it is certain of in a ``SKILL.md``.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from prime_skills_ext.catalog.check_report import CheckReport
from prime_skills_ext.catalog.checking import (
    Surroundings,
    Target,
    check_skill,
    find_targets,
    repair_skill,
)
from prime_skills_ext.catalog.distributions import read_distributions
from prime_skills_ext.catalog.looking import expanded, real_path
from prime_skills_ext.catalog.sources import given_source, problem_with
from prime_skills_ext.environment import venv
from prime_skills_ext.errors import PrimeSkillsError, SettingsError
from prime_skills_ext.manager import SkillManager
from prime_skills_ext.named_paths import absolute_path, no_skill_in
from prime_skills_ext.skill.distributions import Distributions

__all__ = ["examine"]

#: Sources whose skills their user wrote, or can at least change.
_OWN: Final = frozenset(
    {"explicit", "project-settings", "project", "user-settings", "user"}
)


def examine(
    manager: SkillManager,
    target: str | None = None,
    *,
    fix: bool = False,
    write: bool = False,
) -> CheckReport:
    """Check skills as their author would want it.

    Args:
        manager: Who knows the skills of this kernel.
        target: A skill's name, a skill's folder or file, or a folder of skills;
            ``None`` means every explicit, project and user skill.
        fix: Also say what can be corrected for certain.
        write: With ``fix``: correct it, and report what is left.

    Raises:
        SettingsError: ``write`` without ``fix``.
        UnknownSkillError: There is neither a skill nor a path of that name.
        PrimeSkillsError: There is no skill at the path, or it cannot be written.
    """
    if write and not fix:
        raise SettingsError(
            "--write writes what --fix shows", fix="use it as: check --fix --write"
        )
    targets = _targets(manager, target)
    changes = tuple(
        change
        for item in targets
        if fix and (change := repair_skill(item, write=write)) is not None
    )
    surroundings = _surroundings(manager, targets)
    report = CheckReport(
        skills=tuple(check_skill(item, surroundings=surroundings) for item in targets),
        changes=changes,
    )
    return replace(report, fix=_next(report, target, fix=fix, write=write))


def _next(
    report: CheckReport, target: str | None, *, fix: bool, write: bool
) -> str | None:
    """Say what to type next, if that would do anything."""
    words = "%skill check" if target is None else f"%skill check {shlex.quote(target)}"
    if fix and report.changes and not write:
        return f"{words} --fix --write"
    is_fixable = any(item.edit is not None for item in report.all_findings())
    return f"{words} --fix" if is_fixable and not fix else None


def _targets(manager: SkillManager, target: str | None) -> tuple[Target, ...]:
    if target is None:
        sources = (x for x in manager.snapshot.sources if x.kind in _OWN)
        found = (item for source in sources for item in find_targets(source))
        return tuple(_once(found))
    if not _is_path(manager, target):
        status = manager.catalogue.get(target)
        path = status.skill.path
        loose = status.skill.content == path
        return (Target(path=path, location=status.location, loose=loose),)
    path = absolute_path(Path(target))
    problem = problem_with(path, text=target, what=f"path `{target}`")
    if problem is not None:
        raise PrimeSkillsError(problem.message, fix=problem.fix, path=path)
    targets = find_targets(given_source(path, kind="explicit", order=0))
    if not targets:
        raise no_skill_in(target, path=path)
    return targets


def _once(targets: Iterator[Target]) -> Iterator[Target]:
    """Yield each file once, however many sources lead to it."""
    seen: set[str] = set()
    for item in targets:
        identity = real_path(item.path)
        if identity not in seen:
            seen.add(identity)
            yield item


def _is_path(manager: SkillManager, target: str) -> bool:
    """Tell a path from a name; what could be both is a name, as elsewhere."""
    separators = {os.sep, os.altsep or os.sep}
    if target.startswith((".", "~")) or separators & set(target):
        # the label of a source may hold a slash: `edit@project:.agents/skills`
        return "@" not in target or os.path.lexists(expanded(target))
    is_name = any(target == item.name for item in manager.catalogue.skills)
    return not is_name and os.path.lexists(target)


def _surroundings(manager: SkillManager, targets: tuple[Target, ...]) -> Surroundings:
    """Gather what a skill may import without bringing it."""
    names = {
        item.skill.import_name for item in manager.catalogue.skills if item.skill.python
    }
    beside = {
        item.path.parent.name.replace("-", "_")
        for item in targets
        if (item.path.parent / "src").is_dir()
    }
    return Surroundings(
        siblings=frozenset(names | beside),
        distributions=_distributions(manager, targets),
    )


def _distributions(manager: SkillManager, targets: tuple[Target, ...]) -> Distributions:
    """Read what is installed, where a skill has requirements to be compared with it."""
    if not any((item.path.parent / "pyproject.toml").is_file() for item in targets):
        return Distributions()
    generation = venv.current(manager.snapshot.environment)
    places = [] if generation is None else [str(generation.site_packages)]
    return read_distributions([*places, *sys.path])
