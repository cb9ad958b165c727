"""The short way through a header that needs no YAML parser, which most do not.

Such a header is made of lines ``key: text``, of ``key: >`` or ``key: |`` with lines of
text below, and of a bare ``key:`` with such lines ``key: text`` below, all that is
below indented by two blanks. What this reads, it reads exactly as YAML does; of
anything else, however slightly unusual, it says that it does not know, and ``_yaml``
decides. It is several times as fast, and PyYAML, which takes 20 ms to import, is not
even needed.
"""

from __future__ import annotations

import re
from typing import Final

from prime_skills_ext.skill._document import NULLS, Document, Entry

__all__ = ["read"]

#: Unquoted text that starts like a word, quoted text with nothing to unescape, or a
#: block of text.
_LINE: Final = re.compile(
    r"""^(  )?([A-Za-z_][A-Za-z0-9_-]{0,99}):"""
    r"""(?: (?:([A-Za-z0-9].*)|("[^"\\\n]*"|'[^'\n]*')"""
    r"""|([>|]-?)((?:\n  [^ \n].*)+)))?$""",
    re.MULTILINE,
)


def read(text: str) -> Document | None:
    """Read a header of plain lines; ``None`` if it holds anything else."""
    # tabs, line ends of other kinds and what YAML refuses are not printable
    if not text.replace("\n", "").isprintable():
        return None
    found = _LINE.findall(text)
    lines = _Lines(text.count("\n") + 1)
    for indent, key, plain, quoted, style, block in found:
        if style:
            understood = not indent and lines.take_block(key, style, block)
        elif indent:
            understood = lines.take_inner(key, plain, quoted)
        else:
            understood = lines.take(key, plain, quoted)
        if not understood:
            return None
    if lines.is_waiting() or not lines.are_all():
        return None
    return Document(value=lines.fields, entries=lines.entries, duplicates=())


class _Lines:
    """What the lines so far hold."""

    def __init__(self, total: int) -> None:
        self._total = total
        self.fields: dict[str, object] = {}
        self.entries: dict[str, Entry] = {}
        self._count = 0
        self._opened = ""
        self._inner: dict[str, object] | None = None

    def is_waiting(self) -> bool:
        """Tell whether a bare key was the last line: has it no value, or a list?"""
        return self._inner is not None and not self._inner

    def are_all(self) -> bool:
        """Tell whether no line was passed over."""
        return self._count == self._total

    def take_block(self, key: str, style: str, block: str) -> bool:
        """Take in a key with a block of text below."""
        number = self._count
        self._count += 1 + block.count("\n")
        if key in self.fields or self.is_waiting():
            return False
        if block.endswith(" ") or " \n" in block:
            return False
        self._inner = None
        is_last = self._count == self._total
        text = block[3:].replace("\n  ", " " if style[0] == ">" else "\n")
        # without a `-` the last line end counts, if there is one
        self.fields[key] = text if is_last or style[-1] == "-" else f"{text}\n"
        self.entries[key] = Entry(
            line=number,
            plain=False,
            collection=False,
            end_line=self._count - is_last,
            end_column=len(block) - block.rindex("\n") - 1 if is_last else 0,
        )
        return True

    def take(self, key: str, plain: str, quoted: str) -> bool:
        """Take in a line; say whether it was understood."""
        number = self._count
        self._count += 1
        if key in self.fields or self.is_waiting() or _means_more(plain):
            return False
        if not plain and not quoted:
            self._opened = key
            self.fields[key] = self._inner = {}
            return True
        self._inner = None
        self.fields[key] = _value(plain, quoted)
        self.entries[key] = Entry(
            line=number,
            plain=not quoted,
            collection=False,
            end_line=number,
            end_column=len(key) + 2 + len(plain or quoted),
        )
        return True

    def take_inner(self, key: str, plain: str, quoted: str) -> bool:
        """Take in a line that is indented."""
        number = self._count
        self._count += 1
        if self._inner is None or key in self._inner or _means_more(plain):
            return False
        if not plain and not quoted:
            return False
        if not self._inner:
            # to YAML, a map stands where its first key begins
            self.entries[self._opened] = Entry(
                line=number - 1,
                plain=False,
                collection=True,
                end_line=number,
                end_column=2,
            )
        self._inner[key] = _value(plain, quoted)
        return True


def _value(plain: str, quoted: str) -> str | None:
    if quoted:
        return quoted[1:-1]
    return None if plain in NULLS else plain


def _means_more(plain: str) -> bool:
    """Tell whether unquoted text holds what YAML does not take for text."""
    return plain.endswith((" ", ":")) or ": " in plain or " #" in plain
