"""The one reader of frontmatter: bytes or text in, values out, never an exception.

Everybody who needs a skill's header or body calls ``parse``; nobody looks at the
text of a ``SKILL.md`` by other means. What it decides:

- Every scalar is the text that was written; an empty value, ``~`` and ``null``
  are ``None``. Booleans and numbers do not exist here.
- The header stands between two lines ``---`` (the closing one may be ``...``)
  within the first 64 KiB. Only blank lines may stand before it.
- Of a key that is written twice the last one counts, as in most YAML readers.
- Known fields are found in any case (``Name:``); an exact spelling wins.
- What is not valid YAML is read once more, field by field, and reported.

It must not touch a disk or judge what a field means.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, final

from prime_skills_ext.skill import _plain
from prime_skills_ext.skill._document import Document, Entry, Problem
from prime_skills_ext.skill._fences import split
from prime_skills_ext.skill.fields import (
    HEADER_BYTES,
    KNOWN_FIELDS,
    PROSE_FIELDS,
    TEXT_FIELDS,
)
from prime_skills_ext.skill.model import Diagnostic

__all__ = ["HEADER_BYTES", "Frontmatter", "parse"]

#: `description:text: more` is valid YAML for a field called `description:text`.
_GLUED_KEY = re.compile(r"([A-Za-z_-]+):\S")
#: A header that is broken more often than that is not repaired line by line.
_MAX_REPORTS = 20


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Frontmatter:
    """What a file says about itself.

    Attributes:
        found: There is a header, closed and between fences.
        fields: Top-level fields; scalars as text, null as ``None``, lists and
            maps nested the same way.
        body: What follows the header, trimmed, with LF line ends; all of the
            text when there is no header.
        diagnostics: What was odd; each names the file and a line.
        lines: 1-based line in the file of each field's key.
        body_line: 1-based line in the file of the body's first line.
    """

    found: bool
    fields: Mapping[str, object]
    body: str
    diagnostics: tuple[Diagnostic, ...] = ()
    lines: Mapping[str, int] = field(default_factory=dict)
    body_line: int = 1


def parse(data: bytes | str, *, path: Path | None = None) -> Frontmatter:
    """Read the header and body of a ``SKILL.md``.

    Args:
        data: The file, or at least its first ``HEADER_BYTES`` bytes. Text is
            taken as it is; bytes are UTF-8, with or without a byte-order mark.
        path: What diagnostics name as the file.

    Returns:
        The values. Whatever the input, nothing is raised.
    """
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    parts = split(data)
    reading = _Reading(first_line=parts.header_line)
    if parts.header is not None and parts.header.strip():
        reading.take(parts.header)
    diagnostics = [*parts.diagnostics, *reading.diagnostics]
    return Frontmatter(
        found=parts.header is not None,
        fields=reading.fields,
        body=parts.body,
        diagnostics=tuple([replace(item, path=path) for item in diagnostics]),
        lines=reading.lines,
        body_line=parts.body_line,
    )


@dataclass(slots=True)
class _Reading:
    """The fields of one header while they are being read."""

    first_line: int
    fields: dict[str, object] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def take(self, header: str) -> None:
        document = _plain.read(header) or _read_yaml(header)
        if isinstance(document, Problem):
            self._take_pieces(header, document)
        elif document.value is None:
            return
        elif not isinstance(document.value, dict) or _has_glued_key(document.value):
            reason = "it is not made of `key: value` lines"
            self._take_pieces(header, Problem(reason=reason))
        else:
            self._take_document(header, document, document.value)
        self._settle_case()

    def _take_document(
        self, header: str, document: Document, fields: dict[str, object]
    ) -> None:
        self.fields = dict(fields)
        self.lines = {
            key: self.first_line + entry.line for key, entry in document.entries.items()
        }
        self._report_duplicates(document.duplicates)
        lines: list[str] | None = None
        for key, entry in document.entries.items():
            known = key.lower()
            if entry.collection:
                self._recover_text(header, key)
            elif entry.plain and known in PROSE_FIELDS and "#" in header:
                lines = lines or header.split("\n")
                self._compare(key, entry, lines)

    def _recover_text(self, header: str, key: str) -> None:
        """Read as text what YAML took for a list or a map where text belongs."""
        known = key.lower()
        is_map = isinstance(self.fields[key], dict)
        if known not in TEXT_FIELDS and not (known == "argument-hint" and is_map):
            return
        from prime_skills_ext.skill import _tolerant  # noqa: PLC0415 - rarely needed

        line = self.lines[key]
        for piece in _tolerant.cut(header)[0]:
            if piece.key == key and self.first_line + piece.line == line:
                value, slip = _tolerant.as_text(piece, line=line)
                self.fields[key] = value
                self.diagnostics.append(slip)

    def _compare(self, key: str, entry: Entry, lines: list[str]) -> None:
        """Warn when YAML took a part of what was written for a comment."""
        lost = [lines[entry.end_line][entry.end_column :].strip()]
        for line in lines[entry.end_line + 1 :]:
            if not line.startswith((" ", "\t")):
                break
            lost.append(line.strip())
        comment = next((text for text in lost if text), "")
        if not comment.startswith("#"):
            return
        from prime_skills_ext.skill import _tolerant  # noqa: PLC0415 - rarely needed

        first, last = self.lines[key], self.first_line + entry.end_line
        where = f"line {first}" if last == first else f"lines {first}-{last}"
        whole = " ".join([str(self.fields[key] or ""), *lost]).split()
        quoted = _tolerant.quoted(" ".join(whole))
        self.diagnostics.append(
            Diagnostic(
                code="yaml-comment",
                message=f"Text after ` #` is a YAML comment: `{key}` ends before "
                f"`{comment[:40]}`.",
                fix=f"Quote it; write {where} as: {key}: {quoted}",
                line=last,
            )
        )

    def _take_pieces(self, header: str, problem: Problem) -> None:
        """Read field by field what is not valid as a whole."""
        from prime_skills_ext.skill import _tolerant  # noqa: PLC0415 - rarely needed

        pieces, strays = _tolerant.cut(header)
        duplicates = []
        slips = []
        for piece in pieces:
            line = self.first_line + piece.line
            value, slip = _tolerant.read_piece(piece, line=line)
            if piece.key in self.fields:
                duplicates.append((piece.key, piece.line))
            self.fields[piece.key] = value
            self.lines[piece.key] = line
            # what went over a bound makes others fail that are innocent
            if slip and not (problem.is_bound and slip.code == "yaml-invalid"):
                slips.append(slip)
        self.diagnostics += slips[:_MAX_REPORTS]
        self._report_duplicates(duplicates)
        if not any(key.lower() in KNOWN_FIELDS for key in self.fields):
            self._report_unreadable(problem)
        elif strays:
            self._report_stray(strays[0])
        elif not slips:
            self._report_unreadable(problem, is_error=False)

    def _report_unreadable(self, problem: Problem, *, is_error: bool = True) -> None:
        line = self.first_line + problem.line
        how = "put quotes around a value that holds `: `, ` #`, brackets or quotes"
        if problem.is_bound:
            how = "nest less, and write out what aliases stand for"
        self.diagnostics.append(
            Diagnostic(
                code="yaml-invalid",
                message=f"The header is not valid YAML at line {line}, column "
                f"{problem.column + 1}: {problem.reason}.",
                fix=f"Correct line {line}: {how}.",
                severity="error" if is_error else "warning",
                line=line,
                column=problem.column + 1,
            )
        )

    def _report_stray(self, stray: int) -> None:
        line = self.first_line + stray
        self.diagnostics.append(
            Diagnostic(
                code="yaml-stray",
                message=f"Line {line} is no `key: value` and was left out.",
                fix=f"Indent line {line} if it continues the field above, "
                "else delete it.",
                line=line,
            )
        )

    def _report_duplicates(self, duplicates: Iterable[tuple[str, int]]) -> None:
        for key, at in list(duplicates)[:_MAX_REPORTS]:
            line = self.first_line + at
            self.diagnostics.append(
                Diagnostic(
                    code="yaml-duplicate-key",
                    message=f"`{key}` is written twice; the last one, on line {line}, "
                    "counts.",
                    fix=f"Delete one of the two lines `{key}:`.",
                    line=line,
                )
            )

    def _settle_case(self) -> None:
        """Give known fields their own spelling; an exact one wins."""
        for key in [key for key in self.fields if key not in KNOWN_FIELDS]:
            known = key.lower()
            if known not in KNOWN_FIELDS:
                continue
            value = self.fields.pop(key)
            line = self.lines.pop(key)
            is_beaten = known in self.fields
            self.fields.setdefault(known, value)
            self.lines.setdefault(known, line)
            self.diagnostics.append(
                Diagnostic(
                    code="key-case",
                    message=f"`{key}` is spelled `{known}`"
                    + ("; the exact one counts." if is_beaten else "."),
                    fix=f"Delete line {line}."
                    if is_beaten
                    else f"Write `{known}:` on line {line}.",
                    line=line,
                )
            )


def _read_yaml(header: str) -> Document | Problem:
    # PyYAML costs 20 ms to import: whoever meets no need for it does not pay them
    from prime_skills_ext.skill import _yaml  # noqa: PLC0415

    return _yaml.read(header)


def _has_glued_key(fields: Mapping[str, Any]) -> bool:
    """Tell whether a known field lost the blank behind its colon."""
    return any(
        match.group(1).lower() in KNOWN_FIELDS
        for key in fields
        if ":" in key and (match := _GLUED_KEY.match(key))
    )
