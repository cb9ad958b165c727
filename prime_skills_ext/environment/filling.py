"""Put skills and what they need into one generation, and look what came of it.

Turns skills into uv's requirement lines, and what uv installed into record entries.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import final

from packaging.requirements import Requirement

from prime_skills_ext.catalog.reading import read_file
from prime_skills_ext.environment import closure
from prime_skills_ext.environment.apply import Batch, Item, Outcome, install
from prime_skills_ext.environment.assessment import conflict, find_gaps, look
from prime_skills_ext.environment.closure import Index
from prime_skills_ext.environment.facts import OURS, Facts
from prime_skills_ext.environment.narration import Narrator
from prime_skills_ext.environment.plan import (
    RETRY_FIX,
    Failure,
    Wanted,
    needs,
    parse_requirements,
)
from prime_skills_ext.environment.record import Command, SkillRecord
from prime_skills_ext.environment.uv import Uv
from prime_skills_ext.environment.venv import Environment, Generation
from prime_skills_ext.environment.wanted import MAX_PYPROJECT_BYTES
from prime_skills_ext.environment.wheel import RUNTIME_NAME, editable_wheel
from prime_skills_ext.errors import InstallError
from prime_skills_ext.progress import Listener

__all__ = ["LINKS", "Filled", "Filling", "lines_of"]

LINKS = "links"
"""Folder of an environment with links to skills whose own path uv cannot be given."""


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Filled:
    """What came of it, by key.

    Attributes:
        entries: What to record about the skills that are in.
        failed: Those that are not, and why.
        cut_off: Those of ``failed`` that only lack a network or a uv that runs.
        present: Every key of the batch that is in.
        base_failure: Why nothing could be installed at all.
        needs_replacement: Nothing was done: something would have to be replaced.
        runtime_complete: Whether the runtime has what it requires; ``None`` if
            nobody looked.
    """

    entries: Mapping[str, SkillRecord] = field(default_factory=dict)
    failed: Mapping[str, Failure] = field(default_factory=dict)
    cut_off: frozenset[str] = frozenset()
    present: frozenset[str] = frozenset()
    base_failure: Failure | None = None
    needs_replacement: bool = False
    runtime_complete: bool | None = None


def lines_of(
    item: Wanted, *, store: Path, wanted: Sequence[Wanted], index: Index
) -> tuple[str, ...]:
    """What uv is given for a skill.

    Args:
        item: The skill, its metadata readable.
        store: Where wheels are kept.
        wanted: All selected skills.
        index: What the kernel has.

    Raises:
        OSError: The wheel cannot be written.
    """
    package, project = item.skill.python, item.project
    if package is None or project is None:
        raise InstallError(f"{item.skill.name} has no metadata", fix=RETRY_FIX)
    # what the kernel has hides from uv what it requires in turn: ask for that here
    hidden = [
        f"{gap.requirement.name}{_extras(gap.requirement)}{gap.requirement.specifier}"
        for gap in find_gaps(item, wanted=wanted, index=index)
        if gap.by_kernel and gap.found is None
    ]
    if project.slow_lane is not None:
        place = _place(package.directory.absolute(), root=store.parent)
        return (f"-e {place}", *item.extra, *hidden)
    wheel = editable_wheel(project, package=package, extra=item.extra).write(store)
    return (f"{item.name} @ {wheel.as_uri()}", *hidden)


def _place(directory: Path, *, root: Path) -> str:
    """How a folder is called where uv reads it.

    Behind a ``#`` uv sees a fragment, however it is quoted, and it reads every
    ``pyproject.toml`` above a project: where that cannot work the folder gets a link
    beside the wheels, named relative to the directory that uv runs in.
    """
    if "#" not in str(directory) and not _is_below_damage(directory):
        return directory.as_uri()
    name = hashlib.sha256(os.fsencode(directory)).hexdigest()[:16]
    link = root / LINKS / name
    try:
        link.parent.mkdir(exist_ok=True)
        with contextlib.suppress(FileExistsError):
            link.symlink_to(directory, target_is_directory=True)
    except OSError:  # Windows lets not everybody: uv's words will name the folder
        return directory.as_uri()
    return f"./{LINKS}/{name}"


def _is_below_damage(directory: Path) -> bool:
    for parent in directory.parents:
        try:
            data = read_file(parent / "pyproject.toml", limit=MAX_PYPROJECT_BYTES)
            tomllib.loads(data.decode("utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError, RecursionError):
            return True
    return False


def _extras(requirement: Requirement) -> str:
    extras = ",".join(sorted(requirement.extras))
    return f"[{extras}]" if extras else ""


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Filling:
    """One generation to be filled.

    Attributes:
        environment: Whose generation.
        generation: Which one.
        world: What surrounds it.
        uv: What installs.
        wanted: All selected skills.
        progress: Told how far uv is.
        is_new: Nobody uses it yet, so anything may be chosen; else it only grows.
    """

    environment: Environment
    generation: Generation
    world: Facts
    uv: Uv
    wanted: Sequence[Wanted]
    progress: Listener | None = None
    is_new: bool = False

    def fill(self, steps: Sequence[Wanted], *, items: Sequence[Item]) -> Filled:
        """Install ``items``, of which ``steps`` are new.

        Raises:
            OSError: The disk does not take it.
            ProcessError: What does not fit could not be taken out again.
        """
        before = look((), generation=self.generation)
        outcome = install(self._batch(before, steps=steps, items=items), items=items)
        if outcome.needs_replacement:
            return Filled(failed=outcome.failed, needs_replacement=True)
        if outcome.base_failure is not None and self.is_new:
            return Filled(failed=outcome.failed, base_failure=outcome.base_failure)
        return self._result(steps, items=items, outcome=outcome, before=before)

    def _batch(
        self, before: Index, *, steps: Sequence[Wanted], items: Sequence[Item]
    ) -> Batch:
        store = self.environment.root / "wheels"
        skills = {item.name for item in items} | {item.name for item in self.wanted}
        ours = OURS | skills
        wheels = [self.world.runtime]
        base: list[str] = []
        if self.is_new and self.world.own is not None:
            wheels.append(self.world.own)
            base += self.world.lines
        base += [f"{wheel.name} @ {wheel.write(store).as_uri()}" for wheel in wheels]
        kernel = look(self.world.kernel_paths, generation=None).installed
        return Batch(
            uv=self.uv,
            generation=self.generation,
            cwd=self.environment.root,
            base=base,
            constraints=[
                f"{name}=={found.version}"
                for name, found in before.installed.items()
                if name not in ours
            ],
            overrides=[
                f'{name} ; python_version < "0"' for name in kernel if name not in ours
            ],
            spare=self.world.spare,
            on_line=self._narrator(steps),
        )

    def _narrator(self, steps: Sequence[Wanted]) -> Narrator | None:
        if self.progress is None:
            return None
        return Narrator(
            self.progress,
            skills=len(steps),
            builds=sum(
                item.project is None or not item.project.static for item in steps
            ),
            names={item.name: item.skill.name for item in steps},
        )

    def _result(
        self,
        steps: Sequence[Wanted],
        *,
        items: Sequence[Item],
        outcome: Outcome,
        before: Index,
    ) -> Filled:
        lines = {item.key: item.lines[0] for item in items}
        index = look(self.world.kernel_paths, generation=self.generation)
        failed = dict(outcome.failed)
        entries: dict[str, SkillRecord] = {}
        for item in steps:
            if item.key not in outcome.installed:
                continue
            problem = self._misfit(item, index=index)
            if problem is None:
                entries[item.key] = self._entry(item, line=lines[item.key])
            else:
                failed[item.key] = problem
        misfits = [i for i in steps if i.key in failed and i.key in outcome.installed]
        if misfits:
            self._take_out(misfits, entries=entries, before=before, index=index)
        present = frozenset(outcome.installed).difference(failed)
        runtime = [Requirement(RUNTIME_NAME)]
        return Filled(
            entries=entries,
            failed=failed,
            cut_off=outcome.cut_off,
            present=present,
            runtime_complete=not closure.gaps(runtime, index=index),
        )

    def _misfit(self, item: Wanted, *, index: Index) -> Failure | None:
        """Why what uv chose does not work with what the kernel has, if so."""
        found = find_gaps(item, wanted=self.wanted, index=index)
        clash = conflict(item, gaps=found)
        if clash is not None or not found:
            return clash
        missing = ", ".join(str(gap.requirement) for gap in found)
        return Failure(
            reason=f"skill {item.skill.name} needs {missing}, which was not installed",
            fix=RETRY_FIX,
        )

    def _take_out(
        self,
        misfits: Sequence[Wanted],
        *,
        entries: Mapping[str, SkillRecord],
        before: Index,
        index: Index,
    ) -> None:
        """Undo what was installed a moment ago for skills that do not fit."""
        kept = parse_requirements(
            line for entry in entries.values() for line in entry.requirements
        )
        others = {entry.project for entry in entries.values()}
        needed = closure.reach([*kept, Requirement(RUNTIME_NAME)], index=index)
        after = look((), generation=self.generation).installed
        names = [
            name
            for name in after
            if name not in before.installed and name not in needed | others | OURS
        ]
        if self.is_new:
            # here the rest of the batch is new as well: take out the skills alone
            names = [item.name for item in misfits if item.name in after]
        if names:
            cwd = self.environment.root
            self.uv.uninstall(self.generation, cwd=cwd, names=names)

    def _entry(self, item: Wanted, *, line: str) -> SkillRecord:
        package, project = item.skill.python, item.project
        if package is None or project is None:
            raise InstallError(f"{item.skill.name} has no metadata", fix=RETRY_FIX)
        requirements = [str(requirement) for requirement in needs(item)]
        scripts = list(project.scripts.items())
        name = item.name
        if project.slow_lane is not None:
            built = self._built(item)
            if built is not None:
                name = built.name
                requirements = [*(built.requires or ()), *item.extra]
                scripts = [
                    (entry.name, entry.value)
                    for entry in built.entry_points.select(group="console_scripts")
                ]
        return SkillRecord(
            import_name=package.import_name,
            package_path=item.key,
            pyproject_path=str(package.pyproject),
            pyproject_hash=item.pyproject_hash,
            fingerprint=item.fingerprint or "",
            state="installed",
            project=name,
            inputs=project.inputs,
            requirements=tuple(requirements),
            extra=item.extra,
            line=line,
            commands=tuple(
                Command(command, target, package.import_name)
                for command, target in scripts
            ),
        )

    def _built(self, item: Wanted) -> PathDistribution | None:
        found = look((), generation=self.generation).get(item.name)
        return None if found is None else PathDistribution(found.path)
