"""Checking skills where they lie: files gathered here, judged by ``skill``.

Reads a skill's folder within bounds, without following links out of it, and hands
texts and names of files to the pure rules. Nothing of a skill is run.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, final

from prime_skills_ext.catalog.reading import explain, read_file
from prime_skills_ext.skill.check_body import (
    Target,
    check_hidden,
    check_length,
    check_links,
    relative_links,
)
from prime_skills_ext.skill.check_header import check_header, header_bounds
from prime_skills_ext.skill.check_hooks import check_hooks
from prime_skills_ext.skill.check_project import PythonFiles, check_project
from prime_skills_ext.skill.distributions import Distributions
from prime_skills_ext.skill.finding import Finding, Sheet
from prime_skills_ext.skill.frontmatter import Frontmatter, parse
from prime_skills_ext.skill.model import Severity
from prime_skills_ext.skill.validation import import_name, to_skill

__all__ = [
    "CheckReport",
    "CheckedSkill",
    "FileChange",
    "Surroundings",
    "check_skill",
]

_SKILL_FILE: Final = "SKILL.md"
#: More than any author writes; a file beyond it is reported, not read.
_MAX_BYTES: Final = 4 << 20
_MAX_FILES: Final = 2000
_MAX_DOCUMENTS: Final = 100
_PRUNED: Final = frozenset({"node_modules", "venv", "__pycache__", "build", "dist"})
_ORDER: Final[dict[Severity, int]] = {"error": 0, "warning": 1, "info": 2}


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

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, skill by skill."""
        return tuple(item for skill in self.skills for item in skill.findings)

    def count(self, severity: Severity) -> int:
        """Return how many findings have a severity."""
        return sum(item.severity == severity for item in self.findings)

    @property
    def passed(self) -> bool:
        """There is no error."""
        return self.count("error") == 0


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """What a skill may rely on without bringing it.

    Attributes:
        siblings: Import names of the other skills.
        distributions: What is known of installed distributions.
    """

    siblings: frozenset[str] = frozenset()
    distributions: Distributions = field(default_factory=Distributions)


def check_skill(
    path: Path, *, location: str, surroundings: Surroundings, loose: bool = False
) -> CheckedSkill:
    """Check one skill.

    Args:
        path: Its ``SKILL.md`` or lone ``.md`` file, absolute.
        location: What the report calls its place.
        surroundings: What it may rely on.
        loose: It is a lone ``.md`` file: what lies beside it is not its own.
    """
    try:
        data = read_file(path, limit=_MAX_BYTES)
    except OSError as error:
        name = path.stem if loose else path.parent.name
        finding = _unreadable(path, error)
        return CheckedSkill(
            name=name, path=path, location=location, findings=(finding,)
        )
    front = parse(data, path=path)
    skill, _ = to_skill(front, path=path, loose=loose)
    name = skill.name if skill else path.stem if loose else path.parent.name
    findings = [*_document(data, front, path=path, loose=loose)]
    if not loose:
        folder = _Folder(root=path.parent, files=frozenset(_files(path.parent)))
        findings += folder.links(data, front, path=path)
        findings += folder.python(path, name=name, surroundings=surroundings)
    return CheckedSkill(
        name=name,
        path=path,
        location=location,
        findings=tuple(sorted(findings, key=lambda item: _place(item, path))),
    )


def _place(finding: Finding, path: Path) -> tuple[object, ...]:
    return (
        finding.path != path,
        str(finding.path),
        finding.line or 0,
        finding.column or 0,
        _ORDER[finding.severity],
    )


def _unreadable(path: Path, error: OSError) -> Finding:
    return Sheet(path=path, lines=()).note(
        "unreadable",
        f"The file cannot be read: {explain(error)}.",
        fix="Make it a readable, regular file.",
    )


def _document(
    data: bytes, front: Frontmatter, *, path: Path, loose: bool
) -> Iterator[Finding]:
    sheet = Sheet.read(data, path=path)
    header = range(*header_bounds(sheet)) if front.found else range(0)
    if not loose and path.name != _SKILL_FILE:
        yield sheet.note(
            "file-name",
            f"The file is called `{path.name}`; the standard wants `{_SKILL_FILE}`.",
            fix=f"Rename it to `{_SKILL_FILE}`.",
        )
    if len(data) == _MAX_BYTES:
        yield sheet.note(
            "file-size",
            f"The file is larger than {_MAX_BYTES >> 20} MiB; the rest is not checked.",
            fix="Move long text to files in references/.",
        )
    yield from check_header(data, front, path=path, loose=loose)
    yield from check_hooks(sheet, front, header=header)
    yield from check_length(sheet, front)
    yield from check_hidden(sheet, header=header)


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class _Folder:
    """A skill's folder and the names of the files in it, relative with ``/``."""

    root: Path
    files: frozenset[str]

    def links(self, data: bytes, front: Frontmatter, *, path: Path) -> list[Finding]:
        """Follow the links of the instructions through the skill's Markdown files."""
        findings: list[Finding] = []
        pending = [(path.name, Sheet.read(data, path=path), front.body_line)]
        seen = {path.name}
        while pending:
            name, sheet, first = pending.pop()
            base = posixpath.dirname(name)
            findings += check_links(
                sheet, look=self._look, files=self.files, first=first, base=base
            )
            if name != path.name:
                findings += check_hidden(sheet)
            for target in relative_links(sheet, first=first, base=base):
                if target in seen or len(seen) > _MAX_DOCUMENTS:
                    continue
                seen.add(target)
                document = self._read(target) if target.endswith(".md") else None
                if document is not None:
                    pending.append((target, document, 1))
        return findings

    def _look(self, target: str) -> Target:
        real = os.path.realpath(self.root / target)
        root = os.path.realpath(self.root)
        if real != root and not real.startswith(root + os.sep):
            return "outside"
        return "there" if os.path.exists(real) else "missing"  # noqa: PTH110

    def _read(self, name: str) -> Sheet | None:
        if self._look(name) != "there":
            return None
        path = self.root / name
        try:
            return Sheet.read(read_file(path, limit=_MAX_BYTES), path=path)
        except OSError:
            return None  # a folder that is called like a file

    def python(
        self, path: Path, *, name: str, surroundings: Surroundings
    ) -> Iterator[Finding]:
        """Check the Python half."""
        module = import_name(name, fallback=self.root.name)
        sources = {
            file: text
            for file in self.files
            if file.startswith("src/")
            and file.endswith(".py")
            and (text := self._text(file)) is not None
        }
        yield from check_project(
            PythonFiles(
                directory=self.root,
                document=path,
                import_name=module,
                files=self.files,
                pyproject=self._text("pyproject.toml"),
                sources=sources,
                siblings=surroundings.siblings,
                distributions=surroundings.distributions,
            )
        )

    def _text(self, file: str) -> str | None:
        sheet = self._read(file)
        return None if sheet is None else "\n".join(sheet.lines)


def _files(root: Path) -> Iterable[str]:
    """Return the files in a folder, relative with ``/``, within bounds."""
    found: list[str] = []
    for place, folders, files in os.walk(root):
        folders[:] = sorted(
            each
            for each in folders
            if not each.startswith(".")
            and each not in _PRUNED
            and not each.endswith(".egg-info")
        )
        inside = Path(place).relative_to(root)
        found += [(inside / each).as_posix() for each in sorted(files)]
        if len(found) >= _MAX_FILES:
            break
    return found[:_MAX_FILES]


def with_findings(skill: CheckedSkill, findings: Iterable[Finding]) -> CheckedSkill:
    """Return a skill with further findings."""
    return replace(skill, findings=(*skill.findings, *findings))
