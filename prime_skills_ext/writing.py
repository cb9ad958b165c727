"""Writing a file of ours: the whole of it or nothing.

Knows no format. Every store, record and pointer is written here, so that a reader
meets the old text or the new one, and a full disk or a kill loses neither.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

__all__ = ["replace_text"]


def replace_text(path: Path, *, text: str, durable: bool = False) -> None:
    """Write a file beside ``path`` and rename it into place.

    Args:
        path: What is replaced or made; only its owner may read it.
        text: Its content; what came from the file system undecoded goes back so.
        durable: Wait until the disk has it: for what cannot be made again.

    Raises:
        OSError: The disk does not take it; what was there is still there.
    """
    handle, draft = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
    try:
        # no newline is translated: the user's files keep theirs on every system
        with os.fdopen(
            handle, "w", encoding="utf-8", errors="surrogateescape", newline=""
        ) as file:
            file.write(text)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        Path(draft).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(draft).unlink()
        raise
