"""The entries of a ``skills`` list: paths, and patterns that narrow.

Pure: text in, values out. A pattern says what it matches; which skills are held
against it, and what follows, is decided elsewhere. Globs come from repositories
that nobody has read yet, so matching takes time that no pattern can blow up.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, final

__all__ = [
    "Pattern",
    "PatternKind",
    "Subject",
    "alternatives",
    "find_disabling",
    "glob_segments",
    "is_selected",
    "matches_glob",
    "matches_segment",
    "parse_entry",
]

PatternKind = Literal["path", "exclude", "include", "disable"]

_PREFIXES: Final[dict[str, PatternKind]] = {
    "!": "exclude",
    "+": "include",
    "-": "disable",
}
#: More alternatives than this in one glob are a mistake or an attack.
_MAX_ALTERNATIVES: Final = 64
_INNERMOST_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Pattern:
    """One entry.

    Attributes:
        text: As written.
        kind: ``path`` names a source, ``!`` excludes by glob, ``+`` brings back what
            ``!`` excludes and ``-`` disables, both exactly.
        value: Without the prefix, a leading ``./`` and a trailing slash.
    """

    text: str
    kind: PatternKind
    value: str

    @property
    def is_glob(self) -> bool:
        """Whether a path stands for whatever it matches."""
        return "*" in self.value or "?" in self.value


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """What patterns are held against.

    Attributes:
        names: What exact forms and globs match by name.
        paths: What exact forms and globs match by path, with slashes.
        base_names: What globs match besides.
    """

    names: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()
    base_names: frozenset[str] = frozenset()

    def is_named(self, value: str) -> bool:
        """Say whether an exact form means it."""
        return value in self.names or value in self.paths

    def is_matched(self, glob: str) -> bool:
        """Say whether a glob means it."""
        return any(
            matches_glob(glob, text)
            for group in (self.names, self.paths, self.base_names)
            for text in group
        )


def parse_entry(text: str) -> Pattern | None:
    """Read one entry; ``None`` when it names nothing."""
    stripped = text.strip()
    kind = _PREFIXES.get(stripped[:1], "path")
    value = stripped if kind == "path" else stripped[1:].strip()
    value = value.replace("\\", "/") if kind == "exclude" else value
    if kind != "path":
        value = value.removeprefix("./")
    value = value.rstrip("/") or value[:1]
    return Pattern(text=text, kind=kind, value=value) if value else None


def find_disabling(patterns: Iterable[Pattern], subject: Subject) -> Pattern | None:
    """Return the entry that switches a subject off; ``None`` when it stays on.

    Exclusions come first, then what brings back, then what disables: a ``-`` always
    wins.
    """
    by_kind: dict[PatternKind, list[Pattern]] = {}
    for pattern in patterns:
        by_kind.setdefault(pattern.kind, []).append(pattern)
    for pattern in by_kind.get("disable", ()):
        if subject.is_named(pattern.value):
            return pattern
    if any(subject.is_named(pattern.value) for pattern in by_kind.get("include", ())):
        return None
    for pattern in by_kind.get("exclude", ()):
        if subject.is_matched(pattern.value):
            return pattern
    return None


def is_selected(patterns: Sequence[Pattern] | None, subject: Subject) -> bool:
    """Say whether a package's filter lets one of the package's own skills through.

    The filter narrows what the package offers and can never widen it: ask only about
    what its manifest names.

    Args:
        patterns: The filter; ``None`` lets everything through, an empty one nothing.
            Entries without a prefix are what to include; without any such entry,
            that is everything.
        subject: The skill.
    """
    if patterns is None:
        return True
    if not patterns:
        return False
    wanted = [pattern.value for pattern in patterns if pattern.kind == "path"]
    forced = any(it.kind == "include" and subject.is_named(it.value) for it in patterns)
    included = not wanted or any(
        subject.is_named(value.removeprefix("./")) or subject.is_matched(value)
        for value in wanted
    )
    return (included or forced) and find_disabling(patterns, subject) is None


def matches_glob(glob: str, text: str) -> bool:
    """Match a whole path or name.

    ``*`` and ``?`` stay inside one segment, ``**`` spans any number of them, and none
    of them matches a segment that begins with a dot. ``[…]`` and ``{a,b}`` work.
    """
    segments = tuple(text.split("/"))
    return any(_match(alternative, segments) for alternative in glob_segments(glob))


@lru_cache(maxsize=512)
def glob_segments(glob: str) -> tuple[tuple[str, ...], ...]:
    """Return the segments of each alternative that the braces of a glob stand for."""
    return tuple(tuple(item.split("/")) for item in alternatives(glob))


def matches_segment(glob: str, name: str) -> bool:
    """Match one segment of a path; dots are matched by dots alone."""
    if _is_dotted(name) and not glob.startswith("."):
        return False
    return _expression(glob).match(name) is not None


def alternatives(glob: str, *, limit: int = _MAX_ALTERNATIVES) -> list[str]:
    """Spell out ``{a,b}``; a glob that stands for more is returned as written."""
    waiting, done = [glob], []
    while waiting:
        item = waiting.pop()
        braces = _INNERMOST_BRACES.search(item)
        if braces is None:
            done.append(item)
            continue
        words = braces[1].split(",")
        if len(words) + len(waiting) + len(done) > limit:
            # it then matches nothing but itself
            return [glob]
        waiting += [item[: braces.start()] + it + item[braces.end() :] for it in words]
    return done


def _match(glob: Sequence[str], segments: Sequence[str]) -> bool:
    # which beginnings of the text each beginning of the glob matches: no backtracking
    reached = {0}
    for part in glob:
        if part == "**":
            reached = _spanned(reached, segments)
        else:
            reached = {
                at + 1
                for at in reached
                if at < len(segments) and matches_segment(part, segments[at])
            }
    return len(segments) in reached


def _spanned(reached: set[int], segments: Sequence[str]) -> set[int]:
    """Return where any number of undotted segments leads to."""
    further, is_open = set(), False
    for at in range(len(segments) + 1):
        is_open = is_open or at in reached
        if is_open:
            further.add(at)
        if at < len(segments) and _is_dotted(segments[at]):
            is_open = False
    return further


def _is_dotted(name: str) -> bool:
    return name.startswith(".")


@lru_cache(maxsize=4096)
def _expression(glob: str) -> re.Pattern[str]:
    # fnmatch's expressions hold atomic groups: they do not backtrack
    return re.compile(fnmatch.translate(re.sub(r"\*+", "*", glob)))
