"""Checking skills where they lie: files gathered here, judged by ``skill``.

Reads a skill's folder within bounds, without following links out of it, and hands
texts and names of files to the pure rules. Nothing of a skill is run.
"""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, final

from prime_skills_ext.catalog.check_report import CheckedSkill, FileChange
from prime_skills_ext.catalog.looking import is_there, is_within, real_path
from prime_skills_ext.catalog.reading import explain, read_file, read_header
from prime_skills_ext.catalog.sources import Source
from prime_skills_ext.catalog.walking import PRUNED, Found, walk
from prime_skills_ext.errors import PrimeSkillsError
from prime_skills_ext.skill.check_body import (
    Leads,
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
from prime_skills_ext.skill.fixing import diff, repair
from prime_skills_ext.skill.frontmatter import Frontmatter, parse
from prime_skills_ext.skill.model import Diagnostic, Severity
from prime_skills_ext.skill.names import SKILL_FILE, import_name, is_skill_file
from prime_skills_ext.skill.validation import to_skill
from prime_skills_ext.writing import replace_bytes

__all__ = ["Surroundings", "Target", "check_skill", "find_targets", "repair_skill"]

#: More than any author writes; a file beyond it is reported, not read.
_MAX_BYTES: Final = 4 << 20
_MAX_FILES: Final = 2000
_MAX_DOCUMENTS: Final = 100
_PRUNED: Final = PRUNED | {"build", "dist"}
_ORDER: Final[dict[Severity, int]] = {"error": 0, "warning": 1, "info": 2}


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


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """A file to be checked.

    Attributes:
        path: A ``SKILL.md`` or lone ``.md`` file, absolute.
        location: What the report calls its place.
        loose: It is a lone ``.md`` file: what lies beside it is not its own.
    """

    path: Path
    location: str
    loose: bool = False


def find_targets(source: Source) -> tuple[Target, ...]:
    """Return the skills of one source, broken ones included, by path.

    Lone files that nobody named and that describe no skill are left out: READMEs lie
    everywhere.
    """
    found: dict[Path, Target] = {}

    def take(item: Found) -> bool:
        path = Path(item.path)
        if item.loose and not item.named and not _describes(path):
            return False
        found[path] = _target(path, source, loose=item.loose)
        return True

    def report(diagnostic: Diagnostic) -> None:
        path = diagnostic.path
        if path is not None and is_skill_file(path.name):
            found.setdefault(path, _target(path, source))

    walk(source, take=take, report=report)
    return tuple(found[path] for path in sorted(found))


def _target(path: Path, source: Source, *, loose: bool = False) -> Target:
    place = path if loose else path.parent
    return Target(path=path, location=source.locate(place), loose=loose)


def _describes(path: Path) -> bool:
    try:
        front = parse(read_header(path)[0])
    except OSError:
        return False
    return front.found and bool(front.fields.get("description"))


def repair_skill(target: Target, *, write: bool) -> FileChange | None:
    """Correct what is certain in a ``SKILL.md``.

    Args:
        target: The file.
        write: Rewrite it; else only show what would change.

    Returns:
        What changes; ``None`` where nothing does.

    Raises:
        PrimeSkillsError: The file cannot be written.
    """
    try:
        before = read_file(target.path, limit=_MAX_BYTES)
    except OSError:
        return None  # the check says so
    if len(before) == _MAX_BYTES:
        return None
    after = repair(before, path=target.path, loose=target.loose)
    if after == before:
        return None
    if write:
        _replace(target.path, after)
    shown = target.path.name
    if not target.loose:
        shown = f"{target.path.parent.name}/{shown}"
    change = diff(before, after, name=shown)
    return FileChange(path=target.path, diff=change, written=write)


def _replace(path: Path, data: bytes) -> None:
    """Replace a file in one step; a link stays a link, and the mode stays."""
    real = Path(real_path(path))
    try:
        mode = stat.S_IMODE(real.stat().st_mode)
        replace_bytes(real, data=data, durable=True, mode=mode)
    except OSError as error:
        raise PrimeSkillsError(
            f"{path.name} cannot be written: {explain(error)}",
            fix="make the file and its folder writable, or edit it by hand",
            path=path,
        ) from error


def check_skill(target: Target, *, surroundings: Surroundings) -> CheckedSkill:
    """Check one skill.

    Args:
        target: Its file.
        surroundings: What it may rely on.
    """
    path, loose, location = target.path, target.loose, target.location
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
    if not loose and path.name != SKILL_FILE:
        yield sheet.note(
            "file-name",
            f"The file is called `{path.name}`; the standard wants `{SKILL_FILE}`.",
            fix=f"Rename it to `{SKILL_FILE}`.",
        )
    if len(data) == _MAX_BYTES:
        yield sheet.note(
            "file-size",
            f"The file is larger than {_MAX_BYTES >> 20} MiB; the rest is not checked.",
            fix="Move long text to files in references/.",
        )
    yield from check_header(data, front, path=path, loose=loose)
    yield from check_hooks(sheet, front, header=header)
    if front.found:
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

    def _look(self, target: str) -> Leads:
        path = self.root / target
        if not is_within(path, self.root):
            return "outside"
        return "there" if is_there(path) else "missing"

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
