"""The value behind ``%skill show``: one skill, whole.

Values only: how they look is ``text`` and ``hypertext``. Whoever makes the value
reads the body and the signature; nothing here opens a file or imports a skill.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final

from prime_skills_ext.catalog.status import SkillStatus

__all__ = ["SkillDetails"]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class SkillDetails:
    """A skill as somebody wants to read it who is about to use it.

    Attributes:
        status: The skill and how it stands.
        body: Its instructions, as Markdown.
        signature: How it is called, such as ``"(text: str, *, top: int = 10)"``;
            ``None`` for a skill that is not a function or is not imported.
        doc: Docstring of its ``run``, ``None`` without one.
    """

    status: SkillStatus
    body: str = ""
    signature: str | None = None
    doc: str | None = None

    @property
    def directory(self) -> Path:
        """The skill's folder, to which the links in its instructions are relative."""
        return self.status.skill.directory
