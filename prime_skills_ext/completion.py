"""What Tab offers after a door's name: subcommands, names, options, folders.

It reads the grammar and imports no skill.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from prime_skills_ext.catalog.looking import expanded
from prime_skills_ext.commands import COMMANDS
from prime_skills_ext.grammar import Command, choices_of
from prime_skills_ext.views.door import Door

__all__ = ["complete"]


def complete(
    line: str,
    *,
    names: Sequence[str],
    providers: Callable[[], Sequence[str]] = tuple,
    door: Door = "%skill",
) -> list[str]:
    """Return what may stand at the end of ``line``, without importing a skill.

    Args:
        line: The line up to the cursor, the door's name included.
        names: Names of the skills there are.
        providers: Names those whose keys there are or could be.
        door: Whose subcommands are offered.
    """
    words = line.split()
    if line[-1:].isspace() or not words:
        words.append("")
    typed, before = words[-1], words[1:-1]
    offered = [command for command in COMMANDS if door in command.doors]
    if not before:
        candidates = [command.name for command in offered] + sorted(names)
    else:
        command = next((item for item in offered if item.name == before[0]), None)
        candidates = []
        if command is not None and command.takes == "provider" and typed[:1] != "-":
            candidates = list(providers())
        elif command is not None:
            candidates = _arguments_of(command, typed, names)
    return [item for item in candidates if item.startswith(typed)]


def _arguments_of(command: Command, typed: str, names: Sequence[str]) -> list[str]:
    if typed.startswith("-"):
        return [flag for flag, _ in command.options] + ["--json", "--help"]
    if choices := choices_of(command):
        return list(choices)
    if command.takes == "skill":
        return sorted(names)
    if command.takes == "target":
        return [*sorted(names), *_paths(typed)]
    if command.takes in {"path", "folder"}:
        return _paths(typed)
    return []


def _paths(typed: str) -> list[str]:
    """Return the folders that continue ``typed``, spelled as it is."""
    head, slash, _ = typed.rpartition("/")
    folder = expanded(head + slash) if slash else Path()
    try:
        found = sorted(entry.name for entry in folder.iterdir() if entry.is_dir())
    except OSError:
        return []
    return [f"{head}{slash}{name}/" for name in found]
