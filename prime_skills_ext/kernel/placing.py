"""Under which module name each skill is imported, and who has the name it wants.

It compares names; it imports and binds nothing.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, final

from prime_skills_ext.catalog.looking import real_paths
from prime_skills_ext.catalog.status import Problem
from prime_skills_ext.kernel.failures import import_failed
from prime_skills_ext.kernel.names import Surroundings, private_name, why_private
from prime_skills_ext.kernel.trees import SkillTree, tree_of
from prime_skills_ext.skill.model import Diagnostic, PythonPackage, Skill

__all__ = ["WAITS", "Placement", "place"]

#: Code of the diagnostic of an edit that is not in effect yet.
WAITS = "reload-waits"


@final
class Placement(NamedTuple):
    """Where one Python-backed skill goes.

    Attributes:
        skill: The skill.
        package: Its Python half.
        module: The name that it is imported under.
        owner: To whom the name it wants belongs, when it is private.
        problem: Why it must not be imported.
    """

    skill: Skill
    package: PythonPackage
    module: str
    owner: str | None = None
    problem: Problem | None = None

    @property
    def tree(self) -> SkillTree:
        """Its modules in this process."""
        return tree_of(self.module, src=self.package.src)

    def diagnostic(self) -> Diagnostic:
        """Say that the skill is private, and why."""
        name = self.package.import_name
        return Diagnostic(
            code="private-name",
            message=f"`{name}` is {self.owner}, so this skill is reached as "
            f'skills["{self.skill.name}"]',
            fix="Rename the skill to bind it",
            severity="info",
            path=self.skill.path,
        )

    def waits(self, calls: int) -> Diagnostic:
        """Say that an edit of the skill is not in effect yet, and until when."""
        until = "one call ends" if calls == 1 else f"{calls} calls end"
        return Diagnostic(
            code=WAITS,
            message=f"the edit of `{self.skill.name}` takes effect when {until} that "
            "other threads run",
            fix="Wait, or %reload_skills --now",
            severity="info",
            path=self.skill.path,
        )

    def gone(self) -> Problem:
        """Say that the skill is no longer there."""
        return Problem(
            state="removed",
            reason=f"its folder {self.package.directory.name!r} is gone or deselected "
            "since it was loaded",
            fix="Put the folder back and run %reload_skills, or %skill add it again",
        )

    def stale(self, error: BaseException) -> Problem:
        """Say why the code before the last edit is still live."""
        failed = import_failed(error, src=self.package.src)
        return failed._replace(
            state="stale",
            reason="the last edit does not load, the version before it is live: "
            f"{failed.reason}",
        )

    def explain(self, error: BaseException | None) -> Problem:
        """Say why the import failed."""
        if error is None:
            error = ImportError(f"`import {self.module}` gave no module")
        wanted = self.package.import_name
        if self.owner is None or not _wants(error, wanted):
            return import_failed(error, src=self.package.src)
        return Problem(
            state="import-failed",
            reason=f"it imports itself as `{wanted}`, which is {self.owner}",
            fix="Rename the skill, or import with `from . import …` inside it, "
            "then run %reload_skills",
        )


def place(
    skills: Iterable[Skill],
    *,
    problems: Mapping[Path, Problem],
    ignored: Sequence[Path] = (),
    served: Collection[str] = (),
) -> tuple[Placement, ...]:
    """Give every Python-backed skill the name of a module.

    Args:
        skills: The winners; the first of an import name has it.
        problems: By identity: skills that must not be imported, and why.
        ignored: Folders whose modules do not make a name private.
        served: Names of modules that every skill may import.
    """
    chosen = [(skill, skill.python) for skill in skills if skill.python is not None]
    # looked at once, and not at all when every skill has its name already
    look = functools.cache(functools.partial(_look_around, chosen, ignored=ignored))
    placements: list[Placement] = []
    taken = dict.fromkeys(served, "a module that all skills import")
    for skill, package in chosen:
        name = package.import_name
        owner = taken.get(name) or _owner(package, look=look)
        if owner is None:
            taken[name] = f"the import name of the skill {skill.name!r}"
        placements.append(
            Placement(
                skill=skill,
                package=package,
                module=name if owner is None else private_name(name, src=package.src),
                owner=owner,
                problem=problems.get(skill.identity),
            )
        )
    return tuple(placements)


def _look_around(
    chosen: Iterable[tuple[Skill, PythonPackage]], *, ignored: Iterable[Path]
) -> Surroundings:
    folders = [*map(str, ignored), *(str(package.src) for _, package in chosen)]
    # editable installs may spell the same folder by its real path
    folders += real_paths(folders)
    return Surroundings.without(folders, working_directory=False)


def _owner(package: PythonPackage, *, look: Callable[[], Surroundings]) -> str | None:
    tree = tree_of(package.import_name, src=package.src)
    if tree.users and tree.module is not None:
        return None  # it has the name already
    return why_private(package.import_name, src=package.src, surroundings=look())


def _wants(error: BaseException, name: str) -> bool:
    """Whether an error comes from using somebody else's module of a name."""
    if isinstance(error, ImportError):
        return (error.name or "").partition(".")[0] == name
    if isinstance(error, AttributeError):
        return error.obj is not None and error.obj is sys.modules.get(name)
    return False
