"""The grammar of the doors: what a subcommand is, and how words become arguments.

Knows argparse and no subcommand. It neither prints nor leaves Python: what is wrong
with the words is an error with the fix.
"""

from __future__ import annotations

import argparse
import dataclasses
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn, final

from prime_skills_ext.errors import SettingsError
from prime_skills_ext.manager import SkillManager
from prime_skills_ext.views.door import Door

__all__ = [
    "Arguments",
    "Command",
    "HelpAskedError",
    "Option",
    "Parser",
    "choices_of",
    "cut_text",
    "flag",
    "parser",
    "split",
]

Arguments = argparse.Namespace

Option = tuple[str, dict[str, Any]]
"""A flag and the keyword arguments of ``add_argument``."""


@final
@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """A subcommand.

    Attributes:
        name: The word that calls it.
        help: What it does, in one line.
        run: The function behind it.
        takes: What its positional argument is: a key of ``_POSITIONALS``.
        options: Flag to the keyword arguments of ``add_argument``.
        doors: Where it can be called.
        elsewhere: What to do at the other door.
        details: What else its help says, as it is laid out here.
        has_text: What follows its positional argument is text, taken as it is typed:
            ``arguments.text``.
        for_people: It stores or takes up a decision that is not a model's.
    """

    name: str
    help: str
    run: Callable[[SkillManager, Arguments], object]
    takes: str | None = None
    options: tuple[Option, ...] = ()
    doors: tuple[Door, ...] = ("%skill", "prime-skills")
    elsewhere: str = ""
    details: str = ""
    has_text: bool = False
    for_people: bool = False


@final
@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Positional:
    """A positional argument: its name in help, and what it may be."""

    name: str
    choices: tuple[str, ...] | None = None
    is_optional: bool = False


_POSITIONALS = {
    "skill": _Positional(name="NAME"),
    "path": _Positional(name="PATH"),
    "folder": _Positional(name="PATH", is_optional=True),
    "provider": _Positional(name="PROVIDER"),
    "action": _Positional(name="ACTION", choices=("install", "remove")),
    "env": _Positional(
        name="ACTION", choices=("list", "path", "prune", "rebuild"), is_optional=True
    ),
    "target": _Positional(name="TARGET", is_optional=True),
}


def choices_of(command: Command) -> tuple[str, ...]:
    """Return the words that the positional argument of ``command`` may be."""
    return _POSITIONALS[command.takes].choices or () if command.takes else ()


#: A word of a line as somebody types a name: bare, or in quotation marks.
_NAME = r"""(?:"[^"\n]*"|'[^'\n]*'|[^\s"']\S*)"""
_WITH_TEXT = re.compile(
    rf"\s*(?P<head>(?P<command>\w+)(?P<flags>(?:[ \t]+-\S*)*)"
    rf"[ \t]+(?P<name>{_NAME}))(?P<text>(?:\s.*)?)",
    re.DOTALL,
)


class HelpAskedError(Exception):
    """``--help`` was given: its text is the answer."""


class Parser(argparse.ArgumentParser):
    """An argparse that answers with values and errors instead of leaving Python."""

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong with the words."""
        usage = " ".join(self.format_usage().removeprefix("usage: ").split())
        raise SettingsError(f"{self.prog}: {message}", fix=f"use it as: {usage}")

    def print_help(self, file: object = None) -> NoReturn:  # noqa: ARG002
        """Raise the help: it is an answer like others."""
        raise HelpAskedError(self.format_help().rstrip())


def parser(commands: Iterable[Command], *, door: Door) -> Parser:
    """Make the parser of a door."""
    found = Parser(
        prog=door,
        description="Agent Skills as functions of a notebook kernel.",
        epilog=f"{door} alone lists; {door} NAME shows one skill.",
    )
    found.add_argument("--json", action="store_true", help=argparse.SUPPRESS)
    if door == "prime-skills":
        # taken out by the door, which makes the manager with them; here for the help
        found.add_argument(
            "--skill", metavar="PATH", help="use the skills of a folder before others"
        )
        found.add_argument("--no-skills", **flag("use nothing but explicit skills"))
    found.set_defaults(parser=found)
    parsers = found.add_subparsers(dest="command", metavar="COMMAND")
    for command in commands:
        if door not in command.doors:
            continue
        sub = parsers.add_parser(
            command.name,
            help=command.help,
            description=f"{command.help[0].upper()}{command.help[1:]}.",
            epilog=command.details or None,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        sub.add_argument("--json", action="store_true", help="plain data")
        if command.takes is not None:
            positional = _POSITIONALS[command.takes]
            sub.add_argument(
                positional.name,
                choices=positional.choices,
                nargs="?" if positional.is_optional else None,
            )
        for name, keywords in command.options:
            sub.add_argument(name, **keywords)
        # an unknown option is told with the usage of the command that it was given to
        sub.set_defaults(parser=sub)
    return found


def flag(help: str) -> dict[str, Any]:  # noqa: A002  # argparse's own word
    """Return the keyword arguments of an option without a value."""
    return {"action": "store_true", "help": help}


def split(words: str | Sequence[str], *, door: Door) -> list[str]:
    """Split a line as a shell does; what is split already comes back as it is.

    Raises:
        SettingsError: A quotation mark is not closed, or a key is on the line.
    """
    if not isinstance(words, str):
        _refuse_typed_key(words, door=door)
        return list(words)
    try:
        found = shlex.split(words)
    except ValueError as error:
        _refuse_typed_key(words.split(), door=door)
        raise SettingsError(
            f"{door} {words}: {str(error).lower()}", fix="close the quotation mark"
        ) from error
    _refuse_typed_key(found, door=door)
    return found


def cut_text(
    words: str | Sequence[str], *, commands: Iterable[Command]
) -> tuple[str | Sequence[str], str]:
    """Cut off the text behind the positional argument of a command that takes one.

    Args:
        words: A line, or a whole cell, as typed; or words that a shell has split.
        commands: Those of the door.

    Returns:
        What the grammar is for, and the text, without the white space around it.
    """
    takers = {command.name for command in commands if command.has_text}
    if isinstance(words, str):
        if words.split(maxsplit=1)[:1] not in [[taker] for taker in takers]:
            return words, ""
        found = _WITH_TEXT.fullmatch(words)
        if found is None:
            # a name stands on the line of its command
            return words.strip().partition("\n")[0], ""
        return found["head"], found["text"].strip()
    at = [number for number, word in enumerate(words) if not word.startswith("-")][:2]
    if len(at) < 2 or words[at[0]] not in takers:  # noqa: PLR2004  # command and name
        return words, ""
    end = at[1] + 1
    text = words[end:]
    # one word is a text that somebody put in quotation marks to keep it whole
    joined = text[0] if len(text) == 1 else " ".join(map(_retyped, text))
    return words[:end], joined.strip()


def _retyped(word: str) -> str:
    """Return a word so that it is one word again where the text is split."""
    return shlex.quote(word) if not word or re.search(r"\s", word) else word


def _refuse_typed_key(words: Sequence[str], *, door: Door) -> None:
    """Refuse a key on the line without repeating it, as other errors would."""
    given = [word for word in words if word not in {"--json", "-h", "--help"}]
    if given[:1] == ["login"] and (given[2:] or "".join(given[1:])[:1] == "-"):
        raise SettingsError(
            f"{door} login takes the provider alone: a key on the line would stay "
            "in the history",
            fix=f"run {door} login PROVIDER and type the key when asked; replace "
            "one that was typed here",
        )
