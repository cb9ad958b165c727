"""What a model is told beside the list of skills: how to use them. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from prime_skills_ext.prompt.cleaning import clean
from prime_skills_ext.prompt.entry import Entry
from prime_skills_ext.prompt.tools import (
    CODE_TOOLS,
    FILE_TOOLS,
    SHELL_TOOLS,
    tool_of,
)

__all__ = ["guidance", "rest"]

_WHAT: Final = "Skills are instructions for particular kinds of task."
_PATHS: Final = (
    "Relative paths in it start at the folder that holds it, the one of SKILL.md."
)
_IMPORTS: Final = (
    "A skill with a python_import is ready in the persistent kernel under that name,"
    " without an import: `help(NAME)` says what it offers, usually `await NAME(...)`."
)
_COMMANDS: Final = (
    "A skill with a command can be run in a shell too; `--help` tells its options."
)


def guidance(entries: Sequence[Entry], *, tools: Collection[str] | None = None) -> str:
    """Return the instructions for a list of skills, one line without markup.

    Args:
        entries: The skills that are listed; what none of them has is not explained.
        tools: Names of the model's tools; ``None`` if nobody knows.
    """
    best = tool_of(tools or (), (*CODE_TOOLS, *FILE_TOOLS, *SHELL_TOOLS))
    by = f" with the {clean(best)} tool" if best else ""
    when = (
        f"When a task fits the description of one below, read its file{by} before"
        " you begin, and follow it."
    )
    sentences = [_WHAT, when, _PATHS]
    if any(entry.python_import for entry in entries):
        sentences.append(_IMPORTS)
    if any(entry.command for entry in entries):
        sentences.append(_COMMANDS)
    return " ".join(sentences)


def rest(count: int, *, tools: Collection[str] | None = None) -> str:
    """Say that there are more skills than the budget lets through, and where.

    Args:
        count: How many are left out.
        tools: Names of the model's tools; ``None`` if nobody knows.
    """
    has_only_a_shell = (
        tools is not None
        and tool_of(tools, SHELL_TOOLS) is not None
        and tool_of(tools, CODE_TOOLS) is None
    )
    command = "prime-skills list" if has_only_a_shell else "%skill list"
    return f"and {count:,} more: use {command}"
