"""Why something is not installed, as a value. Who finds out is elsewhere."""

from __future__ import annotations

from typing import NamedTuple, final

__all__ = ["RETRY_FIX", "Failure"]

RETRY_FIX = "%reload_skills --retry"


@final
class Failure(NamedTuple):
    """Why a skill is not installed.

    Attributes:
        reason: One sentence.
        fix: What to do about it.
        log: Everything that uv said, possibly empty.
    """

    reason: str
    fix: str
    log: str = ""
