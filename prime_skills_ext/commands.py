"""What a line behind ``%skill`` or ``prime-skills`` does: words in, one value out.

Nothing here prints or knows which door it was called through.
"""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence
from typing import final

from prime_skills_ext import options, spelling
from prime_skills_ext.errors import SkillPermissionError
from prime_skills_ext.grammar import HelpAskedError, Parser, cut_text, parser, split
from prime_skills_ext.manager import SkillManager
from prime_skills_ext.skill.model import Caller
from prime_skills_ext.subcommands import COMMANDS
from prime_skills_ext.views.door import Door, as_said_at
from prime_skills_ext.views.jsonable import to_json
from prime_skills_ext.views.report import Message

__all__ = ["COMMANDS", "Answer", "answer", "reload", "run"]


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


def run(
    manager: SkillManager,
    words: str | Sequence[str],
    *,
    door: Door,
    caller: Caller = "user",
) -> object:
    """Run one subcommand and return its value, plain data with ``--json``.

    The arguments and errors are those of ``answer``.
    """
    found = answer(manager, words, door=door, caller=caller)
    return to_json(found.value) if found.as_json else found.value


def answer(
    manager: SkillManager,
    words: str | Sequence[str],
    *,
    door: Door,
    caller: Caller = "user",
) -> Answer:
    """Run one subcommand.

    No word at all means ``list``; a first word that is no subcommand is the name of
    a skill to show.

    Args:
        manager: What the subcommand works on.
        words: A line as typed, or words already split.
        door: Named in help and errors.
        caller: Who asks. What people decide is refused to a model: a guard rail,
            since it is not kept from what Python can do.

    Raises:
        SettingsError: The words do not fit the grammar.
        SkillPermissionError: A model asked for what is for people.
        PrimeSkillsError: What the subcommand raises.
    """
    words, text = cut_text(words, commands=COMMANDS)
    given = split(words, door=door)
    offered = {command.name: command for command in COMMANDS if door in command.doors}
    if all(word in {"--all", "--json"} for word in given):
        given = ["list", *given]
    elif not given[0].startswith("-") and given[0] not in offered:
        given = spelling.as_name(
            given, catalogue=manager.catalogue, commands=COMMANDS, door=door
        )
    try:
        arguments, unknown = parser(COMMANDS, door=door).parse_known_args(given)
        if unknown:
            asked = offered.get(arguments.command)
            known = () if asked is None else asked.options
            spelling.refuse(unknown, known=known, parser=arguments.parser)
    except HelpAskedError as asked:
        return Answer(value=Message(text=str(asked)))
    command = offered[arguments.command]
    if command.for_people and caller == "model":
        raise SkillPermissionError(
            f"`{door} {command.name}` is for people, and this cell is the model's",
            fix=f"ask the user to run `{door} {shlex.join(given)}` in a cell of their "
            "own",
        )
    arguments.text = text
    value = as_said_at(door, command.run(manager, arguments))
    return Answer(value=value, as_json=arguments.json)


def reload(manager: SkillManager, line: str) -> object:
    """Run ``%reload_skills`` and return its report, ``None`` if nothing changed.

    Raises:
        SettingsError: The words do not fit the grammar.
    """
    words = Parser(prog="%reload_skills", description="Take up what changed on disk.")
    for name, keywords in options.RELOAD:
        words.add_argument(name, **keywords)
    try:
        arguments, unknown = words.parse_known_args(split(line, door="%skill"))
        if unknown:
            spelling.refuse(unknown, known=options.RELOAD, parser=words)
    except HelpAskedError as asked:
        return Message(text=str(asked))
    report = manager.reload(retry=arguments.retry, now=arguments.now)
    return to_json(report) if arguments.json and report is not None else report
