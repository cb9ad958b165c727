"""What the cache keeps of a skill, as JSON values, and the way back.

Pure. Only what the header says is kept: where a skill lies, who it is and whether a
Python half lies beside it are looked at again each time.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from prime_skills_ext.skill.model import Diagnostic, PythonPackage, Requires, Skill

__all__ = ["Outcome", "from_json", "to_json", "with_python"]

#: What a header gave: the skill, ``None`` if it describes none, and its findings.
Outcome = tuple[Skill | None, tuple[Diagnostic, ...]]

#: Fields that are left out where they have their default, which most have.
_OPTIONAL: Final = tuple(
    field
    for field in fields(Skill)
    if not (field.default is MISSING and field.default_factory is MISSING)
)
_NAMES: Final = tuple(field.name for field in _OPTIONAL)
_DEFAULTS: Final = tuple(
    field.default if field.default_factory is MISSING else field.default_factory()
    for field in _OPTIONAL
)
_read_optional: Final = attrgetter(*_NAMES)

# Ten thousand values are made of a cache at a time, and the constructor of a frozen
# dataclass with thirty fields takes twice as long as setting its slots does.
_set: Final = {
    field.name: getattr(Skill, field.name).__set__ for field in fields(Skill)
}
_read_all: Final = attrgetter(*_set)
_set_all: Final = tuple(_set.values())
_set_defaults: Final = tuple(
    (_set[field.name], field.default)
    for field in _OPTIONAL
    if field.default is not MISSING
)
_set_empty: Final = tuple(
    (_set[field.name], field.default_factory)
    for field in _OPTIONAL
    if field.default_factory is not MISSING
)
_TUPLES: Final = frozenset(
    field.name for field in _OPTIONAL if isinstance(field.default, tuple)
)


def to_json(outcome: Outcome, *, path: str) -> list[Any] | None:
    """Return what to keep; ``None`` if it speaks of anything but this one file."""
    skill, diagnostics = outcome
    if any(str(item.path) != path for item in diagnostics):
        return None
    kept = None
    if skill is not None:
        if str(skill.path) != path or skill.python is not None:
            return None
        rest = {
            name: value
            for name, value, default in zip(
                _NAMES, _read_optional(skill), _DEFAULTS, strict=True
            )
            if value is not default and value != default
        }
        if "requires" in rest:
            rest["requires"] = [skill.requires.env, skill.requires.bins]
        kept = [skill.name, skill.description, skill.import_name, rest]
    return [
        kept,
        [
            [item.code, item.message, item.fix, item.severity, item.line, item.column]
            for item in diagnostics
        ],
    ]


def from_json(kept: list[Any], *, path: Path, identity: Path) -> Outcome:
    """Return what ``to_json`` was given, as found through ``path``.

    The values must come from ``to_json``; JSON may have made lists of its tuples.
    """
    values, findings = kept
    skill = None if values is None else _make(values, path=path, identity=identity)
    return skill, tuple(
        Diagnostic(
            code=code,
            message=message,
            fix=fix,
            severity=severity,
            path=path,
            line=line,
            column=column,
        )
        for code, message, fix, severity, line, column in findings
    )


def with_python(skill: Skill, python: PythonPackage | None) -> Skill:
    """Return a skill with its Python half, as ``replace`` does in twice the time."""
    made = object.__new__(Skill)
    for put, value in zip(_set_all, _read_all(skill), strict=True):
        put(made, value)
    _set["python"](made, python)
    return made


def _make(values: list[Any], *, path: Path, identity: Path) -> Skill:
    skill = object.__new__(Skill)
    name, description, import_name, rest = values
    for put, value in _set_defaults:
        put(skill, value)
    for put, make in _set_empty:
        put(skill, make())
    _set["name"](skill, name)
    _set["description"](skill, description)
    _set["import_name"](skill, import_name)
    _set["path"](skill, path)
    _set["directory"](skill, path.parent)
    _set["identity"](skill, identity)
    for field, value in rest.items():
        if field in _TUPLES:
            _set[field](skill, tuple(value))
        elif field == "requires":
            env, bins = value
            _set[field](skill, Requires(env=tuple(env), bins=tuple(bins)))
        else:
            _set[field](skill, value)
    return skill
