"""One grammar and one function per subcommand, for the magic and the command.

Functions take the manager and the parsed words and return one plain value. They
print nothing and know nothing of the door they were called through.
"""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import shlex
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NoReturn, final

from prime_skills_ext import demo, doctor, kernelspec
from prime_skills_ext.catalog.looking import absolute, expanded
from prime_skills_ext.errors import SettingsError, UnknownSkillError
from prime_skills_ext.kernel.reload import ReloadReport
from prime_skills_ext.manager import SkillManager
from prime_skills_ext.views.door import Door, as_said_at
from prime_skills_ext.views.jsonable import to_json
from prime_skills_ext.views.report import Message

__all__ = [
    "COMMANDS",
    "Answer",
    "Command",
    "answer",
    "reload",
    "run",
]

Arguments = argparse.Namespace


@final
@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """A subcommand.

    Attributes:
        name: The word that calls it.
        help: What it does, in one line.
        run: The function behind it.
        takes: What its positional argument is.
        options: Flag to the keyword arguments of ``add_argument``.
        doors: Where it can be called.
        elsewhere: What to do at the other door.
    """

    name: str
    help: str
    run: Callable[[SkillManager, Arguments], object]
    takes: Literal["skill", "path", "action"] | None = None
    options: tuple[tuple[str, dict[str, Any]], ...] = ()
    doors: tuple[Door, ...] = ("%skill", "prime-skills")
    elsewhere: str = ""


