"""What a listing goes by here: the budget that is set, commands that can be typed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from prime_skills_ext.prompt.budget import PRESETS, Budget
from prime_skills_ext.snapshot import Snapshot

__all__ = ["BUDGET_VARIABLE", "choose_budget", "commands_of", "read_variable"]

#: Names an absolute budget in characters, for several tools.
BUDGET_VARIABLE: Final = "SLASH_COMMAND_TOOL_CHAR_BUDGET"


def choose_budget(
    preset: str,
    *,
    chars: int | None = None,
    context_tokens: int | None = None,
    share: float | None = None,
    entry_chars: int | None = None,
    tokenizer: Callable[[str], int] | None = None,
) -> Budget:
    """Return a preset with what is set otherwise; ``None`` leaves the preset's.

    Args:
        preset: A name in ``PRESETS``.
        chars: An absolute number of characters.
        context_tokens: Size of the context window.
        share: Part of the window.
        entry_chars: Longest description of one skill.
        tokenizer: Counts the tokens of a text.
    """
    given: dict[str, Any] = {
        "chars": chars,
        "context_tokens": context_tokens,
        "share": share,
        "entry_chars": entry_chars,
        "tokenizer": tokenizer,
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    return replace(PRESETS[preset], **chosen)


def read_variable(text: str | None) -> int | None:
    """Return the number that ``BUDGET_VARIABLE`` holds; what is none sets nothing."""
    try:
        return None if text is None else int(text)
    except ValueError:
        return None


def commands_of(snapshot: Snapshot) -> dict[Path, str]:
    """Return the shell command of each skill that has one, by the skill's identity.

    Of several the one with the skill's import name is told, else the first. Only what
    lies in the directory on ``PATH`` can be typed.
    """
    if snapshot.commands is None:
        return {}
    found: dict[Path, str] = {}
    taken: set[str] = set()
    for identity, commands in snapshot.installed.commands.items():
        # a private name means that another module answers to its own
        module = snapshot.bindings.values.get(identity)
        own = [
            command
            for command in commands
            if isinstance(module, ModuleType)
            and module.__name__ == command.import_name
            and command.name not in taken
            and (snapshot.commands / command.name).is_file()
        ]
        taken.update(command.name for command in own)
        own.sort(key=lambda command: command.name != command.import_name)
        if own:
            found[identity] = own[0].name
    return found
