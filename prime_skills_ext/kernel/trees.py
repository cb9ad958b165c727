"""Module trees: which modules of a skill are loaded, and as of which files.

One ``SkillTree`` per process for each name and ``src``, whoever uses it. A tree
that nobody uses is parked: its modules leave ``sys.modules`` and come back as the
same objects when the skill does.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, final

from prime_skills_ext.kernel.callable_module import find_run, make_callable, make_plain
from prime_skills_ext.kernel.importing import SkillFinder
from prime_skills_ext.kernel.loading import ImportOutcome, belongs

if TYPE_CHECKING:
    from prime_skills_ext.kernel.following import History  # a reload makes them

__all__ = ["FileStamp", "SkillTree", "park", "stamp", "tree_of", "unpark"]

#: What ``stat`` says of a file: two texts of one length in one second differ.
FileStamp = tuple[int, int, int, int]


@final
class SkillTree:
    """The modules of one skill in this process.

    Attributes:
        name: The top-level module's name, private package included.
        src: Where it is loaded from.
        users: Who has it bound.
        stamps: The files as they were when the code was executed.
        error: Why the newest files are not live; ``None`` when they are.
        parked: Its modules while nobody uses it.
        aside: Modules that are gone or unused since a reload; when they come back
            they are the same objects.
        history: By module: what it ever defined.
    """

    def __init__(self, name: str, *, src: Path) -> None:
        self.name = name
        self.src = src
        self.users: set[int] = set()
        self.stamps: dict[str, FileStamp] = {}
        self.error: BaseException | None = None
        self.parked: dict[str, ModuleType] = {}
        self.aside: dict[str, ModuleType] = {}
        self.history: dict[str, History] = {}

    @property
    def module(self) -> object:
        """The top-level module; ``None`` when it is not loaded."""
        return sys.modules.get(self.name)

    def modules(self) -> dict[str, ModuleType]:
        """Every loaded module of the tree."""
        return {
            name: module
            for name, module in sys.modules.copy().items()
            if belongs(name, module, root=self.name, src=self.src)
        }

    def load(self, finder: SkillFinder) -> ImportOutcome | None:
        """Import the tree, unless it is loaded or its import has failed before.

        Returns:
            How it went; ``None`` when nothing was executed.
        """
        unpark(self)
        if self.module is None and finder.outcome(self.name) is None:
            self.stamps = stamp(self.src)
            try:
                importlib.import_module(self.name)
            except Exception as error:  # noqa: BLE001  # a module that removed itself
                outcome = finder.outcome(self.name)
                return outcome or ImportOutcome(seconds=0.0, error=error)
            finally:
                if self.module is None:  # None there would forbid every next attempt
                    sys.modules.pop(self.name, None)
        elif not self.stamps:
            # another skill imported it on its way
            self.stamps = stamp(self.src)
        self.dress()
        return finder.outcome(self.name)

    def dress(self) -> None:
        """Make the module callable as long as it has a callable ``run``."""
        module = self.module
        if not isinstance(module, ModuleType):
            return
        if find_run(module) is None:
            make_plain(module)
        else:
            make_callable(module)


_TREES: dict[tuple[str, Path], SkillTree] = {}


def tree_of(name: str, *, src: Path) -> SkillTree:
    """The tree of a name and ``src`` in this process."""
    tree = _TREES.get((name, src))
    if tree is None:
        tree = _TREES.setdefault((name, src), SkillTree(name, src=src))
    return tree


def park(tree: SkillTree, *, user: object) -> None:
    """Take a tree out of ``sys.modules`` when its last user goes."""
    tree.users.discard(id(user))
    if tree.users:
        return
    modules = tree.modules()
    if modules:
        tree.parked = modules
    for name, module in modules.items():
        sys.modules.pop(name, None)
        make_plain(module)


def unpark(tree: SkillTree) -> None:
    """Put the modules of a parked tree back, as the same objects."""
    parked, tree.parked = tree.parked, {}
    if tree.name not in sys.modules:
        sys.modules.update(parked)


def stamp(src: Path) -> dict[str, FileStamp]:
    """Stat every file below a ``src`` but caches and hidden files."""
    found: dict[str, FileStamp] = {}
    seen: set[tuple[int, int]] = set()
    pending = [str(src)]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    _stamp_entry(entry, found=found, seen=seen, pending=pending)
        except OSError:  # gone, or nobody may list it
            continue
    return found


def _stamp_entry(
    entry: os.DirEntry[str],
    *,
    found: dict[str, FileStamp],
    seen: set[tuple[int, int]],
    pending: list[str],
) -> None:
    name = entry.name
    if name.startswith(".") or name == "__pycache__":
        return
    if name.endswith((".pyc", ".egg-info", "~")):
        return
    try:
        is_folder, status = entry.is_dir(), entry.stat()
    except OSError:  # a link to nothing, or just gone
        return
    if not is_folder:
        found[entry.path] = (
            status.st_mtime_ns,
            # of a file that uv shares, it tells when another environment was made
            status.st_ctime_ns if status.st_nlink == 1 else 0,
            status.st_size,
            status.st_ino,
        )
        return
    if entry.is_symlink():  # it may lead back to where it is
        if (status.st_dev, status.st_ino) in seen:
            return
        seen.add((status.st_dev, status.st_ino))
    pending.append(entry.path)
