"""What a model is told of one skill, before any budget. Data only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from prime_skills_ext.skill.model import SkillKind

__all__ = ["Entry"]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One skill that is offered.

    Attributes:
        name: What it is shown and used by.
        kind: ``"python"`` when a module backs it, else ``"markdown"``.
        description: What it does, as its author wrote it.
        location: Absolute path of its file.
        when_to_use: Trigger text that follows the description.
        python_import: What to type to reach it: ``word_count`` or
            ``skills["json"]``; ``None`` when nothing is bound.
        command: Its shell command; ``None`` when none is installed.
        is_builtin: It ships with this package, and gives way last.
        uses: How often it was used; the least used gives way first.
        mark: What to say about a restricted skill that is listed on purpose.
    """

    name: str
    kind: SkillKind
    description: str
    location: str
    when_to_use: str | None = None
    python_import: str | None = None
    command: str | None = None
    is_builtin: bool = False
    uses: int = 0
    mark: str | None = None
