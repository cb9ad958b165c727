"""The value behind ``%skill budget``: what a listing takes of its budget, and who."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import Final, Self, final

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
        fix: How to keep what is cut; ``None`` where all is whole.
    """

    listing: Listing
    budget: Budget
    preset: str
    fix: str | None = None

    @classmethod
    def of(cls, listing: Listing, *, budget: Budget, preset: str) -> Self:
        """Make the report of a listing, with what would keep everything."""
        fix = "\n".join(_fixes(listing, budget=budget)) or None
        return cls(listing=listing, budget=budget, preset=preset, fix=fix)

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
    def used(self) -> str:
        """How much is taken: ``"612 of 8,000 characters"``."""
        counted, limit = self.listing.counted, self.listing.limit
        of = "" if limit is None else f" of {limit:,}"
        return f"{counted:,}{of} {self.listing.unit}"

    @property
    def terms(self) -> str:
        """Where the budget comes from, and what holds for each text."""
        budget = self.budget
        if budget.strategy == "none":
            told = "no budget"
        elif budget.chars is not None:
            told = "a number that is set"
        elif budget.context_tokens is None:
            told = "the usual one while the context window is unknown"
        else:
            share = f"{100 * budget.share:.4g} %"
            told = f"{share} of a context window of {budget.context_tokens:,} tokens"
        if budget.entry_chars is not None:
            told += f"; {budget.entry_chars:,} characters for the text of one skill"
        return told

    @property
    def cuts(self) -> tuple[str, ...]:
        """What is missing and why, one line for each way and reason."""
        found = Counter(
            (item.cut, item.reason)
            for item in self.listing.items
            if item.cut != "whole"
        )
        ways = [*CUTS]
        ordered = sorted(found.items(), key=lambda each: ways.index(each[0][0]))
        return tuple(
            f"{count:,} {CUTS[cut]}" + (f": {reason}" if reason else "")
            for (cut, reason), count in ordered
        )

    def _by_size(self) -> tuple[ListedItem, ...]:
        return tuple(sorted(self.listing.items, key=lambda x: (-x.full, x.name)))


def _fixes(listing: Listing, *, budget: Budget) -> Iterator[str]:
    """Say which settings would let everything be whole."""
    wanted = sum(item.full for item in listing.items)
    if wanted > listing.needed:
        # the longest text of all, and a little: its name is counted with it
        most = max(item.full for item in listing.items)
        yield f"%config SkillManager.listing_entry_chars = {most}"
    if listing.limit is None or wanted <= listing.limit:
        return
    if listing.unit == "characters":
        yield f"%config SkillManager.listing_chars = {wanted}"
    elif budget.context_tokens:
        share = ceil(1000 * wanted / budget.context_tokens) / 1000
        yield f"%config SkillManager.listing_share = {share:g}"
