"""The short way through a header that needs no YAML parser, which most do not.

Such a header is made of lines ``key: text`` and, below a bare ``key:``, of the same
lines indented by two blanks. What this reads, it reads exactly as YAML does; of
anything else, however slightly unusual, it says that it does not know, and ``_yaml``
decides. It is several times as fast, and PyYAML, which takes 20 ms to import, is not
even needed.
"""

from __future__ import annotations

import re
from typing import Final

from prime_skills_ext.skill._document import NULLS, Document, Entry

__all__ = ["read"]

#: Unquoted text that starts like a word, or quoted text with nothing to unescape.
_LINE: Final = re.compile(
    r"""(  )?([A-Za-z_][A-Za-z0-9_-]{0,99}):"""
    r"""(?: (?:([A-Za-z0-9].*)|("[^"\\]*"|'[^']*')))?"""
)


def read(text: str) -> Document | None:
    """Read a header of plain lines; ``None`` if it holds anything else."""
    # tabs, line ends of other kinds and what YAML refuses are not printable
    if not text.replace("\n", "").isprintable():
        return None
    lines = _Lines()
    for line in text.split("\n"):
        match = _LINE.fullmatch(line)
        if match is None or not lines.take(match):
            return None
    if lines.is_waiting():
        return None
    return Document(value=lines.fields, entries=lines.entries, duplicates=())


class _Lines:
    """What the lines so far hold."""

    def __init__(self) -> None:
        self.fields: dict[str, object] = {}
        self.entries: dict[str, Entry] = {}
        self._count = 0
        self._opened = ""
        self._inner: dict[str, object] | None = None

    def is_waiting(self) -> bool:
        """Tell whether a bare key was the last line: has it no value, or a list?"""
        return self._inner is not None and not self._inner

    def take(self, match: re.Match[str]) -> bool:
        """Take in a line; say whether it was understood."""
        number = self._count
        self._count += 1
        indent, key, plain, quoted = match.groups()
        if plain is not None and _means_more(plain):
            return False
        if indent:
            return self._take_inner(key, plain, quoted)
        if key in self.fields or self.is_waiting():
            return False
        if plain is None and quoted is None:
            self._opened = key
            self.fields[key] = self._inner = {}
            return True
        self._inner = None
        self.fields[key] = _value(plain, quoted)
        self.entries[key] = Entry(
            line=number,
            plain=plain is not None,
            collection=False,
            end_line=number,
            end_column=match.end(),
        )
        return True

    def _take_inner(self, key: str, plain: str | None, quoted: str | None) -> bool:
        if self._inner is None or key in self._inner:
            return False
        if plain is None and quoted is None:
            return False
        if not self._inner:
            # to YAML, a map stands where its first key begins
            number = self._count - 1
            self.entries[self._opened] = Entry(
                line=number - 1,
                plain=False,
                collection=True,
                end_line=number,
                end_column=2,
            )
        self._inner[key] = _value(plain, quoted)
        return True


def _value(plain: str | None, quoted: str | None) -> str | None:
    if quoted is not None:
        return quoted[1:-1]
    return None if plain in NULLS else plain


def _means_more(plain: str) -> bool:
    """Tell whether unquoted text holds what YAML does not take for text."""
    return plain[-1] in " :" or ": " in plain or " #" in plain
