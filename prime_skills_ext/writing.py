"""Writing a file of ours: the whole of it or nothing, one writer at a time.

Knows no format. Every store, record and pointer is written here, so that a reader
meets the old text or the new one, and a full disk or a kill loses neither.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

__all__ = ["exclusive", "replace_bytes", "replace_text"]

_LOCK_TIMEOUT_S: Final = 10


def replace_text(
    path: Path, *, text: str, durable: bool = False, mode: int | None = None
) -> None:
    """Write a text as ``replace_bytes`` does; no newline is translated.

    Args:
        path: What is replaced or made.
        text: Its content; what came from the file system undecoded goes back so.
        durable: As for ``replace_bytes``.
        mode: As for ``replace_bytes``.

    Raises:
        OSError: The disk does not take it; what was there is still there.
    """
    data = text.encode("utf-8", "surrogateescape")
    replace_bytes(path, data=data, durable=durable, mode=mode)


def replace_bytes(
    path: Path, *, data: bytes, durable: bool = False, mode: int | None = None
) -> None:
    """Write a file beside ``path`` and rename it into place.

    Args:
        path: What is replaced or made.
        data: Its content.
        durable: Wait until the disk has it: for what cannot be made again.
        mode: Its permissions; ``None`` lets only its owner read and write it.

    Raises:
        OSError: The disk does not take it; what was there is still there.
    """
    # mkstemp makes the file readable by nobody else from the start
    handle, draft = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        if mode is not None:
            Path(draft).chmod(mode)
        Path(draft).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(draft).unlink()
        raise


@contextlib.contextmanager
def exclusive(lock: Path, *, timeout_s: float = _LOCK_TIMEOUT_S) -> Iterator[None]:
    """Read, change and write a file while no other process does.

    Args:
        lock: A file beside what is changed; its folder is made if need be.
        timeout_s: Longest to wait for whoever holds it, in seconds.

    Raises:
        OSError: The lock cannot be had, or somebody holds it for too long.
    """
    # only a change needs the lock; a start must not pay for its import
    from filelock import FileLock  # noqa: PLC0415

    lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with FileLock(lock, timeout=timeout_s, mode=0o600):
        yield
