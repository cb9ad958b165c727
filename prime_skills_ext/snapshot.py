"""What one run of the pipeline found, as a value."""

from __future__ import annotations

from typing import NamedTuple, final

from prime_skills_ext.catalog.selection import Selection
from prime_skills_ext.catalog.sources import Source
from prime_skills_ext.catalog.status import FAILED, Catalogue
from prime_skills_ext.environment.installation import InstallReport
from prime_skills_ext.environment.venv import Environment
from prime_skills_ext.kernel.bindings import Bindings
from prime_skills_ext.progress import ProgressEvent, counted
from prime_skills_ext.skill.model import Skill

__all__ = ["Snapshot", "ready_event"]


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
    """

    sources: tuple[Source, ...]
    selection: Selection
    environment: Environment
    installed: InstallReport
    bindings: Bindings
    catalogue: Catalogue
    wanted: tuple[Skill, ...] = ()
    unavailable: tuple[Skill, ...] = ()


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
