"""Who gives way when not everything fits: the order of sacrifice. Pure.

Trigger texts go first, then descriptions, and those of built-in skills after all
others'; at last names. Within each of these steps ``claude`` takes the whole text of
the least used, the next one's, and so on, while ``codex`` shortens all evenly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Final, NamedTuple, final

from prime_skills_ext.prompt.budget import Strategy
from prime_skills_ext.prompt.cutting import ELLIPSIS
from prime_skills_ext.prompt.measuring import Meter

__all__ = ["Wish", "fit"]

#: A cut description that is shorter says nothing: better none.
_LEAST_CHARS: Final = 20


@final
class Wish(NamedTuple):
    """What one skill would have told, and how long that is.

    Attributes:
        name_size: Size of its name.
        plain: Its description.
        plain_size: Size of that.
        joined: The description with the trigger text; the description where there
            is none.
        joined_size: Size of that.
        is_builtin: It gives way after all others.
        uses: The least used gives way first; among equals the last in the order.
    """

    name_size: int
    plain: str
    plain_size: int
    joined: str
    joined_size: int
    is_builtin: bool
    uses: int


def fit(
    wishes: Sequence[Wish], *, limit: int | None, meter: Meter, strategy: Strategy
) -> list[str | None]:
    """Say what is told of each skill.

    Args:
        wishes: What each would have told, in the order of the listing.
        limit: The most that names and texts may have together; ``None``: no limit.
        meter: What they are counted with.
        strategy: How texts give way.

    Returns:
        The text of each, ``""`` where only the name fits, ``None`` where not even
        that does.
    """
    names = sum(wish.name_size for wish in wishes)
    needed = names + sum(wish.joined_size for wish in wishes)
    if limit is None or needed <= limit:
        return [wish.joined for wish in wishes]
    # who gives way first comes first; sorting keeps the last of equals before them
    order = sorted(range(len(wishes) - 1, -1, -1), key=lambda at: wishes[at].uses)
    others = [at for at in order if not wishes[at].is_builtin]
    builtin = [at for at in order if wishes[at].is_builtin]
    if names > limit:
        return _names(wishes, [*others, *builtin], excess=names - limit)
    if strategy == "codex":
        return _Filling(wishes, meter, room=limit - names).fill(builtin, others)
    return _Dropping(wishes, meter, excess=needed - limit).drop(others, builtin)


def _names(
    wishes: Sequence[Wish], order: Iterable[int], *, excess: int
) -> list[str | None]:
    """Leave whole skills out until the others' names fit."""
    told: list[str | None] = [""] * len(wishes)
    for at in order:
        if excess <= 0:
            break
        told[at] = None
        excess -= wishes[at].name_size
    return told


@final
class _Dropping:
    """Takes whole texts away until what is left fits."""

    def __init__(self, wishes: Sequence[Wish], meter: Meter, *, excess: int) -> None:
        self._wishes = wishes
        self._meter = meter
        self._excess = excess
        self._told: list[str | None] = [wish.joined for wish in wishes]

    def drop(self, *groups: Sequence[int]) -> list[str | None]:
        for group in groups:
            for take in (self._trigger, self._description):
                for at in group:
                    if self._excess <= 0:
                        return self._told
                    take(at)
        return self._told

    def _trigger(self, at: int) -> None:
        wish = self._wishes[at]
        if wish.joined_size > wish.plain_size:
            self._told[at] = wish.plain
            self._excess -= wish.joined_size - wish.plain_size

    def _description(self, at: int) -> None:
        wish = self._wishes[at]
        size = min(wish.plain_size, wish.joined_size)
        # the last one that has to give way keeps what fits
        kept = _worth(self._meter.cut(wish.plain, size - self._excess))
        self._told[at] = kept
        self._excess -= size - self._meter.size(kept)


@final
class _Filling:
    """Lets texts grow, all at the same pace, until there is no more room."""

    def __init__(self, wishes: Sequence[Wish], meter: Meter, *, room: int) -> None:
        self._wishes = wishes
        self._meter = meter
        self._room = room
        self._told: list[str | None] = [""] * len(wishes)

    def fill(self, *groups: Sequence[int]) -> list[str | None]:
        for group in groups:
            wishes = [(at, self._wishes[at]) for at in group]
            plain = [(it.plain_size, at, it.plain) for at, it in wishes]
            joined = [
                (it.joined_size - it.plain_size, at, it.joined)
                for at, it in wishes
                if it.joined != it.plain
            ]
            if not (self._grow(plain) and self._grow(joined)):
                break
        return self._told

    def _grow(self, wanted: Sequence[tuple[int, int, str]]) -> bool:
        """Give room to the texts; say whether there was enough for all.

        Args:
            wanted: By how much longer each skill's text would be than what it tells
                already; the skill; the text.
        """
        is_enough = sum(extra for extra, _, _ in wanted) <= self._room
        # what a short one does not need goes to the longer ones
        left = len(wanted)
        for extra, at, text in sorted(wanted, key=itemgetter(0)):
            share = self._room // left
            left -= 1
            if is_enough or extra <= share:
                self._told[at] = text
                self._room -= extra
            else:
                self._squeeze(at, text, share)
        return is_enough

    def _squeeze(self, at: int, text: str, share: int) -> None:
        told = self._told[at] or ""
        size = self._meter.size(told)
        kept = _worth(self._meter.cut(text, size + share))
        # an ellipsis alone is no trigger text
        begun = kept.removesuffix(ELLIPSIS).rstrip()
        if len(begun) > len(told) and begun.startswith(told):
            self._told[at] = kept
            self._room -= self._meter.size(kept) - size


def _worth(text: str) -> str:
    return text if len(text) >= _LEAST_CHARS else ""
