"""The packages that skills of the reference system may import without declaring them.

Its environment always holds twelve packages (``reference`` section 3.3), so skills
written for it often leave them out. Ours is empty: an import that fails for one of
them says which requirement to add, once. Nothing else is guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from prime_skills_ext.environment.fingerprint import package_path
from prime_skills_ext.environment.record import Record
from prime_skills_ext.later import later
from prime_skills_ext.skill.model import Diagnostic, Skill

if TYPE_CHECKING:
    from prime_skills_ext.skill import distributions
else:
    distributions = later("prime_skills_ext.skill.distributions")  # asked by failures

__all__ = ["find_undeclared", "undeclared_notes"]


def find_undeclared(
    errors: Mapping[Path, BaseException],
) -> dict[Path, tuple[str, ...]]:
    """Return the requirement that each failed import lacks, where it is one of them.

    Args:
        errors: The exception that an import ended with, by identity of the skill.
    """
    found: dict[Path, tuple[str, ...]] = {}
    for identity, error in errors.items():
        name = getattr(error, "name", None)
        if not isinstance(error, ModuleNotFoundError) or not isinstance(name, str):
            continue
        requirement = distributions.DEFAULT_PACKAGES.get(name.partition(".")[0])
        if requirement is not None:
            found[identity] = (requirement,)
    return found


def undeclared_notes(
    skills: Iterable[Skill], *, record: Record, added: Iterable[Path] = ()
) -> tuple[Diagnostic, ...]:
    """Say which skills import what they do not declare.

    Args:
        skills: The skills of this kernel.
        record: What was installed, and what was added to it.
        added: Identities of the skills for which something was added just now; only
            these are worth a warning, the others were told before.
    """
    now = set(added)
    extra = {key: item.extra for key, item in record.skills.items() if item.extra}
    if not extra:
        return ()
    return tuple(
        Diagnostic(
            code="undeclared-requirement",
            message=f"{skill.name} imports what it does not declare: "
            f"{', '.join(requirements)} was installed for it",
            fix="add it to `dependencies` in the skill's pyproject.toml",
            severity="warning" if skill.identity in now else "info",
            path=skill.python.pyproject,
        )
        for skill in skills
        if skill.python is not None
        and (requirements := extra.get(package_path(skill.python)))
    )
