"""What stands before the calls of each skill: whom it is for, and its hooks."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from prime_skills_ext.catalog.discovery import Candidate
from prime_skills_ext.kernel.terms import Guard

__all__ = ["guards"]


def guards(candidates: Iterable[Candidate]) -> dict[Path, Guard]:
    """Return what stands before the calls of some skills, by their ``src``.

    Args:
        candidates: Skills that are trusted.
    """
    found: dict[Path, Guard] = {}
    for candidate in candidates:
        skill = candidate.skill
        if skill.python is not None and skill.disable_model_invocation:
            found[skill.python.src] = Guard(name=skill.name, is_for_people=True)
    return found
