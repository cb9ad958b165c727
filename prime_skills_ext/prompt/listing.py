"""The skills that a model is told of, as one text that fits a budget. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Final, Literal, NamedTuple, final

from prime_skills_ext.prompt.budget import Budget, Unit
from prime_skills_ext.prompt.cleaning import clean
from prime_skills_ext.prompt.cutting import cut
from prime_skills_ext.prompt.entry import Entry
from prime_skills_ext.prompt.markup import to_text
from prime_skills_ext.prompt.measuring import Meter, meter
from prime_skills_ext.prompt.strategies import Wish, fit

__all__ = ["Cut", "ListedItem", "Listing", "full_text", "render_entries"]

Cut = Literal["whole", "trimmed", "no-trigger", "no-description", "left-out"]

_BETWEEN: Final = " - "


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

    def __str__(self) -> str:
        """What a model reads."""
        return self.text

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
    ordered = sorted(entries, key=attrgetter("name", "location"))
    counts = meter(budget)
    told = [_telling(entry, budget=budget, counts=counts) for entry in ordered]
    wishes = [item.wish for item in told]
    limit = budget.limit
    texts = fit(wishes, limit=limit, meter=counts, strategy=budget.strategy)
    items = tuple(_items(told, texts, counts=counts, budget=budget))
    return Listing(
        text=to_text(ordered, [item.name for item in told], texts, tools=tools),
        counted=sum(item.shown for item in items),
        limit=limit,
        unit=budget.counted_in,
        needed=sum(wish.name_size + wish.joined_size for wish in wishes),
        items=items,
    )


def full_text(description: str, when_to_use: str | None) -> str:
    """Return what a listing tells of a skill beside its name, before any cut."""
    return _joined(clean(description), when_to_use)


def _joined(plain: str, when_to_use: str | None) -> str:
    trigger = clean(when_to_use) if when_to_use else ""
    return _BETWEEN.join(filter(None, (plain, trigger)))


@final
class _Telling(NamedTuple):
    """What there is to tell of one skill: cleaned, and capped in its wish."""

    name: str
    plain: str
    joined: str
    full: int
    wish: Wish


def _telling(entry: Entry, *, budget: Budget, counts: Meter) -> _Telling:
    name = clean(entry.name)
    plain = clean(entry.description)
    joined = _joined(plain, entry.when_to_use)
    size = counts.size
    name_size = size(name)
    plain_shown, joined_shown = plain, joined
    if (cap := budget.entry_chars) is not None and len(joined) > cap:
        joined_shown = cut(joined, limit=cap)
        plain_shown = joined_shown if plain == joined else cut(plain, limit=cap)
    joined_size = size(joined_shown)
    wish = Wish(
        name_size,
        plain_shown,
        joined_size if plain_shown == joined_shown else size(plain_shown),
        joined_shown,
        joined_size,
        entry.is_builtin,
        entry.uses,
    )
    full = joined_size if joined_shown == joined else size(joined)
    return _Telling(name, plain, joined, name_size + full, wish)


def _items(
    told: Iterable[_Telling],
    texts: Iterable[str | None],
    *,
    counts: Meter,
    budget: Budget,
) -> Iterator[ListedItem]:
    limit = "" if budget.limit is None else f"{budget.limit:,} {budget.counted_in}"
    used_up = f"all entries together may have {limit}"
    too_long = f"one entry may have {budget.entry_chars or 0:,} characters of text"
    for item, text in zip(told, texts, strict=True):
        wish = item.wish
        kind = _kind(item, text)
        reason: str | None = used_up
        if text is None:
            shown = 0
        elif text == wish.joined:
            shown = wish.name_size + wish.joined_size
            reason = None if kind == "whole" else too_long
        else:
            shown = wish.name_size + counts.size(text)
        yield ListedItem(
            name=item.name, full=item.full, shown=shown, cut=kind, reason=reason
        )


def _kind(told: _Telling, text: str | None) -> Cut:
    if text is None:
        return "left-out"
    if text == told.joined:
        return "whole"
    if not text:
        return "no-description" if told.plain else "no-trigger"
    return "no-trigger" if text == told.plain else "trimmed"