@final
@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What a subcommand returned, and how it was asked for.

    Attributes:
        value: It has a text and an HTML form.
        as_json: ``--json`` was given.
    """

    value: object
    as_json: bool = False


@final
@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Positional:
    """A positional argument: its name in help, and the words it may be."""

    name: str
    choices: tuple[str, ...] | None = None


_POSITIONALS = {
    "skill": _Positional(name="NAME"),
    "path": _Positional(name="PATH"),
    "action": _Positional(name="ACTION", choices=("install", "remove")),
}


def _list(manager: SkillManager, arguments: Arguments) -> object:
    catalogue = manager.catalogue
    if arguments.all:
        return catalogue
    shown = tuple(item for item in catalogue.skills if item.state != "shadowed")
    return dataclasses.replace(catalogue, skills=shown)


def _show(manager: SkillManager, arguments: Arguments) -> object:
    return manager.details(arguments.NAME)


def _add(manager: SkillManager, arguments: Arguments) -> object:
    return manager.add(Path(arguments.PATH))


def _prepare(manager: SkillManager, arguments: Arguments) -> object:
    path = expanded(arguments.PATH)
    found = manager.add(path)
    if isinstance(found, ReloadReport) and found.failed:
        return found
    place = absolute(path)
    return Message(
        text=f"{found if isinstance(found, ReloadReport) else found.text}\n"
        f"What it needs is installed. In a kernel type `%skill add {place}`; "
        f"for every kernel set PRIME_SKILLS_PATH={place}",
    )


def _forget(manager: SkillManager, arguments: Arguments) -> object:
    return manager.forget(Path(arguments.PATH))


def _trust(manager: SkillManager, arguments: Arguments) -> object:
    return manager.trust_project(pin=arguments.pin, owner=arguments.owner)


def _untrust(manager: SkillManager, _arguments: Arguments) -> object:
    return manager.untrust_project()


def _doctor(manager: SkillManager, arguments: Arguments) -> object:
    return doctor.examine(manager, everything=arguments.all)


def _sync(manager: SkillManager, arguments: Arguments) -> object:
    return manager.sync(retry=arguments.retry)


def _demo(_manager: SkillManager, arguments: Arguments) -> object:
    notebook = Path(arguments.notebook) if arguments.notebook else demo.find_notebook()
    return demo.run(absolute(notebook), output=absolute(arguments.output))


def _kernelspec(_manager: SkillManager, arguments: Arguments) -> object:
    place: dict[str, Any] = {
        "user": arguments.user,
        "sys_prefix": arguments.sys_prefix,
        "prefix": Path(arguments.prefix) if arguments.prefix else None,
    }
    if arguments.ACTION == "remove":
        return Message(text=f"removed {kernelspec.remove(**place)}")
    folder = kernelspec.install(**place)
    return Message(
        text=f"installed {folder}",
        fix=f"choose the kernel {kernelspec.DISPLAY_NAME!r} in Jupyter",
    )


def _flag(help: str) -> dict[str, Any]:  # noqa: A002  # argparse's own word
    return {"action": "store_true", "help": help}


_PLACES = (
    ("--user", _flag("for you, in any Jupyter (the default)")),
    ("--sys-prefix", _flag("in this Python's environment")),
    ("--prefix", {"metavar": "PATH", "help": "below PATH/share/jupyter/kernels"}),
)

COMMANDS = (
    Command(
        name="list",
        help="the skills, their state, and how to fix what is not ready",
        run=_list,
        options=(("--all", {"action": "store_true", "help": "shadowed skills too"}),),
    ),
    Command(
        name="show",
        help="one skill: card, instructions, signature",
        run=_show,
        takes="skill",
    ),
    Command(
        name="add",
        help="use the skills of a folder, until this kernel ends",
        run=_add,
        takes="path",
        doors=("%skill",),
    ),
    Command(
        name="add",
        help="install what the skills of a folder need, for kernels that use it",
        run=_prepare,
        takes="path",
        doors=("prime-skills",),
    ),
    Command(
        name="forget",
        help="undo add",
        run=_forget,
        takes="path",
        doors=("%skill",),
        elsewhere="take the path out of PRIME_SKILLS_PATH, if it is there",
    ),
    Command(
        name="trust",
        help="let this project's skills be installed and imported",
        run=_trust,
        options=(
            ("--pin", _flag("ask again when any file of theirs changes")),
            (
                "--owner",
                {
                    "metavar": "USER",
                    "help": "say whose folder it is, where it is not yours",
                },
            ),
        ),
    ),
    Command(name="untrust", help="take trust back", run=_untrust),
    Command(
        name="doctor",
        help="what is wrong, where, and the command that fixes it",
        run=_doctor,
        options=(("--all", _flag("every warning, however many of one kind")),),
    ),
    Command(
        name="sync",
        help="make the environment and install what is missing",
        run=_sync,
        options=(("--retry", _flag("try again what failed before")),),
        doors=("prime-skills",),
        elsewhere="%reload_skills",
    ),
    Command(
        name="demo",
        help="run the quickstart in a real kernel, cell by cell",
        run=_demo,
        options=(
            ("--notebook", {"metavar": "PATH", "help": "another notebook"}),
            (
                "--output",
                {
                    "metavar": "FOLDER",
                    "default": "demo-output",
                    "help": "where the executed copy goes (default: demo-output)",
                },
            ),
        ),
        doors=("prime-skills",),
        elsewhere="run `prime-skills demo` in a terminal",
    ),
    Command(
        name="kernelspec",
        help="the kernel Prime Skills, for Jupyter",
        run=_kernelspec,
        takes="action",
        options=_PLACES,
        doors=("prime-skills",),
        elsewhere="run `prime-skills kernelspec install` in a terminal",
    ),
)


class _HelpAskedError(Exception):
    """``--help`` was given: its text is the answer."""


class _Parser(argparse.ArgumentParser):
    """An argparse that answers with values and errors instead of leaving Python."""

    def error(self, message: str) -> NoReturn:
        usage = " ".join(self.format_usage().removeprefix("usage: ").split())
        raise SettingsError(f"{self.prog}: {message}", fix=f"use it as: {usage}")

    def print_help(self, file: object = None) -> NoReturn:  # noqa: ARG002
        raise _HelpAskedError(self.format_help().rstrip())


def _parser(door: Door) -> _Parser:
    parser = _Parser(
        prog=door,
        description="Agent Skills as functions of a notebook kernel.",
        epilog=f"{door} alone lists; {door} NAME shows one skill.",
    )
    parser.add_argument("--json", action="store_true", help=argparse.SUPPRESS)
    if door == "prime-skills":
        # taken out by the door, which makes the manager with it; here for the help
        parser.add_argument(
            "--skill", metavar="PATH", help="use the skills of a folder before others"
        )
    parser.set_defaults(parser=parser)
    parsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    for command in COMMANDS:
        if door not in command.doors:
            continue
        sub = parsers.add_parser(command.name, help=command.help)
        sub.add_argument("--json", action="store_true", help="plain data")
        if command.takes is not None:
            positional = _POSITIONALS[command.takes]
            sub.add_argument(positional.name, choices=positional.choices)
        for flag, keywords in command.options:
            sub.add_argument(flag, **keywords)
        # an unknown option is told with the usage of the command that it was given to
        sub.set_defaults(parser=sub)
    return parser


def run(manager: SkillManager, words: str | Sequence[str], *, door: Door) -> object:
    """Run one subcommand and return its value, plain data with ``--json``.

    The arguments and errors are those of ``answer``.
    """
    found = answer(manager, words, door=door)
    return to_json(found.value) if found.as_json else found.value


def answer(manager: SkillManager, words: str | Sequence[str], *, door: Door) -> Answer:
    """Run one subcommand.

    No word at all means ``list``; a first word that is no subcommand is the name of
    a skill to show.

    Args:
        manager: What the subcommand works on.
        words: A line as typed, or words already split.
        door: Named in help and errors.

    Raises:
        SettingsError: The words do not fit the grammar.
        PrimeSkillsError: What the subcommand raises.
    """
    split = list(_split(words, door=door))
    offered = {command.name: command for command in COMMANDS if door in command.doors}
    if all(word in {"--all", "--json"} for word in split):
        split = ["list", *split]
    elif not split[0].startswith("-") and split[0] not in offered:
        split = _as_name(split, manager=manager, offered=offered, door=door)
    try:
        arguments, unknown = _parser(door).parse_known_args(split)
        if unknown:
            arguments.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    except _HelpAskedError as asked:
        return Answer(value=Message(text=str(asked)))
    value = as_said_at(door, offered[arguments.command].run(manager, arguments))
    return Answer(value=value, as_json=arguments.json)


def _as_name(
    words: Sequence[str], *, manager: SkillManager, offered: Iterable[str], door: Door
) -> list[str]:
    """Return the words that show a skill, where the first one is its name."""
    first = words[0]
    try:
        manager.catalogue.get(first)
    except UnknownSkillError as error:
        for command in COMMANDS:
            if command.name == first:
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


def reload(manager: SkillManager, line: str) -> object:
    """Run ``%reload_skills`` and return its report, ``None`` if nothing changed.

    Raises:
        SettingsError: The words do not fit the grammar.
    """
    parser = _Parser(prog="%reload_skills", description="Take up what changed on disk.")
    parser.add_argument("--retry", **_flag("try again what failed to install before"))
    parser.add_argument("--json", **_flag("plain data"))
    try:
        arguments = parser.parse_args(_split(line, door="%skill"))
    except _HelpAskedError as asked:
        return Message(text=str(asked))
    report = manager.reload(retry=arguments.retry)
    return to_json(report) if arguments.json and report is not None else report


def _split(words: str | Sequence[str], *, door: Door) -> Sequence[str]:
    if not isinstance(words, str):
        return words
    try:
        return shlex.split(words)
    except ValueError as error:
        raise SettingsError(
            f"{door} {words}: {str(error).lower()}", fix="close the quotation mark"
        ) from error
