"""Values as JSON: what ``--json`` prints, for programs.

Pure, and the one place where absolute paths are told: a program needs them. The
order of keys and of entries is fixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from functools import singledispatch
from pathlib import Path

from prime_skills_ext.catalog.check_report import CheckReport
from prime_skills_ext.catalog.status import Catalogue, SkillStatus
from prime_skills_ext.prompt.activation import Activation
from prime_skills_ext.prompt.listing import Listing
from prime_skills_ext.skill.finding import Finding
from prime_skills_ext.skill.model import Diagnostic
from prime_skills_ext.views.budget import BudgetReport
from prime_skills_ext.views.card import SkillDetails

__all__ = ["to_json"]


def to_json(value: object) -> dict[str, object]:
    """Return a value as a dictionary that :func:`json.dumps` takes as it is.

    Raises:
        TypeError: The value is none of those that the doors return.
    """
    found = _jsonable(value)
    if not isinstance(found, dict):
        raise TypeError(f"no JSON form for {type(value).__name__}")
    return found


@singledispatch
def _jsonable(value: object) -> object:
    """Return the JSON form of a value: frozen dataclasses by their fields."""
    if is_dataclass(value) and not isinstance(value, type):
        return {
            each.name: _jsonable(getattr(value, each.name)) for each in fields(value)
        }
    if isinstance(value, (list, tuple)):
        return [_jsonable(each) for each in value]
    return str(value) if isinstance(value, Path) else value


@_jsonable.register
def _(value: Catalogue) -> object:
    ordered = sorted(value.skills, key=lambda each: (each.skill.name, each.location))
    return {"skills": _all(ordered), "diagnostics": _all(value.diagnostics)}


@_jsonable.register
def _(value: SkillStatus) -> object:
    skill = value.skill
    return {
        "name": skill.name,
        "kind": skill.kind,
        "state": value.state,
        "description": skill.description,
        "path": str(skill.path),
        "directory": str(skill.directory),
        "source": value.source.label,
        "source_kind": value.source.kind,
        "location": value.location,
        "reason": value.reason,
        "fix": value.fix,
        "import_name": skill.import_name,
        "bound_as": value.bound_as,
        "overrides": list(value.overrides),
    }


@_jsonable.register
def _(value: SkillDetails) -> object:
    return {
        "skill": _jsonable(value.status),
        "signature": value.signature,
        "doc": value.doc,
        "body": value.body,
    }


@_jsonable.register
def _(value: Listing) -> object:
    return {
        "text": value.text,
        "counted": value.counted,
        "limit": value.limit,
        "unit": value.unit,
        "needed": value.needed,
        "total_chars": value.total_chars,
        "skills": _all(value.items),
    }


@_jsonable.register
def _(value: BudgetReport) -> object:
    budget, listing = value.budget, value.listing
    return {
        "budget": value.preset,
        "strategy": budget.strategy,
        "share": budget.share,
        "context_tokens": budget.context_tokens,
        "entry_chars": budget.entry_chars,
        "counted": listing.counted,
        "limit": listing.limit,
        "unit": listing.unit,
        "needed": listing.needed,
        "wanted": value.wanted,
        "total_chars": listing.total_chars,
        "skills": _all(listing.items),
        "fix": value.fix,
    }


@_jsonable.register
def _(value: Activation) -> object:
    told = {each.name: _jsonable(getattr(value, each.name)) for each in fields(value)}
    return {**told, "text": value.text}


@_jsonable.register
def _(value: Diagnostic) -> object:
    return {
        "code": value.code,
        "severity": value.severity,
        "message": value.message,
        "fix": value.fix,
        "path": None if value.path is None else str(value.path),
        "line": value.line,
        "column": value.column,
    }


@_jsonable.register
def _(value: CheckReport) -> object:
    return {
        "passed": value.passed,
        "errors": value.count("error"),
        "warnings": value.count("warning"),
        "skills": _all(value.skills),
        "changes": _all(value.changes),
        "fix": value.fix,
    }


@_jsonable.register
def _(value: Finding) -> object:
    return {
        "code": value.code,
        "severity": value.severity,
        "path": str(value.path),
        "line": value.line,
        "column": value.column,
        "reason": value.reason,
        "fix": value.fix,
        "written": value.written,
        "corrected": value.corrected,
    }


def _all(values: Sequence[object]) -> list[object]:
    return [_jsonable(each) for each in values]
