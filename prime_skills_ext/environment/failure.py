"""Why something is not installed, as a value. Who finds out is elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

__all__ = ["RETRY_FIX", "Failure"]

RETRY_FIX = "%reload_skills --retry"


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """Why a skill is not installed.

    Attributes:
        reason: One sentence.
        fix: What to do about it.
        log: Everything that uv said, possibly empty.
    """

    reason: str
    fix: str
    log: str = ""
