"""The instructions of a skill, read when somebody asks and kept by nobody."""

from __future__ import annotations

from typing import Final

from prime_skills_ext.catalog.reading import explain, read_file
from prime_skills_ext.errors import PrimeSkillsError
from prime_skills_ext.skill import frontmatter
from prime_skills_ext.skill.model import Skill

__all__ = ["read_body"]

#: How much of a skill's file is read at most.
_MAX_BYTES: Final = 1 << 24


def read_body(skill: Skill) -> str:
    """Return what follows a skill's header as it is on the disk now, trimmed.

    Raises:
        PrimeSkillsError: Its file cannot be read.
    """
    try:
        data = read_file(skill.path, limit=_MAX_BYTES)
    except OSError as error:
        raise PrimeSkillsError(
            f"the instructions of {skill.name} cannot be read: {explain(error)}",
            fix="put the file back, then run %reload_skills",
            path=skill.path,
        ) from error
    return frontmatter.parse(data, path=skill.path).body
