"""Who may change an environment, and which generations are in use.

An OS lock, which death releases, guards every change. A shared OS lock on a file in
a generation tells the others that a living process uses it.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import filelock

from prime_skills_ext.environment.venv import Generation
from prime_skills_ext.errors import InstallError

__all__ = ["IN_USE", "LOCK", "hold", "is_in_use", "locked", "release"]

LOCK = ".lock"
IN_USE = ".in-use"

PATIENCE_S = 2.0
"""After how long a wait is mentioned."""
LIMIT_S = 900.0
"""After how long it is given up."""
#: Windows has no such locks: see is_in_use
_FCNTL: Any = importlib.import_module("fcntl") if os.name == "posix" else None
_RETRIES = 3
_PAUSE_S = 0.2


@contextlib.contextmanager
def locked(
    root: Path, *, progress: Callable[[str], None] | None = None
) -> Iterator[None]:
    """Hold the environment's lock. An interrupt ends the wait.

    Raises:
        InstallError: It cannot be had: somebody holds it for too long, or this disk
            has no locks.
    """
    path = root / LOCK
    lock = filelock.FileLock(path)
    _acquire(lock, path=path, progress=progress)
    try:
        yield
    finally:
        lock.release()


def _acquire(
    lock: filelock.BaseFileLock,
    *,
    path: Path,
    progress: Callable[[str], None] | None,
) -> None:
    trials = 0
    while True:
        try:
            _wait(lock, path=path, progress=progress)
        except filelock.Timeout as error:
            raise InstallError(
                f"another process has held {path} for {LIMIT_S:g} s",
                fix="wait for it or end it, then %reload_skills --retry",
                path=path,
            ) from error
        except (OSError, NotImplementedError) as error:
            # network homes say "no locks available" for a moment, or for good
            trials += 1
            if trials >= _RETRIES:
                raise InstallError(
                    f"this disk gives no lock for {path}: {error}",
                    fix="set PRIME_AGENT_KERNEL_VENV to a directory on a local disk",
                    path=path,
                ) from error
            time.sleep(_PAUSE_S)
        else:
            return


def _wait(
    lock: filelock.BaseFileLock,
    *,
    path: Path,
    progress: Callable[[str], None] | None,
) -> None:
    try:
        lock.acquire(timeout=PATIENCE_S)
    except filelock.Timeout:
        if progress is not None:
            progress(f"waiting for another process that installs skills ({path})")
        lock.acquire(timeout=LIMIT_S)


_HELD: dict[Path, int] = {}


def hold(generation: Generation) -> None:
    """Tell other processes, until this one ends, that ``generation`` is in use."""
    if _FCNTL is None or generation.directory in _HELD:
        return
    with contextlib.suppress(OSError):  # a read-only or lockless disk: nobody prunes
        handle = os.open(generation.directory / IN_USE, os.O_RDONLY)
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
        handle = os.open(directory / IN_USE, os.O_RDONLY)
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
