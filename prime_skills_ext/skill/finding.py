"""What a strict check says about a file, as values, and the sheet it is said about.

A ``Diagnostic`` tells the user of a skill what was odd; a ``Finding`` tells its
author: it shows the line as written and, where that is known, as it should be.
Nothing here knows a rule or touches a disk.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self, final

from prime_skills_ext.skill._fences import decode
from prime_skills_ext.skill.model import Diagnostic, Severity

__all__ = ["Edit", "Finding", "Sheet"]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    """A replacement of whole lines.

    Attributes:
        first: 1-based first line that is replaced.
        last: The last one; ``first - 1`` inserts before ``first``.
        lines: What stands there afterwards.
    """

    first: int
    last: int
    lines: tuple[str, ...]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing in a file that its author should correct or know.

    Attributes:
        code: Stable kebab-case name of the rule.
        reason: What is wrong, in one sentence.
        fix: What to do, as an imperative.
        severity: ``"error"`` breaks the standard or the contract, ``"warning"``
            works but not as its author may think, ``"info"`` is worth knowing.
        path: The file.
        line: 1-based line, if it is about one.
        column: 1-based column in that line, if known.
        written: The line or lines as they stand there.
        corrected: The same as they should be, if that is known.
        edit: The correction as an edit of the file, a candidate for ``--fix``.
    """

    code: str
    reason: str
    fix: str
    severity: Severity
    path: Path
    line: int | None = None
    column: int | None = None
    written: str | None = None
    corrected: str | None = None
    edit: Edit | None = None


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Sheet:
    """The lines of one file, which findings quote.

    Attributes:
        path: The file.
        lines: Its lines without their ends.
    """

    path: Path
    lines: tuple[str, ...]

    @classmethod
    def read(cls, data: bytes, *, path: Path) -> Self:
        """Cut a file into lines as ``frontmatter`` counts them."""
        return cls(path=path, lines=tuple(decode(data)[0].split("\n")))

    def line(self, number: int) -> str:
        """Return a line by its 1-based number, empty where there is none."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def note(
        self,
        code: str,
        reason: str,
        *,
        fix: str,
        severity: Severity = "error",
        line: int | None = None,
        column: int | None = None,
        written: str | None = None,
        corrected: str | None = None,
        edit: Edit | None = None,
    ) -> Finding:
        """Make a finding about this file; ``written`` is the line it is about."""
        if edit is not None:
            corrected = "\n".join(edit.lines)
            written = written or "\n".join(self.lines[edit.first - 1 : edit.last])
        elif line is not None:
            written = written or self.line(line)
        return Finding(
            code=code,
            reason=reason,
            fix=fix,
            severity=severity,
            path=self.path,
            line=line,
            column=column,
            written=written or None,
            corrected=corrected,
            edit=edit,
        )

    def quote(
        self,
        diagnostic: Diagnostic,
        *,
        severity: Severity | None = None,
        column: int | None = None,
        corrected: str | None = None,
        edit: Edit | None = None,
    ) -> Finding:
        """Make a finding of what a reader of this file reported."""
        return self.note(
            diagnostic.code,
            diagnostic.message,
            fix=diagnostic.fix,
            severity=severity or diagnostic.severity,
            line=diagnostic.line,
            column=diagnostic.column or column,
            corrected=corrected,
            edit=edit,
        )
