"""What may run on behalf of a skill, by where it came from. Pure."""

from __future__ import annotations

from typing import Final

from prime_skills_ext.catalog.sources import Source, SourceKind
from prime_skills_ext.catalog.status import SkillStatus
from prime_skills_ext.skill.model import Skill

__all__ = ["is_remote", "may_run_commands"]

#: Nobody here wrote or read what arrives with a package, whatever its folder claims.
_REMOTE: Final[frozenset[SourceKind]] = frozenset({"package"})
#: Folders that package managers fill; a link to what lies there, or a setting that
#: names it, makes nobody its author.
_FILLED: Final = frozenset({"site-packages", "dist-packages", "node_modules"})


def is_remote(skill: Skill, *, source: Source) -> bool:
    """Say whether a skill arrived with a package, whatever way it was found.

    Args:
        skill: The skill.
        source: Where it was found.
    """
    if source.kind == "builtin":
        return False  # this package is one, too
    return source.kind in _REMOTE or not _FILLED.isdisjoint(skill.identity.parts)


def may_run_commands(status: SkillStatus) -> bool:
    """Say whether a skill's inline shell and hooks may run.

    Only those of built-in, user and trusted local skills may.
    """
    if not status.is_trusted or status.state == "untrusted":
        return False
    return not is_remote(status.skill, source=status.source)
