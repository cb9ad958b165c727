"""The strict reading of a header: every rule of the Agent Skills standard.

The one reader says what is in the header; what it forgives is told here with line,
column and the corrected line, as errors where a reader that forgives nothing would
refuse the file. Pure: bytes in, findings out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final, final

from prime_skills_ext.skill import names
from prime_skills_ext.skill._tolerant import Piece, cut
from prime_skills_ext.skill.check_reader import quote_reader, value_column
from prime_skills_ext.skill.fields import KNOWN_FIELDS, STANDARD_FIELDS
from prime_skills_ext.skill.finding import Edit, Finding, Sheet
from prime_skills_ext.skill.frontmatter import Frontmatter
from prime_skills_ext.skill.model import Severity
from prime_skills_ext.skill.text import cut_at_word, folded
from prime_skills_ext.skill.validation import MAX_DESCRIPTION_CHARS, to_skill

__all__ = ["LISTED_CHARS", "check_header", "header_bounds"]

#: A listing shows so many characters of description and trigger text together.
LISTED_CHARS: Final = 250

_END: Final = re.compile(r"(?:---|\.\.\.)[ \t]*")
#: Maps inside `metadata` that this package reads.
_OUR_METADATA: Final = frozenset({"credential", "requires"})
_TYPO_CUTOFF: Final = 0.8


def check_header(
    data: bytes, front: Frontmatter, *, path: Path, loose: bool = False
) -> tuple[Finding, ...]:
    """Judge the header of a ``SKILL.md``.

    Args:
        data: The file.
        front: What ``frontmatter.parse`` made of it.
        path: The file's place, which its name is compared with.
        loose: It is a lone ``.md`` file, named after itself.
    """
    sheet = Sheet.read(data, path=path)
    start, end = header_bounds(sheet) if front.found else (1, 1)
    pieces, _ = cut("\n".join(sheet.lines[start - 1 : end - 1]))
    checks = _Header(
        sheet=sheet,
        front=front,
        start=start,
        pieces={start + piece.line: piece for piece in pieces},
        folder=names.normalized(path.stem if loose else path.parent.name),
    )
    _, diagnostics = to_skill(front, path=path, loose=loose)
    found = [*quote_reader(diagnostics, sheet=sheet, front=front, pieces=checks.pieces)]
    if front.found:
        found += [*checks.fences(data, end), *checks.keys(), *checks.name()]
        found += [*checks.description(), *checks.values(found)]
    return tuple(found)


def header_bounds(sheet: Sheet) -> tuple[int, int]:
    """Return the 1-based lines of the header's first line and of its closing fence."""
    opening = next(at for at, line in enumerate(sheet.lines, 1) if line.strip())
    closing = next(
        at
        for at, line in enumerate(sheet.lines, 1)
        if at > opening and _END.fullmatch(line)
    )
    return opening + 1, closing


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class _Header:
    """One header and what is asked of it.

    Attributes:
        sheet: The file.
        front: What the reader made of it.
        start: 1-based line of the header's first line.
        pieces: Its fields as written, by line.
        folder: What the skill should be called.
    """

    sheet: Sheet
    front: Frontmatter
    start: int
    pieces: Mapping[int, Piece]
    folder: str

    def fences(self, data: bytes, end: int) -> Iterator[Finding]:
        """The header stands between two lines of three hyphens, and on line 1."""
        if data.startswith(b"\xef\xbb\xbf"):
            yield self.sheet.note(
                "byte-order-mark",
                "The file starts with a byte-order mark, behind which some readers "
                "do not see the `---`.",
                fix="Save it as UTF-8 without a byte-order mark.",
                severity="warning",
                line=1,
                column=1,
                written=f"\ufeff{self.sheet.line(1)}",
                edit=Edit(first=1, last=1, lines=(self.sheet.line(1),)),
            )
        if self.sheet.line(end).startswith("."):
            yield self.sheet.note(
                "fence-dots",
                "The header is closed by `...` where the standard wants `---`.",
                fix=f"Write `---` on line {end}.",
                line=end,
                column=1,
                edit=Edit(first=end, last=end, lines=("---",)),
            )

    def keys(self) -> Iterator[Finding]:
        """Fields are those of the standard, spelled as there."""
        beyond: list[str] = []
        for line, piece in sorted(self.pieces.items()):
            key = piece.key
            if key in STANDARD_FIELDS:
                continue
            if key.lower() in KNOWN_FIELDS and key not in KNOWN_FIELDS:
                yield self._key_case(line, key)
            elif key in KNOWN_FIELDS:
                beyond.append(key)
            elif guess := get_close_matches(key, KNOWN_FIELDS, 1, _TYPO_CUTOFF):
                yield self._note_key(
                    "field-typo",
                    f"`{key}` is no field of the standard; `{guess[0]}` is one.",
                    fix=f"Write `{guess[0]}:` on line {line}, if that is meant.",
                    line=line,
                    corrected=_with_key(self.sheet.line(line), key, guess[0]),
                    severity="warning",
                )
            else:
                beyond.append(key)
        if beyond:
            yield self._beyond(beyond)

    def _beyond(self, keys: list[str]) -> Finding:
        line = self._line(keys[0])
        listed = ", ".join(f"`{key}`" for key in keys)
        return self._note_key(
            "field-beyond",
            f"{listed} {'is' if len(keys) == 1 else 'are'} beyond the standard: other "
            "hosts pass over such a field, and its reference validator refuses it.",
            fix="Keep what hosts like this one read; what informs people belongs below "
            "`metadata:`.",
            line=line,
            severity="info",
        )

    def _key_case(self, line: int, key: str) -> Finding:
        known = key.lower()
        written = self.sheet.line(line)
        corrected = _with_key(written, key, known)
        # with both spellings there, only a person knows which line is meant
        is_double = sum(p.key.lower() == known for p in self.pieces.values()) > 1
        edit = None if is_double else Edit(first=line, last=line, lines=(corrected,))
        return self._note_key(
            "key-case",
            f"Fields are spelled in lower case: `{known}`, not `{key}`.",
            fix=f"Write `{known}:` on line {line}."
            if not is_double
            else f"Keep one of the lines `{key}:` and `{known}:`.",
            line=line,
            corrected=corrected,
            edit=edit,
        )

    def name(self) -> Iterator[Finding]:
        """The name is required; rules of its text are the reader's."""
        value = self.front.fields.get("name")
        if any(item.severity == "error" for item in self.front.diagnostics):
            return  # a header that cannot be read says so already
        if value is not None and (not isinstance(value, str) or value.strip()):
            return
        line = self._line("name") if "name" in self.front.fields else self.start
        last = line if "name" in self.front.fields else line - 1
        usable = bool(self.folder) and not names.find_faults(self.folder)
        added = f"name: {self.folder}"
        yield self.sheet.note(
            "name-missing",
            "The name is required and is missing or blank.",
            fix=f"Write `{added}` in the header."
            if usable
            else "Rename the folder to a valid name and write it behind `name:`.",
            line=line if last == line else self.start - 1,
            edit=Edit(first=line, last=last, lines=(added,)) if usable else None,
        )

    def description(self) -> Iterator[Finding]:
        """The description is short enough, for the standard and for a listing."""
        value = self.front.fields.get("description")
        if not isinstance(value, str) or not value.strip():
            return
        line = self._line("description")
        length = len(value.strip())
        if length > MAX_DESCRIPTION_CHARS:
            yield self.sheet.note(
                "description-length",
                f"The description has {length} of {MAX_DESCRIPTION_CHARS} characters.",
                fix=f"Shorten it by {length - MAX_DESCRIPTION_CHARS} characters; "
                "details belong below the header.",
                line=line,
                column=value_column(self.sheet.line(line)),
            )
        triggers = self.front.fields.get("when_to_use")
        told = folded(value)
        if isinstance(triggers, str) and triggers.strip():
            told = f"{told} - {folded(triggers)}"
        if len(told) > LISTED_CHARS:
            yield self._cut(told, line)

    def _cut(self, told: str, line: int) -> Finding:
        shown = cut_at_word(told, limit=LISTED_CHARS)
        seam = shown[:-1][-24:].lstrip()
        at = self.sheet.line(line).find(seam)
        return self.sheet.note(
            "description-cut",
            f"A listing shows {LISTED_CHARS} of its {len(told)} characters; it ends "
            f"`…{seam}…`.",
            fix=f"Say what and when within {LISTED_CHARS} characters; what comes later "
            "is read by nobody who has to choose.",
            severity="warning",
            line=line,
            column=None if at < 0 else at + len(seam) + 1,
        )

    def values(self, found: list[Finding]) -> Iterator[Finding]:
        """Values have the standard's types: texts, and one map of texts."""
        told = {(item.code, item.line) for item in found}
        for key in ("name", "license", "compatibility"):
            if isinstance(self.front.fields.get(key), (list, dict)):
                line = self._line(key)
                if ("field-type", line) not in told:
                    yield self._type(key, line)
        compatibility = self.front.fields.get("compatibility", "x")
        if compatibility is None or compatibility == "":
            line = self._line("compatibility")
            yield self._note_key(
                "compatibility-empty",
                "`compatibility` is there but blank.",
                fix=f"Delete line {line}, or say what must be there.",
                line=line,
            )
        yield from self._tools()
        yield from self._metadata()

    def _type(self, key: str, line: int) -> Finding:
        return self._note_key(
            "field-type",
            f"`{key}` is a list or a map where the standard has text.",
            fix=f"Write text behind `{key}:`.",
            line=line,
        )

    def _tools(self) -> Iterator[Finding]:
        value = self.front.fields.get("allowed-tools")
        line = self._line("allowed-tools")
        is_list = isinstance(value, list) and all(isinstance(x, str) for x in value)
        items = value if isinstance(value, list) and is_list else ()
        outside = re.sub(r"\([^)]*\)", "", value) if isinstance(value, str) else ""
        if not items and "," not in outside:
            return
        if isinstance(value, str):
            words = re.sub(r",\s*(?![^(]*\))", " ", value)
        else:
            words = " ".join(items)
        yield self._note_key(
            "tools-separator",
            "`allowed-tools` is a text with blanks between the tools in the standard, "
            f"not {'a list' if items else 'separated by commas'}.",
            fix="Write the tools with blanks between them.",
            line=line,
            corrected=f"allowed-tools: {words}",
            severity="warning",
        )

    def _metadata(self) -> Iterator[Finding]:
        value = self.front.fields.get("metadata")
        line = self._line("metadata")
        if isinstance(value, Mapping):
            nested = [key for key, inner in value.items() if _is_foreign(key, inner)]
            if nested:
                listed = ", ".join(f"`{key}`" for key in nested)
                yield self._note_key(
                    "metadata-nested",
                    f"Values in `metadata` are text in the standard; {listed} "
                    f"{'is' if len(nested) == 1 else 'are'} not.",
                    fix="Write text, or expect other hosts to pass over it.",
                    line=line,
                    severity="info",
                )

    def _note_key(
        self,
        code: str,
        reason: str,
        *,
        fix: str,
        line: int,
        severity: Severity = "error",
        corrected: str | None = None,
        edit: Edit | None = None,
    ) -> Finding:
        return self.sheet.note(
            code,
            reason,
            fix=fix,
            severity=severity,
            line=line,
            column=1,
            corrected=corrected,
            edit=edit,
        )

    def _line(self, key: str) -> int:
        return self.front.lines.get(key, self.start)


def _with_key(line: str, key: str, better: str) -> str:
    return line.replace(key, better, 1)


def _is_foreign(key: str, value: object) -> bool:
    """Tell whether a value in ``metadata`` is neither text nor of use to us."""
    if not isinstance(value, (Mapping, list)) or key in _OUR_METADATA:
        return False
    return not (isinstance(value, Mapping) and "requires" in value)
