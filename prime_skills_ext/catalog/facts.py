"""What only the world knows about the skills that were selected.

The one place that asks: keys, programs, the agent host, files of the project. Asks
no more than the skills at hand need, and runs nothing.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from prime_skills_ext.catalog.credentials import find_credentials
from prime_skills_ext.catalog.gates import Facts
from prime_skills_ext.catalog.hosts import find_uses
from prime_skills_ext.catalog.places import Places
from prime_skills_ext.catalog.selection import Selection
from prime_skills_ext.catalog.trust import Distrust
from prime_skills_ext.later import later
from prime_skills_ext.skill.model import Diagnostic, Skill

if TYPE_CHECKING:
    from prime_skills_ext.catalog import nearby
else:
    nearby = later("prime_skills_ext.catalog.nearby")  # few skills have `paths`

__all__ = ["gather_facts", "needs_asked"]


def gather_facts(
    selection: Selection,
    *,
    places: Places,
    environ: Mapping[str, str],
    handlers: frozenset[str] | None = None,
    distrusted: Mapping[Path, Distrust] | None = None,
) -> tuple[Facts, tuple[Diagnostic, ...]]:
    """Ask the world what the gates go by.

    Args:
        selection: Whose needs are looked at; those that nobody trusts are left out.
        places: Where keys and the project's files are.
        environ: The environment variables that a skill would see.
        handlers: What the agent host answers; ``None`` when there is none.
        distrusted: Why a skill is not trusted, by identity.

    Returns:
        The facts, and what is wrong with the places that were asked.
    """
    skills = [winner.skill for winner in selection.active()]
    credentials, problems = find_credentials(
        agent_directory=places.agent_directory, environ=environ
    )
    patterns, notes = _patterns(skills, places=places)
    facts = Facts(
        environ=environ,
        credentials=credentials,
        handlers=handlers,
        programs=_programs(skills, environ=environ),
        patterns=patterns,
        distrust=distrusted or {},
        uses={skill.identity: find_uses(skill) for skill in skills},
    )
    return facts, (*problems, *notes)


def needs_asked(
    selection: Selection, *, places: Places, environ: Mapping[str, str]
) -> Iterator[tuple[Callable[[], object], object]]:
    """List the questions that only a look around answers, with their answers now."""
    skills = [winner.skill for winner in selection.active()]
    if any(skill.requires.bins for skill in skills):
        programs = partial(_programs, skills, environ=environ)
        yield programs, programs()
    if any(skill.paths for skill in skills):
        patterns = partial(_patterns, skills, places=places)
        yield patterns, patterns()
    credentials = partial(
        find_credentials, agent_directory=places.agent_directory, environ=environ
    )
    yield credentials, credentials()


def _programs(skills: Iterable[Skill], *, environ: Mapping[str, str]) -> frozenset[str]:
    wanted = {name for skill in skills for name in skill.requires.bins}
    if not wanted:
        # what is asked for counts: see launching.footprint
        return frozenset()
    path = environ.get("PATH", "")
    return frozenset(name for name in wanted if _which(name, path=path))


def _which(name: str, *, path: str) -> bool:
    try:
        return shutil.which(name, path=path) is not None
    except (OSError, ValueError):
        # a null character, which no file has in its name
        return False


def _patterns(
    skills: Iterable[Skill], *, places: Places
) -> tuple[frozenset[tuple[str, ...]], tuple[Diagnostic, ...]]:
    wanted = {skill.paths for skill in skills if skill.paths}
    if not wanted:
        return frozenset(), ()
    found = nearby.find_matching(wanted, root=places.project_root)
    if found.complete:
        return found.matching, ()
    # nobody can say that there is none, so nothing is kept back
    note = Diagnostic(
        code="paths-bound",
        message=f"This project has more than {nearby.MAX_ENTRIES} files and folders: "
        "skills with `paths` are offered without looking at all of them.",
        fix="Start the kernel in a smaller folder if they should depend on its files.",
        severity="info",
        path=places.project_root,
    )
    return frozenset(wanted), (note,)
