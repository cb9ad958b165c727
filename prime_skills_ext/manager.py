"""SkillManager: settings in, the current snapshot out, through the pipeline.

It holds the settings and the snapshot, and what people do to them. Without a
namespace it plans and installs but binds nothing: that is how the terminal command
uses it.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from traitlets import TraitError, default, observe, validate

from prime_skills_ext.agent_host import AgentHost
from prime_skills_ext.catalog.package_sources import PackageDirectory
from prime_skills_ext.catalog.places import find_places
from prime_skills_ext.catalog.selection import Precedence
from prime_skills_ext.catalog.status import FAILED, Catalogue
from prime_skills_ext.catalog.survey import Choices
from prime_skills_ext.catalog.trust import Override
from prime_skills_ext.configuration import Configuration
from prime_skills_ext.counting import Counting
from prime_skills_ext.environment.venv import Mode, find_mode
from prime_skills_ext.errors import InstallError, PrimeSkillsError
from prime_skills_ext.kernel import terms
from prime_skills_ext.kernel.binding import Binder
from prime_skills_ext.kernel.lending import OwnEnviron
from prime_skills_ext.later import later
from prime_skills_ext.pipeline import Pipeline
from prime_skills_ext.progress import Feed, Listener
from prime_skills_ext.snapshot import Run, Snapshot, ready_event
from prime_skills_ext.telling import Telling

if TYPE_CHECKING:
    from prime_skills_ext import instructions, named_paths
    from prime_skills_ext.kernel import reload_report
    from prime_skills_ext.kernel.reload import ReloadMode
    from prime_skills_ext.kernel.reload_report import ReloadReport
    from prime_skills_ext.skill.model import Diagnostic
    from prime_skills_ext.views import report
    from prime_skills_ext.views.card import SkillDetails
    from prime_skills_ext.views.report import Message
else:
    # what answers somebody who asks, after the load
    instructions = later("prime_skills_ext.instructions")
    named_paths = later("prime_skills_ext.named_paths")
    reload_report = later("prime_skills_ext.kernel.reload_report")
    report = later("prime_skills_ext.views.report")

__all__ = ["SkillManager"]

#: Names an absolute budget in characters, for several tools.
_BUDGET_VARIABLE: Final = "SLASH_COMMAND_TOOL_CHAR_BUDGET"


class SkillManager(Telling, Configuration):
    """The skills of one kernel.

    Args:
        namespace: The user's names; ``None`` binds nothing.
        hidden: Names that ``%who`` leaves out.
        progress: Told each step of long work.
        environ: The environment variables to go by, default: this process's.
        mode: How the kernel relates to its environment; ``None`` finds out.
        kernel: The ipykernel that an agent host may be connected to, if there is one.
    """

    def __init__(
        self,
        *,
        namespace: MutableMapping[str, object] | None = None,
        hidden: MutableMapping[str, object] | None = None,
        progress: Listener | None = None,
        environ: Mapping[str, str] | None = None,
        mode: Mode | None = None,
        kernel: object = None,
        **settings: Any,
    ) -> None:
        self._is_loaded = False
        super().__init__(**settings)
        # what a running call is lent is not the user's, and reaches no process of ours
        self.environ: Mapping[str, str] = OwnEnviron() if environ is None else environ
        #: What is being done: ``progress.listen(listener)`` joins at any time.
        self.progress = Feed(*([] if progress is None else [progress]))
        self._added: list[Path] = []
        self._registered: list[Path] = []
        #: Folders of skills that a package manager installed.
        self.package_directories: list[PackageDirectory] = []
        self._snapshot: Snapshot | None = None
        #: Where the time of the load went; ``None`` without one.
        self.load_run: Run | None = None
        #: That of the last reload that found something to do.
        self.reload_run: Run | None = None
        #: Why loops cannot be nested, though they should.
        self.nesting_problem: Diagnostic | None = None
        # fixed until the trait is set: an os.chdir must not change what counts
        self.places = find_places(environ=self.environ, project=self.project)
        #: Whoever answers what skills ask of the agent around them.
        self.host = AgentHost(kernel, environ=self.environ)
        #: How often its skills are used.
        self.counting = Counting(
            self.places.agent_directory,
            is_on=lambda: self.usage_counts,
            snapshot=lambda: self._snapshot,
        )
        self._binds = namespace is not None
        binder = None
        if namespace is not None:
            binder = Binder(namespace, hidden={} if hidden is None else hidden)
        self._pipeline = Pipeline(
            places=self.places,
            environ=self.environ,
            mode=mode or find_mode(self.environ),
            progress=self.progress.tell,
            binder=binder,
            details=self.details,
            handlers=self.host.handlers,
            are_hooks_on=lambda: self.hooks,
        )

    @observe("project")
    def _follow_project(self, _change: object) -> None:
        # the settings of a profile arrive before there is anything to move
        if hasattr(self, "_pipeline"):
            self.places = find_places(environ=self.environ, project=self.project)
            self._pipeline.places = self.places

    @default("nest_asyncio")
    def _nests_by_variable(self) -> bool:
        return self.environ.get("PRIME_SKILLS_NEST_ASYNCIO") == "1"

    @default("listing_chars")
    def _chars_by_variable(self) -> int | None:
        try:
            return int(self.environ[_BUDGET_VARIABLE])
        except (KeyError, ValueError):  # what is no number sets nothing
            return None

    @default("usage_counts")
    def _counts_by_variable(self) -> bool:
        return self.environ.get("PRIME_SKILLS_USAGE") != "0"

    @observe("nest_asyncio")
    def _follow_nesting(self, _change: object = None) -> None:
        if self._is_loaded:
            from prime_skills_ext.kernel import nesting  # noqa: PLC0415  # few need it

            self.nesting_problem = nesting.allow() if self.nest_asyncio else None

    @validate("call_timeout_s")
    def _is_a_time(self, proposal: Mapping[str, Any]) -> float | None:
        seconds: float | None = proposal["value"]
        if seconds is not None and math.isnan(seconds):
            raise TraitError(
                "SkillManager.call_timeout_s takes seconds, or None: no NaN"
            )
        return seconds

    @observe("call_timeout_s")
    def _follow_limit(self, _change: object) -> None:
        # at once, and only for the skills of a kernel that loaded them
        if self._is_loaded:
            terms.limit(self, self.call_timeout_s)

    @property
    def snapshot(self) -> Snapshot:
        """What the last run found; the first access looks, but installs nothing."""
        if self._snapshot is None:
            self._snapshot = self._run(allow_install=False)
        return self._snapshot

    @property
    def catalogue(self) -> Catalogue:
        """How each skill stands."""
        return self.snapshot.catalogue

    def details(self, name: str) -> SkillDetails:
        """Return one skill with its instructions, read now.

        Args:
            name: A skill's name or import name, or ``name@source``.

        Raises:
            UnknownSkillError: There is none of that name.
            PrimeSkillsError: Its file cannot be read.
        """
        status = self.catalogue.get(name)
        value = self.snapshot.bindings.values.get(status.skill.identity)
        return instructions.read_details(status, value=value)

    def load(self) -> None:
        """Find, install and bind; never raises because of a skill."""
        if self._binds:
            terms.limit(self, self.call_timeout_s)
            self._is_loaded = True
            self.counting.begin()
            self.host.open()
            if self.nest_asyncio:
                self._follow_nesting()
        self._snapshot = self._run(allow_install=True)
        self.load_run = self._snapshot.run

    def reload(self, *, retry: bool = False, now: bool = False) -> ReloadReport | None:
        """Take up what changed on disk.

        Args:
            retry: Also try again what failed to install before.
            now: Do not wait for calls in threads: they may see old and new code.

        Returns:
            What changed; ``None`` when nothing did.
        """
        return self._reload(retry=retry, mode="now" if now else "again")

    def poll(self) -> ReloadReport | None:
        """Take up what changed on disk, between two cells.

        What failed is not tried again before its files change, and what waits for
        calls in threads is not told twice.

        Returns:
            What changed; ``None`` when nothing did.
        """
        waited = self.waiting
        found = self._reload(mode="changed")
        if found is None or self.waiting - waited:
            return found
        return replace(found, waiting=()) or None

    def follow_host(self) -> None:
        """Let the states say what the agent host of now answers; installs nothing.

        A host comes, changes and goes while cells run, on other threads: this is for
        between two of them. A cell of a subshell follows none: another may be running.
        """
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and self.is_host_new:
            self._snapshot = self._run(allow_install=False)

    @property
    def is_host_new(self) -> bool:
        """Whether a host came, changed or went since the states were found."""
        found = self._snapshot
        return found is not None and found.handlers != self.host.handlers()

    @property
    def waiting(self) -> frozenset[Path]:
        """What changed and reloads when calls in threads end."""
        if self._snapshot is None:
            return frozenset()
        return frozenset(self._snapshot.bindings.waiting)

    def _reload(
        self, *, retry: bool = False, mode: ReloadMode = "again"
    ) -> ReloadReport | None:
        before, replaced = self.catalogue, {*self.snapshot.installed.restart}
        self._snapshot = self._run(
            allow_install=True, retry=retry, reload=True, mode=mode
        )
        bindings = self._snapshot.bindings
        restart = {*self._snapshot.installed.restart} - replaced
        is_same = self._snapshot.catalogue is before and not restart
        if is_same and not bindings.changed and not bindings.waiting:
            return None
        names = {item.skill.identity: item.name for item in self.catalogue.skills}
        changed = [names[identity] for identity in bindings.changed]
        if retry:
            # what was tried again in vain is an answer, too
            changed += [it.name for it in self.catalogue.skills if it.state in FAILED]
        found = reload_report.ReloadReport.between(
            before.in_force(),
            self.catalogue.in_force(),
            changed=changed,
            restart=restart,
            waiting={
                names[identity]: calls
                for identity, calls in bindings.waiting.items()
                if identity in names
            },
        )
        if not found:
            return None
        self.reload_run = self._snapshot.run
        return found

    def sync(self, *, retry: bool = False) -> Message:
        """Make the environment and install what is missing.

        Raises:
            InstallError: Something is still missing; everything else is there.
        """
        self._snapshot = self._run(allow_install=True, retry=retry, reload=True)
        skills = self.catalogue.skills
        failed = [item.name for item in skills if item.state == "install-failed"]
        if failed:
            raise InstallError(
                f"not installed: {', '.join(failed)}", fix="%skill doctor says why"
            )
        count = len(self._snapshot.installed.installed)
        new = "1 skill installed; " if count == 1 else f"{count} skills installed; "
        return report.Message(text=f"{new if count else ''}everything is up to date")

    def add(self, path: Path) -> ReloadReport | Message:
        """Use the skills of ``path``, before all others, until this kernel ends.

        Raises:
            PrimeSkillsError: There is no skill at ``path``.
        """
        absolute = named_paths.absolute_path(path)
        if absolute in self._added:
            return self.reload() or report.Message(text=f"{path} was added before")
        named_paths.check_skills_at(absolute, places=self.places)
        _ = self.snapshot  # what was there before, for the report
        self._added.insert(0, absolute)
        return self.reload() or report.Message(text=f"{path} brings nothing new")

    def forget(self, path: Path) -> ReloadReport | Message:
        """Undo ``add``.

        Raises:
            PrimeSkillsError: ``path`` was not added.
        """
        absolute = named_paths.absolute_path(path)
        if absolute not in self._added:
            raise PrimeSkillsError(
                f"{path} was not added in this kernel",
                fix="%skill list shows where each skill comes from",
                path=absolute,
            )
        self._added.remove(absolute)
        return self.reload() or report.Message(text=f"{path} is forgotten")

    def register(self, path: Path) -> Callable[[], None]:
        """Offer the skills of another extension; they yield to everything else.

        Returns:
            A function that takes them back; ``reload`` makes either effective.
        """
        self._registered.append(path)
        return partial(self._registered.remove, path)

    def unload(self) -> None:
        """Leave the namespace, the import system and ``PATH`` as they were."""
        if self._is_loaded:
            self.counting.end()
        self._is_loaded = False
        self.host.close()
        terms.limit(self, None)
        self._pipeline.close()
        self._snapshot = None

    def _run(
        self,
        *,
        allow_install: bool,
        retry: bool = False,
        reload: bool = False,
        mode: ReloadMode = "again",
    ) -> Snapshot:
        choices = Choices(
            explicit=(*self._added, *self.skill_paths),
            registered=tuple(self._registered),
            only_explicit=self.no_skills,
            precedence=cast("Precedence", self.precedence),
            trust=cast("Override | None", self.trust),
            packages=tuple(self.package_directories),
        )
        self.counting.take_note()  # some skills may go now
        with self.progress.work():
            snapshot = self._pipeline.run(
                choices,
                allow_install=allow_install,
                retry=retry,
                reload=reload,
                mode=mode,
                lazy=self.imports == "lazy",
            )
            if self.progress.latest is not None:
                self.progress.tell(ready_event(snapshot))
        return snapshot
