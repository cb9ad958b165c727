"""SkillManager: settings in, the current snapshot out, through the pipeline.

It holds the settings and the snapshot, and what people do to them. Without a
namespace it plans and installs but binds nothing: that is how the terminal command
uses it.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from traitlets import Bool, Enum, Float, List, Unicode, default, observe
from traitlets.config import Config, Configurable

from prime_skills_ext.catalog.discovery import discover
from prime_skills_ext.catalog.looking import expanded
from prime_skills_ext.catalog.package_sources import PackageDirectory
from prime_skills_ext.catalog.places import find_places
from prime_skills_ext.catalog.reading import read_file
from prime_skills_ext.catalog.selection import Precedence
from prime_skills_ext.catalog.sources import find_sources
from prime_skills_ext.catalog.status import Catalogue
from prime_skills_ext.catalog.survey import Choices
from prime_skills_ext.catalog.trust import Override
from prime_skills_ext.environment.installation import InstallReport
from prime_skills_ext.environment.venv import Environment, Mode, find_mode
from prime_skills_ext.errors import InstallError, PrimeSkillsError
from prime_skills_ext.kernel import terms
from prime_skills_ext.kernel.binding import Binder
from prime_skills_ext.kernel.lending import OwnEnviron
from prime_skills_ext.kernel.reload import ReloadReport
from prime_skills_ext.pipeline import Pipeline, Snapshot
from prime_skills_ext.skill import frontmatter
from prime_skills_ext.skill.model import Diagnostic
from prime_skills_ext.views.card import SkillDetails
from prime_skills_ext.views.report import Message

__all__ = ["FAILED", "SkillManager", "absolute_path", "no_skill_in", "plan_for_launch"]

#: How much of a skill's file is shown at most.
MAX_BODY_BYTES = 1 << 24

#: States in which somebody has to do something before a skill works again.
FAILED = frozenset({"install-failed", "import-failed", "stale"})


class SkillManager(Configurable):
    """The skills of one kernel.

    Args:
        namespace: The user's names; ``None`` binds nothing.
        hidden: Names that ``%who`` leaves out.
        progress: Called with one line per step of long work.
        environ: The environment variables to go by, default: this process's.
        mode: How the kernel relates to its environment; ``None`` finds out.
    """

    skill_paths = List(
        Unicode(),
        help="""Skill folders, or folders of them, that win every name.
        PRIME_SKILLS_PATH adds more.""",
    ).tag(config=True)
    no_skills = Bool(
        default_value=False,
        help="""Only explicit skills count: skill_paths, PRIME_SKILLS_PATH, %skill add.
        """,
    ).tag(config=True)
    project = Unicode(
        None,
        allow_none=True,
        help="""Folder whose project skills count. Default: the working directory,
        as it is at load.""",
    ).tag(config=True)
    precedence = Enum(
        ("project", "personal"),
        default_value="project",
        help="""Who wins a name: "project" skills, or the user's ("personal").""",
    ).tag(config=True)
    trust = Enum(
        (None, "all", "none"),
        default_value=None,
        allow_none=True,
        help="""Overrides what was decided with %skill trust: "all" or "none".
        Default: PRIME_SKILLS_TRUST.""",
    ).tag(config=True)

    call_timeout_s = Float(
        None,
        allow_none=True,
        min=0,
        help="""Longest that one call of a skill may take, in seconds; then it raises
        TimeoutError. What a skill awaits is cancelled, its thread is left behind; a
        skill that computes on the loop cannot be stopped. Default: no limit.""",
    ).tag(config=True)

    nest_asyncio = Bool(
        help="""Allow asyncio.run inside cells, by patching asyncio for as long as the
        process lives: neither False nor %unload_ext takes it back. Default:
        PRIME_SKILLS_NEST_ASYNCIO=1.""",
    ).tag(config=True)

    def __init__(
        self,
        *,
        namespace: MutableMapping[str, object] | None = None,
        hidden: MutableMapping[str, object] | None = None,
        progress: Callable[[str], None] | None = None,
        environ: Mapping[str, str] | None = None,
        mode: Mode | None = None,
        **settings: Any,
    ) -> None:
        self._is_loaded = False
        super().__init__(**settings)
        # what a running call is lent is not the user's, and reaches no process of ours
        self.environ: Mapping[str, str] = OwnEnviron() if environ is None else environ
        self._added: list[Path] = []
        self._registered: list[Path] = []
        #: Folders of skills that a package manager installed.
        self.package_directories: list[PackageDirectory] = []
        self._snapshot: Snapshot | None = None
        #: Why loops cannot be nested, though they should.
        self.nesting_problem: Diagnostic | None = None
        # fixed until the trait is set: an os.chdir must not change what counts
        self.places = find_places(environ=self.environ, project=self.project)
        self._binds = namespace is not None
        binder = None
        if namespace is not None:
            binder = Binder(namespace, hidden={} if hidden is None else hidden)
        self._pipeline = Pipeline(
            places=self.places,
            environ=self.environ,
            mode=mode or find_mode(self.environ),
            progress=progress,
            binder=binder,
            details=self.details,
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

    @observe("nest_asyncio")
    def _follow_nesting(self, _change: object = None) -> None:
        if self._is_loaded:
            from prime_skills_ext.kernel import nesting  # noqa: PLC0415  # few need it

            self.nesting_problem = nesting.allow() if self.nest_asyncio else None

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
        try:
            text = read_file(status.skill.path, limit=MAX_BODY_BYTES)
        except OSError as error:
            raise PrimeSkillsError(
                f"the instructions of {name} cannot be read: {error.strerror}",
                fix="put the file back, then run %reload_skills",
                path=status.skill.path,
            ) from error
        details = SkillDetails(
            status=status, body=frontmatter.parse(text, path=status.skill.path).body
        )
        value = self.snapshot.bindings.values.get(status.skill.identity)
        if status.state not in ("ready", "stale", "name-taken") or not callable(value):
            return details
        return replace(details, signature=_signature(value), doc=inspect.getdoc(value))

    def load(self) -> None:
        """Find, install and bind; never raises because of a skill."""
        if self._binds:
            terms.limit(self, self.call_timeout_s)
            self._is_loaded = True
            if self.nest_asyncio:
                self._follow_nesting()
        self._snapshot = self._run(allow_install=True)

    def reload(self, *, retry: bool = False) -> ReloadReport | None:
        """Take up what changed on disk.

        Args:
            retry: Also try again what failed to install before.

        Returns:
            What changed; ``None`` when nothing did.
        """
        before = self.catalogue
        self._snapshot = self._run(allow_install=True, retry=retry, reload=True)
        bindings = self._snapshot.bindings
        names = {item.skill.identity: item.name for item in self.catalogue.skills}
        failing = [item.name for item in self.catalogue.skills if item.state in FAILED]
        changed = [names[identity] for identity in bindings.changed]
        report = ReloadReport.between(
            _standing(before),
            _standing(self.catalogue),
            # what was tried again in vain is an answer, too
            changed=[*changed, *failing] if retry else changed,
            failing=failing,
        )
        return report or None

    def sync(self, *, retry: bool = False) -> Message:
        """Make the environment and install what is missing.

        Raises:
            InstallError: Something is still missing; everything else is there.
        """
        self._snapshot = self._run(allow_install=True, retry=retry, reload=True)
        failed = [
            item.name
            for item in self.catalogue.skills
            if item.state == "install-failed"
        ]
        if failed:
            raise InstallError(
                f"not installed: {', '.join(failed)}", fix="%skill doctor says why"
            )
        count = len(self._snapshot.installed.installed)
        new = "1 skill installed; " if count == 1 else f"{count} skills installed; "
        return Message(text=f"{new if count else ''}everything is up to date")

    def add(self, path: Path) -> ReloadReport | Message:
        """Use the skills of ``path``, before all others, until this kernel ends.

        Raises:
            PrimeSkillsError: There is no skill at ``path``.
        """
        absolute = absolute_path(path)
        if absolute in self._added:
            return self.reload() or Message(text=f"{path} was added before")
        self._check_skills_at(absolute)
        _ = self.snapshot  # what was there before, for the report
        self._added.insert(0, absolute)
        return self.reload() or Message(text=f"{path} brings nothing new")

    def forget(self, path: Path) -> ReloadReport | Message:
        """Undo ``add``.

        Raises:
            PrimeSkillsError: ``path`` was not added.
        """
        absolute = absolute_path(path)
        if absolute not in self._added:
            raise PrimeSkillsError(
                f"{path} was not added in this kernel",
                fix="%skill list shows where each skill comes from",
                path=absolute,
            )
        self._added.remove(absolute)
        return self.reload() or Message(text=f"{path} is forgotten")

    def register(self, path: Path) -> Callable[[], None]:
        """Offer the skills of another extension; they yield to everything else.

        Returns:
            A function that takes them back; ``reload`` makes either effective.
        """
        self._registered.append(path)
        return partial(self._registered.remove, path)

    def unload(self) -> None:
        """Leave the namespace, the import system and ``PATH`` as they were."""
        self._is_loaded = False
        terms.limit(self, None)
        self._pipeline.close()
        self._snapshot = None

    def _run(
        self, *, allow_install: bool, retry: bool = False, reload: bool = False
    ) -> Snapshot:
        choices = Choices(
            explicit=[*self._added, *self.skill_paths],
            registered=self._registered,
            only_explicit=self.no_skills,
            precedence=cast("Precedence", self.precedence),
            trust=cast("Override | None", self.trust),
            packages=self.package_directories,
        )
        return self._pipeline.run(
            choices, allow_install=allow_install, retry=retry, reload=reload
        )

    def _check_skills_at(self, path: Path) -> None:
        sources, problems = find_sources(self.places, explicit=[path], environ={})
        found = discover(item for item in sources if item.kind == "explicit")
        if found.candidates:
            return
        for problem in (*problems, *found.diagnostics):
            if problem.severity != "info":
                # nothing was added that a reload could take up
                fix = "correct the path" if problem in problems else problem.fix
                raise PrimeSkillsError(problem.message, fix=fix, path=path)
        raise no_skill_in(path, path=path)


def plan_for_launch(
    *,
    environ: Mapping[str, str],
    progress: Callable[[str], None] | None = None,
    config: Config | None = None,
) -> tuple[Environment, InstallReport]:
    """Ensure the environment of own mode, for the kernel that is about to start.

    Args:
        environ: The environment variables of the kernel.
        progress: Called with one line per step.
        config: The profile's settings, so that the extension plans the same.
    """
    manager = SkillManager(
        environ=environ, progress=progress, mode="own", config=config or Config()
    )
    manager.load()
    return manager.snapshot.environment, manager.snapshot.installed


def _standing(catalogue: Catalogue) -> dict[str, object]:
    # not the label of its source: that counts the folders before it; the first of a
    # name is the one in force
    return {
        item.name: (item.skill, item.state, item.reason, item.fix, item.bound_as)
        for item in reversed(catalogue.skills)
        if item.state not in ("shadowed", "removed")
    }


def _signature(value: object) -> str | None:
    try:
        return str(inspect.signature(value))  # type: ignore[arg-type]  # or TypeError
    except Exception:  # noqa: BLE001  # defaults and annotations of any class
        return None


def no_skill_in(shown: str | Path, *, path: Path) -> PrimeSkillsError:
    """Make the error of a path that holds no skill.

    Args:
        shown: The path as it was given.
        path: The absolute one.
    """
    return PrimeSkillsError(
        f"there is no skill in {shown}",
        fix="name a folder that holds SKILL.md, or a folder of such folders",
        path=path,
    )


def absolute_path(path: Path) -> Path:
    """Return the path that a person means here, links as they spell them.

    Raises:
        PrimeSkillsError: It is relative to a directory that was deleted.
    """
    try:
        # resolve() would replace the links that the user knows the folder by
        return Path(os.path.abspath(expanded(path)))  # noqa: PTH100
    except OSError as error:
        raise PrimeSkillsError(
            f"{path} means nothing: the working directory was deleted",
            fix="%cd to another folder, or write the whole path",
            path=path,
        ) from error
