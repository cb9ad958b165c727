"""When something counts as changed: digests and cheap signatures of what is on disk.

Reads files, starts nothing. What cannot be read never equals anything.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from prime_skills_ext.catalog.looking import is_folder, python_path, real_path
from prime_skills_ext.catalog.reading import digest_file
from prime_skills_ext.skill.model import PythonPackage

__all__ = [
    "ALWAYS_INPUTS",
    "UNREADABLE",
    "fingerprint",
    "kernel_paths",
    "package_path",
    "pyproject_hash",
    "signature",
    "stamp",
]

ALWAYS_INPUTS = ("setup.py", "setup.cfg", "uv.lock", "pylock.toml")
"""Files that decide how a project is installed even if its metadata is silent."""

UNREADABLE = "unreadable"

_ABSENT = hashlib.sha256(b"absent").digest()


def package_path(package: PythonPackage) -> str:
    """The key of a skill in a record: the real path of its folder."""
    return real_path(package.directory)


def pyproject_hash(package: PythonPackage) -> str:
    """``sha256:…`` of its ``pyproject.toml``, or ``unreadable``."""
    try:
        return f"sha256:{digest_file(package.pyproject).hex()}"
    except OSError:
        return UNREADABLE


def fingerprint(
    package: PythonPackage,
    *,
    pyproject_hash: str,
    inputs: Sequence[str],
    extra: Sequence[str] = (),
    key: str | None = None,
) -> str | None:
    """Digest of everything that decides how a skill is installed.

    Args:
        package: The skill.
        pyproject_hash: As ``pyproject_hash`` gave it.
        inputs: Files that the metadata names, relative to the skill's folder.
        extra: Requirements added to the declared ones.
        key: Its package path, where that is known already.

    Returns:
        ``None`` if one of the files cannot be read: changed, whatever was before.
    """
    if pyproject_hash == UNREADABLE:
        return None
    digest = hashlib.sha256()
    parts: list[str] = [sys.version, key or package_path(package), package.import_name]
    for part in (*parts, pyproject_hash, *sorted(extra)):
        digest.update(os.fsencode(part) + b"\0")
    absent = _absent(package)
    for name in sorted({*ALWAYS_INPUTS, *inputs}):
        try:
            content = (
                _ABSENT
                if name in absent
                else digest_file(os.path.join(package.directory, name))  # noqa: PTH118 - many
            )
        except (FileNotFoundError, NotADirectoryError):
            content = _ABSENT
        except (OSError, ValueError):
            return None
        digest.update(os.fsencode(name) + b"\0" + content)
    return f"sha256:{digest.hexdigest()}"


def _absent(package: PythonPackage) -> frozenset[str]:
    """Those of ``ALWAYS_INPUTS`` that are not there: most skills have none of them."""
    try:
        with os.scandir(package.directory) as entries:
            # some file systems do not tell cases apart
            names = {entry.name.lower() for entry in entries}
    except OSError:
        return frozenset()
    return frozenset(name for name in ALWAYS_INPUTS if name not in names)


def signature(directories: Iterable[Path]) -> str:
    """Changes when a distribution is added to or removed from one of them."""
    stamps = []
    for directory in directories:
        try:
            stamps.append(f"{directory}:{directory.stat().st_mtime_ns}")
        except OSError:
            stamps.append(f"{directory}:absent")
    return hashlib.sha256("\n".join(stamps).encode(errors="replace")).hexdigest()


def stamp(directory: Path) -> str:
    """Changes with the content of one directory, wherever that is moved."""
    try:
        return str(directory.stat().st_mtime_ns)
    except OSError:
        return "absent"


def kernel_paths(*, apart_from: Path) -> tuple[Path, ...]:
    """Where this interpreter finds installed distributions, in its order.

    Only directories that hold installed packages count: the working directory, and
    what people append to ``sys.path``, would make every saved file a change.

    Args:
        apart_from: The environments' directory, parts of which may already be
            appended to ``sys.path``.
    """
    ours = real_path(apart_from) + os.sep
    names = ("site-packages", "dist-packages")
    found = dict.fromkeys(
        Path(entry)
        for entry in python_path()
        if Path(entry).name in names
        and not real_path(entry).startswith(ours)
        and is_folder(entry)
    )
    return tuple(found)
