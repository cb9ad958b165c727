"""What Tab offers: after a door's name, and between the brackets of a skill's call.

It reads the grammar and what is loaded, and imports no skill.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple, final

from prime_skills_ext.catalog.looking import expanded
from prime_skills_ext.commands import COMMANDS
from prime_skills_ext.grammar import Command, choices_of
from prime_skills_ext.options import RELOAD
from prime_skills_ext.slash import MARK
from prime_skills_ext.views.door import Door

__all__ = [
    "Call",
    "arguments",
    "complete",
    "complete_slash",
    "find_call",
    "is_use",
    "last_word",
]

#: A word as a shell reads it: a backslash or an open quotation mark keeps spaces.
_WORD: Final = re.compile(r"""(?:\\.|["'][^"']*(?:["']|$)|[^\s\\"'])+""")
_SPECIAL: Final = re.compile(r"""([\s"'\\])""")
_EVERYWHERE: Final = ("--json", "--help")
_SKILL: Final = re.compile(r"""\bskills(?:\[\s*(["'])([^"']+)\1\s*\]|\.(\w+))\s*$""")
_GIVEN: Final = re.compile(r"(\w+)\s*=(?!=)")
_CLOSING: Final = {")": "(", "]": "[", "}": "{"}
_NAMED: Final = (
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)


def complete(
    line: str,
    *,
    names: Sequence[str],
    usable: Sequence[str] = (),
    providers: Callable[[], Sequence[str]] = tuple,
    door: Door = "%skill",
) -> list[str]:
    """Return what may stand at the end of ``line``, without importing a skill.

    Args:
        line: The line up to the cursor, the door's name included.
        names: Names of the skills there are.
        usable: Names of those that a person may use by their instructions.
        providers: Names those whose keys there are or could be.
        door: Whose subcommands are offered.
    """
    typed = last_word(line)
    first, *before = _WORD.findall(line.removesuffix(typed)) or [""]
    if first == "%reload_skills":
        candidates = [flag for flag, _ in RELOAD] + ["--help"]
        return _fitting(candidates, typed, before=before)
    offered = [command for command in COMMANDS if door in command.doors]
    if not before:
        candidates = [command.name for command in offered]
        candidates += _spelled(sorted(names), typed=typed)
        if typed.startswith("-"):
            candidates = ["--all", *_EVERYWHERE]
        return _fitting(candidates, typed, before=())
    command = next((item for item in offered if item.name == before[0]), None)
    if command is None:
        return _fitting(_EVERYWHERE if typed.startswith("-") else (), typed, before=())
    return _fitting(
        _arguments_of(
            command,
            typed,
            before[1:],
            names=usable if command.has_text else names,
            providers=providers,
        ),
        typed,
        before=before[1:],
    )


def is_use(line: str) -> bool:
    """Whether a line names a skill whose text comes next: its hint is of use there."""
    words = _WORD.findall(line)
    takers = {command.name for command in COMMANDS if command.has_text}
    return len(words) > 1 and words[1] in takers


def complete_slash(before: str, *, usable: Sequence[str]) -> tuple[str, list[str]]:
    """Return what may stand at the end of a cell that begins with ``/skill:``.

    Args:
        before: The cell up to the cursor.
        usable: Names of the skills that a person may use.

    Returns:
        What is typed of the name, and the names that it may become. Behind the name
        stands the skill's text, which nobody can complete.
    """
    typed = before.lstrip().removeprefix(MARK)
    if typed == before.lstrip() or (typed and last_word(typed) != typed):
        return typed, []
    names = _spelled(sorted(usable), typed=typed)
    return typed, [name for name in names if name.startswith(typed)]


def _spelled(names: Sequence[str], *, typed: str) -> list[str]:
    """Return names as they can be typed: one with a space in quotation marks."""
    quote = typed[:1] if typed[:1] in ("'", '"') else ""
    marks = [quote or ('"' if re.search(r"\s", name) else "") for name in names]
    return [f"{mark}{name}{mark}" for name, mark in zip(names, marks, strict=True)]


