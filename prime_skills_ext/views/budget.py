"""The value behind ``%skill budget``: what a listing takes of its budget, and who."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

from prime_skills_ext.prompt.budget import Budget
from prime_skills_ext.prompt.listing import Cut, ListedItem, Listing

__all__ = ["CUTS", "SHOWN", "BudgetReport"]

#: So many skills are drawn, those that want most; the others are counted.
SHOWN: Final = 40

#: What is missing, in words.
CUTS: Final[dict[Cut, str]] = {
    "whole": "whole",
    "trimmed": "shortened",
    "no-trigger": "without its trigger text",
    "no-description": "name alone",
    "left-out": "left out",
}


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class BudgetReport:
    """What a listing takes of its budget.

    Attributes:
        listing: The listing.
        budget: Up to where it may go, and how it gets there.
        preset: The name of the budget that this one is made from.
    """

    listing: Listing
    budget: Budget
    preset: str

    @property
    def fix(self) -> str | None:
        """How to keep what is cut; ``None`` where all is whole."""
        if self.listing.is_over_budget:
            return f"%config SkillManager.listing_chars = {self.listing.needed}"
        if not self.listing.is_cut:
            return None
        most = max(item.full for item in self.listing.items)
        return f"%config SkillManager.listing_entry_chars = {most}"

    @property
    def wanted(self) -> int:
        """Counted size of all text of all skills."""
        return sum(item.full for item in self.listing.items)

    @property
    def drawn(self) -> tuple[ListedItem, ...]:
        """What is worth a row: those that want most, the largest first."""
        return self._by_size()[:SHOWN]

    @property
    def rest(self) -> tuple[ListedItem, ...]:
        """The skills that have no row."""
        return self._by_size()[SHOWN:]

    @property
    def told(self) -> str:
        """Where the budget comes from: ``"1 % of a window of 200,000 tokens"``."""
        budget = self.budget
        if budget.strategy == "none":
            return "no budget"
        if budget.chars is not None:
            return "set as a number"
        if budget.context_tokens is None:
            return "for a window of unknown size"
        return f"{budget.share:.3g} of a window of {budget.context_tokens:,} tokens"

    def _by_size(self) -> tuple[ListedItem, ...]:
        return tuple(sorted(self.listing.items, key=lambda x: (-x.full, x.name)))
