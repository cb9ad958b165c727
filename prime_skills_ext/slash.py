r"""A cell that begins with ``/skill:NAME``: which skill is used, and with what text.

Pure: lines in, lines out. Nothing in Python or IPython begins that way, so such a cell
is always meant for us; what is wrong with it is told by the command that it becomes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

__all__ = ["MARK", "as_magic", "find_line"]

MARK: Final = "/skill:"
_LINE: Final = re.compile(
    r"""\s*/skill:(?:(?P<quote>["'])(?P<whole>[^"'\n]+)(?P=quote)(?!\S)|(?P<name>\S*))"""
    r"(?P<text>.*)",
    re.DOTALL,
)


def find_line(lines: Sequence[str]) -> int | None:
    """Return which line of a cell is ours: the first that is not blank, or none."""
    for number, line in enumerate(lines):
        if line.strip():
            return number if line.lstrip().startswith(MARK) else None
    return None


def as_magic(lines: list[str]) -> list[str]:
    """Return a cell as it is run: one that is ours uses its skill.

    Everything behind the name, to the end of the cell, is the skill's text. A name
    with a space in it stands in quotation marks.
    """
    at = find_line(lines)
    found = None if at is None else _LINE.fullmatch("".join(lines[at:]))
    if found is None:
        return lines
    # in quotation marks, so that a name that is none is told as what was typed
    name, text = found["whole"] or found["name"], found["text"].strip()
    asked = f"use {_quoted(name)}" if name else "use"
    # IPython takes no cell that is empty
    cell = text or "\n"
    return [f"get_ipython().run_cell_magic('skill', {asked!r}, {cell!r})\n"]


def _quoted(name: str) -> str:
    return f'"{name}"' if "'" in name else f"'{name}'"
