"""Module trees: which modules of a skill are loaded, and as of which files.

One ``SkillTree`` per process for each name and ``src``, whoever uses it. A tree
that nobody uses is parked: its modules leave ``sys.modules`` and come back as the
same objects when the skill does.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, final

from prime_skills_ext.catalog.reading import digest_file
from prime_skills_ext.kernel.callable_module import (
    CallableSkill,
    find_run,
    make_callable,
    make_plain,
)
from prime_skills_ext.kernel.importing import SkillFinder
from prime_skills_ext.kernel.loading import ImportOutcome, belongs
from prime_skills_ext.kernel.terms import guard_at

if TYPE_CHECKING:
    from prime_skills_ext.kernel.following import History  # a reload makes them

__all__ = [
    "FileStamp",
    "SkillTree",
    "look",
    "park",
    "settled",
    "stamp",
    "tree_of",
    "unpark",
]

#: What ``stat`` says of a file; of a young one also a digest of its content, because
#: it may change again before the clock of its file system moves on.
FileStamp = tuple[int, int, int, int, bytes]

_Mark = tuple[int, int, int, int]

#: Clocks of file systems tick once in two seconds at worst.
_SAFE_AGE_NS = 3 * 10**9


@final
class SkillTree:
    """The modules of one skill in this process.

    Attributes:
        name: The top-level module's name, private package included.
        src: Where it is loaded from.
        users: Who has it bound.
        stamps: The files as they were when the code was executed.
        tried: The files as they were when their code was executed in vain.
        error: Why the newest files are not live; ``None`` when they are.
        calls: How many calls in threads a reload waits for; 0 when none waits.
        deferred: The top-level module before its code has run, where it is bound.
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
        self.tried: dict[str, FileStamp] = {}
        self.error: BaseException | None = None
        self.calls = 0
        self.deferred: ModuleType | None = None
        self.parked: dict[str, ModuleType] = {}
        self.aside: dict[str, ModuleType] = {}
        self.history: dict[str, History] = {}

    @property
    def module(self) -> object:
        """The top-level module; ``None`` when it is not loaded."""
        return sys.modules.get(self.name)

    def picture(self) -> tuple[object, ...]:
        """What a bind would look at in the loaded module, by identity."""
        module = self.module
        run = getattr(module, "__dict__", {}).get("run")
        return id(module), type(module), id(run), self.error

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
        kind = _kind(self.src)
        if module is self.deferred:
            self.deferred = None
            if isinstance(module, CallableSkill):  # the author gave it no class
                is_callable = callable(module.__dict__.get("run"))
                own: type[ModuleType] = kind if is_callable else ModuleType
                # in one step: other threads may be calling it
                module.__class__ = own  # type: ignore[assignment]
        if find_run(module) is None:
            make_plain(module)
        else:
            make_callable(module, kind=kind)


def _kind(src: Path) -> type[CallableSkill]:
    """How the skill of a ``src`` is called."""
    if guard_at(src) is None:
        return CallableSkill
    # most skills are not guarded
    from prime_skills_ext.kernel.guarded import GuardedSkill  # noqa: PLC0415

    return GuardedSkill


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


def stamp(
    src: Path, *, before: Mapping[str, FileStamp] | None = None
) -> dict[str, FileStamp]:
    """Tell the files below a ``src`` from what they were.

    Args:
        src: Where to begin; caches and hidden files do not count.
        before: Stamps to compare with: equal ones are of the same content.
    """
    youngest = time.time_ns() - _SAFE_AGE_NS
    known = before or {}
    found: dict[str, FileStamp] = {}
    for path, mark in look(src).items():
        earlier = known.get(path)
        is_same = earlier is not None and earlier[:4] == mark
        digest = b""
        if earlier is not None and is_same and not earlier[4]:
            digest = b""  # it was old enough even then
        elif is_same or max(mark[:2]) > youngest:
            with contextlib.suppress(OSError):
                digest = digest_file(path)
        found[path] = (*mark, digest)
    return found


def settled(stamps: Mapping[str, FileStamp]) -> dict[str, FileStamp]:
    """Return stamps that were just taken, without digests that are not needed again."""
    youngest = time.time_ns() - _SAFE_AGE_NS
    return {
        path: (*mark[:4], mark[4] if max(mark[:2]) > youngest else b"")
        for path, mark in stamps.items()
    }


def look(src: Path, *, folders: list[str] | None = None) -> dict[str, _Mark]:
    """Stat every file below a ``src`` but caches and hidden files.

    Args:
        src: Where to begin.
        folders: Gets every folder that was looked into.
    """
    found: dict[str, _Mark] = {}
    seen: set[tuple[int, int]] = set()
    pending = [str(src)]
    while pending:
        folder = pending.pop()
        if folders is not None:
            folders.append(folder)
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    _stamp_entry(entry, found=found, seen=seen, pending=pending)
        except OSError:  # gone, or nobody may list it
            continue
    return found


def _stamp_entry(
    entry: os.DirEntry[str],
    *,
    found: dict[str, _Mark],
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
