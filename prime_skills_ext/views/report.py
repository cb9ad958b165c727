"""Small values that the doors return and people read: a message, a check-up.

Values only: how they look is ``text`` and ``hypertext``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

__all__ = ["Check", "CheckState", "Doctor", "Message"]

CheckState = Literal["ok", "note", "problem"]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One sentence about what was done, and what to do next if anything.

    Attributes:
        text: What happened.
        fix: The next command or step; ``None`` when there is nothing to do.
    """

    text: str
    fix: str | None = None


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One thing that ``doctor`` looked at.

    Attributes:
        title: What was looked at, in two or three words.
        state: ``"ok"``, ``"note"`` (worth knowing) or ``"problem"``.
        detail: What was found.
        fix: What to do about it; ``None`` when nothing has to be done.
    """

    title: str
    state: CheckState
    detail: str
    fix: str | None = None


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Doctor:
    """A check-up: what was looked at, in the order it is to be read."""

    checks: tuple[Check, ...] = ()

    @property
    def problems(self) -> tuple[Check, ...]:
        """The checks that need somebody to do something."""
        return tuple(check for check in self.checks if check.state == "problem")
