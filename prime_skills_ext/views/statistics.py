"""The value behind ``%skill stats``: how often each skill was used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

__all__ = ["SkillUses", "Statistics"]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class SkillUses:
    """How often one skill was used.

    Attributes:
        name: The skill.
        calls: Times that it was called as a function.
        activations: Times that its instructions were given to a model.
        is_here: There is a skill of that name in this kernel.
    """

    name: str
    calls: int = 0
    activations: int = 0
    is_here: bool = True

    @property
    def total(self) -> int:
        """Both together."""
        return self.calls + self.activations


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Statistics:
    """How often skills were used on this machine.

    Attributes:
        skills: Those that were, the most used first.
        is_counting: Uses in this kernel count.
    """

    skills: tuple[SkillUses, ...] = ()
    is_counting: bool = True
