"""Paths that a person names: what they mean here, and whether skills are there."""

from __future__ import annotations

import os
from pathlib import Path

from prime_skills_ext.catalog.discovery import discover
from prime_skills_ext.catalog.looking import expanded
from prime_skills_ext.catalog.places import Places
from prime_skills_ext.catalog.sources import find_sources
from prime_skills_ext.errors import PrimeSkillsError

__all__ = ["absolute_path", "check_skills_at", "no_skill_in"]


def check_skills_at(path: Path, *, places: Places) -> None:
    """Make sure that a path holds skills.

    Raises:
        PrimeSkillsError: It holds none, or what it holds is wrong.
    """
    sources, problems = find_sources(places, explicit=[path], environ={})
    found = discover(item for item in sources if item.kind == "explicit")
    if found.candidates:
        return
    for problem in (*problems, *found.diagnostics):
        if problem.severity != "info":
            # nothing was added that a reload could take up
            fix = "correct the path" if problem in problems else problem.fix
            raise PrimeSkillsError(problem.message, fix=fix, path=path)
    raise no_skill_in(path, path=path)


def no_skill_in(shown: str | Path, *, path: Path) -> PrimeSkillsError:
    """Make the error of a path that holds no skill.

    Args:
        shown: The path as it was given.
        path: The absolute one.
    """
    return PrimeSkillsError(
        f"there is no skill in {shown}",
        fix="name a folder that holds SKILL.md, or a folder of such folders",
        path=path,
    )


def absolute_path(path: Path) -> Path:
    """Return the path that a person means here, links as they spell them.

    Raises:
        PrimeSkillsError: It is relative to a directory that was deleted.
    """
    try:
        # resolve() would replace the links that the user knows the folder by
        return Path(os.path.abspath(expanded(path)))  # noqa: PTH100
    except OSError as error:
        raise PrimeSkillsError(
            f"{path} means nothing: the working directory was deleted",
            fix="%cd to another folder, or write the whole path",
            path=path,
        ) from error
