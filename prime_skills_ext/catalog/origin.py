"""What may run on behalf of a skill, by where it came from. Pure."""

from __future__ import annotations

from typing import Final

from prime_skills_ext.catalog.sources import Source, SourceKind
from prime_skills_ext.catalog.status import SkillStatus

__all__ = ["is_remote", "may_run_commands"]

#: Nobody here wrote or read what arrives with a package, whatever its folder claims.
_REMOTE: Final[frozenset[SourceKind]] = frozenset({"package"})


def is_remote(source: Source) -> bool:
    """Say whether what a source holds arrived with a package."""
    return source.kind in _REMOTE


def may_run_commands(status: SkillStatus) -> bool:
    """Say whether a skill's inline shell and hooks may run.

    Only those of built-in, user and trusted local skills may.
    """
    if not status.is_trusted or status.state == "untrusted":
        return False
    return not is_remote(status.source)
