"""What headers said the last time, for files that have not changed since.

One private JSON file in the agent directory. An answer counts only for the very file
it was read from: path, device, inode, size, time of change and time of modification
must all be what they were, and so must the code that reads headers. A file that was
changed a moment ago is not kept, because it could change again without its times
moving. Whatever is wrong with the cache, it is an empty one: it can be deleted at any
time, and nothing but speed depends on it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
import unicodedata
import zlib
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, final

from prime_skills_ext.catalog._cached import Outcome, from_json, to_json
from prime_skills_ext.catalog.reading import read_private
from prime_skills_ext.catalog.walking import Found
from prime_skills_ext.writing import replace_bytes

__all__ = ["CACHE_FILE", "SkillCache", "Stamp", "stamp"]

#: Where it lies in the agent directory.
CACHE_FILE: Final = Path("prime-skills", "headers.json")

#: Clocks of file systems tick once in two seconds at worst.
_SAFE_AGE_NS: Final = 3 * 10**9
#: Files of one run that are remembered, and of earlier runs in other projects.
_MAX_CURRENT: Final = 20_000
_MAX_EARLIER: Final = 2_000
#: Bytes of a header: a longer one is not worth its place. And of the whole file.
_MAX_HEADER_BYTES: Final = 8 * 1024
_MAX_BYTES: Final = 16 * 1024 * 1024
_BATCH: Final = 100
#: Windows keeps the time of creation in its place.
_HAS_CHANGE_TIME: Final = os.name != "nt"

#: What must be the same for a file to be the same.
Stamp = tuple[int, ...]
_dump: Final = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


@final
class SkillCache:
    """The answers of earlier runs, for one run.

    Args:
        agent_directory: Where the file lies.
    """

    def __init__(self, agent_directory: Path) -> None:
        self.path = agent_directory / CACHE_FILE
        # taken before any file is looked at: it makes files look younger, not older
        self._now = time.time_ns()
        # read when the first file is asked for: whoever has no skill needs no cache
        self._earlier: dict[str, list[Any]] | None = None
        self._current: dict[str, list[Any]] = {}
        self._learnt: dict[str, tuple[Outcome, Stamp]] = {}
        # None keeps nothing: where changes cannot be told from the times alone
        self._made_by = _made_by() if _HAS_CHANGE_TIME else None

    def get(self, found: Found, *, path: Path, identity: Path) -> Outcome | None:
        """Return what the file said, ``None`` if it must be read."""
        if self._earlier is None:
            self._earlier = self._load()
        entry = self._earlier.get(found.path)
        if entry is None:
            return None
        try:
            status = os.stat(found.path)  # noqa: PTH116 - one per skill
        except OSError:
            return None
        if entry[0] != [*stamp(status), found.loose]:
            del self._earlier[found.path]
            return None
        self._current[found.path] = entry
        return from_json(entry[1], path=path, identity=identity)

    def put(
        self,
        found: Found,
        outcome: Outcome,
        *,
        stamp: Stamp,
        size: int,
    ) -> None:
        """Remember what a file said.

        Args:
            found: The file.
            outcome: What its header gave.
            stamp: Of the file that was read, taken before it was.
            size: Length of its header in bytes.
        """
        age = self._now - max(stamp[:2])
        if age >= _SAFE_AGE_NS and size <= _MAX_HEADER_BYTES:
            # a file can be read in two ways, which its name decides
            self._learnt[found.path] = outcome, (*stamp, found.loose)

    def save(self) -> None:
        """Write what was learnt; a disk that refuses is no misfortune."""
        if not self._learnt or self._made_by is None:
            return
        with contextlib.suppress(OSError):
            # not its parents: whoever only looks gets no agent directory
            self.path.parent.mkdir(mode=0o700, exist_ok=True)
            document = _document(self._kept(), made_by=self._made_by)
            replace_bytes(self.path, data=document)
            self._learnt.clear()

    def _load(self) -> dict[str, list[Any]]:
        if self._made_by is None:
            return {}
        try:
            data = read_private(self.path, limit=_MAX_BYTES + 1024)
            return _parse(data, made_by=self._made_by)
        except (OSError, ValueError, RecursionError):
            return {}

    def _kept(self) -> bytes:
        """What is kept, within bounds: the files of this run before all others."""
        others = (
            item
            for item in (self._earlier or {}).items()
            if item[0] not in self._current and item[0] not in self._learnt
        )
        current = chain(self._entries(), self._current.items())
        items = chain(islice(current, _MAX_CURRENT), islice(others, _MAX_EARLIER))
        parts: list[str] = []
        room = _MAX_BYTES
        # in batches, so that ten thousand entries are never there all at once
        while batch := dict(islice(items, _BATCH)):
            part = _dump(batch)[1:-1]
            room -= len(part) + 2
            if room < 0:
                break
            parts.append(part)
        return ",\n".join(parts).join("{}").encode()

    def _entries(self) -> Iterator[tuple[str, list[Any]]]:
        for path, (outcome, stamp) in self._learnt.items():
            kept = to_json(outcome, path=path)
            if kept is not None:
                yield path, [stamp, kept]


def stamp(status: os.stat_result) -> Stamp:
    """Return what must be the same for a file to be the same, times first."""
    return (
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_size,
        status.st_ino,
        status.st_dev,
    )


def _made_by() -> str | None:
    """Name the code that reads headers: other code may read them otherwise."""
    package = Path(__file__).parent.parent
    try:
        signature = sorted(
            (entry.name, entry.stat().st_size, entry.stat().st_mtime_ns)
            for room in ("skill", "catalog")
            for entry in os.scandir(package / room)
            if entry.name.endswith(".py")
        )
    except OSError:
        # the package lies in an archive
        return None
    text = f"{unicodedata.unidata_version} {signature}"
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _document(skills: bytes, *, made_by: str) -> bytes:
    head = _head(skills, made_by=made_by).encode()
    return b"%b\n%b\n}\n" % (head, skills)


def _parse(data: bytes, *, made_by: str) -> dict[str, list[Any]]:
    """Return what is kept; nothing unless every byte is as it was written.

    Raises:
        ValueError: It is damaged, or other code wrote it.
    """
    head, _, rest = data.partition(b"\n")
    skills = rest.removesuffix(b"\n}\n")
    if head.decode() != _head(skills, made_by=made_by):
        raise ValueError("not a cache of this version")
    found = json.loads(skills)
    return found if isinstance(found, dict) else {}


def _head(skills: bytes, *, made_by: str) -> str:
    return f'{{"made_by":"{made_by}","crc32":{zlib.crc32(skills)},"skills":'
