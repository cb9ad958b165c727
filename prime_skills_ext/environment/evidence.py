"""What says whether an environment holds what skills need: paths, and who is asked.

Lists what ``installation`` looks at when it finds nothing to do. Changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from prime_skills_ext.environment import record as records
from prime_skills_ext.environment.bases import MARKER
from prime_skills_ext.environment.fingerprint import (
    ALWAYS_INPUTS,
    kernel_paths,
    package_path,
)
from prime_skills_ext.environment.uv import open_uv
from prime_skills_ext.environment.venv import CURRENT, Environment, Generation
from prime_skills_ext.errors import PrimeSkillsError
from prime_skills_ext.skill.model import Skill

__all__ = ["environment_paths", "uv_asked"]


def environment_paths(
    environment: Environment, *, generation: Generation, skills: Iterable[Skill]
) -> Iterator[Path]:
    """List what decides that nothing has to be installed.

    Args:
        environment: Where requirements are installed.
        generation: What of it is in use.
        skills: The selected ones.
    """
    yield from kernel_paths(apart_from=environment.base or environment.root)
    for folder in (environment.base, environment.root):
        if folder is not None:
            yield from (folder / MARKER, folder / CURRENT)
    yield from (
        generation.record,
        generation.python,
        generation.site_packages,
        generation.directory / "pyvenv.cfg",
    )
    known = records.read(generation.record).skills
    for skill in skills:
        package = skill.python
        if package is None:
            continue
        found = known.get(package_path(package))
        for name in (*ALWAYS_INPUTS, *(() if found is None else found.inputs)):
            yield package.directory / name


def uv_asked(
    environ: Mapping[str, str],
) -> tuple[Callable[[], object], object]:
    """Which uv there is: another one tries again what this one could not do."""
    ask = partial(_uv, environ)
    return ask, ask()


def _uv(environ: Mapping[str, str]) -> str | None:
    try:
        return open_uv(environ).identity
    except (PrimeSkillsError, OSError):
        return None
