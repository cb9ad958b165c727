"""How a file is read and replaced in one step. Knows nothing of its content."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import tempfile
from pathlib import Path

__all__ = ["read_regular", "replace"]


def read_regular(path: str | os.PathLike[str]) -> tuple[Path, bytes, os.stat_result]:
    """Read a file that may be edited.

    Args:
        path: The file, or a symbolic link to it; ``~`` is expanded.

    Returns:
        Its real path, its bytes, and what it looked like before they were read.

    Raises:
        FileNotFoundError: There is no such file.
        IsADirectoryError: It is a directory.
        PermissionError: It may not be read or written.
        OSError: It is not a regular file.
    """
    target = Path(path).expanduser().resolve()
    if not target.exists():
        message = f"there is no file {path} (current directory: {Path.cwd()})"
        raise FileNotFoundError(message)
    state = target.stat()
    if stat.S_ISDIR(state.st_mode):
        message = f"{path} is a directory.\nFix: name a file in it"
        raise IsADirectoryError(message)
    if not stat.S_ISREG(state.st_mode):
        message = f"{path} is not a regular file, so it cannot be edited"
        raise OSError(errno.EINVAL, message)
    # a rename would get past this: the directory decides it, not the file
    effective = os.access in os.supports_effective_ids
    if not os.access(target, os.W_OK, effective_ids=effective):
        message = f"{path} is read-only.\nFix: make it writable first"
        raise PermissionError(message)
    return target, target.read_bytes(), state


def replace(target: Path, data: bytes, *, state: os.stat_result) -> None:
    """Put ``data`` in the place of a file: all of it, or nothing happens.

    The new file is written beside the old one and takes its name, mode, extended
    attributes and, where that is allowed, owner. Other hard links keep the old text.

    Args:
        target: The real path of the file.
        data: Its new content.
        state: What it looked like before it was read.

    Raises:
        PermissionError: Its directory may not be written.
        OSError: It changed since then, or the disk is full. It is as it was.
    """
    try:
        descriptor, name = tempfile.mkstemp(
            dir=target.parent, prefix=f".{target.name[:50]}.", suffix=".tmp"
        )
    except PermissionError as error:
        message = (
            f"{target.parent} is read-only, so {target.name} cannot be replaced in "
            "one step.\nFix: make the directory writable first"
        )
        raise PermissionError(message) from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _dress(name, target, state)
        _check_unchanged(target, state)
        os.replace(name, target)  # noqa: PTH105 - both are already what they must be
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _dress(name: str, target: Path, state: os.stat_result) -> None:
    """Give the new file what the old one has, but for its times."""
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):  # only root gives files away
            os.chown(name, state.st_uid, state.st_gid)
    # after chown, which takes the set-user-id bits away
    shutil.copystat(target, name)
    os.utime(name)


def _check_unchanged(target: Path, before: os.stat_result) -> None:
    now = target.stat()
    if (now.st_ino, now.st_size, now.st_mtime_ns) != (
        before.st_ino,
        before.st_size,
        before.st_mtime_ns,
    ):
        message = f"{target} was changed by somebody else meanwhile; read it again"
        raise OSError(errno.EBUSY, message)
