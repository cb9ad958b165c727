"""Which skills are offered to whom, from the catalogue. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from prime_skills_ext.catalog.gates import State
from prime_skills_ext.catalog.status import Catalogue, SkillStatus
from prime_skills_ext.errors import UnknownSkillError
from prime_skills_ext.prompt.budget import Budget, named_budget
from prime_skills_ext.prompt.cleaning import clean
from prime_skills_ext.prompt.entry import Entry
from prime_skills_ext.prompt.listing import Listing, render_entries
from prime_skills_ext.prompt.tools import can_use_skills
from prime_skills_ext.skill.model import Caller

__all__ = ["RESTRICTED", "offer", "render"]

#: What stands at a skill that a model sees but may not call.
RESTRICTED: Final = "Only a person may call this skill; ask for it."

_WORKS: Final[frozenset[State]] = frozenset({"ready", "instructions"})
#: What somebody should look at, but works as long as something is bound.
_WORKS_IF_BOUND: Final[frozenset[State]] = frozenset({"name-taken", "stale"})

_NO_COMMANDS: Final[Mapping[Path, str]] = MappingProxyType({})
_NO_USES: Final[Mapping[str, int]] = MappingProxyType({})


def offer(
    catalogue: Catalogue,
    *,
    commands: Mapping[Path, str] = _NO_COMMANDS,
    uses: Mapping[str, int] = _NO_USES,
    caller: Caller = "model",
    list_restricted: bool = False,
) -> tuple[Entry, ...]:
    """Return the skills that work and that the caller may use.

    Args:
        catalogue: Every skill and how it stands.
        commands: Installed shell commands, by the identity of their skill.
        uses: How often each skill was used, by name.
        caller: For whom: what a model may call, or what a person may invoke.
        list_restricted: Name to a model, with a mark, what it may not call.
    """
    return tuple(
        _entry(status, name=name, commands=commands, uses=uses, caller=caller)
        for status in catalogue.skills
        if _works(status)
        and _may(status, caller, list_restricted=list_restricted)
        and (name := _told_name(status, catalogue)) is not None
    )


def _works(status: SkillStatus) -> bool:
    return status.state in _WORKS or (
        status.state in _WORKS_IF_BOUND and status.bound_as is not None
    )


def _may(status: SkillStatus, caller: Caller, *, list_restricted: bool) -> bool:
    if caller == "user":
        return status.skill.user_invocable
    return list_restricted or not status.skill.disable_model_invocation


def _told_name(status: SkillStatus, catalogue: Catalogue) -> str | None:
    """Return a name that can be told as it is and leads back to the skill."""
    skill = status.skill
    if clean(skill.name) == skill.name:
        return skill.name
    for name in (skill.import_name, f"{skill.import_name}@{status.source.label}"):
        try:
            if clean(name) == name and catalogue.get(name) is status:
                return name
        except UnknownSkillError:
            continue
    return None


def _told_import(status: SkillStatus) -> str | None:
    if status.bound_as is None or clean(status.bound_as) == status.bound_as:
        return status.bound_as
    return f'skills["{status.skill.import_name}"]'


def _entry(
    status: SkillStatus,
    *,
    name: str,
    commands: Mapping[Path, str],
    uses: Mapping[str, int],
    caller: Caller,
) -> Entry:
    skill = status.skill
    is_restricted = caller == "model" and skill.disable_model_invocation
    return Entry(
        name=name,
        kind=skill.kind,
        description=skill.description,
        location=str(skill.path),
        when_to_use=skill.when_to_use,
        python_import=_told_import(status),
        command=commands.get(skill.identity),
        is_builtin=status.source.kind == "builtin",
        uses=uses.get(skill.name, 0),
        mark=RESTRICTED if is_restricted else None,
    )


def render(
    catalogue: Catalogue,
    *,
    budget: Budget | str = "claude",
    tools: Collection[str] | None = None,
    caller: Caller = "model",
    commands: Mapping[Path, str] = _NO_COMMANDS,
    uses: Mapping[str, int] = _NO_USES,
    list_restricted: bool = False,
) -> Listing:
    """Return what a model is told of the skills.

    Args:
        catalogue: Every skill and how it stands.
        budget: How much text there may be, or the name of a preset.
        tools: Names of the model's tools. Without one that reads files or runs
            code a skill is of no use, and nothing is listed. ``None``: unknown,
            which counts as having one.
        caller: For whom: what a model may call, or what a person may invoke.
        commands: Installed shell commands, by the identity of their skill.
        uses: How often each skill was used, by name.
        list_restricted: Name to a model, with a mark, what it may not call.

    Raises:
        SettingsError: There is no preset of that name.
    """
    chosen = named_budget(budget)
    if not can_use_skills(tools):
        return Listing(limit=chosen.limit, unit=chosen.counted_in)
    entries = offer(
        catalogue,
        commands=commands,
        uses=uses,
        caller=caller,
        list_restricted=list_restricted,
    )
    return render_entries(entries, budget=chosen, tools=tools)
