"""Reloading: what changed on disk takes effect in place, or not at all.

It owns change detection and the transaction. It binds no names.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import final

__all__ = ["ReloadReport"]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class ReloadReport:
    """What ``%reload_skills`` did, by skill name.

    Its repr is one line, such as ``+1 word-count ~1 edit !1 broken``.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything happened; an empty report is returned as ``None``."""
        return bool(self.added or self.changed or self.removed or self.failed)

    @classmethod
    def between(
        cls,
        before: Mapping[str, object],
        after: Mapping[str, object],
        *,
        changed: Collection[str] = (),
        failing: Collection[str] = (),
    ) -> ReloadReport:
        """Compare two pictures of the skills.

        Args:
            before: Name to anything comparable (a ``SkillStatus`` will do).
            after: The same, now.
            changed: Names whose code was executed again.
            failing: Names that are stale, or whose install or import failed, now.
        """
        raise NotImplementedError
