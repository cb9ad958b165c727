"""Which generations are in use, so that nobody removes them.

An OS lock on a file in a generation, which death releases, tells other processes that
a living one uses it; the file's time stamp tells when one last chose it.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import time
from pathlib import Path
from typing import Any

from prime_skills_ext.environment.venv import Generation

__all__ = ["IN_USE", "hold", "is_in_use", "last_used", "mark", "note_use", "release"]

IN_USE = ".in-use"
"""The file in a generation that those who use it lock."""

FRESH_S = 86_400.0
"""How old the note of a use may be: a start writes at most once in this time."""

_WHOLE = 0x7FFF_FFFF
#: opening a FIFO of that name must not wait for a writer
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)

#: One of the two, as the platform has it.
_FCNTL: Any = importlib.import_module("fcntl") if os.name == "posix" else None
_MSVCRT: Any = importlib.import_module("msvcrt") if os.name == "nt" else None
_HELD: dict[Path, int] = {}


def hold(generation: Generation) -> None:
    """Tell other processes, until this one ends, that ``generation`` is in use."""
    if generation.directory in _HELD:
        return
    with contextlib.suppress(OSError):  # a read-only or lockless disk: nobody prunes
        handle = os.open(generation.directory / IN_USE, _FLAGS)
        _HELD[generation.directory] = handle
        _share(handle)
    note_use(generation)


def release(generation: Generation) -> None:
    """This process no longer uses it."""
    handle = _HELD.pop(generation.directory, None)
    if handle is not None:
        os.close(handle)


def is_in_use(directory: Path) -> bool:
    """Whether a living process uses the generation in ``directory``, or may use it.

    Where nobody can tell (a disk without locks) the answer is yes.
    """
    try:
        handle = os.open(directory / IN_USE, _FLAGS)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        _exclude(handle)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def note_use(generation: Generation) -> None:
    """Say that ``generation`` was chosen now; what was said lately is left alone."""
    when = last_used(generation.directory)
    if when is None or time.time() - when > FRESH_S:
        mark(generation)


def mark(generation: Generation) -> None:
    """Let the time of the last use of ``generation`` be now."""
    with contextlib.suppress(OSError):  # a read-only disk: nobody prunes
        os.utime(generation.directory / IN_USE)


def last_used(directory: Path) -> float | None:
    """When the generation in ``directory`` was last chosen; ``None``: nobody knows."""
    try:
        return (directory / IN_USE).stat().st_mtime
    except OSError:
        return None


def _share(handle: int) -> None:
    """Lock a file together with others."""
    if _MSVCRT is None:
        _FCNTL.flock(handle, _FCNTL.LOCK_SH | _FCNTL.LOCK_NB)
        return
    # Windows has exclusive locks alone: everybody locks a byte of their own
    os.lseek(handle, os.getpid(), os.SEEK_SET)
    _MSVCRT.locking(handle, _MSVCRT.LK_NBLCK, 1)


def _exclude(handle: int) -> None:
    """Lock a file alone.

    Raises:
        OSError: Somebody holds it.
    """
    if _MSVCRT is None:
        _FCNTL.flock(handle, _FCNTL.LOCK_EX | _FCNTL.LOCK_NB)
        return
    _MSVCRT.locking(handle, _MSVCRT.LK_NBLCK, _WHOLE)
