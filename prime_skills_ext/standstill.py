"""The last snapshot, for as long as another run of the stages would give it again.

It owns what counts as "nothing changed". What a stage looks at is told by the room that
the stage is in; here it is put together, and looked at again before each reload.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import final

from prime_skills_ext.catalog.discovery import Candidate
from prime_skills_ext.catalog.evidence import Evidence
from prime_skills_ext.catalog.facts import needs_asked
from prime_skills_ext.catalog.looking import is_there
from prime_skills_ext.catalog.places import Places
from prime_skills_ext.catalog.survey import Choices, Survey
from prime_skills_ext.environment.evidence import environment_paths, uv_asked
from prime_skills_ext.environment.venv import Generation
from prime_skills_ext.kernel.binding import Binder
from prime_skills_ext.kernel.lending import OwnEnviron
from prime_skills_ext.kernel.reload import ReloadMode
from prime_skills_ext.kernel.trees import stamp
from prime_skills_ext.snapshot import Snapshot

__all__ = ["Standstill", "gather"]

#: What an explicit reload tries once more, though no file changed.
_UNSETTLED = frozenset({"stale", "import-failed"})


@final
class Standstill:
    """A snapshot and what it was made from.

    Args:
        choices: What the run went by.
        places: Where it looked.
        environ: The environment variables that it saw.
        binder: What it left in the kernel.
        evidence: What it looked at.
        snapshot: What it found.
    """

    def __init__(
        self,
        *,
        choices: Choices,
        places: Places,
        environ: Mapping[str, str],
        binder: Binder,
        evidence: Evidence,
        snapshot: Snapshot,
    ) -> None:
        self._choices, self._places = choices, places
        self._surroundings = _surroundings(environ)
        self._binder, self._evidence = binder, evidence
        bindings, installed = snapshot.bindings, snapshot.installed
        problems = bindings.problems.values()
        self._is_settled = not any(item.state in _UNSETTLED for item in problems)
        #: What another run would find: nothing is installed, reloaded or gone anew.
        self.snapshot = replace(
            snapshot,
            bindings=replace(bindings, changed=(), removed=()),
            installed=replace(installed, installed=()),
        )

    def holds(
        self,
        choices: Choices,
        *,
        places: Places,
        environ: Mapping[str, str],
        mode: ReloadMode,
    ) -> bool:
        """Say whether another run would change nothing, in the kernel either."""
        return (
            (self._is_settled or mode == "changed")
            and choices == self._choices
            and places == self._places
            and _surroundings(environ) == self._surroundings
            and self._binder.is_undisturbed()
            and self._evidence.holds()
        )


def gather(
    found: Survey,
    *,
    snapshot: Snapshot,
    binder: Binder,
    places: Places,
    environ: Mapping[str, str],
    commands: Path | None,
    since_ns: int,
) -> Evidence:
    """Put together what a run of the stages looked at.

    Args:
        found: What the first stage found.
        snapshot: What came of it.
        binder: What the kernel holds.
        places: Where was looked.
        environ: The environment variables that the run saw.
        commands: Where the skills' commands are written.
        since_ns: When the run began.
    """
    evidence = Evidence(since_ns=since_ns)
    installed, selection = snapshot.installed, snapshot.selection
    evidence.add_paths(found.looked)
    evidence.add_paths(_code(selection.candidates(), binder=binder))
    generation = installed.generation
    if generation is None:
        evidence.doubt()  # the next run may be able to make one
    else:
        evidence.add_paths(_environment(snapshot, generation=generation))
    if installed.failed or installed.problem is not None:
        ask, answer = uv_asked(environ)
        evidence.add_answer(ask, answer=answer)
    if snapshot.bindings.waiting:
        evidence.doubt()  # calls in threads end without a trace
    if commands is not None:
        evidence.add_paths([commands, *commands.iterdir()])
    evidence.add_paths(
        item.path for item in snapshot.catalogue.diagnostics if item.path is not None
    )
    # a folder that is gone may come back anywhere
    evidence.add_paths(
        item.skill.identity
        for item in snapshot.catalogue.skills
        if item.state == "removed"
    )
    asked = needs_asked(selection, places=places, environ=environ)
    for ask, answer in (*found.asked, *asked):
        evidence.add_answer(ask, answer=answer)
    return evidence


def _environment(snapshot: Snapshot, *, generation: Generation) -> Iterator[Path]:
    holders = [item.skill for item in snapshot.selection.holders()]
    return environment_paths(
        snapshot.environment, generation=generation, skills=holders
    )


def _code(candidates: Iterable[Candidate], *, binder: Binder) -> Iterator[str | Path]:
    """The source trees of skills, and where one may appear that is not there yet."""
    sources = {tree.src for tree in binder.trees()}
    for item in candidates:
        skill = item.skill
        if skill.python is not None:
            sources.add(skill.python.src)
        elif is_there(skill.directory / "pyproject.toml"):
            sources.add(skill.directory / "src")
    for src in sources:
        folders: list[str] = []
        files = stamp(src, folders=folders)
        yield from folders
        yield from files


def _surroundings(environ: Mapping[str, str]) -> tuple[object, ...]:
    seen = environ.copy() if isinstance(environ, OwnEnviron) else dict(environ)
    return seen, tuple(sys.path), tuple(map(id, sys.meta_path))
