"""The sources that settings name: paths and globs, relative to their file.

A project's entry that leaves the project is keyed by its own path: trusting the
project does not trust what lies elsewhere. Globs are followed within bounds and never
into hidden folders.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

from prime_skills_ext.catalog.looking import is_file, is_folder, is_within, real_path
from prime_skills_ext.catalog.places import Places, path_of
from prime_skills_ext.catalog.settings import Settings, shown
from prime_skills_ext.catalog.sources import (
    Source,
    SourceKind,
    given_source,
    problem_with,
)
from prime_skills_ext.catalog.walking import PRUNED
from prime_skills_ext.later import later
from prime_skills_ext.skill.model import Diagnostic

if TYPE_CHECKING:
    from prime_skills_ext.catalog import patterns
    from prime_skills_ext.catalog.patterns import Pattern
else:
    patterns = later("prime_skills_ext.catalog.patterns")  # few files have entries

__all__ = ["MAX_MATCHES", "settings_sources"]

#: Paths that one glob, and all entries of one file, may stand for.
MAX_MATCHES: Final = 200
#: Folders that one glob may look into.
_MAX_FOLDERS: Final = 2000
_MAX_DEPTH: Final = 6


def settings_sources(
    found: Iterable[Settings], *, places: Places
) -> tuple[tuple[Source, ...], tuple[Diagnostic, ...]]:
    """List the sources that settings name, in the order of the entries.

    Args:
        found: The settings.
        places: What ``~`` and the project root are.

    Returns:
        The sources, each real path once per file, and what is wrong with entries.
    """
    sources: list[Source] = []
    diagnostics: list[Diagnostic] = []
    for settings in found:
        seen: set[str] = set()
        kind: SourceKind = (
            "user-settings" if settings.scope == "user" else "project-settings"
        )
        for path in _paths(settings, places=places, diagnostics=diagnostics):
            real = real_path(path)
            if real in seen:
                continue
            if len(seen) == MAX_MATCHES:
                diagnostics.append(_too_many(settings))
                break
            root = _root(real, places) if settings.scope == "project" else None
            source = given_source(path, kind=kind, order=len(seen), root=root)
            seen.add(real)
            sources.append(source)
    return tuple(sources), tuple(diagnostics)


def _root(real: str, places: Places) -> Path:
    """Return what the trust in a project's entry is keyed by."""
    if is_within(real, places.project_root):
        return places.project_root
    return Path(real) if is_folder(real) else Path(real).parent


def _paths(
    settings: Settings, *, places: Places, diagnostics: list[Diagnostic]
) -> Iterator[Path]:
    for pattern in settings.skills:
        if pattern.kind != "path":
            continue
        path = path_of(pattern.value, home=places.home, base=settings.path.parent)
        # a folder may be called what looks like a glob
        if pattern.is_glob and not os.path.lexists(path):
            matches = _expand(path)
            if not matches.paths or matches.stopped:
                diagnostics.append(_explain(pattern, settings, matches))
            yield from matches.paths
            continue
        what = f"entry {shown(pattern.text)} of `skills` in {settings.label}"
        problem = problem_with(path, text=pattern.value, what=what)
        if problem is None:
            yield path
        else:
            diagnostics.append(problem)


@final
class _Matches:
    """What a glob stands for, as far as it was followed."""

    def __init__(self) -> None:
        self.paths: list[Path] = []
        self.folders = 0
        self.stopped = False

    def add(self, path: str, *, wants_file: bool) -> None:
        is_wanted = is_file if wants_file else is_folder
        if not is_wanted(path) or Path(path) in self.paths:
            return
        if len(self.paths) == MAX_MATCHES:
            self.stopped = True
            return
        self.paths.append(Path(path))

    def scan(self, folder: str) -> list[os.DirEntry[str]]:
        if self.folders == _MAX_FOLDERS:
            self.stopped = True
            return []
        self.folders += 1
        try:
            with os.scandir(folder) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except OSError:
            return []


def _expand(path: Path) -> _Matches:
    matches = _Matches()
    start = Path(path.anchor)
    for segments in patterns.glob_segments(path.as_posix()[len(start.as_posix()) :]):
        # whatever lies below a folder is found by its walk
        kept = segments[:-1] if segments[-1] == "**" else segments
        wants_file = bool(kept) and kept[-1].casefold().endswith(".md")
        for match in _follow(str(start), kept, matches=matches):
            matches.add(match, wants_file=wants_file)
    return matches


def _follow(folder: str, segments: Sequence[str], *, matches: _Matches) -> list[str]:
    """Return what the segments lead to from a folder, level by level."""
    reached = [folder]
    for segment in segments:
        further: dict[str, None] = {}
        for at in reached:
            if segment == "**":
                further |= dict.fromkeys(_below(at, matches=matches))
            elif any(sign in segment for sign in "*?["):
                further |= dict.fromkeys(
                    entry.path
                    for entry in matches.scan(at)
                    if entry.name not in PRUNED
                    and patterns.matches_segment(segment, entry.name)
                )
            else:
                further[os.path.join(at, segment)] = None  # noqa: PTH118 - text
        reached = list(further)
    return reached


def _below(folder: str, *, matches: _Matches) -> Iterator[str]:
    """Yield a folder and those below it; links are not followed."""
    waiting = [(folder, 0)]
    while waiting:
        at, depth = waiting.pop(0)
        yield at
        if depth < _MAX_DEPTH:
            waiting += [
                (entry.path, depth + 1)
                for entry in matches.scan(at)
                if entry.name not in PRUNED
                and not entry.name.startswith(".")
                and entry.is_dir(follow_symlinks=False)
            ]


def _too_many(settings: Settings) -> Diagnostic:
    return Diagnostic(
        code="source-too-wide",
        message=f"`skills` in {settings.label} stands for more than {MAX_MATCHES} "
        "places: the rest was not searched.",
        fix="Name the folders that hold the skills instead.",
        path=settings.path,
    )


def _explain(pattern: Pattern, settings: Settings, matches: _Matches) -> Diagnostic:
    entry = f"entry {shown(pattern.text)} of `skills` in {settings.label}"
    if matches.stopped:
        return Diagnostic(
            code="source-too-wide",
            message=f"The {entry} was followed to {len(matches.paths)} places in "
            f"{matches.folders} folders, and no further.",
            fix="Name the folder that holds the skills instead.",
            path=settings.path,
        )
    return Diagnostic(
        code="source-missing",
        message=f"The {entry} matches nothing.",
        fix="Correct the pattern, or create what it names and run %reload_skills.",
        path=settings.path,
    )
