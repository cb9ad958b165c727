"""Who may change an environment: one process at a time, and what it started.

An OS lock, which death releases, guards every change. But what a process started lives
on when it is killed: uv has a session of its own and goes on writing. So there are two
files. ``.lock`` keeps others out while this process lives; the lock on ``.working`` is
shared with every command that it runs, and with what that starts, and is free only when
all of them are gone. Whoever ends by itself lets go of it for all: a server that a
build left running holds nobody up. Where a lock cannot be shared (Windows, some network
disks) commands of the dead are not waited for.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import importlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import filelock

from prime_skills_ext import process
from prime_skills_ext.errors import InstallError
from prime_skills_ext.progress import Listener, ProgressEvent

__all__ = ["FILES", "LOCK", "WORKING", "locked"]

LOCK = ".lock"
WORKING = ".working"

PATIENCE_S = 2.0
"""After how long a wait is mentioned."""
LIMIT_S = 900.0
"""After how long it is given up."""
_RETRIES = 3
_PAUSE_S = 0.2
_POLL_S = 0.05

#: Locks an open file, so that whoever inherits it holds the lock as well.
_FCNTL: Any = importlib.import_module("fcntl") if os.name == "posix" else None
#: What a disk says that has no such locks.
_WITHOUT: Final = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}

FILES = (LOCK,) if _FCNTL is None else (LOCK, WORKING)
"""What lies in the directory of an environment that was ever locked."""

#: Tries for so many seconds to take a lock, and says whether it could.
_Attempt = Callable[[float], bool]


@contextlib.contextmanager
def locked(root: Path, *, progress: Listener | None = None) -> Iterator[None]:
    """Hold the environment's lock. An interrupt ends the wait.

    Commands that this thread runs meanwhile hold it, too.

    Raises:
        InstallError: It cannot be had: somebody holds it for too long, or this disk
            has no locks.
        OSError: The disk does not take the file.
    """
    path = root / LOCK
    lock = filelock.FileLock(path)
    _acquire(functools.partial(_file_lock, lock), path=path, progress=progress)
    try:
        with _shared(root / WORKING, progress=progress):
            yield
    finally:
        lock.release()


@contextlib.contextmanager
def _shared(path: Path, *, progress: Listener | None) -> Iterator[None]:
    """Hold a lock together with all commands, once those of a killed process ended."""
    if _FCNTL is None:
        yield
        return
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        _acquire(functools.partial(_flock, handle), path=path, progress=progress)
        with process.shared(handle):
            yield
    finally:
        with contextlib.suppress(OSError):
            _FCNTL.flock(handle, _FCNTL.LOCK_UN)
        os.close(handle)


def _acquire(attempt: _Attempt, *, path: Path, progress: Listener | None) -> None:
    trials = 0
    while True:
        try:
            is_taken = _wait(attempt, progress=progress)
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
            continue
        if is_taken:
            return
        raise InstallError(
            f"another process has held {path} for {LIMIT_S:g} s",
            fix="wait for it or end it, then %reload_skills --retry",
            path=path,
        )


def _wait(attempt: _Attempt, *, progress: Listener | None) -> bool:
    if attempt(PATIENCE_S):
        return True
    if progress is not None:
        message = "Waiting for another process that installs skills"
        progress(ProgressEvent(stage="waiting", message=message))
    return attempt(LIMIT_S)


def _file_lock(lock: filelock.BaseFileLock, timeout_s: float) -> bool:
    try:
        lock.acquire(timeout=timeout_s)
    except filelock.Timeout:
        return False
    return True


def _flock(handle: int, timeout_s: float) -> bool:
    end = time.monotonic() + timeout_s
    while True:
        try:
            _FCNTL.flock(handle, _FCNTL.LOCK_EX | _FCNTL.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                return False
            time.sleep(_POLL_S)
        except OSError as error:
            if error.errno in _WITHOUT:
                return True
            raise
        else:
            return True
