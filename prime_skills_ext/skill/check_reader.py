"""What the tolerant reader forgave, as its author should see it.

The reader reports a line; here the column is found, and the line is written as it
should be. Where the value is known for certain, the correction is an edit. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from prime_skills_ext.skill import names
from prime_skills_ext.skill._tolerant import Piece, quoted
from prime_skills_ext.skill.fields import KNOWN_FIELDS
from prime_skills_ext.skill.finding import Edit, Finding, Sheet
from prime_skills_ext.skill.frontmatter import Frontmatter
from prime_skills_ext.skill.model import Diagnostic

__all__ = ["quote_reader", "value_column"]

#: Told by other rules, with line and column or more strictly.
_ELSEWHERE: Final = frozenset(
    {"control-character", "invisible-unicode", "description-length", "key-case"}
)
#: What a reader that forgives nothing reads, too.
_LENIENT: Final = frozenset({"yaml-comment"})
_REQUOTED: Final = frozenset({"yaml-colon", "yaml-sign", "yaml-text"})
_VALUE: Final = re.compile(r"""\s*(["']?)[\w.-]+\1[ \t]*:[ \t]*["']?""")
#: The reader's fixes end with the line as it should be.
_WRITE_AS: Final = re.compile(
    r"(?P<head>[Ww]rite lines? [\d-]+ )as: (?P<line>.+)", re.DOTALL
)


def quote_reader(
    diagnostics: Iterable[Diagnostic],
    *,
    sheet: Sheet,
    front: Frontmatter,
    pieces: Mapping[int, Piece],
) -> Iterator[Finding]:
    """Repeat what the reader reported, as strictly as the standard is.

    Args:
        diagnostics: What ``validation.to_skill`` reported.
        sheet: The file.
        front: What the reader made of it.
        pieces: Its fields as written, by 1-based line.
    """
    for item in diagnostics:
        if item.code in _ELSEWHERE:
            continue
        edit = _edit(item, sheet=sheet, front=front, pieces=pieces)
        corrected = None if edit else _corrected(item)
        # where the line is shown as it should be, it need not be told
        fix = _WRITE_AS.sub(r"\g<head>as shown.", item.fix)
        yield sheet.quote(
            replace(item, fix=fix),
            severity="warning" if item.code in _LENIENT else "error",
            column=_column(item, sheet.line(item.line or 0)),
            corrected=corrected,
            edit=edit,
        )


def value_column(line: str) -> int:
    """Return the 1-based column of a field's value in its line."""
    match = _VALUE.match(line)
    return match.end() + 1 if match else 1


def _column(item: Diagnostic, line: str) -> int | None:
    if item.line is None or not line:
        return None
    start = value_column(line)
    if item.code.startswith("name-"):
        return start + _name_offset(item.code, line[start - 1 :])
    if item.code == "yaml-colon":
        at = line.find(": ", start - 1)
        return start if at < 0 else at + 1
    if item.code == "yaml-comment":
        return line.find(" #") + 2
    return start if item.code in _REQUOTED or item.code == "field-type" else 1


def _name_offset(code: str, value: str) -> int:
    """Return how far into a name its fault stands."""
    value = value.rstrip(" \t\"'")
    if code == "name-characters":
        faults = (
            at
            for at, letter in enumerate(value)
            if any(rule == code for rule, _ in names.find_faults(letter))
        )
        return next(faults, 0)
    if code == "name-doubles":
        return max(0, value.find("--"))
    if code == "name-length":
        return min(len(value), names.MAX_NAME_CHARS)
    at_end = code == "name-edges" and not value.startswith("-")
    return max(0, len(value) - 1) if at_end else 0


def _corrected(item: Diagnostic) -> str | None:
    """Return the line as it should be where the reader's fix says so."""
    found = _WRITE_AS.search(item.fix)
    if found is not None:
        return found["line"]
    if item.code.startswith("name-"):
        named = re.search(r"`(name: [^`]+)`", item.fix)
        return named.group(1) if named else None
    return None


def _edit(
    item: Diagnostic, *, sheet: Sheet, front: Frontmatter, pieces: Mapping[int, Piece]
) -> Edit | None:
    """Return the correction of a line whose value is known."""
    at = item.line or 0
    if item.code == "blank-before-fence":
        first = next(at for at, line in enumerate(sheet.lines, 1) if line.strip())
        return Edit(first=1, last=first - 1, lines=())
    piece = pieces.get(at)
    if piece is None or item.code not in _REQUOTED | {"yaml-no-space"}:
        return None
    if item.code == "yaml-no-space":
        line: str | None = f"{piece.key}: {piece.rest}"
        used = 0
    else:
        line = _requoted(piece, front=front, pieces=pieces)
        used = _used(piece)
    if line is None:
        return None
    return Edit(first=at, last=at + used, lines=(line,))


def _requoted(
    piece: Piece, *, front: Frontmatter, pieces: Mapping[int, Piece]
) -> str | None:
    """Return a field on one line that no reader of YAML misunderstands."""
    key = piece.key.lower() if piece.key.lower() in KNOWN_FIELDS else piece.key
    same = [other for other in pieces.values() if other.key.lower() == key.lower()]
    value = front.fields.get(key)
    if same[-1] is not piece:
        return None  # the value is that of the later one
    if isinstance(value, list):
        return f"{key}: [{', '.join(quoted(str(each)) for each in value)}]"
    return f"{key}: {quoted(str(value))}"


def _used(piece: Piece) -> int:
    """Count the further lines of a field without what may follow it."""
    used = len(piece.more)
    while used and (not (line := piece.more[used - 1].strip()) or line[0] == "#"):
        used -= 1
    return used
