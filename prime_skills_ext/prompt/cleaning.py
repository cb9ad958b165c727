"""Text of strangers, made fit to stand in XML that a model reads. Pure.

What nobody sees could tell the model something that no person has read, and what XML
does not know would make the whole of it unreadable.
"""

from __future__ import annotations

import re
from typing import Final

from prime_skills_ext.skill.text import folded, invisible_places, without_invisible

__all__ = ["clean", "escaped", "escaped_attribute", "legible_path"]

#: Control characters but white space, halves of surrogate pairs, and what XML forbids.
_NO_TEXT: Final = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]"
)
#: In a path white space is part of the name, but for what would break the line.
_NO_PATH: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]"
)
_REPLACEMENT: Final = "\ufffd"
#: Escaped in attributes beside what is escaped in text; readers of XML make blanks of
#: white space that stands there as it is.
_IN_ATTRIBUTES: Final = str.maketrans(
    {'"': "&quot;", "'": "&apos;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
    | dict.fromkeys("\v\f\x1c\x1d\x1e\x1f", " ")  # white space that XML forbids
)


def clean(text: str) -> str:
    """Return ``text`` on one line, without what nobody sees."""
    # most text needs nothing: no control characters and, but for blanks, no white space
    if text.isprintable():
        text = text if "  " not in text and text == text.strip() else folded(text)
        if text.isascii():
            return text
    else:
        text = folded(_NO_TEXT.sub("", text))
    # a character that stands beside a removed one may have needed it to be seen
    while (visible := without_invisible(text)) != text:
        text = folded(visible)
    return text


def escaped(text: str) -> str:
    """Return ``text`` as it stands between tags."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def escaped_attribute(text: str) -> str:
    """Return ``text`` as it stands in an attribute, between quotes of either kind."""
    return escaped(_NO_TEXT.sub("", text)).translate(_IN_ATTRIBUTES)


def legible_path(path: str) -> str:
    """Return ``path`` with ``U+FFFD`` for each character that cannot be shown."""
    if path.isascii() and path.isprintable():
        return path
    characters = list(_NO_PATH.sub(_REPLACEMENT, path))
    for at, _ in invisible_places("".join(characters)):
        characters[at] = _REPLACEMENT
    return "".join(characters)
