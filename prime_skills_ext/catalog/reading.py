"""Reading files of unknown origin: bounded, never blocking.

The only place of this room that opens a file; other rooms read what skills bring
through it, too. A FIFO, a device or a folder under an expected name is an
``OSError`` like any other.
"""

from __future__ import annotations

import codecs
import errno
import hashlib
import os
import re
import stat
from typing import Final

from prime_skills_ext.skill.fields import HEADER_BYTES

__all__ = ["digest_file", "explain", "read_file", "read_header", "read_private"]

_FIRST_BYTES: Final = 4096
_CHUNK_BYTES: Final = 1 << 18
# O_NONBLOCK: opening a FIFO must not wait for a writer; absent on Windows
_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

_OPENED = re.compile(rb"\s*---[ \t]*[\r\n]")
_CLOSED = re.compile(rb"[\r\n](?:---|\.\.\.)[ \t]*[\r\n]")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_file(path: str | os.PathLike[str], *, limit: int) -> bytes:
    """Return at most the first ``limit`` bytes of a regular file.

    Raises:
        OSError: It cannot be read or is no regular file.
    """
    descriptor, _ = _open(path)
    try:
        return _read(descriptor, limit)
    finally:
        os.close(descriptor)


def digest_file(path: str | os.PathLike[str]) -> bytes:
    """Return the SHA-256 of a regular file, however long it is.

    Raises:
        OSError: It cannot be read or is no regular file.
    """
    digest = hashlib.sha256()
    descriptor, _ = _open(path)
    try:
        while data := os.read(descriptor, _CHUNK_BYTES):
            digest.update(data)
    finally:
        os.close(descriptor)
    return digest.digest()


def read_private(path: str | os.PathLike[str], *, limit: int) -> bytes:
    """Return at most the first ``limit`` bytes of a file that only we can change.

    Raises:
        OSError: It cannot be read, is no regular file or not this user's alone.
    """
    descriptor, status = _open(path)
    try:
        others = stat.S_IWGRP | stat.S_IWOTH
        if os.name != "nt" and (
            status.st_uid != os.geteuid() or status.st_mode & others
        ):
            raise PermissionError(errno.EPERM, "not private", os.fspath(path))
        return _read(descriptor, limit)
    finally:
        os.close(descriptor)


def read_header(path: str | os.PathLike[str]) -> tuple[bytes, os.stat_result]:
    """Return the bytes that hold a file's header and, where it has one, no body.

    Returns:
        The bytes, and the file's status from before they were read.

    Raises:
        OSError: It cannot be read or is no regular file.
    """
    descriptor, status = _open(path)
    try:
        data = _read(descriptor, _FIRST_BYTES)
        opened = _OPENED.match(data.removeprefix(codecs.BOM_UTF8))
        if len(data) == _FIRST_BYTES and _may_go_on(data, opened=opened is not None):
            data += _read(descriptor, HEADER_BYTES - _FIRST_BYTES)
    finally:
        os.close(descriptor)
    closed = None if opened is None else _CLOSED.search(data, opened.end() - 1)
    return (data if closed is None else data[: closed.end()]), status


def explain(error: OSError) -> str:
    """Say what went wrong in words that are the same on every machine."""
    if error.errno is None:
        return "it cannot be read"
    return _WORDS.get(error.errno, os.strerror(error.errno).lower())


def _open(path: str | os.PathLike[str]) -> tuple[int, os.stat_result]:
    descriptor = os.open(path, _FLAGS)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
    return descriptor, status


def _read(descriptor: int, limit: int) -> bytes:
    data = os.read(descriptor, limit)
    # one call is enough for local files; network file systems may answer in pieces
    while (
        data and len(data) < limit and (more := os.read(descriptor, limit - len(data)))
    ):
        data += more
    return data


def _may_go_on(data: bytes, *, opened: bool) -> bool:
    if opened:
        return _CLOSED.search(data) is None
    return not data.strip() or data.startswith(_UTF16)


_WORDS: Final = {
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EINVAL: "not a regular file",
    errno.EISDIR: "not a regular file",
    errno.ELOOP: "its links go round in a circle",
    errno.ENOENT: "it points to nothing",
}
