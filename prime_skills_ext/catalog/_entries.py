"""What an entry of a folder is; one that cannot be looked at is nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable

from prime_skills_ext.catalog.looking import real_path
from prime_skills_ext.skill.names import SKILL_FILE, is_skill_file

__all__ = [
    "holds_skill",
    "is_file_entry",
    "is_folder_entry",
    "real_entry",
    "skill_file_among",
]


def skill_file_among(names: Iterable[str]) -> str | None:
    """Return the name of a folder's skill file, the exact spelling first."""
    if SKILL_FILE in names:
        return SKILL_FILE
    spelled = [name for name in names if is_skill_file(name)]
    return min(spelled, default=None)


def real_entry(entry: os.DirEntry[str], *, folder: str) -> str:
    """Return an entry's real path; only links cost a look at the disk."""
    if entry.is_symlink():
        return real_path(entry.path)
    return f"{folder.rstrip(os.sep)}{os.sep}{entry.name}"


def is_folder_entry(entry: os.DirEntry[str]) -> bool:
    """Say whether an entry is a folder, links followed."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def is_file_entry(entry: os.DirEntry[str]) -> bool:
    """Say whether an entry is a regular file, links followed."""
    try:
        return entry.is_file()
    except OSError:
        return False


def holds_skill(entry: os.DirEntry[str]) -> bool:
    """Say whether an entry is a folder with a ``SKILL.md``."""
    path = f"{entry.path}{os.sep}{SKILL_FILE}"
    return is_folder_entry(entry) and os.path.lexists(path)
