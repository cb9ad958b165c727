"""Filling in a skill's instructions: one pass over the text, never over its result.

Pure. Placeholders become text here; an inline command stays as it is written, as a
part of its own, because what is given with a skill must not become shell syntax. Such
a command stands between `` !` `` and a backtick, at the start of a line or after white
space, or in a fenced block whose info string is ``!``.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import Final, NamedTuple, final

from prime_skills_ext.prompt.arguments import Values, asked, escaped, placeholder

__all__ = ["Command", "Substituted", "substitute"]

_INLINE: Final = r"(?<!\S)!`(?P<command>[^\S\n]*[^\s`][^`\n]*)`"
_FENCE: Final = re.compile(r"[ \t]*(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^\n]*)")


@final
class Command(NamedTuple):
    """An inline command, as written.

    Attributes:
        script: What the shell is to run.
    """

    script: str


@final
class Substituted(NamedTuple):
    """Instructions with their placeholders filled in.

    Attributes:
        parts: Finished text and commands, in the order of the instructions.
        used: Positions of the arguments' words that the text shows.
    """

    parts: tuple[str | Command, ...]
    used: frozenset[int]


@final
class _Fenced(NamedTuple):
    """A block of commands and where it stands."""

    start: int
    end: int
    script: str


def substitute(body: str, *, values: Values) -> Substituted:
    """Fill in a skill's instructions."""
    names = values.arguments.names
    pattern = re.compile(f"{_INLINE}|{placeholder(names)}")
    parts: list[str | Command] = []
    used: set[int] = set()
    at = 0
    for block in (*_fenced_commands(body), None):
        end = len(body) if block is None else block.start
        for match in pattern.finditer(body, at, end):
            parts.append(body[at : match.start()])
            at = match.end()
            if match["command"] is not None:
                parts.append(Command(match["command"].strip()))
            else:
                parts.append(_filled(match, values, used))
        parts.append(body[at:end])
        if block is not None:
            parts.append(Command(block.script))
            at = block.end
    return Substituted(tuple(_joined(parts)), frozenset(used))


def _filled(match: re.Match[str], values: Values, used: set[int]) -> str:
    """Return what stands in the place of one placeholder."""
    plain = escaped(match)
    if plain is not None:
        return plain
    place = asked(match, values.arguments)
    used.update(place.words)
    if place.is_missing:
        return match.group()
    if place.variable is not None:
        return values.variables[place.variable]
    if place.is_all:
        return values.arguments.text
    return "".join(values.arguments.words[at] for at in place.words)


def _joined(parts: list[str | Command]) -> Iterator[str | Command]:
    """Yield the parts with neighbouring texts as one, empty ones left out."""
    text: list[str] = []
    for part in parts:
        if isinstance(part, str):
            text.append(part)
            continue
        if whole := "".join(text):
            yield whole
        text.clear()
        yield part
    if whole := "".join(text):
        yield whole


def _fenced_commands(body: str) -> Iterator[_Fenced]:
    """Find fenced blocks of commands that stand in no other block and are closed."""
    opened: tuple[re.Match[str], int] | None = None
    after = 0
    for line in body.split("\n"):
        start, after = after, after + len(line) + 1
        match = _FENCE.fullmatch(line)
        if match is None:
            continue
        if opened is None:
            # with a backtick in its info string it is code inside a line
            opened = (match, start) if "`" not in match["info"] else None
        elif _closes(match, opened[0]):
            first, begin = opened
            opened = None
            script = textwrap.dedent(body[begin + len(first.group()) : start]).strip()
            if first["info"].strip() == "!" and script:
                yield _Fenced(begin, start + len(line), script)


def _closes(match: re.Match[str], opened: re.Match[str]) -> bool:
    return not match["info"].strip() and match["fence"].startswith(opened["fence"])
