"""Looking at paths of unknown origin: what cannot be looked at is not there.

``pathlib`` raises where a parent may not be entered, a name is too long or a home
directory is unknown. One such path must cost one skill, not the load. Looks at the
disk; opens nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

__all__ = [
    "absolute",
    "expanded",
    "is_file",
    "is_folder",
    "is_same",
    "is_there",
    "is_within",
    "python_path",
    "real_path",
    "real_paths",
]


def absolute(path: str | os.PathLike[str]) -> Path:
    """Return ``path`` as an absolute one, links kept.

    Relative to a folder that was deleted it is a place where nothing can lie.
    """
    try:
        # resolve() would replace the links by which the user knows the place
        return Path(os.path.abspath(path))  # noqa: PTH100
    except OSError:
        return Path(os.sep, path)


def expanded(path: str | os.PathLike[str]) -> Path:
    """Return ``path`` with ``~`` expanded where it is known whose that is."""
    return Path(os.path.expanduser(path))  # noqa: PTH111  # pathlib's own raises


def is_file(path: str | os.PathLike[str]) -> bool:
    """Say whether a regular file, or a link to one, can be seen there."""
    return os.path.isfile(path)  # noqa: PTH113  # pathlib's own raises


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Say whether a folder, or a link to one, can be seen there."""
    return os.path.isdir(path)  # noqa: PTH112  # pathlib's own raises


def is_there(path: str | os.PathLike[str]) -> bool:
    """Say whether anything can be seen there."""
    return os.path.exists(path)  # noqa: PTH110  # pathlib's own raises


def is_same(path: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Say whether two paths lead to the same place, links followed."""
    return real_path(path) == real_path(other)


def real_path(path: str | os.PathLike[str]) -> str:
    """Return where a path leads to once its links are followed.

    Where a link can be seen and not read, as in ``/proc``, that is the path itself:
    anybody can put a link to such a place into a repository.
    """
    try:
        return os.path.realpath(path)
    except OSError:
        return os.fspath(absolute(path))


def real_paths(paths: Iterable[str | os.PathLike[str]]) -> list[str]:
    """Return where many paths lead to, as ``real_path`` does for each.

    A folder that several of them share is looked at once.
    """
    known: dict[str, str] = {}
    return [_real_path(os.fspath(path), known) for path in paths]


def _real_path(path: str, known: dict[str, str]) -> str:
    found = known.get(path)
    if found is None:
        parent, name = os.path.split(path)
        if not parent or name in {"", os.curdir, os.pardir}:
            found = real_path(path)
        else:
            found = os.path.join(_real_path(parent, known), name)  # noqa: PTH118 - text
            if os.path.islink(found):  # noqa: PTH114 - text
                found = real_path(found)
        known[path] = found
    return found


def is_within(path: str | os.PathLike[str], folder: str | os.PathLike[str]) -> bool:
    """Say whether a path leads to a folder or into it, links followed."""
    return Path(real_path(path)).is_relative_to(real_path(folder))


def python_path() -> list[str]:
    """Return ``sys.path`` without what is no text, which Python passes over, too."""
    entries: list[object] = [*sys.path]  # people append pathlib.Path
    return [entry for entry in entries if isinstance(entry, str)]
