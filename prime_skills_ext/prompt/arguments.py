"""What is given with a skill, and the placeholders in its instructions. Pure.

``$ARGUMENTS`` stands for all of it, ``$ARGUMENTS[N]`` and ``$N`` for one word from 0,
``$name`` for the word at the place of that name in ``arguments``. Other placeholders
stand for places and the session. A backslash before the ``$`` of one of these, and of
nothing else, says that it is meant as it stands.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from typing import Final, NamedTuple, final

__all__ = ["Arguments", "Place", "Values", "asked", "escaped", "placeholder", "split"]

#: Longer numbers are no positions.
_MAX_DIGITS: Final = 6

_VARIABLES: Final = ("CLAUDE_SKILL_DIR", "CLAUDE_PROJECT_DIR", "CLAUDE_SESSION_ID")


@final
class Arguments(NamedTuple):
    """What is given with a skill.

    Attributes:
        text: As written.
        words: Split as a shell does.
        names: What the skill calls the first of them.
    """

    text: str
    words: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


@final
class Values(NamedTuple):
    """What placeholders stand for.

    Attributes:
        arguments: What is given with the skill.
        variables: Texts of ``CLAUDE_SKILL_DIR``, ``CLAUDE_PROJECT_DIR`` and
            ``CLAUDE_SESSION_ID``.
    """

    arguments: Arguments
    variables: dict[str, str]

    @classmethod
    def of(
        cls, arguments: Arguments, *, directory: str, project: str, session: str
    ) -> Values:
        """Name what belongs to each variable."""
        texts = (directory, project, session)
        return cls(arguments, dict(zip(_VARIABLES, texts, strict=True)))


@final
class Place(NamedTuple):
    """What one placeholder asks for.

    Attributes:
        variable: One of the variables, if it asks for that.
        words: Positions of the words that it shows.
        is_all: It asks for the arguments as they are written.
        is_missing: There is no such word, and it stays as it is written.
    """

    variable: str | None = None
    words: tuple[int, ...] = ()
    is_all: bool = False
    is_missing: bool = False


def split(text: str, *, names: Iterable[str] = ()) -> Arguments:
    """Split arguments as a shell does; what it could not read is split at blanks."""
    try:
        words = shlex.split(text)
    except ValueError:  # an apostrophe that is none: don't
        words = text.split()
    return Arguments(text, tuple(words), tuple(names))


def placeholder(names: Iterable[str]) -> str:
    """Return the pattern of a placeholder, for the names that a skill declares."""
    # the longest first, so that a name that begins like another is found
    known = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    end = "(?![A-Za-z0-9_])"
    kinds = [
        r"ARGUMENTS\[(?P<index>[0-9]+)\]",
        rf"(?P<all>ARGUMENTS){end}",
        rf"(?P<position>[0-9]+){end}",
        rf"\{{(?P<variable>{'|'.join(_VARIABLES)})\}}",
    ]
    if known:
        kinds.append(rf"(?P<name>{known}){end}")
    # `${baseDir}` is a template's own
    return rf"(?P<escape>\\)?\$(?:{'|'.join(kinds)})|(?<!\$)(?P<base>\{{baseDir\}})"


def escaped(match: re.Match[str]) -> str | None:
    """Return what an escaped placeholder shows; ``None`` for one that is not."""
    return match.group()[1:] if match["escape"] else None


def asked(match: re.Match[str], arguments: Arguments) -> Place:
    """Say what a placeholder asks for."""
    groups = match.groupdict()
    if groups["base"]:
        return Place(variable=_VARIABLES[0])
    if groups["variable"]:
        return Place(variable=groups["variable"])
    if groups["all"]:
        return Place(words=tuple(range(len(arguments.words))), is_all=True)
    if name := groups.get("name"):
        at = arguments.names.index(name)
        return Place(words=(at,) if at < len(arguments.words) else ())
    digits = groups["index"] or groups["position"]
    if len(digits) > _MAX_DIGITS or int(digits) >= len(arguments.words):
        return Place(is_missing=True)
    return Place(words=(int(digits),))
