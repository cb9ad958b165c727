"""What a word may mean that is no subcommand and no option: names and near misses."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import NoReturn

from prime_skills_ext.catalog.status import Catalogue
from prime_skills_ext.errors import SettingsError, UnknownSkillError
from prime_skills_ext.grammar import Command, Option, Parser
from prime_skills_ext.views.door import Door

__all__ = ["as_name", "refuse"]

_EVERYWHERE = ("--json", "--help")


def as_name(
    words: Sequence[str],
    *,
    catalogue: Catalogue,
    commands: Iterable[Command],
    door: Door,
) -> list[str]:
    """Return the words that show a skill, where the first one is its name.

    Raises:
        SettingsError: It is a subcommand of the other door.
        UnknownSkillError: It is neither; the fix names what it resembles.
    """
    first = words[0]
    try:
        catalogue.get(first)
    except UnknownSkillError as error:
        offered = []
        for command in commands:
            if door in command.doors:
                offered.append(command.name)
            elif command.name == first:
                raise SettingsError(
                    f"{first} is no command here", fix=command.elsewhere
                ) from error
        fix = error.fix
        for close in difflib.get_close_matches(first, offered, n=1):
            fix = f'did you mean "{close}"? {door} --help names the commands'
        raise UnknownSkillError(
            f'There is no skill or command "{first}"', fix=fix
        ) from error
    return ["show", *words]


def refuse(
    unknown: Sequence[str], *, known: Iterable[Option], parser: Parser
) -> NoReturn:
    """Say which words are not taken, and which option may be meant.

    Args:
        unknown: The words.
        known: The options that are taken beside ``--json`` and ``--help``.
        parser: Whose error and usage it is.

    Raises:
        SettingsError: Always.
    """
    names = [*_EVERYWHERE, *(name for name, _ in known)]
    message = f"unrecognized arguments: {' '.join(unknown)}"
    close = [
        found
        for word in unknown
        if word.startswith("-")
        for found in difflib.get_close_matches(word.split("=")[0], names, n=1)
    ]
    try:
        parser.error(message)
    except SettingsError as error:
        if close:
            error.fix = f'did you mean "{close[0]}"? {error.fix}'
        raise
