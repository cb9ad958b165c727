"""What a skill's content is, as one hash: what ``--pin`` binds a decision to.

Reads every file of a skill and runs none. Links are never followed: where one
points is part of the content, what lies there is not.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from prime_skills_ext.catalog.looking import real_path

__all__ = ["content_hash", "leaving_links"]

#: What importing and installing leave behind in a skill's folder.
_PRODUCTS: Final = frozenset({"__pycache__", ".git"})


def content_hash(directory: str | os.PathLike[str]) -> str:
    """Hash a skill's folder, or its one file.

    Names and bytes count; times, modes and what Python and installers leave behind
    do not.

    Args:
        directory: The skill's folder, or a lone ``.md`` file.

    Returns:
        ``"sha256:…"``.

    Raises:
        OSError: Something in it cannot be read.
    """
    total = hashlib.sha256()
    for inside, entry in _entries(Path(directory)):
        if entry.is_symlink():
            kind, content = b"link", os.fsencode(entry.readlink())
        elif entry.is_file():
            kind, content = b"file", _digest(entry)
        else:
            # a FIFO or a device has no content that could be bound
            kind, content = b"other", b""
        for part in (os.fsencode(inside), kind, content):
            total.update(len(part).to_bytes(8, "big"))
            total.update(part)
    return f"sha256:{total.hexdigest()}"


def leaving_links(directory: str | os.PathLike[str]) -> tuple[Path, ...]:
    """List the links in a folder that lead out of it: no hash can bind those."""
    root = real_path(directory)
    return tuple(
        entry
        for _, entry in _entries(Path(directory))
        if entry.is_symlink() and os.path.commonpath([root, real_path(entry)]) != root
    )


def _entries(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield all that is no folder, as path inside and path, in a fixed order."""
    if not root.is_dir():
        yield root.name, root
        return
    waiting = [(root, "")]
    while waiting:
        folder, prefix = waiting.pop()
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        for entry in found:
            inside = f"{prefix}{entry.name}"
            if not entry.is_dir(follow_symlinks=False):
                yield inside, Path(entry.path)
            elif entry.name not in _PRODUCTS and not entry.name.endswith(".egg-info"):
                waiting.append((Path(entry.path), f"{inside}/"))


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
