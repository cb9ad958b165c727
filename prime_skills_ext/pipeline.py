"""The path of the data: from sources to a snapshot, one stage after the other.

It owns the order of the stages; what they find is a value, what a kernel keeps of it
is ``holding``'s. Rules about skills stand in the stages. Without a binder it plans and
installs but touches no namespace.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, final

from prime_skills_ext.catalog.facts import gather_facts
from prime_skills_ext.catalog.gates import Facts, gates
from prime_skills_ext.catalog.places import Places
from prime_skills_ext.catalog.selection import Selection
from prime_skills_ext.catalog.status import Catalogue, statuses
from prime_skills_ext.catalog.survey import Choices, Survey, survey
from prime_skills_ext.catalog.trust import needs_trust
from prime_skills_ext.environment import record as records
from prime_skills_ext.environment.installation import InstallReport, ensure
from prime_skills_ext.environment.undeclared import find_undeclared, undeclared_notes
from prime_skills_ext.environment.venv import Environment, Mode, locate
from prime_skills_ext.holding import Hold
from prime_skills_ext.kernel.binding import Binder
from prime_skills_ext.kernel.bindings import Bindings
from prime_skills_ext.progress import Listener
from prime_skills_ext.refusals import failures
from prime_skills_ext.skill.model import Diagnostic, Skill
from prime_skills_ext.snapshot import Run, Snapshot, Stopwatch

if TYPE_CHECKING:
    from prime_skills_ext.kernel.reload import ReloadMode
    from prime_skills_ext.standstill import Standstill

__all__ = ["Pipeline"]


@final
class Pipeline:
    """Runs the stages for one kernel.

    Args:
        places: The directories that everything is found from; may be replaced.
        environ: The environment variables to go by.
        mode: How the kernel relates to its environment.
        progress: Told each step of long work.
        binder: Binds names; ``None`` binds nothing.
        details: Makes what ``skills[name]`` is for a skill of instructions.
        handlers: Says what an agent host answers now; ``None`` without one.
        are_hooks_on: Whether the hooks of skills run; asked at each use.
    """

    def __init__(
        self,
        *,
        places: Places,
        environ: Mapping[str, str],
        mode: Mode,
        progress: Listener,
        binder: Binder | None,
        details: Callable[[str], object],
        handlers: Callable[[], frozenset[str] | None],
        are_hooks_on: Callable[[], bool],
    ) -> None:
        self.places = places
        self._environ = environ
        self._mode = mode
        self._progress = progress
        self._binder = binder
        self._handlers = handlers
        self._hold = Hold(
            binder,
            environ=environ,
            is_own=mode == "own",
            progress=progress,
            details=details,
            are_hooks_on=are_hooks_on,
        )
        self._replaced: tuple[str, ...] = ()
        self._still: Standstill | None = None
        self._took: Mapping[Path, float] = {}
        self._is_lazy = False

    def run(
        self,
        choices: Choices,
        *,
        allow_install: bool,
        retry: bool = False,
        reload: bool = False,
        mode: ReloadMode = "again",
        lazy: bool = False,
    ) -> Snapshot:
        """Run every stage once.

        Args:
            choices: What to go by.
            allow_install: Whether anything may be installed.
            retry: Try again what failed to install before.
            reload: Execute again what changed on disk.
            mode: What to do about code that failed before or is being executed.
            lazy: Import no skill before its first use.
        """
        watch = Stopwatch()
        still, self._still = self._still, None
        is_as_before, self._is_lazy = lazy == self._is_lazy, lazy
        if still is not None and is_as_before and reload and not retry:
            moved = still.moved(
                choices, places=self.places, environ=self._environ, mode=mode
            )
            if moved is not None:
                snapshot = still.snapshot
                if moved:
                    watch.lap("look")
                    snapshot = still.reload(moved, mode=mode)
                    watch.lap("bind")
                    snapshot = snapshot._replace(run=self._timed(snapshot, watch))
                # a requirement that an edit does not declare has to be installed
                if not find_undeclared(snapshot.bindings.errors):
                    self._still = still
                    return snapshot
        began = time.time_ns()
        found = survey(self.places, choices=choices, environ=self._environ)
        watch.lap("discover")
        selection, notes = found.selection, found.diagnostics
        facts, problems = gather_facts(
            selection,
            places=self.places,
            environ=self._environ,
            handlers=self._handlers(),
            distrusted=found.distrusted,
        )
        gated = gates(selection, facts=facts)
        wanted = [x.skill for x in selection.active() if x.skill.identity not in gated]
        usable = {skill.identity for skill in wanted}
        unavailable = [
            item.skill
            for item in selection.holders()
            if item.skill.python is not None and item.skill.identity not in usable
        ]
        environment = self._environment(wanted, selection=selection)
        watch.lap("select")
        install = partial(
            ensure,
            wanted,
            environment=environment,
            environ=self._environ,
            progress=self._progress,
            allow_install=allow_install,
            unavailable=unavailable,
        )
        installed = install(retry=retry)
        watch.lap("install")
        bind = partial(
            self._hold.bind, found, gated=gated, places=self.places, lazy=lazy
        )
        bindings = bind(installed, reload=reload, mode=mode)
        watch.lap("bind")
        undeclared = find_undeclared(bindings.errors)
        if undeclared and allow_install:
            installed = install(extra_requirements=undeclared)
            watch.lap("install")
            bindings = bind(installed, reload=True)
            watch.lap("bind")
        # what was loaded before it was replaced stays loaded until the kernel restarts
        self._replaced = tuple(sorted({*self._replaced, *installed.restart}))
        installed = installed._replace(restart=self._replaced)
        if installed.generation is not None:
            record = records.read(installed.generation.record)
            notes += undeclared_notes(wanted, record=record, added=undeclared)
        notes += (*problems, *environment.diagnostics, *installed.diagnostics)
        conclude = partial(
            self._conclude, selection, facts=facts, installed=installed, notes=notes
        )
        snapshot = Snapshot(
            sources=found.sources,
            selection=selection,
            environment=environment,
            installed=installed,
            bindings=bindings,
            catalogue=conclude(bindings),
            wanted=tuple(wanted),
            unavailable=tuple(unavailable),
            commands=self._hold.commands,
            settings=found.settings,
            handlers=facts.handlers,
            distrust=found.explain,
        )
        snapshot = snapshot._replace(run=self._timed(snapshot, watch))
        if reload and allow_install:
            self._still = self._standstill(
                found,
                choices=choices,
                snapshot=snapshot,
                conclude=conclude,
                since_ns=began,
            )
        return snapshot

    def _conclude(
        self,
        selection: Selection,
        bindings: Bindings,
        *,
        facts: Facts,
        installed: InstallReport,
        notes: tuple[Diagnostic, ...],
    ) -> Catalogue:
        """Say how every skill stands, now that all stages have had their say."""
        catalogue = statuses(
            selection,
            installed=failures(installed),
            bound=bindings.problems,
            names=bindings.names,
            facts=facts,
            removed=self._hold.removed,
        )
        self._hold.note(catalogue)
        said = (*catalogue.diagnostics, *notes, *bindings.diagnostics)
        return replace(catalogue, diagnostics=said)

    def _timed(self, snapshot: Snapshot, watch: Stopwatch) -> Run:
        """Say where the time of a run went; what was imported before took none."""
        before, self._took = self._took, snapshot.bindings.seconds
        new = {key: took for key, took in self._took.items() if before.get(key) != took}
        return watch.run(new)

    def _standstill(
        self,
        found: Survey,
        *,
        choices: Choices,
        snapshot: Snapshot,
        conclude: Callable[[Bindings], Catalogue],
        since_ns: int,
    ) -> Standstill | None:
        """What the next reload may go by, if nothing changes until then."""
        if self._binder is None:
            return None
        # only who reloads needs it
        from prime_skills_ext import standstill  # noqa: PLC0415

        evidence = standstill.gather(
            found,
            snapshot=snapshot,
            binder=self._binder,
            places=self.places,
            environ=self._environ,
            commands=self._hold.commands,
            handlers=self._handlers,
            since_ns=since_ns,
        )
        return standstill.Standstill(
            choices=choices,
            places=self.places,
            environ=self._environ,
            binder=self._binder,
            evidence=evidence,
            snapshot=snapshot,
            conclude=conclude,
            since_ns=since_ns,
        )

    def close(self) -> None:
        """Undo what lives from run to run: names, ``sys.path``, ``PATH``."""
        self._hold.close()

    def _environment(
        self, wanted: Iterable[Skill], *, selection: Selection
    ) -> Environment:
        installable = {skill.identity for skill in wanted}
        of_project = any(
            needs_trust(item)
            and item.skill.python is not None
            and item.skill.identity in installable
            for item in selection.winners
        )
        return locate(
            mode=self._mode,
            agent_directory=self.places.agent_directory,
            environ=self._environ,
            # projects never share an environment with each other or with the user's
            project_root=self.places.project_root if of_project else None,
        )
