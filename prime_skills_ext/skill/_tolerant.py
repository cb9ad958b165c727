"""The second reader: what can be had from a header that is not valid YAML.

The header is cut at its top-level ``key:`` lines and each piece is read on its
own, as YAML where that works and as the text that stands there where not. So one
slip costs nothing but a warning, which shows the line as it should be. It reads
only what ``frontmatter`` could not.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import final

from prime_skills_ext.skill._document import Problem
from prime_skills_ext.skill._yaml import read
from prime_skills_ext.skill.fields import KNOWN_FIELDS, LIST_FIELDS, MAP_FIELDS
from prime_skills_ext.skill.model import Diagnostic
from prime_skills_ext.skill.text import split_outside

__all__ = ["Piece", "as_text", "cut", "quoted", "read_piece"]

_KEY = re.compile(r"""(["']?)(?P<key>[^\W\d_][\w.-]*)\1[ \t]*:(?P<rest>.*)""")
_BELONGS = (" ", "\t", "#", "- ", "}", "]")
_BLOCK = re.compile(r"(?P<style>[|>])[-+0-9]{0,2}(?:[ \t]+#.*)?")
#: What follows a quote that ends something.
_STOP = re.compile(r"[\s,;:.)]")
#: What means something to YAML at the start of a value.
_SIGNS = frozenset("[{\"'*&!%@`|>?,#")
#: No header of a person has more fields; the bound keeps hostile ones cheap.
_MAX_PIECES = 1000


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """One top-level field as it stands in the header.

    Attributes:
        key: As written, without quotes.
        rest: What follows the colon on the key's line.
        more: Its further lines.
        line: Line of the key within the header, from 0.
    """

    key: str
    rest: str
    more: tuple[str, ...]
    line: int


def cut(header: str) -> tuple[tuple[Piece, ...], tuple[int, ...]]:
    """Cut a header at its top-level keys.

    Returns:
        The pieces, and the lines (from 0) that belong to none of them.
    """
    found: list[tuple[str, str, list[str], int]] = []
    strays: list[int] = []
    is_lost = True
    for at, line in enumerate(header.split("\n")):
        match = _match_key(line)
        if match is not None and len(found) < _MAX_PIECES:
            found.append((match["key"], match["rest"], [], at))
            is_lost = False
        elif line.strip() and (is_lost or not line.startswith(_BELONGS)):
            strays.append(at)
            is_lost = True
        elif not is_lost:
            found[-1][2].append(line)
    return (
        tuple(
            Piece(key=key, rest=rest, more=tuple(more), line=at)
            for key, rest, more, at in found
        ),
        tuple(strays),
    )


def _match_key(line: str) -> re.Match[str] | None:
    """Match ``key: …``; a field that we know needs no blank behind its colon."""
    match = _KEY.fullmatch(line)
    if match is None or not match["rest"] or match["rest"][0] in " \t":
        return match
    return match if match["key"].lower() in KNOWN_FIELDS else None


def read_piece(piece: Piece, *, line: int) -> tuple[object, Diagnostic | None]:
    """Read one field, as YAML if that is possible.

    Args:
        piece: The field.
        line: Its 1-based line in the file.

    Returns:
        Its value, and what to say when it had to be read as text.
    """
    value = _read_yaml(piece, blank="")
    if not isinstance(value, Problem):
        return value, None
    # nothing but the blank is missing: `description:'text'`
    if piece.rest and piece.rest[0] not in " \t":
        spaced = _read_yaml(piece, blank=" ")
        if not isinstance(spaced, Problem):
            return spaced, _explain_blank(piece, line)
    known = piece.key.lower()
    if known in KNOWN_FIELDS - MAP_FIELDS:
        return as_text(piece, line=line)
    # what others' fields and maps should have been is not for us to say
    kept = "left out" if known in MAP_FIELDS else "kept as text"
    return None if known in MAP_FIELDS else _text(piece), Diagnostic(
        code="yaml-invalid",
        message=f"The value of `{piece.key}` is not valid YAML ({value.reason}); "
        f"it is {kept}.",
        fix=f"Correct the YAML of `{piece.key}` on {_lines(piece, line)}.",
        line=line,
    )


def as_text(piece: Piece, *, line: int) -> tuple[object, Diagnostic]:
    """Read one field as the text that stands there, or as a list of such texts."""
    items = _items(piece) if piece.key.lower() in LIST_FIELDS else ()
    value: object
    if items:
        value = [_unquoted(item) for item in items]
        corrected = f"[{', '.join(quoted(_unquoted(item)) for item in items)}]"
    else:
        value = text = _text(piece)
        corrected = quoted(text)
    code, reason = _classify(piece)
    return value, Diagnostic(
        code=code,
        message=f"YAML does not take `{piece.key}` for text because of {reason}; "
        "it was read as written.",
        fix=f"Quote the value; write {_lines(piece, line)} as: "
        f"{piece.key}: {corrected}",
        line=line,
    )


def quoted(text: str) -> str:
    """Return ``text`` as YAML that means nothing but this text, on one line."""
    return json.dumps(text, ensure_ascii=False)


def _read_yaml(piece: Piece, *, blank: str) -> object:
    """Return the field's value, or why it is not valid YAML."""
    first = f"{piece.key}:{blank}{piece.rest}"
    document = read("\n".join([first, *piece.more]))
    if isinstance(document, Problem):
        return document
    fields = document.value
    if isinstance(fields, dict) and list(fields) == [piece.key]:
        return fields[piece.key]
    return Problem(reason="it is not one `key: value`")


def _explain_blank(piece: Piece, line: int) -> Diagnostic:
    return Diagnostic(
        code="yaml-no-space",
        message=f"`{piece.key}:` needs a blank behind its colon.",
        fix=f"Write line {line} as: {piece.key}: {piece.rest}",
        line=line,
    )


def _classify(piece: Piece) -> tuple[str, str]:
    """Name the slip: a stable code and the words for it."""
    lines = [line.strip() for line in (piece.rest, *piece.more) if line.strip()]
    sign = lines[0].removeprefix("- ")[:1] if lines else ""
    if sign in _SIGNS:
        return "yaml-sign", f"its leading `{sign}`"
    if any(": " in f"{line} " for line in lines):
        return "yaml-colon", "the `: ` in it"
    return "yaml-text", "the way it is written"


def _lines(piece: Piece, line: int) -> str:
    used = len(piece.more)
    while used and not piece.more[used - 1].strip():
        used -= 1
    return f"lines {line}-{line + used}" if used else f"line {line}"


def _items(piece: Piece) -> Sequence[str]:
    """Return the items of what was meant as a list, else nothing."""
    rest = piece.rest.strip()
    more = [
        text
        for line in piece.more
        if (text := line.strip()) and not text.startswith("#")
    ]
    if not rest and more and all(line.startswith("- ") for line in more):
        return [line[2:].strip() for line in more]
    text = " ".join([rest, *more])
    if text.startswith("[") and text.endswith("]"):
        return split_outside(text[1:-1], separators=",")
    return ()


def _text(piece: Piece) -> str:
    """Return the text of a field, folded as YAML folds what has no quotes."""
    rest = piece.rest.strip()
    block = _BLOCK.fullmatch(rest)
    if block is None:
        return _unquoted(_fold([rest, *piece.more]))
    if block["style"] == "|":
        return textwrap.dedent("\n".join(piece.more)).strip()
    return _fold(piece.more)


def _fold(lines: Iterable[str]) -> str:
    """Join lines by spaces and keep blank lines as line ends."""
    text = ""
    breaks = 0
    for line in lines:
        if line.startswith("#"):
            continue
        if not line.strip():
            breaks += 1
            continue
        text += ("\n" * breaks or " ") + line.strip()
        breaks = 0
    return text.strip()


def _unquoted(text: str) -> str:
    """Take away quotes that stand around the whole text, as in ``'It's here'``."""
    inner = text[1:-1]
    if len(text) < len("''") or text[0] not in "\"'" or text[-1] != text[0]:
        return text
    # in `'a' or 'b'` the first quote inside closes what the outer one opened
    at = inner.find(text[0])
    is_closed = at > 0 and not inner[at - 1].isspace() and _STOP.match(inner, at + 1)
    return text if is_closed else inner.strip()
