"""Watching processes that tests start."""

from __future__ import annotations

import os
import select


def has_ended(pid: int) -> bool:
    """Whether a process is gone, or goes yet."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], 60)[0])
    finally:
        os.close(handle)
