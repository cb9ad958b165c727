"""The skills that a model is told of, as one text that fits a budget. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal, final

from prime_skills_ext.prompt.budget import Budget, Unit
from prime_skills_ext.prompt.entry import Entry

__all__ = ["Cut", "ListedItem", "Listing", "render_entries"]

Cut = Literal["whole", "trimmed", "no-trigger", "no-description", "left-out"]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class ListedItem:
    """What became of one skill in a listing.

    Attributes:
        name: The skill.
        full: Counted size of its name and all of its text.
        shown: Counted size of what is shown of them.
        cut: What is missing: nothing, the end of its text, the trigger text, all
            text but the name, or the skill itself.
        reason: One sentence; ``None`` when nothing is missing.
    """

    name: str
    full: int
    shown: int
    cut: Cut = "whole"
    reason: str | None = None


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """What a model is told of the skills.

    Attributes:
        text: Instructions and XML; ``""`` when there is nothing to list.
        counted: Size of the names and descriptions shown, before escaping.
        limit: What ``counted`` never exceeds; ``None`` without a limit.
        unit: What ``counted`` and ``limit`` are counted in.
        needed: The least limit with which the budget takes nothing away; only the
            cap of one entry does then.
        items: One for each skill, in the order of the text.
    """

    text: str = ""
    counted: int = 0
    limit: int | None = None
    unit: Unit = "characters"
    needed: int = 0
    items: tuple[ListedItem, ...] = ()

    @property
    def total_chars(self) -> int:
        """How many characters the text has, with all its markup."""
        return len(self.text)

    @property
    def is_cut(self) -> bool:
        """Something is missing, be it only the end of one long description."""
        return any(item.cut != "whole" for item in self.items)

    @property
    def is_over_budget(self) -> bool:
        """The limit was too small for all that the cap of one entry lets through."""
        return self.limit is not None and self.needed > self.limit


def render_entries(
    entries: Iterable[Entry],
    *,
    budget: Budget,
    tools: Collection[str] | None = None,
) -> Listing:
    """Return what a model is told of the skills.

    Args:
        entries: The skills, in any order.
        budget: How much text there may be.
        tools: Names of the model's tools, for the wording; ``None`` if unknown.
    """
    raise NotImplementedError
