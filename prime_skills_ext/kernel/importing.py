"""The way a skill's code enters the kernel: one finder per process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import final

from prime_skills_ext.catalog.status import Problem
from prime_skills_ext.skill.model import Diagnostic

__all__ = ["Refusal", "SkillFinder"]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """An import name that must not be imported.

    Attributes:
        problem: Said by the ``ImportError``.
        src: Where the refused code lies. A module of that name found anywhere
            else is left alone; ``None`` refuses the name wherever it is found.
    """

    problem: Problem
    src: Path | None = None


@final
class SkillFinder(MetaPathFinder):
    """Maps import names to the ``src`` of the skills that won them.

    One per process; each shell acquires it and releases it. ``Binder`` does both.
    """

    @classmethod
    def acquire(cls, owner: object) -> SkillFinder:
        """Put the finder at the front of ``sys.meta_path`` for ``owner``."""
        raise NotImplementedError

    @classmethod
    def release(cls, owner: object) -> None:
        """Forget what ``owner`` served; the last one takes the finder away."""
        raise NotImplementedError

    def serve(
        self,
        owner: object,
        *,
        names: Mapping[str, Path],
        refused: Mapping[str, Refusal] | None = None,
    ) -> tuple[Diagnostic, ...]:
        """Replace what ``owner`` serves; clashes of other top-level names come back."""
        raise NotImplementedError
