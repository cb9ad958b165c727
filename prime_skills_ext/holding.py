"""What a kernel holds of its skills, from one run of the stages to the next.

Names, the generation on ``sys.path``, the terms of calls, the directory of commands on
``PATH``, and skills whose folder is gone: whatever a run leaves in the process, and
``close`` takes back. Which skills count and what is installed is told to it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, final

from prime_skills_ext.catalog.credentials import loans
from prime_skills_ext.catalog.discovery import Candidate
from prime_skills_ext.catalog.gates import Problem
from prime_skills_ext.catalog.looking import is_there
from prime_skills_ext.catalog.places import Places
from prime_skills_ext.catalog.selection import Selection
from prime_skills_ext.catalog.status import Catalogue, SkillStatus
from prime_skills_ext.catalog.survey import Survey
from prime_skills_ext.environment.activation import activate, deactivate
from prime_skills_ext.environment.installation import InstallReport
from prime_skills_ext.environment.recorded import borrowed, linked
from prime_skills_ext.environment.venv import Generation
from prime_skills_ext.kernel import terms
from prime_skills_ext.kernel.binding import Binder
from prime_skills_ext.kernel.bindings import Bindings
from prime_skills_ext.kernel.command_path import CommandPath
from prime_skills_ext.kernel.loading import load_from_source_only
from prime_skills_ext.kernel.skills import Lazy
from prime_skills_ext.kernel.terms import Guard
from prime_skills_ext.later import later
from prime_skills_ext.offering import offer_commands
from prime_skills_ext.progress import Listener
from prime_skills_ext.refusals import failures, project_code, refused
from prime_skills_ext.skill.model import Diagnostic

if TYPE_CHECKING:
    from prime_skills_ext import guarding
    from prime_skills_ext.kernel.reload import ReloadMode
else:
    guarding = later("prime_skills_ext.guarding")  # before few calls stands anything

__all__ = ["Hold"]

#: The module that skills import, served to every kernel.
RUNTIME = Path(__file__).parent / "runtime" / "src"


@final
class Hold:
    """What one kernel holds of its skills.

    Args:
        binder: Binds names; ``None`` holds nothing.
        environ: The environment variables to go by.
        is_own: The kernel runs inside of its environment.
        progress: Told each step of long work.
        details: Makes what ``skills[name]`` is for a skill of instructions.
        are_hooks_on: Whether the hooks of skills run; asked at each use.
    """

    def __init__(
        self,
        binder: Binder | None,
        *,
        environ: Mapping[str, str],
        is_own: bool,
        progress: Listener,
        details: Callable[[str], object],
        are_hooks_on: Callable[[], bool],
    ) -> None:
        self._binder = binder
        self._environ = environ
        self._is_own = is_own
        self._progress = progress
        self._details = details
        self._are_hooks_on = are_hooks_on
        self._path = CommandPath()
        self._active: Generation | None = None
        self._owner = f"shell-{id(self)}"
        self._held: dict[Path, SkillStatus] = {}
        self._removed: dict[Path, SkillStatus] = {}

    @property
    def commands(self) -> Path | None:
        """The folder on ``PATH`` with the skills' commands; ``None`` without."""
        return self._path.directory

    @property
    def removed(self) -> Collection[SkillStatus]:
        """Skills that were loaded and whose folder is gone since."""
        return self._removed.values()

    def note(self, catalogue: Catalogue) -> None:
        """Remember which skills are bound, for when their folder goes."""
        self._held = {
            item.skill.identity: item
            for item in catalogue.skills
            if item.bound_as is not None
        }

    def close(self) -> None:
        """Take back everything: names, ``sys.path``, terms, ``PATH``."""
        terms.withdraw(self)
        load_from_source_only(self, {})
        if self._binder is not None:
            self._binder.unbind()
        deactivate(owner=self._owner)
        self._active = None
        self._path.close()

    def bind(
        self,
        found: Survey,
        installed: InstallReport,
        *,
        gated: Mapping[Path, Problem],
        places: Places,
        reload: bool,
        mode: ReloadMode = "again",
        lazy: bool = False,
    ) -> Bindings:
        """Take up what a run of the stages found.

        Args:
            found: Which skills count.
            installed: What of them is installed.
            gated: Why some must not be used.
            places: The directories that they were found from.
            reload: Execute again what changed on disk.
            mode: What to do about code that failed before or is being executed.
            lazy: Import no skill before its first use.
        """
        if self._binder is None:
            return Bindings()
        selection = found.selection
        load_from_source_only(self, project_code(found))
        generation = installed.generation
        notes = self._activate(generation)
        holders = [item.skill for item in selection.holders()]
        trusted = [
            item
            for item in selection.candidates()
            if item.skill.identity not in selection.untrusted
        ]
        usable = [item.skill for item in trusted]
        terms.provide(
            self,
            loans(
                usable,
                agent_directory=places.agent_directory,
                environ=self._environ,
            ),
            threaded=[
                skill.python.src
                for skill in usable
                if skill.python is not None and terms.is_threaded(skill)
            ],
            guards=self._guards(trusted, project=places.project_root),
        )
        links = linked(generation, is_own=self._is_own)
        bindings = self._binder.bind(
            holders,
            problems={**failures(installed), **gated},
            refused=refused(holders, links),
            modules={"rlm": RUNTIME},
            values=self._values(selection, gated=gated),
            ignored=borrowed(generation, links),
            reload=reload,
            mode=mode,
            lazy=lazy,
            tell=self._progress,
        )
        self._removed = self._still_held(selection)
        notes += offer_commands(self._path, holders, installed, bindings)
        return bindings._replace(diagnostics=bindings.diagnostics + notes)

    def _guards(
        self, trusted: Iterable[Candidate], *, project: Path
    ) -> Mapping[Path, Guard]:
        """What stands before the calls of some skills."""
        guarded = [
            item
            for item in trusted
            if item.skill.hooks or item.skill.disable_model_invocation
        ]
        if not guarded:
            return {}
        return guarding.guards(
            guarded,
            project=project,
            environ=self._environ,
            are_hooks_on=self._are_hooks_on,
        )

    def _activate(self, generation: Generation | None) -> tuple[Diagnostic, ...]:
        if self._active is not None and self._active != generation:
            deactivate(self._active, owner=self._owner)
        self._active = generation
        # again for the same one: it takes in what was installed in between
        return () if generation is None else activate(generation, owner=self._owner)

    def _still_held(self, selection: Selection) -> dict[Path, SkillStatus]:
        """Skills that the kernel bound and whose folder is gone since."""
        names = {item.skill.name for item in selection.holders()}
        return {
            identity: replace(item, reason="its folder was removed since it was loaded")
            for identity, item in {**self._removed, **self._held}.items()
            if item.skill.name not in names and not is_there(identity)
        }

    def _values(
        self, selection: Selection, *, gated: Mapping[Path, Problem]
    ) -> dict[str, object]:
        """What ``skills[…]`` answers for beside the modules that are bound."""
        states = {identity: problem.state for identity, problem in gated.items()}
        values: dict[str, object] = {
            item.skill.name: Lazy(
                make=partial(self._details, item.skill.name),
                state=states.get(item.skill.identity),
            )
            for item in selection.holders()
            if item.skill.python is None
        }
        for shadowed in selection.shadowed:
            item = shadowed.candidate
            key = item.qualified_name
            make: Callable[[], object] = partial(self._details, key)
            usable = item.skill.identity not in selection.untrusted
            if self._binder is not None and usable and item.skill.python is not None:
                make = partial(self._binder.load_private, item.skill)
            values[key] = Lazy(make=make)
        return values
