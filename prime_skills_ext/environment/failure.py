"""Why something is not installed, as a value. Who finds out is elsewhere."""

from __future__ import annotations

from typing import NamedTuple, final

__all__ = ["NOT_RUN_FIX", "RETRY_FIX", "Failure"]

RETRY_FIX = "%reload_skills --retry"

NOT_RUN_FIX = (
    "try uv in a terminal, let PRIME_SKILLS_UV name another one, or set "
    "PRIME_SKILLS_UV_TIMEOUT to more seconds"
)
"""What helps where uv did not start or did not end."""


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
