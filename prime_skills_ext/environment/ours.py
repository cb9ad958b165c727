"""What comes from us and from no index: the runtime that skills import, this package.

Says where they are and which they are, cheaply: every start asks whether the ones in
an environment are still these. Their wheels are made by ``wheel``.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from prime_skills_ext.catalog.reading import read_file
from prime_skills_ext.errors import InstallError

__all__ = [
    "OWN_NAME",
    "PACKAGE",
    "RUNTIME",
    "RUNTIME_NAME",
    "missing_runtime",
    "own_identity",
    "running_distribution",
    "runtime_identity",
    "tree",
]

OWN_NAME = "prime-skills-ext"
RUNTIME_NAME = "prime-agent-runtime"

PACKAGE = Path(__file__).resolve().parents[1]
RUNTIME = PACKAGE / "runtime"

_MAX_BYTES = 1 << 24


def runtime_identity() -> str:
    """Digest of the runtime's files; the wheel made of them says nothing else.

    Raises:
        InstallError: The files are not there.
    """
    digest = hashlib.sha256()
    try:
        for path in (RUNTIME / "pyproject.toml", *tree(RUNTIME / "src")):
            content = read_file(path, limit=_MAX_BYTES)
            inside = path.relative_to(RUNTIME).as_posix()
            digest.update(f"{inside}\0{len(content)}\0".encode() + content)
    except OSError as error:
        raise missing_runtime(error) from error
    return digest.hexdigest()


def own_identity() -> str:
    """Changes when this package does.

    A normal install has a digest of each file in its RECORD. An editable one changes
    under the hands of whoever works on it: there the files' times and sizes count.

    Raises:
        InstallError: It runs from a folder that was never installed.
    """
    running = running_distribution()
    lines = [
        line
        for line in (running.read_text("RECORD") or "").splitlines()
        # not the commands: they name the interpreter of the one who has them
        if line.startswith(f"{PACKAGE.name}/") and "__pycache__" not in line
    ]
    return _digest([running.version, *sorted(lines or _stamps())])


def running_distribution() -> Distribution:
    """This package's metadata.

    Raises:
        InstallError: It runs from a folder that was never installed.
    """
    try:
        return distribution(OWN_NAME)
    except PackageNotFoundError as error:
        raise InstallError(
            f"{OWN_NAME} is used without being installed",
            fix=f"install it, for example with: uv pip install -e {PACKAGE.parent}",
            path=PACKAGE,
        ) from error


def missing_runtime(error: OSError) -> InstallError:
    """Make the error of a package that has lost its data."""
    return InstallError(
        f"the runtime that skills import is missing: {error}",
        fix="reinstall prime-skills-ext",
        path=RUNTIME,
    )


def tree(folder: Path) -> list[Path]:
    """Return the files below a folder but what Python leaves there, sorted."""
    found: list[Path] = []
    for directory, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        found += [Path(directory, name) for name in names]
    return sorted(found)


def _stamps() -> Iterator[str]:
    for path in tree(PACKAGE):
        status = path.stat()
        yield f"{path}:{status.st_size}:{status.st_mtime_ns}"


def _digest(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode(errors="replace")).hexdigest()
