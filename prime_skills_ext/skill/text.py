"""What text looks like to a reader: folded white space, characters nobody sees.

Lengths everywhere in this package are code points, which is what ``len`` counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = [
    "cut_at_word",
    "few",
    "folded",
    "invisible_characters",
    "invisible_places",
    "split_outside",
    "without_invisible",
]

#: So many items are named in a message.
_SHOWN = 3

#: Characters that have no glyph of their own and can hide text from a person:
#: soft hyphen, Hangul fillers, zero-width and bidirectional controls, invisible
#: operators, byte-order mark, variation selectors and tag characters.
_HIDDEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_INVISIBLE = re.compile(f"[{_HIDDEN}]")

#: Where such characters are part of what is seen: flags of regions, which are
#: spelled with tag characters; presentation selectors; joiners inside emoji and
#: inside words of scripts that need them; direction marks beside such words.
_INNOCENT = re.compile(
    "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{2,6}\U000e007f"
    "|(?<=[\u0023\u002a\u0030-\u0039\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff])"
    "[\ufe0e\ufe0f]"
    "|(?<=[\u203c-\u3299\ufe0f\U0001f000-\U0001faff])\u200d"
    "(?=[\u203c-\u3299\U0001f000-\U0001faff])"
    "|(?<=[\u0590-\u0dff\u1000-\u109f])[\u200c\u200d](?=[\u0590-\u0dff\u1000-\u109f])"
    "|(?<=[\u0590-\u08ff])[\u200e\u200f]|[\u200e\u200f](?=[\u0590-\u08ff])"
)


def folded(text: str) -> str:
    """Return ``text`` trimmed, with every run of white space as one space."""
    return " ".join(text.split())


def invisible_characters(text: str) -> tuple[str, ...]:
    """Name the characters in ``text`` that nobody sees, such as ``"U+E0041"``.

    Returns:
        Each one once, in order of appearance; those that emoji and scripts need
        are left out.
    """
    if text.isascii():
        return ()
    found = _INVISIBLE.findall(_INNOCENT.sub("", text))
    return tuple(f"U+{ord(character):04X}" for character in dict.fromkeys(found))


def without_invisible(text: str) -> str:
    """Return ``text`` without the characters ``invisible_characters`` names."""
    if text.isascii() or _INVISIBLE.search(text) is None:
        return text
    kept = []
    end = 0
    for match in _INNOCENT.finditer(text):
        kept += [_INVISIBLE.sub("", text[end : match.start()]), match.group()]
        end = match.end()
    return "".join([*kept, _INVISIBLE.sub("", text[end:])])


def few(items: Sequence[str]) -> str:
    """Name some of ``items`` and count the others: ``"a, b, c and 2 more"``."""
    shown = ", ".join(items[:_SHOWN])
    rest = len(items) - _SHOWN
    return f"{shown} and {rest} more" if rest > 0 else shown


def split_outside(text: str, *, separators: str) -> tuple[str, ...]:
    """Split at ``separators`` that stand outside of brackets.

    Returns:
        The trimmed parts that are not empty; an unclosed bracket keeps the rest
        together.
    """
    parts = [""]
    depth = 0
    for character in text:
        if depth == 0 and character in separators:
            parts.append("")
            continue
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth = max(0, depth - 1)
        parts[-1] += character
    return tuple(part.strip() for part in parts if part.strip())


def invisible_places(text: str) -> tuple[tuple[int, str], ...]:
    """Return where ``invisible_characters`` are: offset from 0, and character."""
    if text.isascii():
        return ()
    innocent = {
        at
        for match in _INNOCENT.finditer(text)
        for at in range(match.start(), match.end())
    }
    return tuple(
        (match.start(), match.group())
        for match in _INVISIBLE.finditer(text)
        if match.start() not in innocent
    )


def cut_at_word(text: str, *, limit: int) -> str:
    """Return ``text`` cut to ``limit`` characters at a word, with an ellipsis."""
    if len(text) <= limit:
        return text
    kept = text[: limit - 1]
    words, blank, _ = kept.rpartition(" ")
    # text without blanks (Chinese, one long address) is cut where it must be
    return (words if blank and len(words) > limit // 2 else kept).rstrip(" ,;:") + "…"