def last_word(line: str) -> str:
    """Return the word that the cursor is at the end of, as it is typed."""
    words = list(_WORD.finditer(line))
    return words[-1].group() if words and words[-1].end() == len(line) else ""


@final
class Call(NamedTuple):
    """A call of a skill that is being typed.

    Attributes:
        name: What the skill is asked for as.
        given: What stands between the brackets so far.
        typed: The beginning of a name at the cursor.
    """

    name: str
    given: str
    typed: str


def find_call(text: str) -> Call | None:
    """Return the call ``skills["…"](…`` or ``skills.name(…`` around the cursor."""
    at = _open_bracket(text)
    if at is None or text[at] != "(":
        return None
    found = _SKILL.search(text, 0, at)
    inside = text[at + 1 :]
    typed = re.search(r"\w*$", inside)
    before = inside[: typed.start()].strip() if typed else ""
    # behind anything but a comma stands a value, not a name
    if found is None or typed is None or before[-1:] not in ("", ","):
        return None
    return Call(name=found[2] or found[3], given=before, typed=typed.group())


def arguments(value: object, call: Call) -> list[str]:
    """Return the arguments, as ``name=``, that a call can still be given."""
    if not callable(value):
        return []
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return []
    given = {*_GIVEN.findall(call.given)}
    return [
        f"{each.name}="
        for each in parameters
        if each.kind in _NAMED
        and each.name not in given
        and each.name.startswith(call.typed)
    ]


def _open_bracket(text: str) -> int | None:
    """Return where the innermost bracket is that is open at the end of a text."""
    opened: list[int] = []
    quote = ""
    for at, each in enumerate(text):
        if quote:
            quote = "" if each == quote else quote
        elif each in "\"'":
            quote = each
        elif each in "([{":
            opened.append(at)
        elif opened and _CLOSING.get(each) == text[opened[-1]]:
            opened.pop()
    return None if quote or not opened else opened[-1]


def _fitting(
    candidates: Sequence[str], typed: str, *, before: Sequence[str]
) -> list[str]:
    """Return what continues a word; an option that is there already does not."""
    return [
        item
        for item in candidates
        if item.startswith(typed) and not (item[:2] == "--" and item in before)
    ]


def _arguments_of(
    command: Command,
    typed: str,
    before: Sequence[str],
    *,
    names: Sequence[str],
    providers: Callable[[], Sequence[str]],
) -> list[str]:
    asked = dict(command.options).get(before[-1], {}) if before else {}
    if "choices" in asked:
        return [*asked["choices"]]
    if "metavar" in asked:
        return _paths(typed) if asked["metavar"] in ("PATH", "FOLDER") else []
    if typed.startswith("-"):
        return [flag for flag, _ in command.options] + [*_EVERYWHERE]
    if any(not word.startswith("-") for word in before):
        return []  # no subcommand takes two words
    if command.takes == "provider":
        return list(providers())
    takes_name = command.takes in ("skill", "target")
    return [
        *choices_of(command),
        *(_spelled(sorted(names), typed=typed) if takes_name else ()),
        *(_paths(typed) if command.takes in ("path", "folder", "target") else ()),
    ]


def _paths(typed: str) -> list[str]:
    """Return the folders that continue ``typed``, spelled as it is."""
    quote = typed[:1] if typed[:1] in ("'", '"') else ""
    plain = typed[1:] if quote else re.sub(r"\\(.)", r"\1", typed)
    head, slash, start = plain.rpartition("/")
    folder = expanded(head + slash) if slash else Path()
    try:
        found = sorted(entry.name for entry in folder.iterdir() if entry.is_dir())
    except OSError:
        return []
    shown = (
        f"{head}{slash}{name}/"
        for name in found
        # what is hidden is asked for by its dot
        if start.startswith(".") or not name.startswith(".")
    )
    return [quote + each if quote else _SPECIAL.sub(r"\\\1", each) for each in shown]
