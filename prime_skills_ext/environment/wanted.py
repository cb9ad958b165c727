"""From a skill's files to what the planner compares. Reads; changes nothing."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from pathlib import Path

from packaging.utils import canonicalize_name

from prime_skills_ext.catalog.reading import read_file
from prime_skills_ext.environment.failure import Failure
from prime_skills_ext.environment.fingerprint import (
    UNREADABLE,
    fingerprint,
    package_path,
    pyproject_hash,
)
from prime_skills_ext.environment.plan import Wanted, parse_requirements
from prime_skills_ext.environment.record import Record, SkillRecord
from prime_skills_ext.skill import pyproject
from prime_skills_ext.skill.model import Diagnostic, PythonPackage, Skill
from prime_skills_ext.skill.pyproject import Project

__all__ = ["MAX_PYPROJECT_BYTES", "names_of", "read_wanted"]

MAX_PYPROJECT_BYTES = 1 << 20
"""Nobody writes a longer ``pyproject.toml``; it is not a text then."""


def read_wanted(
    skills: Sequence[Skill],
    *,
    record: Record,
    extra: Mapping[Path, tuple[str, ...]],
) -> tuple[Wanted, ...]:
    """Read the Python-backed ones among ``skills``; what is wrong is a value.

    Args:
        skills: The selected ones, highest precedence first.
        record: What was added to them before is kept.
        extra: Identity to requirements to add now.
    """
    return tuple(
        _read(
            skill,
            package,
            known=record.skills.get(package_path(package)),
            extra=extra.get(skill.identity, ()),
        )
        for skill, package in _packages(skills)
    )


def names_of(skills: Sequence[Skill]) -> dict[str, str]:
    """Distribution name to skill name, for skills that are not available here."""
    names: dict[str, str] = {}
    for skill, package in _packages(skills):
        project, _ = _parse(package)
        name = skill.import_name if project is None else project.name
        names[canonicalize_name(name or skill.import_name)] = skill.name
    return names


def _packages(skills: Sequence[Skill]) -> list[tuple[Skill, PythonPackage]]:
    return [(skill, skill.python) for skill in skills if skill.python is not None]


def _read(
    skill: Skill,
    package: PythonPackage,
    *,
    known: SkillRecord | None,
    extra: Sequence[str],
) -> Wanted:
    added = tuple(
        line
        for line in dict.fromkeys((*(known.extra if known else ()), *extra))
        if parse_requirements([line])  # uv would refuse the whole batch because of one
    )
    mark = pyproject_hash(package)
    project, problems = _parse(package)
    return Wanted(
        skill=skill,
        key=package_path(package),
        pyproject_hash=mark,
        fingerprint=fingerprint(
            package,
            pyproject_hash=mark,
            inputs=() if project is None else project.inputs,
            extra=added,
        ),
        project=project,
        extra=added,
        problem=_problem(project, problems, mark=mark),
    )


def _text(path: Path) -> str:
    data = read_file(path, limit=MAX_PYPROJECT_BYTES + 1)
    if len(data) > MAX_PYPROJECT_BYTES:
        raise OSError(f"it is longer than {MAX_PYPROJECT_BYTES} bytes")
    return data.decode("utf-8-sig")


def _parse(package: PythonPackage) -> tuple[Project | None, tuple[Diagnostic, ...]]:
    try:
        text = _text(package.pyproject)
    except (OSError, UnicodeDecodeError) as error:
        problem = Diagnostic(
            code="pyproject-unreadable",
            message=f"pyproject.toml cannot be read: {error}",
            fix="make it a readable file in UTF-8",
            severity="error",
            path=package.pyproject,
        )
        return None, (problem,)
    return pyproject.parse(
        text,
        import_name=package.import_name,
        path=package.pyproject,
        files=_files(package.directory),
    )


def _files(directory: Path) -> frozenset[str]:
    """What lies in the skill's folder and its source tree, as the parser wants it."""
    try:
        found = {path.name for path in directory.iterdir()}
    except OSError:
        return frozenset()
    source = directory / "src"
    found.update(
        path.relative_to(directory).as_posix()
        for path in source.rglob("*")
        if "__pycache__" not in path.parts
    )
    return frozenset(found)


def _problem(
    project: Project | None, problems: Sequence[Diagnostic], *, mark: str
) -> Failure | None:
    """What can be told in this process, before anything is asked of uv."""
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        first = errors[0]
        fix = first.fix
        if "\n" not in fix:  # lines to paste are the end of what they belong to
            fix = f"{fix.rstrip('.')}, then %reload_skills"
        return Failure(reason=f"pyproject.toml: {first.message}", fix=fix)
    if project is None or mark == UNREADABLE:
        return Failure(
            reason="pyproject.toml cannot be read", fix="make it a readable file"
        )
    here = platform.python_version()
    wanted = project.requires_python
    if wanted is not None and not wanted.contains(here, prereleases=True):
        return Failure(
            reason=f"it requires Python {wanted}, and this is Python {here}",
            fix="use a kernel with such a Python, or relax requires-python in its "
            "pyproject.toml",
        )
    return None
