"""What the session of this kernel is called: hooks and bodies of skills are told."""

from __future__ import annotations

import functools
import uuid

__all__ = ["session_id"]


@functools.cache
def session_id() -> str:
    """Return a name that no other process has."""
    return str(uuid.uuid4())
