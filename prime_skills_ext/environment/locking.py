"""Who may change an environment: one process at a time.

An OS lock, which death releases, guards every change.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import filelock

from prime_skills_ext.errors import InstallError
from prime_skills_ext.progress import Listener, ProgressEvent

__all__ = ["LOCK", "locked"]

LOCK = ".lock"

PATIENCE_S = 2.0
"""After how long a wait is mentioned."""
LIMIT_S = 900.0
"""After how long it is given up."""
_RETRIES = 3
_PAUSE_S = 0.2


@contextlib.contextmanager
def locked(root: Path, *, progress: Listener | None = None) -> Iterator[None]:
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
    progress: Listener | None,
) -> None:
    trials = 0
    while True:
        try:
            _wait(lock, progress=progress)
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
    progress: Listener | None,
) -> None:
    try:
        lock.acquire(timeout=PATIENCE_S)
    except filelock.Timeout:
        if progress is not None:
            message = "Waiting for another process that installs skills"
            progress(ProgressEvent(stage="waiting", message=message))
        lock.acquire(timeout=LIMIT_S)
