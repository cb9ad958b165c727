"""A skill's ``pyproject.toml`` as values: text in, ``Project`` out, no exception.

It reads what the standards say (PEP 518, PEP 621) and tells whether the project is
simple enough to be installed without its build backend. A value of the wrong type
is a diagnostic and counts as absent. It touches no disk: what lies beside the file
is told to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar, final

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from prime_skills_ext.skill import _backends
from prime_skills_ext.skill._toml import TableReader, load
from prime_skills_ext.skill.model import Diagnostic

__all__ = ["Project", "parse"]

T = TypeVar("T")

_DOTTED = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_TARGET = re.compile(rf"{_DOTTED}(?:\s*:\s*{_DOTTED})?(?:\s*\[[\w\s,.-]*\])?")
_SCRIPT = re.compile(rf"{_DOTTED}\s*:\s*{_DOTTED}(?:\s*\[[\w\s,.-]*\])?")


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Project:
    """What a ``pyproject.toml`` says that installing it depends on.

    Attributes:
        name: Name of the distribution in canonical form; it need not resemble
            the import name.
        version: As written.
        dependencies: What it requires.
        requires_python: Which Pythons it is for; ``None`` means any.
        scripts: Command to ``module:attribute``.
        entry_points: The other groups, ``gui_scripts`` among them.
        optional_dependencies: Extra, in canonical form, to what it requires.
        backend: Its build backend, ``None`` when it names none.
        build_requires: What building it requires.
        dynamic: Fields that only the backend knows.
        inputs: Files that building it reads, relative to it, with ``/``. Some may
            not exist: that one appears is a change too.
        slow_lane: Why its own backend must build it, as half a sentence; ``None``
            when we can.
    """

    name: str | None = None
    version: str | None = None
    dependencies: tuple[Requirement, ...] = ()
    requires_python: SpecifierSet | None = None
    scripts: Mapping[str, str] = field(default_factory=dict)
    entry_points: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    optional_dependencies: Mapping[str, tuple[Requirement, ...]] = field(
        default_factory=dict
    )
    backend: str | None = None
    build_requires: tuple[Requirement, ...] = ()
    dynamic: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    slow_lane: str | None = None

    @property
    def static(self) -> bool:
        """It can be installed without running its build backend."""
        return self.slow_lane is None


def parse(
    text: str,
    *,
    import_name: str,
    path: Path | None = None,
    files: frozenset[str] = frozenset(),
) -> tuple[Project | None, tuple[Diagnostic, ...]]:
    """Read a ``pyproject.toml``.

    Args:
        text: Its content.
        import_name: What the skill is imported as.
        path: What diagnostics name as the file.
        files: What lies in the skill's folder, relative with ``/``: a
            ``setup.py`` decides about the lane, licences are found by pattern.

    Returns:
        The project, ``None`` when the text is no TOML, and what is wrong. A
        diagnostic of severity ``error`` means that its backend would refuse it.
    """
    text = text.removeprefix("\ufeff")
    document, fault = load(text, path=path)
    if document is None or fault is not None:
        return None, (fault,) if fault else ()
    reader = _ProjectReader(text=text, path=path)
    table, build, tool = (
        reader.table(document, key) for key in ("project", "build-system", "tool")
    )
    if "project" not in document:
        reader.report_missing()
    elif isinstance(document["project"], dict):
        reader.require(table)
    project = reader.project(table, build)
    facts = _backends.Facts(
        backend=project.backend or _backends.DEFAULT,
        has_backend_path="backend-path" in build,
        build_requires=tuple(
            canonicalize_name(item.name) for item in project.build_requires
        ),
        import_name=import_name,
        name=project.name,
        project=table,
        tool=tool,
        dynamic=project.dynamic,
        files=files,
    )
    naming = _backends.check_naming(facts)
    if naming is not None:
        reader.report(
            "project-package",
            naming[0],
            fix=naming[1],
            where="project",
            key="name",
            severity="error" if _backends.is_refused_for_naming(facts) else "warning",
        )
    is_refused = any(item.severity == "error" for item in reader.diagnostics)
    slow_lane = (
        "its pyproject.toml is not valid"
        if is_refused
        else _backends.find_slow_lane(facts)
    )
    inputs = _backends.find_inputs(facts)
    project = replace(project, inputs=inputs, slow_lane=slow_lane)
    return project, tuple(reader.diagnostics)


class _ProjectReader(TableReader):
    """Knows the fields of a ``pyproject.toml``."""

    def project(self, table: Mapping[str, Any], build: Mapping[str, Any]) -> Project:
        return Project(
            name=self._text(table, "name", _canonical_name, example="word-count"),
            version=self._text(table, "version", _version, example="0.1.0"),
            dependencies=self._requirements(table, "dependencies", where="project"),
            requires_python=self._text(
                table, "requires-python", _specifiers, example=">=3.11"
            ),
            scripts=self._targets(table, "scripts", where="project"),
            entry_points=self._groups(table),
            optional_dependencies=self._extras(table),
            backend=self.value(build, "build-backend", str, where="build-system"),
            build_requires=self._requirements(build, "requires", where="build-system"),
            dynamic=self.texts(table, "dynamic", where="project"),
        )

    def report_missing(self) -> None:
        self.report(
            "project-missing",
            "There is no [project] table.",
            fix='Write `[project]`, `name = "…"` and `version = "0.1.0"`.',
            where="project",
            severity="warning",
        )

    def require(self, table: Mapping[str, Any]) -> None:
        """Report that a name, or a version that is not dynamic, is missing."""
        dynamic = table.get("dynamic")
        given = {*table, *(("version",) if _names_version(dynamic) else ())}
        for key, example in (("name", "…"), ("version", "0.1.0")):
            if key not in given:
                self.report(
                    f"project-{key}",
                    f"[project] has no {key}.",
                    fix=f'Write `{key} = "{example}"` below [project].',
                    where="project",
                )

    def _text(
        self,
        table: Mapping[str, Any],
        key: str,
        parser: Callable[[str], T],
        *,
        example: str,
    ) -> T | None:
        text = self.value(table, key, str, where="project")
        if text is None:
            return None
        return self.parsed(text, parser, key=key, where="project", example=example)

    def _requirements(
        self, table: Mapping[str, Any], key: str, *, where: str
    ) -> tuple[Requirement, ...]:
        parsed = (
            self.parsed(text, _requirement, key=key, where=where, example="httpx>=0.27")
            for text in self.texts(table, key, where=where)
        )
        return tuple(item for item in parsed if item is not None)

    def _extras(self, table: Mapping[str, Any]) -> dict[str, tuple[Requirement, ...]]:
        extras = self.table(table, "optional-dependencies", where="project")
        where = "project.optional-dependencies"
        return {
            canonicalize_name(key): self._requirements(extras, key, where=where)
            for key in extras
        }

    def _targets(
        self, table: Mapping[str, Any], key: str, *, where: str, script: bool = True
    ) -> dict[str, str]:
        targets: dict[str, str] = {}
        for name, target in self.pairs(table, key, where=where).items():
            if (_SCRIPT if script else _TARGET).fullmatch(target.strip()):
                targets[name] = target.strip()
            else:
                self.report(
                    "project-value",
                    f"`{target}` in [{where}.{key}] {name} is no `module:function`.",
                    fix=f'Write `{name} = "module:function"`.',
                    where=f"{where}.{key}",
                    key=name,
                )
        return targets

    def _groups(self, table: Mapping[str, Any]) -> dict[str, dict[str, str]]:
        groups = {}
        if "gui-scripts" in table:
            groups["gui_scripts"] = self._targets(table, "gui-scripts", where="project")
        entry_points = self.table(table, "entry-points", where="project")
        for group in entry_points:
            groups[group] = self._targets(
                entry_points, group, where="project.entry-points", script=False
            )
        return groups


def _names_version(dynamic: object) -> bool:
    return isinstance(dynamic, list) and "version" in dynamic


def _version(text: str) -> str:
    Version(text)
    return text


def _canonical_name(name: str) -> str:
    return canonicalize_name(name, validate=True)


def _specifiers(text: str) -> SpecifierSet:
    specifiers = SpecifierSet(text)
    # versions in it are only read when used: find a bad one now
    specifiers.contains("3")
    return specifiers


def _requirement(text: str) -> Requirement:
    requirement = Requirement(text)
    requirement.specifier.contains("1")
    return requirement
