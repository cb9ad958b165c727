"""Remove what nobody needs any more, and say what that was.

All of it happens under the environment's lock. What a living process uses, what is
current, and what is not ours is never touched.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, final
from urllib.parse import unquote, urlsplit

from prime_skills_ext.catalog.looking import is_file, is_there
from prime_skills_ext.catalog.reading import read_file
from prime_skills_ext.environment import record as records
from prime_skills_ext.environment.bases import MARKER
from prime_skills_ext.environment.generations import STAGE, stage
from prime_skills_ext.environment.inventory import Removal, RemovalKind
from prime_skills_ext.environment.record import Record
from prime_skills_ext.environment.usage import is_in_use, last_used
from prime_skills_ext.environment.venv import (
    CURRENT,
    RECORD_NAME,
    generation_at,
    numbered,
    pointed,
    version_of,
)
from prime_skills_ext.later import later

if TYPE_CHECKING:
    from prime_skills_ext.environment import locking
else:
    # a start that only looks for what was forgotten takes no lock
    locking = later("prime_skills_ext.environment.locking")

__all__ = ["GRACE_S", "KEEP_S", "disk_size", "prune", "remove_environment"]

GRACE_S = 3600.0
"""How long what was just superseded is kept for kernels that are starting."""

KEEP_S = 30 * 86_400.0
"""How long a generation is kept that some other selection may choose again."""

_MAX_BYTES = 1 << 16


def prune(
    root: Path,
    *,
    everything: bool = False,
    dry_run: bool = False,
    leftovers: bool = True,
) -> tuple[Removal, ...]:
    """Remove from the environment in ``root`` what nobody needs; its lock is held.

    A superseded generation is needed while a process uses it, for an hour, and for 30
    days after its last use if it holds skills together that no newer one does: a
    selection that contradicts the current one chooses it again.

    Args:
        root: The environment's directory.
        everything: Do not wait: whatever is neither current nor in use goes.
        dry_run: Only say it.
        leftovers: Also remove what killed processes left half made. Whoever is about
            to make something does not: it must not get the name of one of them.

    Returns:
        What was, or would be, removed.
    """
    broom = _Broom(dry_run=dry_run)
    left = broom.sweep_generations(root, everything=everything)
    if leftovers:
        broom.sweep_leftovers(root)
    broom.sweep_wheels(root / "wheels", named=_named_wheels(left))
    return tuple(broom.removed)


def remove_environment(
    root: Path, *, why: str, dry_run: bool = False
) -> Removal | None:
    """Remove a whole environment; its lock is held.

    Returns:
        What was, or would be, removed; ``None`` if a generation of it is in use.
    """
    if any(is_in_use(directory) for directory in numbered(root)):
        return None
    _, size = disk_size(root)
    if not dry_run:
        # nobody may start in what is about to go
        (root / CURRENT).unlink(missing_ok=True)
        for path in [
            *numbered(root),
            *(p for p in root.iterdir() if p.name not in locking.FILES),
        ]:
            if is_there(path):
                _remove(path)
        with suppress(OSError):  # Windows removes no file that is open: the lock
            shutil.rmtree(root)
    return Removal(path=root, kind="environment", why=why, size_bytes=size)


def disk_size(path: Path) -> tuple[int, int]:
    """How many bytes the files below ``path`` hold, and how many would be freed.

    A file that uv shares with its cache, or with another generation, frees nothing.
    """
    files: dict[tuple[int, int], tuple[int, int, int]] = {}
    for file in path.rglob("*") if path.is_dir() else (path,):
        with suppress(OSError):
            state = file.lstat()
            key = state.st_dev, state.st_ino
            links = 1 if file.is_dir() else state.st_nlink
            _, _, seen = files.get(key, (0, 0, 0))
            files[key] = state.st_size, links, seen + 1
    total = sum(size for size, _, _ in files.values())
    return total, sum(size for size, links, seen in files.values() if seen >= links)


@final
class _Broom:
    """Removes, or only says so."""

    def __init__(self, *, dry_run: bool) -> None:
        self.removed: list[Removal] = []
        self._dry_run = dry_run

    def remove(self, path: Path, *, kind: RemovalKind, why: str) -> bool:
        """Remove a file or a directory and say whether that could be done."""
        _, size = disk_size(path)
        try:
            if not self._dry_run:
                _remove(path)
        except OSError:  # in use after all, as Windows sees it; or not ours to remove
            return False
        self.removed.append(Removal(path=path, kind=kind, why=why, size_bytes=size))
        return True

    def sweep_generations(self, root: Path, *, everything: bool) -> list[Path]:
        """Remove superseded generations and return those that are left."""
        current = pointed(root)
        found = numbered(root)
        # without a pointer nobody can tell which one a kernel is about to start in
        if current is None or current.directory not in found:
            return found
        useful = _useful(current.directory, found=found)
        left = []
        for directory in found:
            is_kept = (
                directory == current.directory
                or not _is_generation(directory)
                or (not everything and _is_kept(directory, useful=useful))
                or is_in_use(directory)
            )
            if is_kept or not self.remove(
                directory, kind="generation", why="superseded"
            ):
                left.append(directory)
        return left

    def sweep_leftovers(self, root: Path) -> None:
        """Remove what processes left behind that were killed."""
        for pattern in (f"{STAGE}*", ".request-*"):
            for path in sorted(root.glob(pattern)):
                self.remove(path, kind="leftover", why="half made")
        for name in (CURRENT, MARKER):
            for path in sorted(root.glob(f"{name}.*")):
                # the marker is written before the lock is taken: it may be a live draft
                if time.time() - _changed(path) > GRACE_S:
                    self.remove(path, kind="leftover", why="half written")

    def sweep_wheels(self, store: Path, *, named: set[tuple[str, str]]) -> None:
        """Remove wheels that nothing installed comes from, as one thing."""
        spare = [
            path
            for path in store.glob("*/*")
            if (path.parent.name, path.name) not in named
        ]
        if not spare:
            return
        size = sum(disk_size(path)[1] for path in spare)
        if not self._dry_run:
            for path in spare:
                with suppress(OSError):
                    path.unlink()
                    path.parent.rmdir()  # if it was the last one in there
        why = f"{len(spare)} that nothing installed comes from"
        self.removed.append(
            Removal(path=store, kind="wheels", why=why, size_bytes=size)
        )


def _remove(path: Path) -> None:
    if path.is_file() or path.is_symlink():
        path.unlink()
        return
    if path.name.startswith(STAGE):
        shutil.rmtree(path)
        return
    # renamed first: half of a thing must never look like the whole
    grave = stage(path.parent)
    try:
        path.replace(grave / path.name)
    finally:
        shutil.rmtree(grave, ignore_errors=True)


def _is_generation(directory: Path) -> bool:
    # somebody may keep a folder 2024 here
    return any(is_there(directory / name) for name in (RECORD_NAME, "pyvenv.cfg"))


def _is_kept(directory: Path, *, useful: set[Path]) -> bool:
    when = last_used(directory)
    age = time.time() - (_changed(directory) if when is None else when)
    return age < GRACE_S or (directory in useful and age < KEEP_S)


def _useful(current: Path, *, found: Sequence[Path]) -> set[Path]:
    """Superseded generations that hold skills together which no newer one does."""
    order = [current, *(path for path in reversed(found) if path != current)]
    known = {path: records.read(generation_at(path).record) for path in order}
    # nobody chooses what is older than one that was rebuilt on request
    rebuilt = next((at for at, path in enumerate(order) if known[path].rebuilt), None)
    order = order if rebuilt is None else order[: rebuilt + 1]
    # what the newest one says about a skill is what its files say now
    latest: dict[str, str] = {}
    for path in order:
        for key, skill in known[path].skills.items():
            latest.setdefault(key, skill.fingerprint)
    held = [_held(known[current], latest=latest)]
    useful: set[Path] = set()
    for path in order[1:]:
        mine = _held(known[path], latest=latest)
        fits = (known[path].base, known[path].kernel) == (
            known[current].base,
            known[current].kernel,
        )
        if (
            fits
            and is_there(generation_at(path).python)
            and not any(mine <= others for others in held)
        ):
            useful.add(path)
            held.append(mine)
    return useful


def _held(record: Record, *, latest: dict[str, str]) -> set[str]:
    return {
        key
        for key, skill in record.skills.items()
        if skill.state == "installed"
        and skill.fingerprint == latest[key]
        and is_file(skill.pyproject_path)
    }


def _named_wheels(generations: Iterable[Path]) -> set[tuple[str, str]]:
    """Folder and name of every wheel that something installed came from.

    uv installs again what comes from a file that is newer than it was: also the
    wheels that no record names, the runtime's and our own, must stay.
    """
    return {
        name
        for directory in generations
        for url in _origins(directory)
        if (name := _tail(url)) is not None
    }


def _origins(directory: Path) -> Iterator[str]:
    generation = generation_at(directory, version=version_of(directory))
    for skill in records.read(generation.record).skills.values():
        yield (skill.line or "").partition(" @ ")[2]
    for file in generation.site_packages.glob("*.dist-info/direct_url.json"):
        with suppress(OSError, ValueError, KeyError, TypeError):
            yield str(json.loads(read_file(file, limit=_MAX_BYTES))["url"])


def _tail(url: str) -> tuple[str, str] | None:
    # an environment that was moved has the wheels, but not where the URL says
    parts = unquote(urlsplit(url).path).split("/")
    return (parts[-2], parts[-1]) if len(parts) > 1 else None


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return time.time()
