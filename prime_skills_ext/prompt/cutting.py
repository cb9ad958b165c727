"""Shortening a text so that what is left means what it meant. Pure.

A cut falls behind a sentence, else behind a word, else between two characters as a
reader sees them (grapheme clusters), which may be many code points each.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import takewhile
from typing import Final

__all__ = ["ELLIPSIS", "cut"]

ELLIPSIS: Final = "…"

#: A sentence ends with one of these, perhaps quoted, before a blank and no small
#: letter; in Chinese and Japanese nothing needs to follow. A short word with a point
#: is an abbreviation (`e.g.`, `vs.`) or too short to be worth a sentence.
_SENTENCE_END: Final = re.compile(
    r"[.!?\u3002\uff01\uff1f]"
    r"(?:(?<=[\u3002\uff01\uff1f])"
    r"|(?<!^\w\.)(?<![\s(.]\w\.)(?<!\bvs\.)(?<!\betc\.)"
    r"""["'\u201d\u2019)\]]*(?=\s+[^\sa-z]))"""
)
_NO_END: Final = " .,;:-–—("  # noqa: RUF001

_JOINER: Final = "\u200d"
_EMOJI_MODIFIERS: Final = frozenset(map(chr, range(0x1F3FB, 0x1F400)))
_TAGS: Final = frozenset(map(chr, range(0xE0020, 0xE0080)))
_REGIONAL: Final = frozenset(map(chr, range(0x1F1E6, 0x1F200)))
#: Vowels that hang on the letter before although Unicode calls them letters.
_HANGING: Final = frozenset("\u0e33\u0eb3\uff9e\uff9f")
#: Signs that belong to what follows.
_PREPENDED: Final = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e"
    "\U000110bd\U000110cd"
)
#: Combining class of signs that join two consonants into one character.
_VIRAMA: Final = 9


def cut(text: str, *, limit: int) -> str:
    """Return as much of ``text`` as fits, with an ellipsis if that is not all.

    Args:
        text: One line.
        limit: Longest result in characters (code points), the ellipsis included.

    Returns:
        ``""`` where not even one character fits beside the ellipsis.
    """
    if len(text) <= limit:
        return text
    if limit <= len(ELLIPSIS):
        return ""
    kept = _sentences(text, limit=limit - 2)
    if kept:
        return f"{kept} {ELLIPSIS}"
    kept = _words(text, limit=limit - 1)
    return f"{kept}{ELLIPSIS}" if kept else ""


def _sentences(text: str, *, limit: int) -> str:
    """Return the sentences that fit, if they are half of what would."""
    # two more, so that what comes after the end can be seen
    ends = _SENTENCE_END.finditer(text, max(0, limit // 2 - 1), limit + 2)
    end = 0
    for match in ends:
        if match.end() <= limit:
            end = match.end()
    return text[:end] if 2 * end >= limit and _is_edge(text, end) else ""


def _words(text: str, *, limit: int) -> str:
    """Return the words that fit; part of one where it is long."""
    end = limit
    blank = text.rfind(" ", 0, limit + 1)
    # text without blanks (Chinese, one long address) is cut where it must be
    if 2 * blank > limit:
        end = blank
    while end > 0 and (text[end - 1] in _NO_END or not _is_edge(text, end)):
        end -= 1
    return text[:end]


def _is_edge(text: str, at: int) -> bool:
    """Say whether a reader sees one character end and another begin there."""
    if at in {0, len(text)}:
        return True
    before, after = text[at - 1], text[at]
    if before.isascii() and after.isascii():
        return True
    if before in _REGIONAL and after in _REGIONAL:
        letters = takewhile(_REGIONAL.__contains__, reversed(text[:at]))
        return sum(1 for _ in letters) % 2 == 0
    return not (_extends(after) or _is_open(before) or _is_syllable(before, after))


def _extends(character: str) -> bool:
    """Say whether it belongs to the character before."""
    return (
        unicodedata.category(character) in {"Mn", "Mc", "Me"}
        or character == _JOINER
        or character in _HANGING
        or character in _EMOJI_MODIFIERS
        or character in _TAGS
    )


def _is_open(character: str) -> bool:
    """Say whether the character after belongs to it."""
    return (
        character == _JOINER
        or character in _PREPENDED
        or unicodedata.combining(character) == _VIRAMA
    )


def _is_syllable(before: str, after: str) -> bool:
    """Say whether these are letters of one Hangul syllable."""
    if _is_leading(after):
        return _is_leading(before)
    if "\u1160" <= after <= "\u11ff" or "\ud7b0" <= after <= "\ud7fb":
        return _is_leading(before) or _is_vowel_or_trailing(before)
    return False


def _is_leading(letter: str) -> bool:
    return "\u1100" <= letter < "\u1160" or "\ua960" <= letter <= "\ua97c"


def _is_vowel_or_trailing(letter: str) -> bool:
    return "\u1160" <= letter <= "\u11ff" or "\uac00" <= letter <= "\ud7fb"
