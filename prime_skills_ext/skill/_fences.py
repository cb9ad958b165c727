"""Bytes to header and body: encoding, line ends and the two fences.

A fence is a whole line: ``---`` with nothing but blanks behind it. The header
ends at the next such line, or at ``...``, which is how YAML itself ends a
document. Nothing here reads YAML.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from prime_skills_ext.skill.fields import HEADER_BYTES, KNOWN_FIELDS
from prime_skills_ext.skill.model import Diagnostic

__all__ = ["Parts", "decode", "split"]

_FENCE = re.compile(r"---[ \t]*")
_END = re.compile(r"(?:---|\.\.\.)[ \t]*")
_ENDS = frozenset({"---", "..."})
_FIELD = re.compile(r"([A-Za-z][\w-]*)[ \t]*:(?:\s|$)")
#: YAML refuses these; two more (LS, PS) and NEL would be line ends to it alone.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufeff\ufffe\uffff]")
_SEPARATOR = re.compile("[\u2028\u2029]")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Parts(NamedTuple):
    """A file, cut at its fences.

    Attributes:
        header: The text between the fences without characters that YAML refuses;
            ``None`` when there is no header.
        header_line: 1-based line of its first line.
        body: Everything behind the header, trimmed.
        body_line: 1-based line of the body's first line.
        diagnostics: What was odd, without paths.
    """

    header: str | None
    header_line: int
    body: str
    body_line: int
    diagnostics: tuple[Diagnostic, ...]


def split(data: bytes) -> Parts:
    """Cut a file at its fences.

    Only complete lines of the first ``HEADER_BYTES`` can belong to a header, so
    that a reader of that much and a reader of everything see the same one.
    """
    is_cut = len(data) >= HEADER_BYTES
    text, diagnostics = decode(data)
    head = decode(data[:HEADER_BYTES])[0] if len(data) > HEADER_BYTES else text
    lines = head.split("\n")
    if is_cut:
        lines.pop()
    first = 0
    while first < len(lines) and not lines[first].strip():
        first += 1
    if first == len(lines) or not _FENCE.fullmatch(lines[first]):
        diagnostics.append(_explain_missing(lines, first))
        return _without_header(text, diagnostics)
    last = _find_end(lines, first + 1)
    if last is None:
        diagnostics.append(_explain_unclosed(lines, first, is_cut=is_cut))
        return _without_header(text, diagnostics)
    if first > 0:
        diagnostics.append(_explain_blank(first))
    header = "\n".join(lines[first + 1 : last])
    header = _clean(header, line=first + 2, diagnostics=diagnostics)
    behind = _behind(text, last)
    return Parts(
        header=header,
        header_line=first + 2,
        body=behind.strip(),
        body_line=last + 2 + _blank_lines(behind),
        diagnostics=tuple(diagnostics),
    )


def _behind(text: str, line: int) -> str:
    rest = text.split("\n", line + 1)
    return rest[line + 1] if len(rest) > line + 1 else ""


def decode(data: bytes) -> tuple[str, list[Diagnostic]]:
    """Return the text with LF line ends, and what was wrong with its encoding."""
    diagnostics = []
    if data.startswith(_UTF16):
        text = data.decode("utf-16", "replace")
        diagnostics.append(
            Diagnostic(
                code="encoding",
                message="The file is UTF-16.",
                fix="Save it as UTF-8.",
                line=1,
            )
        )
    else:
        data = data.removeprefix(codecs.BOM_UTF8)
        text, bad = _decode_utf8(data)
        if bad is not None:
            diagnostics.append(_explain_encoding(data, bad))
    return text.replace("\r\n", "\n").replace("\r", "\n"), diagnostics


def _decode_utf8(data: bytes) -> tuple[str, int | None]:
    """Return the text and the offset of the first byte that is not UTF-8."""
    try:
        return data.decode(), None
    except UnicodeDecodeError as error:
        text = data.decode(errors="replace")
        # a character that the end of a partial read cut in two is no fault
        cut = error.end == len(data) and error.reason == "unexpected end of data"
        return text, None if cut else error.start


def _explain_encoding(data: bytes, bad: int) -> Diagnostic:
    before = data[:bad].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return Diagnostic(
        code="encoding",
        message=f"Byte 0x{data[bad]:02X} is not UTF-8; it reads as U+FFFD.",
        fix="Save the file as UTF-8.",
        line=before.count(b"\n") + 1,
    )


def _find_end(lines: list[str], start: int) -> int | None:
    for at in range(start, len(lines)):
        line = lines[at]
        if line[:3] in _ENDS and _END.fullmatch(line):
            return at
    return None


def _clean(header: str, *, line: int, diagnostics: list[Diagnostic]) -> str:
    """Take out what YAML refuses and say where it was."""
    # all that is searched for is not printable, and nearly every header is
    if header.replace("\n", "").isprintable():
        return header
    bad = _CONTROL.search(header) or _SEPARATOR.search(header)
    if bad is None:
        return header
    where = line + header.count("\n", 0, bad.start())
    diagnostics.append(
        Diagnostic(
            code="control-character",
            message=f"Control character U+{ord(bad.group()):04X} in the header; "
            "such characters are left out.",
            fix=f"Delete it from line {where}.",
            line=where,
        )
    )
    return _CONTROL.sub("", _SEPARATOR.sub(" ", header))


def _without_header(text: str, diagnostics: list[Diagnostic]) -> Parts:
    return Parts(
        header=None,
        header_line=1,
        body=text.strip(),
        body_line=1 + _blank_lines(text),
        diagnostics=tuple(diagnostics),
    )


def _blank_lines(text: str) -> int:
    """Count the lines before the first one that ``str.strip`` leaves something of."""
    return text.count("\n", 0, len(text) - len(text.lstrip()))


def _explain_blank(first: int) -> Diagnostic:
    return Diagnostic(
        code="blank-before-fence",
        message="Blank lines stand before the opening `---`.",
        fix=f"Make `---` the first line: delete {_lines(1, first)}.",
        line=1,
    )


def _explain_missing(lines: list[str], first: int) -> Diagnostic:
    """Say why there is no header, in the order of what helps most."""
    line = first + 1
    if first == len(lines):
        return Diagnostic(
            code="no-frontmatter",
            message="The file is empty.",
            fix="Write a header: a line `---`, then `name: …` and `description: …`, "
            "then a line `---`.",
            severity="error",
            line=1,
        )
    if lines[first].lstrip().startswith("<!--"):
        return Diagnostic(
            code="comment-before-fence",
            message="An HTML comment stands before the header, so there is none.",
            fix="Make `---` the first line: move the comment below the header.",
            severity="error",
            line=line,
        )
    bare = _bare_fields(lines, first)
    if bare:
        return Diagnostic(
            code="bare-frontmatter",
            message="The header has no `---` around it.",
            fix=f"Insert a line `---` before line {line} and another one after "
            f"line {first + bare}.",
            severity="error",
            line=line,
        )
    return Diagnostic(
        code="no-frontmatter",
        message="The file has no header.",
        fix="Start it with a line `---`, then `name: …` and `description: …`, "
        "then a line `---`.",
        severity="error",
        line=line,
    )


def _bare_fields(lines: list[str], first: int) -> int:
    """Count the lines from ``first`` on that look like a header without fences."""
    match = _FIELD.match(lines[first])
    if match is None or match.group(1).lower() not in KNOWN_FIELDS:
        return 0
    return _header_like(lines, first)


def _header_like(lines: list[str], first: int) -> int:
    """Count the lines from ``first`` on that could belong to a header."""
    count = 0
    for line in lines[first:]:
        if not (_FIELD.match(line) or line.startswith((" ", "\t", "- "))):
            break
        count += 1
    return count


def _explain_unclosed(lines: list[str], first: int, *, is_cut: bool) -> Diagnostic:
    line = first + 1
    if is_cut:
        return Diagnostic(
            code="header-too-long",
            message=f"The header opened on line {line} is not closed within "
            f"{HEADER_BYTES} bytes.",
            fix="Close it with a line `---`, and move long text below it.",
            severity="error",
            line=line,
        )
    end = line + _header_like(lines, first + 1)
    return Diagnostic(
        code="unclosed-frontmatter",
        message=f"The header opened by `---` on line {line} is never closed.",
        fix=f"Insert a line `---` after line {end}.",
        severity="error",
        line=line,
    )


def _lines(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first}-{last}"
