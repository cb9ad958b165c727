"""Files of built-in skills, copied for a model to read and to run.

Instructions point a model to what lies beside them. Pointed into the installed
package, it could spoil what every kernel on this machine uses; so it gets a copy that
is this process's own. The folder has a name that nobody can guess and is made
exclusively and for its owner alone, no link is followed on either side, and it is
removed when the process ends (a killed one leaves it to whoever cleans temporary
files).
"""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import stat
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Final, NamedTuple, final

from prime_skills_ext.catalog.reading import explain, read_file
from prime_skills_ext.errors import PrimeSkillsError

__all__ = ["extract", "has_assets"]

_MAX_BYTES: Final = 1 << 26
_ATTEMPTS: Final = 16
#: No asset: what the kernel itself uses, and what Python leaves behind.
_OWN: Final = frozenset({"SKILL.md", "pyproject.toml", "src", "__pycache__"})
# O_NOFOLLOW is absent on Windows; O_EXCL does not follow a link in any case
_CREATE: Final = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_BINARY", 0)
)


@final
class _Root(NamedTuple):
    """A folder of this process alone, and how it is known again."""

    path: Path
    device: int
    inode: int
    process: int

    def is_ours(self) -> bool:
        """Whether it is still the folder that was made, and nobody else's."""
        try:
            status = os.lstat(self.path)
        except OSError:
            return False
        return (
            stat.S_ISDIR(status.st_mode)
            and (status.st_dev, status.st_ino) == (self.device, self.inode)
            and (os.name == "nt" or stat.S_IMODE(status.st_mode) == stat.S_IRWXU)
            and self.process == os.getpid()  # a forked child makes its own
        )


@final
class _Copy(NamedTuple):
    """One skill's copy."""

    folder: Path
    root: _Root
    files: tuple[PurePath, ...]

    def is_whole(self) -> bool:
        """Whether every file is there and none became a link."""
        return self.root.is_ours() and all(
            _is_plain(self.folder, file) for file in self.files
        )


_lock = threading.Lock()
_roots: list[_Root] = []
_copies: dict[Path, _Copy] = {}


def has_assets(directory: Path) -> bool:
    """Whether a skill has files for a model beside its instructions."""
    try:
        return any(name not in _OWN for name in os.listdir(directory))  # noqa: PTH208
    except OSError:
        return False


def extract(directory: Path) -> Path:
    """Copy a built-in skill's folder to where only this process's user can read it.

    The same copy is given again as long as it is whole.

    Args:
        directory: The skill's folder.

    Returns:
        The copy, of the same name.

    Raises:
        PrimeSkillsError: It cannot be read, or there is nowhere to copy it to.
    """
    with _lock:
        known = _copies.get(directory)
        if known is not None and known.is_whole():
            return known.folder
        try:
            copied = _copy(directory)
        except OSError as error:
            raise PrimeSkillsError(
                f"the files of the skill {directory.name} cannot be copied to a "
                f"temporary folder: {explain(error)}",
                fix="make room in the folder for temporary files, or name another "
                "with the environment variable TMPDIR",
                path=directory,
            ) from error
        _copies[directory] = copied
        return copied.folder


def _copy(directory: Path) -> _Copy:
    # never into a folder that is there already: somebody may have prepared it
    root = _new_root()
    files = dict(_files(directory))
    folder = root.path / directory.name
    folder.mkdir(mode=stat.S_IRWXU)
    for file, mode in files.items():
        for parent in reversed(file.parents[:-1]):
            if not (folder / parent).exists():
                (folder / parent).mkdir(mode=stat.S_IRWXU)
        _write(folder / file, read_file(directory / file, limit=_MAX_BYTES), mode=mode)
    return _Copy(folder, root, tuple(files))


def _new_root() -> _Root:
    parent = Path(tempfile.gettempdir()).resolve()
    for _ in range(_ATTEMPTS):
        path = parent / f"prime-skills-{secrets.token_urlsafe(24)}"
        try:
            # fails for whatever has the name: a folder, a link, a link to nothing
            path.mkdir(mode=stat.S_IRWXU)
        except FileExistsError:
            continue
        status = os.lstat(path)
        root = _Root(path, status.st_dev, status.st_ino, os.getpid())
        if not _roots:
            atexit.register(_remove_all)
        _roots.append(root)
        return root
    raise FileExistsError(17, "every name is taken", str(parent))


def _files(directory: Path) -> Iterator[tuple[PurePath, int]]:
    """Yield the plain files below a folder, relative to it, and their modes."""
    waiting = [PurePath()]
    while waiting:
        inside = waiting.pop()
        with os.scandir(directory / inside) as entries:
            for entry in sorted(entries, key=lambda item: item.name):
                if entry.name == "__pycache__":
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(inside / entry.name)
                elif entry.is_file(follow_symlinks=False):
                    mode = entry.stat(follow_symlinks=False).st_mode
                    yield inside / entry.name, mode


def _write(path: Path, data: bytes, *, mode: int) -> None:
    # a script stays executable, for its owner
    is_program = mode & stat.S_IXUSR
    descriptor = os.open(path, _CREATE, 0o700 if is_program else 0o600)
    with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor, not a path
        file.write(data)


def _is_plain(folder: Path, file: PurePath) -> bool:
    """Whether a file and the folders that lead to it are no links."""
    try:
        steps = [folder, *(folder / parent for parent in file.parents[:-1])]
        return all(stat.S_ISDIR(os.lstat(step).st_mode) for step in steps) and (
            stat.S_ISREG(os.lstat(folder / file).st_mode)
        )
    except OSError:
        return False


def _remove_all() -> None:
    """Remove what this process made; a forked child leaves its parent's alone."""
    for root in _roots:
        if root.is_ours():
            # rmtree follows no link
            shutil.rmtree(root.path, ignore_errors=True)
