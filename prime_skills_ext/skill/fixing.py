"""Rewriting a ``SKILL.md`` where that changes nothing but how it is written.

An edit is certain when the file, read again, gives the same skill and the same
instructions. That is tried for each edit, not argued; line ends stay what they are.
Pure: bytes in, bytes out.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Self, final

from prime_skills_ext.skill.check_header import check_header
from prime_skills_ext.skill.finding import Edit
from prime_skills_ext.skill.frontmatter import parse
from prime_skills_ext.skill.validation import to_skill

__all__ = ["apply_edit", "diff", "repair"]

_LINE_END = re.compile("\r\n|\r|\n")


def repair(data: bytes, *, path: Path, loose: bool = False) -> bytes:
    """Return the file with every correction that is certain.

    Args:
        data: The file; what is not UTF-8 is returned as it is.
        path: Its place, which its name is compared with.
        loose: It is a lone ``.md`` file.
    """
    reading = _Reading.of(data, path=path, loose=loose)
    refused: set[Edit] = set()
    # it ends: each turn leaves fewer findings, or fewer edits that were not tried
    while edit := next((item for item in reading.edits if item not in refused), None):
        changed = _Reading.of(apply_edit(data, edit), path=path, loose=loose)
        if changed.meaning == reading.meaning and changed.slips < reading.slips:
            data, reading = changed.data, changed
        else:
            refused.add(edit)
    return data


def apply_edit(data: bytes, edit: Edit) -> bytes:
    """Return a UTF-8 file with some of its lines replaced; others keep their ends."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return data
    ends = _LINE_END.findall(text)
    lines = _LINE_END.split(text)
    usual = ends[0] if ends else "\n"
    whole = [line + end for line, end in zip(lines, [*ends, ""], strict=True)]
    new = [line + usual for line in edit.lines]
    if new and edit.last == len(lines):
        new[-1] = edit.lines[-1]  # the last line of a file has no end
    whole[edit.first - 1 : edit.last] = new
    return "".join(whole).encode()


def diff(before: bytes, after: bytes, *, name: str) -> str:
    """Return the difference of two versions of a text file in unified form."""
    lines = difflib.unified_diff(
        _lines(before), _lines(after), f"{name} (now)", f"{name} (fixed)", lineterm=""
    )
    return "\n".join(lines)


def _lines(data: bytes) -> list[str]:
    return _LINE_END.split(data.decode(errors="replace"))


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class _Reading:
    """A file, what it means, and what could be written better.

    Attributes:
        data: The file.
        meaning: Skill and instructions; fields where there is no skill.
        edits: The corrections that its findings carry.
        slips: How many findings it has.
    """

    data: bytes
    meaning: object
    edits: tuple[Edit, ...]
    slips: int

    @classmethod
    def of(cls, data: bytes, *, path: Path, loose: bool) -> Self:
        front = parse(data, path=path)
        skill, _ = to_skill(front, path=path, loose=loose)
        findings = check_header(data, front, path=path, loose=loose)
        return cls(
            data=data,
            meaning=(front.fields if skill is None else skill, front.body),
            edits=tuple(item.edit for item in findings if item.edit is not None),
            slips=len(findings),
        )
