"""The last snapshot, for as long as another run of the stages would give it again.

It owns what counts as "nothing changed". What a stage looks at is told by the room that
the stage is in; here it is put together, and looked at again before each reload.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, final

from prime_skills_ext.catalog.discovery import Candidate
from prime_skills_ext.catalog.evidence import Evidence
from prime_skills_ext.catalog.facts import needs_asked
from prime_skills_ext.catalog.hosts import reads_code_of
from prime_skills_ext.catalog.looking import is_file, is_there
from prime_skills_ext.catalog.places import Places
from prime_skills_ext.catalog.status import Catalogue
from prime_skills_ext.catalog.survey import Choices, Survey
from prime_skills_ext.environment.evidence import environment_paths, uv_asked
from prime_skills_ext.environment.venv import Generation
from prime_skills_ext.kernel.binding import Binder
from prime_skills_ext.kernel.bindings import Bindings
from prime_skills_ext.kernel.lending import OwnEnviron
from prime_skills_ext.kernel.loading import loader_of
from prime_skills_ext.kernel.names import import_name_of
from prime_skills_ext.kernel.trees import SkillTree, look
from prime_skills_ext.snapshot import Snapshot

if TYPE_CHECKING:
    from prime_skills_ext.kernel.reload import ReloadMode

__all__ = ["Standstill", "gather"]


@final
class Standstill:
    """A snapshot and what it was made from.

    Args:
        choices: What the run went by.
        places: Where it looked.
        environ: The environment variables that it saw.
        binder: What it left in the kernel.
        evidence: What it looked at, but the code of what is loaded.
        snapshot: What it found.
        conclude: Makes a catalogue of other bindings, all else being equal.
        since_ns: When the run began.
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
        conclude: Callable[[Bindings], Catalogue],
        since_ns: int,
    ) -> None:
        self._choices, self._places = choices, places
        self._surroundings = _surroundings(environ)
        self._binder, self._evidence = binder, evidence
        self._conclude = conclude
        self._code: dict[Path, Evidence] = {}
        self._look(_reloadable(binder), since_ns=since_ns)
        #: What another run would find: nothing is installed, reloaded or gone anew.
        self.snapshot = snapshot._replace(
            bindings=snapshot.bindings._replace(changed=(), removed=()),
            installed=snapshot.installed._replace(installed=()),
        )

    def moved(
        self,
        choices: Choices,
        *,
        places: Places,
        environ: Mapping[str, str],
        mode: ReloadMode,
    ) -> frozenset[Path] | None:
        """Name the ``src`` folders whose code has to be looked at again.

        Returns:
            None of them where another run would change nothing, in the kernel
            either; ``None`` where the stages have to run.
        """
        problems = self.snapshot.bindings.problems.values()
        failed = any(item.state == "import-failed" for item in problems)
        if (
            (failed and mode != "changed")
            or choices != self._choices
            or places != self._places
            or _surroundings(environ) != self._surroundings
            or not self._binder.is_undisturbed()
            or not self._evidence.holds()
        ):
            return None
        moved = {src for src, code in self._code.items() if not code.holds()}
        for tree in self._binder.trees():
            # who failed is asked to try again; calls in threads end without a trace
            if tree.calls or (tree.error is not None and mode != "changed"):
                moved.add(tree.src)
            if tree.src in moved and not _is_reloadable(tree):
                return None
        return frozenset(moved)

    def reload(self, sources: Collection[Path], *, mode: ReloadMode) -> Snapshot:
        """Take up what changed in the code of some ``src`` folders."""
        began = time.time_ns()
        last = self.snapshot
        bindings = self._binder.reload_code(sources, mode=mode, last=last.bindings)
        catalogue = last.catalogue
        if (bindings.problems, bindings.diagnostics) != (
            last.bindings.problems,
            last.bindings.diagnostics,
        ):
            catalogue = self._conclude(bindings)
        snapshot = last._replace(bindings=bindings, catalogue=catalogue)
        self.snapshot = snapshot._replace(bindings=bindings._replace(changed=()))
        self._look(sources, since_ns=began)
        return snapshot

    def _look(self, sources: Iterable[Path], *, since_ns: int) -> None:
        for src in sources:
            self._code[src] = code = Evidence(since_ns=since_ns)
            code.add_paths(_files(src))


def _is_reloadable(tree: SkillTree) -> bool:
    """Whether the code of a tree is loaded and can be reloaded in place."""
    package = tree.src / import_name_of(tree.name)
    return loader_of(tree.module) is not None and is_file(package / "__init__.py")


def _reloadable(binder: Binder) -> set[Path]:
    """The ``src`` folders of which no stage looks at more than the evidence says."""
    return {tree.src for tree in binder.trees() if _is_reloadable(tree)}


def gather(
    found: Survey,
    *,
    snapshot: Snapshot,
    binder: Binder,
    places: Places,
    environ: Mapping[str, str],
    commands: Path | None,
    handlers: Callable[[], object],
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
        handlers: Says what an agent host answers now.
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
    if commands is not None:
        evidence.add_paths(_files(commands))
    evidence.add_paths(
        item.path for item in snapshot.catalogue.diagnostics if item.path is not None
    )
    # a folder that is gone may come back anywhere
    evidence.add_paths(
        item.skill.identity
        for item in snapshot.catalogue.skills
        if item.state == "removed"
    )
    # hosts come and go without a file of theirs
    evidence.add_answer(handlers, answer=snapshot.handlers)
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
    """What the stages look at of source trees, and where one may appear."""
    loaded = _reloadable(binder)
    for item in candidates:
        skill = item.skill
        src = skill.directory / "src"
        if skill.python is None:
            if is_there(skill.directory / "pyproject.toml"):
                yield from _files(src)
        elif skill.python.src not in loaded or reads_code_of(skill):
            yield from _files(skill.python.src)
        else:
            # what lies beside the package may be a module of its own
            yield skill.python.src


def _files(src: Path) -> Iterator[str]:
    folders: list[str] = []
    files = look(src, folders=folders)
    yield from folders
    yield from files


def _surroundings(environ: Mapping[str, str]) -> tuple[object, ...]:
    seen = environ.copy() if isinstance(environ, OwnEnviron) else dict(environ)
    return seen, tuple(sys.path), tuple(map(id, sys.meta_path))
