"""What one run of the pipeline found, as a value."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, final

from prime_skills_ext.catalog.discovery import Candidate
from prime_skills_ext.catalog.selection import Selection
from prime_skills_ext.catalog.settings import Settings
from prime_skills_ext.catalog.sources import Source
from prime_skills_ext.catalog.status import FAILED, Catalogue
from prime_skills_ext.catalog.trust import Distrust
from prime_skills_ext.environment.installation import InstallReport
from prime_skills_ext.environment.venv import Environment
from prime_skills_ext.kernel.bindings import Bindings
from prime_skills_ext.progress import ProgressEvent, counted
from prime_skills_ext.skill.model import Skill

__all__ = ["Run", "Snapshot", "Stopwatch", "ready_event"]


@final
class Run(NamedTuple):
    """Where the time of one run went.

    Attributes:
        stages: Each stage and the seconds it took, in the order in which they ran.
        imports: Seconds of each import that ran, by identity, in that order: parts of
            the last stage.
    """

    stages: tuple[tuple[str, float], ...] = ()
    imports: Mapping[Path, float] = MappingProxyType({})


@final
class Stopwatch:
    """Takes the time of stages that follow each other."""

    def __init__(self) -> None:
        self._stages: list[tuple[str, float]] = []
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """Say that a stage ends now."""
        now = time.perf_counter()
        self._stages.append((stage, now - self._last))
        self._last = now

    def run(self, imports: Mapping[Path, float]) -> Run:
        """Return what was taken, with the imports among it."""
        return Run(stages=tuple(self._stages), imports=imports)


@final
class Snapshot(NamedTuple):
    """What the last run of the pipeline found; every view reads one of these.

    Attributes:
        sources: Where skills were looked for.
        selection: Who holds each name.
        environment: Where requirements are installed.
        installed: What installing found or did.
        bindings: What the kernel holds.
        catalogue: How each skill stands.
        wanted: The skills that may be installed here.
        unavailable: Those with requirements that may not.
        handlers: What an agent host answered when it was found; ``None`` without one.
        run: Where the time went until it was found.
        commands: The folder on ``PATH`` with the skills' commands; ``None`` without.
        settings: What each settings file says.
        distrust: Says why a skill is not trusted, as it is when asked; ``None`` for
            one that is.
    """

    sources: tuple[Source, ...]
    selection: Selection
    environment: Environment
    installed: InstallReport
    bindings: Bindings
    catalogue: Catalogue
    wanted: tuple[Skill, ...] = ()
    unavailable: tuple[Skill, ...] = ()
    handlers: frozenset[str] | None = None
    run: Run = Run()
    commands: Path | None = None
    settings: tuple[Settings, ...] = ()
    distrust: Callable[[Candidate], Distrust | None] = lambda _: None


def ready_event(snapshot: Snapshot) -> ProgressEvent:
    """Return the end of what began with any other event."""
    states = [
        item.state
        for item in snapshot.catalogue.skills
        if item.skill.python is not None and item.state in {*FAILED, "ready"}
    ]
    done, total = states.count("ready"), len(states)
    what = counted(total, "skill") if done == total else f"{done} of {total} skills"
    return ProgressEvent(
        stage="ready",
        message=f"{what} ready" if total else "Ready",
        done=done,
        total=total,
    )
