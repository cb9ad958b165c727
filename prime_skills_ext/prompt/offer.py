"""Which skills are offered to whom, from the catalogue. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

from prime_skills_ext.catalog.status import Catalogue
from prime_skills_ext.prompt.budget import Budget
from prime_skills_ext.prompt.entry import Entry
from prime_skills_ext.prompt.listing import Listing

__all__ = ["Caller", "offer", "render"]

Caller = Literal["model", "user"]

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
    raise NotImplementedError


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
    raise NotImplementedError
