"""Which repository a git worktree belongs to, if both sides say so.

Reads the small text files of git and runs none of it. A folder can claim any
repository; only one that the repository lists among its worktrees is believed.
"""

from __future__ import annotations

import os
from pathlib import Path

from prime_skills_ext.catalog.looking import real_path
from prime_skills_ext.catalog.reading import read_file

__all__ = ["repository_of"]

_MAX_BYTES = 4096


def repository_of(root: Path) -> Path | None:
    """Return the main checkout that ``root`` is a worktree of, else ``None``.

    Args:
        root: A real path.
    """
    pointer = root / ".git"
    claimed = _read_line(pointer, prefix="gitdir:")
    if claimed is None:
        return None
    private = Path(real_path(root / claimed))
    if private.parent.name != "worktrees":
        return None
    answer = _read_line(private / "gitdir")
    if answer is None or real_path(private / answer) != str(pointer):
        return None
    shared = private.parent.parent
    return shared.parent if shared.name == ".git" else shared


def _read_line(path: Path, *, prefix: str = "") -> str | None:
    try:
        text = os.fsdecode(read_file(path, limit=_MAX_BYTES))
    except OSError:
        return None
    line = text.split("\n", 1)[0]
    if not line.startswith(prefix):
        return None
    return line.removeprefix(prefix).strip() or None
