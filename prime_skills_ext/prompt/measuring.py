"""How long a text is for a budget, and how much of it fits a room. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, final

from prime_skills_ext.prompt.budget import Budget
from prime_skills_ext.prompt.cutting import ELLIPSIS, cut

__all__ = ["Meter", "meter"]

#: What one token stands for where nobody counts them.
_BYTES_PER_TOKEN: Final = 4
#: How many bytes longer the ellipsis is than a character of one byte.
_ELLIPSIS_EXTRA: Final = len(ELLIPSIS.encode()) - 1


@final
class Meter(NamedTuple):
    """Counts in the unit of a budget.

    Attributes:
        size: Says how long a text is.
        cut: Returns as much of a text as fits a room; ``""`` where nothing does.
    """

    size: Callable[[str], int]
    cut: Callable[[str, int], str]


def meter(budget: Budget) -> Meter:
    """Return what counts for this budget."""
    if budget.counted_in == "characters":
        return Meter(len, lambda text, room: cut(text, limit=room))
    if budget.tokenizer is None:
        return Meter(_tokens, _cut_to_tokens)
    return _asking(budget.tokenizer)


def _tokens(text: str) -> int:
    return -(-len(text.encode()) // _BYTES_PER_TOKEN)


def _cut_to_tokens(text: str, room: int) -> str:
    data = text.encode()
    room_bytes = max(0, room) * _BYTES_PER_TOKEN
    if len(data) <= room_bytes:
        return text
    # the ellipsis takes the place of one character, which may be of one byte
    kept = data[: max(0, room_bytes - _ELLIPSIS_EXTRA)].decode(errors="ignore")
    return cut(text, limit=len(kept))


def _asking(tokenizer: Callable[[str], int]) -> Meter:
    """Return a meter that asks somebody else, who may count in any way."""

    def size(text: str) -> int:
        return max(0, tokenizer(text)) if text else 0

    def cut_to(text: str, room: int) -> str:
        if size(text) <= room:
            return text
        low, high = 0, len(text) - 1  # characters that fit, that may fit
        while low < high:
            middle = (low + high + 1) // 2
            if size(cut(text, limit=middle)) <= room:
                low = middle
            else:
                high = middle - 1
        return cut(text, limit=low)

    return Meter(size, cut_to)
