"""How fixes are worded at each door: what can be typed where they are read.

Pure: values in, values out.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Literal

__all__ = ["Door", "as_said_at", "before_start"]

Door = Literal["%skill", "prime-skills"]

#: Attributes of values that are a fix, or hold values that have one.
_WITH_FIXES = (
    "fix",
    "status",
    "skills",
    "checks",
    "diagnostics",
    "findings",
    "environments",
)

_RELOAD = re.compile(r"(?:run )?`?%reload_skills(?: --retry)?`?")
_BUDGET = re.compile(r"%config SkillManager\.listing_chars = (\d+)")
_SETTING = re.compile(r"^%config ", re.MULTILINE)
_SWITCH_OFF = re.compile(r"%env (\w+)=0?")


def as_said_at(door: Door, value: Any) -> Any:
    """Return a value or text whose fixes can be pasted where it is read.

    Fixes are written for a kernel. Only fixes are rewritten: a skill's instructions
    may speak of the magics, too.
    """
    if door == "%skill":
        return value
    if isinstance(value, str):
        return _for_terminal(value)
    if isinstance(value, tuple):
        return tuple(as_said_at(door, item) for item in value)
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    changes = {
        name: as_said_at(door, getattr(value, name))
        for name in _WITH_FIXES
        if hasattr(value, name)
    }
    return dataclasses.replace(value, **changes)


def before_start(fix: str) -> str:
    """Return a fix as it is done for a kernel that is started again."""
    return _for_terminal(_RELOAD.sub("restart the kernel", fix))


def _for_terminal(fix: str) -> str:
    fix = _BUDGET.sub(r"set SLASH_COMMAND_TOOL_CHAR_BUDGET=\1", fix)
    fix = _SETTING.sub("in a kernel: %config ", fix)
    fix = _SWITCH_OFF.sub(r"unset \1", fix)
    fix = fix.replace("%reload_skills", "prime-skills sync")
    return fix.replace("%skill", "prime-skills")
