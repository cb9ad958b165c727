"""The answer of a check, as values: what every view, door and program reads."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final

from prime_skills_ext.skill.finding import Finding
from prime_skills_ext.skill.model import Severity

__all__ = ["CheckReport", "CheckedSkill", "FileChange"]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class CheckedSkill:
    """One skill and what its author should know.

    Attributes:
        name: What it is called.
        path: Its ``SKILL.md`` or lone ``.md`` file.
        location: Where it was found, the same text on every machine.
        findings: By file and line, what belongs to no line first.
    """

    name: str
    path: Path
    location: str
    findings: tuple[Finding, ...] = ()


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class FileChange:
    """A file that ``--fix`` rewrites.

    Attributes:
        path: The file.
        diff: What changes, in unified form.
        written: It was rewritten; ``False`` only shows what would be.
    """

    path: Path
    diff: str
    written: bool


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class CheckReport:
    """The answer of a check.

    Attributes:
        skills: Every skill that was checked, those without a finding included.
        changes: What ``--fix`` does or did; empty without it.
        fix: What to type next, ``None`` if nothing is left to do.
    """

    skills: tuple[CheckedSkill, ...] = ()
    changes: tuple[FileChange, ...] = ()
    fix: str | None = None

    def all_findings(self) -> tuple[Finding, ...]:
        """Return the findings of all skills, skill by skill."""
        return tuple(item for skill in self.skills for item in skill.findings)

    def count(self, severity: Severity) -> int:
        """Return how many findings have a severity."""
        return sum(item.severity == severity for item in self.all_findings())

    @property
    def passed(self) -> bool:
        """There is no error."""
        return self.count("error") == 0
