"""Where text stands in bytes, and which bytes take its place. Touches no file."""

from __future__ import annotations

import codecs
import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Content", "Match"]

# the longer mark first: UTF-32's begins with UTF-16's
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UNITS = {"utf-32-le": 4, "utf-32-be": 4, "utf-16-le": 2, "utf-16-be": 2}
_ESCAPES = range(
    0xDC80, 0xDD00
)  # what surrogateescape makes of bytes that are no UTF-8


class Match(NamedTuple):
    """A place in the bytes: ``data[start:end]``."""

    start: int
    end: int


class Content:
    """The bytes of a file and the encoding that they are in.

    A byte order mark decides; else UTF-8 if it decodes, or if it nearly does (text
    beyond ASCII beside stray bytes); else one byte is one character, which is exact
    whatever the encoding is: Windows-1252, and Latin-1 where that has no character.

    Args:
        data: The whole file.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.encoding = _detect(data)
        self.unit = _UNITS.get(self.encoding, 1)
        self._lf = self._encode("\n")
        self._cr = self._encode("\r")
        # lone carriage returns end lines only in a file that has no other ending
        self._is_classic_mac = self._lf not in data and self._cr in data

    def find(self, text: str, *, limit: int) -> tuple[list[Match], int]:
        r"""Find every occurrence of ``text``, overlapping ones too.

        Args:
            text: What to look for. Without ``\r``, ``\n`` matches any line ending.
            limit: How many matches to return.

        Returns:
            The first matches and how many there are.

        Raises:
            ValueError: The encoding cannot express ``text``.
        """
        newline = self._newline_pattern()
        if "\r" in text or newline is None:
            pattern = re.escape(self._encode(text))
        else:
            parts = text.split("\n")
            pattern = newline.join(re.escape(self._encode(part)) for part in parts)
        matches: list[Match] = []
        count = 0
        for match in self._search(re.compile(pattern)):
            count += 1
            if count <= limit:
                matches.append(match)
        return matches, count

    def replacement(self, match: Match, text: str, *, literal: bool) -> bytes:
        r"""Encode ``text`` for the place of ``match``.

        Args:
            match: What is replaced.
            text: The new text.
            literal: Write ``\n`` as it is; otherwise each takes the ending that
                stood there, and further ones the ending of the line nearby.

        Returns:
            The bytes to write.

        Raises:
            ValueError: The encoding cannot express ``text``.
        """
        if literal or "\r" in text or "\n" not in text:
            return self._encode(text)
        endings = self._endings(match.start, match.end) or [self._ending_near(match)]
        parts = text.split("\n")
        written = self._encode(parts[0])
        for index, part in enumerate(parts[1:]):
            ending = endings[min(index, len(endings) - 1)]
            written += ending + self._encode(part)
        return written

    def line(self, position: int) -> int:
        """Number the line, from 1, that ``position`` is in."""
        ending = self._cr if self._is_classic_mac else self._lf
        if self.unit == 1:
            return self.data.count(ending, 0, position) + 1
        found = re.finditer(re.escape(ending), self.data[:position])
        return sum(match.start() % self.unit == 0 for match in found) + 1

    def lines(self) -> list[str]:
        """Decode the lines, without their endings, for people to read."""
        text = self.data.decode(self.encoding, "replace").replace("\r\n", "\n")
        ending = "\r" if self._is_classic_mac else "\n"
        lines = text.removeprefix("\ufeff").split(ending)
        # what follows the last ending is no line
        return lines if lines[-1] else lines[:-1]

    def similar(self, text: str, *, limit: int) -> list[int]:
        """Number the lines that hold the first line of ``text`` but for white space."""
        wanted = next((line for line in text.splitlines() if line.strip()), "").split()
        if not wanted:
            return []
        sought = " ".join(wanted)
        lines = enumerate(self.lines(), start=1)
        found = (number for number, line in lines if sought in " ".join(line.split()))
        return list(itertools.islice(found, limit))

    def _encode(self, text: str) -> bytes:
        try:
            if self.encoding != "latin-1":
                errors = "surrogateescape" if self.unit == 1 else "strict"
                return text.encode(self.encoding, errors)
            return b"".join(_one_byte(character) for character in text)
        except UnicodeEncodeError as error:
            name = "an 8-bit encoding" if self.encoding == "latin-1" else self.encoding
            message = (
                f"the file is in {name}, which cannot express "
                f"{error.object[error.start : error.end]!r}.\nFix: leave that "
                "character out, or convert the file to UTF-8 first"
            )
            raise ValueError(message) from error

    def _newline_pattern(self) -> bytes | None:
        r"""Match one line ending; ``None`` if ``\n`` is the only one, or none is."""
        if self._is_classic_mac:
            return re.escape(self._cr)
        cr, lf = re.escape(self._cr), re.escape(self._lf)
        if self._cr + self._lf not in self.data:
            return None
        # never from between the two characters of one ending
        return b"(?:" + cr + lf + b"|(?<!" + cr + b")" + lf + b")"

    def _search(
        self, pattern: re.Pattern[bytes], start: int = 0, end: int | None = None
    ) -> Iterator[Match]:
        stop = len(self.data) if end is None else end
        found = pattern.search(self.data, start, stop)
        while found is not None:
            # two-byte text may be found from the middle of a character
            if found.start() % self.unit == 0:
                yield Match(found.start(), found.end())
            found = pattern.search(self.data, found.start() + 1, stop)

    def _endings(self, start: int, end: int) -> list[bytes]:
        newline = self._newline_pattern() or re.escape(self._lf)
        found = self._search(re.compile(newline), start, end)
        return [self.data[match.start : match.end] for match in found]

    def _ending_near(self, match: Match) -> bytes:
        newline = re.compile(self._newline_pattern() or re.escape(self._lf))
        after = next(self._search(newline, match.end), None)
        if after is not None:
            return self.data[after.start : after.end]
        before = self._endings(0, match.start)
        return before[-1] if before else self._lf


def _detect(data: bytes) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark) and _decodes(data[len(mark) :], encoding):
            return encoding
    text = data.decode("utf-8", "surrogateescape")
    has_stray = has_beyond_ascii = False
    if not text.isascii():
        has_stray = any(ord(character) in _ESCAPES for character in set(text))
        has_beyond_ascii = any(
            ord(character) > 127 and ord(character) not in _ESCAPES  # noqa: PLR2004
            for character in set(text)
        )
    return "latin-1" if has_stray and not has_beyond_ascii else "utf-8"


def _decodes(data: bytes, encoding: str) -> bool:
    """Tell UTF-32 from UTF-16 text that begins with a NUL, which has the same mark."""
    if not encoding.startswith("utf-32"):
        return True
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return bool(data)


def _one_byte(character: str) -> bytes:
    if ord(character) in _ESCAPES:
        return character.encode("ascii", "surrogateescape")
    try:
        return character.encode("cp1252")
    except UnicodeEncodeError:
        return character.encode("latin-1")
