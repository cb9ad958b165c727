"""The whole plan of a launch: which interpreter becomes the kernel, and why.

In own mode the manager ensures the environment; what it went by is noted, so that the
next start need not ask. Rules about skills stand in the stages.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from traitlets.config import Config

from prime_skills_ext.catalog.looking import absolute
from prime_skills_ext.catalog.package_sources import site_directories
from prime_skills_ext.environment.bases import MARKER
from prime_skills_ext.environment.venv import CURRENT, Environment, Generation
from prime_skills_ext.errors import InstallError
from prime_skills_ext.launching.custom import CUSTOM_PYTHON, find_custom
from prime_skills_ext.launching.footprint import Footprint
from prime_skills_ext.launching.memo import Decision, remember
from prime_skills_ext.manager import SkillManager
from prime_skills_ext.views.door import before_start
from prime_skills_ext.views.progress import log_to

if TYPE_CHECKING:
    from prime_skills_ext.catalog.places import Places
    from prime_skills_ext.catalog.selection import Selection
    from prime_skills_ext.progress import Listener
    from prime_skills_ext.snapshot import Snapshot

__all__ = ["decide", "read_settings"]

_PACKAGE: Final = Path(__file__).parent.parent
#: What ipykernel's application reads in a profile and in shared folders.
_CONFIGS: Final = tuple(
    f"{name}.{kind}"
    for name in ("ipython_config", "ipython_kernel_config")
    for kind in ("py", "json")
)
#: What of this package decides: all but what Python makes of it.
_OWN_FILES: Final = ("*.py", "*.toml", "*.md")
#: What is asked for behind the back of ``environ``, by ``expanduser``.
_ALWAYS: Final = frozenset({"HOME", "USERPROFILE"})


def decide(arguments: Sequence[str], environ: Mapping[str, str]) -> Decision:
    """Find or make what the kernel runs in, and remember it for the next start.

    Each step that takes time is told on stderr: the server's log, as no kernel runs.

    Args:
        arguments: What ipykernel gets.
        environ: The environment variables of the kernel.

    Raises:
        PrimeSkillsError: It cannot be had.
    """
    footprint = Footprint(environ)
    lasts = True
    if wanted := footprint.environ.get(CUSTOM_PYTHON):
        with footprint:
            python = find_custom(wanted, footprint=footprint)
        decision: Decision = os.fspath(python), {"PRIME_SKILLS_MODE": "custom"}
    else:
        progress = log_to(sys.stderr, environ=environ)
        decision, lasts = _own(arguments, footprint=footprint, progress=progress)
    footprint.drop((_PACKAGE,), listed=False)
    footprint.add(path for kind in _OWN_FILES for path in _PACKAGE.rglob(kind))
    stamps = footprint.stamps() if lasts else None
    if stamps is not None:
        names = footprint.names | _ALWAYS
        remember(arguments, decision, environ=environ, names=names, stamps=stamps)
    return decision


def _own(
    arguments: Sequence[str],
    *,
    footprint: Footprint,
    progress: Listener,
) -> tuple[Decision, bool]:
    """Ensure the environment; say also whether the answer is worth keeping."""
    with footprint:
        manager = SkillManager(
            environ=footprint.environ,
            progress=progress,
            mode="own",
            config=read_settings(arguments, environ=footprint.environ) or Config(),
        )
        manager.load()
    snapshot = manager.snapshot
    report = snapshot.installed
    generation, problem = report.generation, report.problem
    if generation is None:
        raise InstallError(
            "the kernel's own environment could not be made"
            + (f": {problem.reason}" if problem else ""),
            fix=before_start(problem.fix) if problem else "restart the kernel",
        )
    _check(generation.python)
    _note(footprint, snapshot, places=manager.places)
    _note_environment(footprint, snapshot.environment, generation)
    variables = {
        "PRIME_SKILLS_MODE": "own",
        "PRIME_SKILLS_GENERATION": os.fspath(generation.directory),
    }
    return (os.fspath(generation.python), variables), problem is None


def _check(python: Path) -> None:
    if not os.access(python, os.X_OK):
        raise InstallError(
            f"the environment has no interpreter at {python}",
            fix=f"remove {python.parent.parent}, then restart the kernel",
        )


def _note(footprint: Footprint, snapshot: Snapshot, *, places: Places) -> None:
    """Add what the stages looked at without opening or listing it."""
    environ = footprint.environ
    # caches and records of ours follow from everything else; an IPython profile's
    # folder changes with every kernel
    ours = places.agent_directory / "prime-skills"
    environments = snapshot.environment.base or snapshot.environment.root
    # an installer that adds or removes something changes the folder itself
    sites = site_directories()
    footprint.drop((ours, environments, *sites), listed=False)
    footprint.drop((_ipython_directory(environ),), listed=True)
    footprint.add(item.file or item.directory for item in snapshot.sources)
    for item in snapshot.selection.candidates():
        skill = item.skill
        footprint.add((skill.path, skill.directory / "pyproject.toml"))
        if skill.import_name:
            module = skill.directory / "src" / skill.import_name / "__init__.py"
            footprint.add((module,))
    # a path that was complained about decides as soon as it is mended
    notes = snapshot.catalogue.diagnostics
    footprint.add(note.path for note in notes if note.path is not None)
    above = (places.working_directory, *places.working_directory.parents)
    roots = (folder / name for folder in above for name in (".git", ".prime"))
    footprint.add(roots, is_presence=True)
    footprint.add(_programs(snapshot.selection, environ=environ))
    footprint.add(sites)
    footprint.add(_config_files(environ))


def _note_environment(
    footprint: Footprint, environment: Environment, generation: Generation
) -> None:
    root = environment.root
    made = (
        root / CURRENT,
        generation.record,
        generation.directory / "pyvenv.cfg",
        generation.python,
        generation.site_packages,
    )
    footprint.add(made, is_made=True)
    marked = (root / MARKER, (environment.base or root) / MARKER)
    footprint.add(marked, is_presence=True)


def _programs(selection: Selection, *, environ: Mapping[str, str]) -> Iterator[Path]:
    """List where programs that skills require were looked for."""
    names = {name for item in selection.active() for name in item.skill.requires.bins}
    for name in sorted(names):
        path = environ.get("PATH", "")
        found = shutil.which(name, path=path)
        if found is not None:
            yield absolute(found)
        for folder in path.split(os.pathsep):
            yield absolute(Path(folder, name))


def read_settings(
    arguments: Sequence[str], *, environ: Mapping[str, str]
) -> Config | None:
    """Return the settings that the kernel will have, ``None`` when it has none.

    They are read by ipykernel's own application, which takes longer than all the rest
    of a plan: where no settings file and no option is, it is not even imported.

    Args:
        arguments: What ipykernel gets.
        environ: The environment variables to go by.
    """
    has_option = any(
        word.startswith("--") and not word.startswith("--f=") for word in arguments
    )
    if not has_option and not any(it.exists() for it in _config_files(environ)):
        return None
    from ipykernel.kernelapp import IPKernelApp  # noqa: PLC0415 - as said above
    from IPython.core.application import BaseIPythonApplication  # noqa: PLC0415

    app = IPKernelApp()  # type: ignore[no-untyped-call]
    try:
        # its own initialize would open the kernel's sockets
        BaseIPythonApplication.initialize(app, list(arguments))  # type: ignore[no-untyped-call]
    except SystemExit:
        # an option that means nothing: the kernel itself will say so
        return None
    return app.config


def _config_files(environ: Mapping[str, str]) -> Iterable[Path]:
    user = _ipython_directory(environ)
    shared = [Path(sys.prefix, "etc"), Path("/usr/local/etc"), Path("/etc")]
    if programs := environ.get("PROGRAMDATA"):
        shared.append(Path(programs))
    # the first kernel of all makes the default profile
    profiles = {user / "profile_default", *user.glob("profile_*")}
    folders = [*sorted(profiles), *(folder / "ipython" for folder in shared)]
    return [folder / name for folder in folders for name in _CONFIGS]


def _ipython_directory(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("IPYTHONDIR") or Path.home() / ".ipython")
