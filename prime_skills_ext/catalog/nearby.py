"""Which path patterns of skills match a file of the project.

Looks at names only, nearest folders first and within a bound, so that a huge
checkout costs no more than a large one.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, final

from prime_skills_ext.catalog.patterns import alternatives

__all__ = ["MAX_ENTRIES", "Nearby", "find_matching"]

#: How many entries of folders are looked at.
MAX_ENTRIES: Final = 10_000

#: Folders that hold nobody's own files.
_PRUNED: Final = frozenset(
    {".git", ".hg", ".svn", ".venv", "__pycache__", "node_modules", "venv"}
)
#: What one pattern may stand for: authors list the endings of many languages.
_MAX_ALTERNATIVES: Final = 256

Patterns = tuple[str, ...]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Nearby:
    """What was found.

    Attributes:
        matching: The patterns that match a file.
        complete: Everything was looked at; otherwise a pattern that is missing
            from ``matching`` may still match something.
    """

    matching: frozenset[Patterns] = frozenset()
    complete: bool = True


def find_matching(
    patterns: Iterable[Patterns], *, root: Path, limit: int = MAX_ENTRIES
) -> Nearby:
    """Look for files that match, below ``root``.

    Args:
        patterns: For each skill its patterns, with the semantics of git's ignore
            files: ``*.py`` matches at any depth, ``docs/`` everything in there,
            ``/src/*.ts`` only from ``root`` on, and ``!`` takes back. ``{a,b}`` is
            either.
        root: Where paths begin.
        limit: How many entries of folders are looked at.
    """
    waiting = {each: _matcher(each) for each in set(patterns)}
    found: set[Patterns] = set()
    for inside in _files(root, limit=limit):
        if inside is None:
            return Nearby(matching=frozenset(found), complete=False)
        for each in [each for each, matches in waiting.items() if matches(inside)]:
            found.add(each)
            del waiting[each]
        if not waiting:
            break
    return Nearby(matching=frozenset(found))


def _files(root: Path, *, limit: int) -> Iterator[str | None]:
    """Yield paths below ``root``, with slashes; at last ``None`` at the bound."""
    pending = deque([(os.fspath(root), "")])
    seen = 0
    while pending:
        folder, prefix = pending.popleft()
        try:
            with os.scandir(folder) as entries:
                first = islice(entries, limit - seen + 1)
                found = sorted(first, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in found:
            seen += 1
            if seen > limit:
                yield None
                return
            inside = f"{prefix}{entry.name}"
            # links are not followed: they may lead out, or round in a circle
            if not entry.is_dir(follow_symlinks=False):
                yield inside
            elif entry.name not in _PRUNED:
                pending.append((entry.path, f"{inside}/"))


def _matcher(patterns: Patterns) -> Callable[[str], bool]:
    # the import costs more than most walks, and few skills have paths
    from pathspec import GitIgnoreSpec  # noqa: PLC0415

    lines = []
    for pattern in patterns:
        # git does not know braces, and authors write them
        for line in alternatives(pattern, limit=_MAX_ALTERNATIVES):
            written = line.removeprefix("./")
            try:
                GitIgnoreSpec.from_lines([written])
            except ValueError:
                continue  # git, too, lets a line that is no pattern match nothing
            lines.append(written)
    return GitIgnoreSpec.from_lines(lines).match_file
