"""The path of the data: from sources to a snapshot, one stage after the other.

It owns the order of the stages and what has to live from one run to the next: the
binder, the active generation, the directory of commands. Rules about skills stand
in the stages. Without a binder it plans and installs but touches no namespace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple, final

from prime_skills_ext.catalog.credentials import loans
from prime_skills_ext.catalog.discovery import Candidate
from prime_skills_ext.catalog.facts import gather_facts
from prime_skills_ext.catalog.gates import Problem, gates
from prime_skills_ext.catalog.hosts import find_handlers
from prime_skills_ext.catalog.looking import is_there
from prime_skills_ext.catalog.places import Places
from prime_skills_ext.catalog.selection import Selection
from prime_skills_ext.catalog.sources import Source
from prime_skills_ext.catalog.status import Catalogue, SkillStatus, statuses
from prime_skills_ext.catalog.survey import Choices, Survey, survey
from prime_skills_ext.catalog.trust import Distrust, needs_trust
from prime_skills_ext.environment import record as records
from prime_skills_ext.environment.activation import activate, deactivate
from prime_skills_ext.environment.installation import InstallReport, ensure
from prime_skills_ext.environment.record import SkillRecord
from prime_skills_ext.environment.recorded import borrowed, linked
from prime_skills_ext.environment.scripts import write_scripts
from prime_skills_ext.environment.undeclared import find_undeclared, undeclared_notes
from prime_skills_ext.environment.venv import Environment, Generation, Mode, locate
from prime_skills_ext.kernel import lending
from prime_skills_ext.kernel.binding import Binder, Bindings
from prime_skills_ext.kernel.command_path import CommandPath
from prime_skills_ext.kernel.importing import Refusal
from prime_skills_ext.kernel.loading import (
    Doubt,
    is_source_only,
    load_from_source_only,
)
from prime_skills_ext.kernel.skills import Lazy
from prime_skills_ext.later import later
from prime_skills_ext.progress import Listener
from prime_skills_ext.skill.model import Diagnostic, Skill

if TYPE_CHECKING:
    from prime_skills_ext.environment import blame
else:
    blame = later("prime_skills_ext.environment.blame")  # asked about what has failed

__all__ = ["Pipeline", "Snapshot"]

#: The module that skills import, served to every kernel.
RUNTIME = Path(__file__).parent / "runtime" / "src"


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
    ) -> None:
        self.places = places
        self._environ = environ
        self._mode = mode
        self._progress = progress
        self._binder = binder
        self._details = details
        self._commands = CommandPath()
        self._active: Generation | None = None
        self._owner = f"shell-{id(self)}"
        self._held: dict[Path, SkillStatus] = {}
        self._removed: dict[Path, SkillStatus] = {}

    def run(
        self,
        choices: Choices,
        *,
        allow_install: bool,
        retry: bool = False,
        reload: bool = False,
    ) -> Snapshot:
        """Run every stage once.

        Args:
            choices: What to go by.
            allow_install: Whether anything may be installed.
            retry: Try again what failed to install before.
            reload: Execute again what changed on disk.
        """
        found = survey(self.places, choices=choices, environ=self._environ)
        selection, notes = found.selection, found.diagnostics
        facts, problems = gather_facts(
            selection,
            places=self.places,
            environ=self._environ,
            handlers=find_handlers(self._environ),
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
        if self._binder is not None:
            load_from_source_only(self, _project_code(found))
        bindings = self._bind(selection, gated, installed, reload=reload)
        undeclared = find_undeclared(bindings.errors)
        if undeclared and allow_install:
            installed = install(extra_requirements=undeclared)
            bindings = self._bind(selection, gated, installed, reload=True)
        catalogue = statuses(
            selection,
            installed=_failures(installed),
            bound=bindings.problems,
            names=bindings.names,
            facts=facts,
            removed=self._removed.values(),
        )
        if installed.generation is not None:
            record = records.read(installed.generation.record)
            notes += undeclared_notes(wanted, record=record, added=undeclared)
        notes += (
            *problems,
            *environment.diagnostics,
            *installed.diagnostics,
            *bindings.diagnostics,
        )
        self._held = {
            item.skill.identity: item
            for item in catalogue.skills
            if item.bound_as is not None
        }
        return Snapshot(
            sources=found.sources,
            selection=selection,
            environment=environment,
            installed=installed,
            bindings=bindings,
            catalogue=replace(catalogue, diagnostics=catalogue.diagnostics + notes),
            wanted=tuple(wanted),
            unavailable=tuple(unavailable),
        )

    def close(self) -> None:
        """Undo what lives from run to run: names, ``sys.path``, ``PATH``."""
        lending.withdraw(self)
        load_from_source_only(self, {})
        if self._binder is not None:
            self._binder.unbind()
        deactivate(owner=self._owner)
        self._active = None
        self._commands.close()

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

    def _bind(
        self,
        selection: Selection,
        gated: Mapping[Path, Problem],
        installed: InstallReport,
        *,
        reload: bool,
    ) -> Bindings:
        if self._binder is None:
            return Bindings()
        generation = installed.generation
        notes = self._activate(generation)
        holders = [item.skill for item in selection.holders()]
        usable = (
            item.skill
            for item in selection.candidates()
            if item.skill.identity not in selection.untrusted
        )
        directory = self.places.agent_directory
        lending.provide(
            self, loans(usable, agent_directory=directory, environ=self._environ)
        )
        links = linked(generation, is_own=self._mode == "own")
        bindings = self._binder.bind(
            holders,
            problems={**_failures(installed), **gated},
            refused=_refused(holders, links),
            modules={"rlm": RUNTIME},
            values=self._values(selection, gated=gated),
            ignored=borrowed(generation, links),
            reload=reload,
            tell=self._progress,
        )
        self._removed = self._still_held(selection)
        notes += self._offer_commands(holders, installed, bindings)
        return bindings._replace(diagnostics=bindings.diagnostics + notes)

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

    def _offer_commands(
        self, skills: Iterable[Skill], installed: InstallReport, bindings: Bindings
    ) -> tuple[Diagnostic, ...]:
        """Put the commands of the skills that work first on ``PATH``."""
        works = [
            skill.python
            for skill in skills
            if skill.python is not None
            and isinstance(module := bindings.values.get(skill.identity), ModuleType)
            # a private name means that another module answers to its own
            and module.__name__ == skill.import_name
        ]
        offering = {package.import_name for package in works}
        commands = [
            command
            for offered in installed.commands.values()
            for command in offered
            if command.import_name in offering
        ]
        if not commands or installed.generation is None:
            self._commands.close()
            return ()
        try:
            write_scripts(
                self._commands.open(),
                python=installed.generation.python,
                commands=commands,
                sources={item.import_name: item.src for item in works},
                bytecode=installed.generation.directory / "bytecode"
                if any(is_source_only(item.src) for item in works)
                else None,
            )
        except OSError as error:
            # a full disk takes the commands away, not the skills
            return (
                Diagnostic(
                    code="commands-missing",
                    message=f"the skills' shell commands cannot be written: {error}",
                    fix="make room in the temporary directory, then %reload_skills",
                ),
            )
        return ()


def _project_code(found: Survey) -> dict[Path, Doubt]:
    """The code that came with a project, and why it may not be read when it is."""
    return {
        item.skill.python.src: partial(_doubt, item, explain=found.explain)
        for item in found.selection.candidates()
        if needs_trust(item) and item.skill.python is not None
    }


def _doubt(
    candidate: Candidate, *, explain: Callable[[Candidate], Distrust | None]
) -> str | None:
    found = explain(candidate)
    return found and f"{candidate.skill.name}: {found.reason}. Fix: {found.fix}"


def _refused(
    skills: Iterable[Skill], links: Mapping[str, tuple[SkillRecord, ...]]
) -> dict[str, Refusal]:
    """Import names that are linked, but not to the skills of this kernel."""
    held = {skill.import_name for skill in skills if skill.python is not None}
    problem = Problem(
        state="removed",
        reason="it is installed, but no skill of this kernel has that name",
        fix="%skill list --all",
    )
    return {
        name: Refusal(problem=problem, src=Path(known[-1].package_path) / "src")
        for name, known in links.items()
        if name not in held
    }


def _failures(installed: InstallReport) -> dict[Path, Problem]:
    return {
        identity: Problem(
            state="install-failed",
            reason=it.reason,
            fix=it.fix,
            log=blame.excerpt(it.log),
        )
        for identity, it in installed.failed.items()
    }
