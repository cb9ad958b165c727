"""Which generations are in use, so that nobody removes them.

A shared OS lock on a file in a generation, which death releases, tells other processes
that a living one uses it.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from pathlib import Path
from typing import Any

from prime_skills_ext.environment.venv import Generation

__all__ = ["IN_USE", "hold", "is_in_use", "release"]

IN_USE = ".in-use"
"""The file in a generation that those who use it lock."""

#: Windows has no such locks: see is_in_use
_FCNTL: Any = importlib.import_module("fcntl") if os.name == "posix" else None
#: opening a FIFO of that name must not wait for a writer
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
_HELD: dict[Path, int] = {}


def hold(generation: Generation) -> None:
    """Tell other processes, until this one ends, that ``generation`` is in use."""
    if _FCNTL is None or generation.directory in _HELD:
        return
    with contextlib.suppress(OSError):  # a read-only or lockless disk: nobody prunes
        handle = os.open(generation.directory / IN_USE, _FLAGS)
        _HELD[generation.directory] = handle
        _FCNTL.flock(handle, _FCNTL.LOCK_SH | _FCNTL.LOCK_NB)


def release(generation: Generation) -> None:
    """This process no longer uses it."""
    handle = _HELD.pop(generation.directory, None)
    if handle is not None:
        os.close(handle)


def is_in_use(directory: Path) -> bool:
    """Whether a living process uses the generation in ``directory``, or may use it.

    Where nobody can tell (Windows, a disk without locks) the answer is yes.
    """
    if _FCNTL is None:
        return True
    try:
        handle = os.open(directory / IN_USE, _FLAGS)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        _FCNTL.flock(handle, _FCNTL.LOCK_EX | _FCNTL.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False
