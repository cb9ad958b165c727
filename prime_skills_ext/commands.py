"""One grammar and one function per subcommand, for the magic and the command.

Functions take the manager and the parsed words and return one plain value. They
print nothing and know nothing of the door they were called through.
"""

from __future__ import annotations

import argparse
import dataclasses
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NoReturn, final

from prime_skills_ext import demo, doctor, kernelspec, login, switching
from prime_skills_ext.catalog.settings import Scope
from prime_skills_ext.errors import SettingsError
from prime_skills_ext.manager import SkillManager
from prime_skills_ext.views.asking import ask_secret
from prime_skills_ext.views.door import Door, as_said_at
from prime_skills_ext.views.jsonable import to_json
from prime_skills_ext.views.report import Message

__all__ = ["COMMANDS", "Answer", "Command", "answer", "reload", "run"]

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
    """

    name: str
    help: str
    run: Callable[[SkillManager, Arguments], object]
    takes: Literal["skill", "path", "provider", "action", "target"] | None = None
    options: tuple[tuple[str, dict[str, Any]], ...] = ()
    doors: tuple[Door, ...] = ("%skill", "prime-skills")


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
    """A positional argument: its name in help, and what it may be."""

    name: str
    choices: tuple[str, ...] | None = None
    is_optional: bool = False


_POSITIONALS = {
    "skill": _Positional(name="NAME"),
    "path": _Positional(name="PATH"),
    "provider": _Positional(name="PROVIDER"),
    "action": _Positional(name="ACTION", choices=("install", "remove")),
    "target": _Positional(name="TARGET", is_optional=True),
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


def _forget(manager: SkillManager, arguments: Arguments) -> object:
    return manager.forget(Path(arguments.PATH))


def _trust(manager: SkillManager, arguments: Arguments) -> object:
    return manager.trust_project(pin=arguments.pin, owner=arguments.owner)


def _untrust(manager: SkillManager, _arguments: Arguments) -> object:
    return manager.untrust_project()


def _enable(manager: SkillManager, arguments: Arguments) -> object:
    return switching.enable(manager, arguments.NAME, scope=_scope(arguments))


def _disable(manager: SkillManager, arguments: Arguments) -> object:
    return switching.disable(manager, arguments.NAME, scope=_scope(arguments))


def _scope(arguments: Arguments) -> Scope:
    if arguments.user and arguments.project:
        raise SettingsError(
            "--user and --project exclude each other", fix="give one of the two"
        )
    return "project" if arguments.project else "user"


def _login(manager: SkillManager, arguments: Arguments) -> object:
    return login.login(manager, arguments.PROVIDER, ask=ask_secret)


def _logout(manager: SkillManager, arguments: Arguments) -> object:
    return login.logout(manager, arguments.PROVIDER)


def _doctor(manager: SkillManager, arguments: Arguments) -> object:
    return doctor.examine(manager, everything=arguments.all)


def _check(manager: SkillManager, arguments: Arguments) -> object:
    # an author's tool: nobody who loads the extension waits for its parsers
    from prime_skills_ext import check  # noqa: PLC0415

    return check.examine(
        manager, arguments.TARGET, fix=arguments.fix, write=arguments.write
    )


def _sync(manager: SkillManager, arguments: Arguments) -> object:
    return manager.sync(retry=arguments.retry)


def _demo(_manager: SkillManager, arguments: Arguments) -> object:
    notebook = Path(arguments.notebook) if arguments.notebook else demo.find_notebook()
    return demo.run(notebook.absolute(), output=Path(arguments.output).absolute())


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


_SCOPES = (
    ("--user", _flag("in your settings, for every project (the default)")),
    ("--project", _flag("in the project's settings, for everybody who works there")),
)
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
    ),
    Command(name="forget", help="undo add", run=_forget, takes="path"),
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
        name="enable",
        help="undo disable",
        run=_enable,
        takes="skill",
        options=_SCOPES,
    ),
    Command(
        name="disable",
        help="switch a skill off in the settings",
        run=_disable,
        takes="skill",
        options=_SCOPES,
    ),
    Command(
        name="login",
        help="ask for a provider's key and keep it",
        run=_login,
        takes="provider",
    ),
    Command(
        name="logout",
        help="remove a provider's key",
        run=_logout,
        takes="provider",
    ),
    Command(
        name="doctor",
        help="what is wrong, where, and the command that fixes it",
        run=_doctor,
        options=(("--all", _flag("every warning, however many of one kind")),),
    ),
    Command(
        name="check",
        help="judge skills as strictly as the standard: a NAME, a PATH, or all yours",
        run=_check,
        takes="target",
        options=(
            ("--fix", _flag("show what can be corrected for certain, as a diff")),
            ("--write", _flag("with --fix: correct it")),
        ),
    ),
    Command(
        name="sync",
        help="make the environment and install what is missing",
        run=_sync,
        options=(("--retry", _flag("try again what failed before")),),
        doors=("prime-skills",),
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
    ),
    Command(
        name="kernelspec",
        help="the kernel Prime Skills, for Jupyter",
        run=_kernelspec,
        takes="action",
        options=_PLACES,
        doors=("prime-skills",),
    ),
)


class _HelpAskedError(Exception):
    """``--help`` was given: its text is the answer."""


class _Parser(argparse.ArgumentParser):
    """An argparse that answers with values and errors instead of leaving Python."""

    def error(self, message: str) -> NoReturn:
        usage = self.format_usage().removeprefix("usage: ").strip()
        raise SettingsError(f"{self.prog}: {message}", fix=f"use it as: {usage}")

    def print_help(self, file: object = None) -> NoReturn:  # noqa: ARG002
        raise _HelpAskedError(self.format_help().rstrip())


def _parser(door: Door) -> _Parser:
    parser = _Parser(
        prog=door,
        description="Agent Skills as functions of this kernel.",
        epilog=f"{door} alone lists; {door} NAME shows one skill.",
    )
    parser.add_argument("--json", action="store_true", help=argparse.SUPPRESS)
    parsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    for command in COMMANDS:
        if door not in command.doors:
            continue
        sub = parsers.add_parser(command.name, help=command.help)
        sub.add_argument("--json", action="store_true", help="plain data")
        if command.takes is not None:
            positional = _POSITIONALS[command.takes]
            sub.add_argument(
                positional.name,
                choices=positional.choices,
                nargs="?" if positional.is_optional else None,
            )
        for flag, keywords in command.options:
            sub.add_argument(flag, **keywords)
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
    _refuse_typed_key(split, door=door)
    known = {command.name for command in COMMANDS if door in command.doors}
    if all(word in {"--all", "--json"} for word in split):
        split = ["list", *split]
    elif not split[0].startswith("-") and split[0] not in known:
        # UnknownSkillError suggests what may have been meant, subcommands included
        split = ["show", *split]
    try:
        arguments = _parser(door).parse_args(split)
    except _HelpAskedError as asked:
        return Answer(value=Message(text=str(asked)))
    command = next(item for item in COMMANDS if item.name == arguments.command)
    value = as_said_at(door, command.run(manager, arguments))
    return Answer(value=value, as_json=arguments.json)


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
        _refuse_typed_key(words.split(), door=door)
        raise SettingsError(
            f"{door} {words}: {str(error).lower()}", fix="close the quotation mark"
        ) from error


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
