"""Make a generation importable in the living interpreter, and take it back.

Only what skills *require* comes in this way: the skills themselves are served by the
kernel's finder, so the links that uv wrote for them are passed over.
"""

from __future__ import annotations

import csv
import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import final

from prime_skills_ext.catalog.looking import is_there, python_path
from prime_skills_ext.environment import record as records
from prime_skills_ext.environment.facts import is_inside
from prime_skills_ext.environment.links import KERNEL_PTH, link_of
from prime_skills_ext.environment.usage import hold, release
from prime_skills_ext.environment.venv import Generation
from prime_skills_ext.skill.model import Diagnostic
from prime_skills_ext.skill.names import canonical_project

__all__ = ["activate", "active", "deactivate", "refresh"]

#: What is ours or the environment's own, whichever skills there are.
_PASSED_OVER = frozenset({KERNEL_PTH, "_virtualenv.pth"})


@final
class _Active:
    """What one generation changed in this process, and for whom."""

    def __init__(self, generation: Generation) -> None:
        self.generation = generation
        self.owners: set[str] = set()
        self.files: set[str] = {*_PASSED_OVER}
        self.paths: list[str] = []
        self.finders: list[object] = []
        self.dropped: list[str] = []


_ACTIVE: dict[Path, _Active] = {}


def activate(generation: Generation, *, owner: str = "") -> tuple[Diagnostic, ...]:
    """Append a generation's packages to ``sys.path``.

    Asking again for the same owner changes nothing, but takes in what was installed
    in between. A process that runs inside the generation only marks it as in use.

    Args:
        generation: What to make importable.
        owner: Who asks; it stays active until every owner has deactivated it.

    Returns:
        What is wrong with its ``.pth`` files.
    """
    state = _ACTIVE.setdefault(generation.directory, _Active(generation))
    state.owners.add(owner)
    hold(generation)
    return _take_in(state)


def refresh(generation: Generation) -> tuple[Diagnostic, ...]:
    """Take in what was installed since, if this process uses ``generation``.

    Returns:
        What is wrong with its new ``.pth`` files.
    """
    state = _ACTIVE.get(generation.directory)
    if state is None and not is_inside(generation):
        return ()
    return _take_in(state or _Active(generation))


def _take_in(state: _Active) -> tuple[Diagnostic, ...]:
    generation = state.generation
    if is_inside(generation):
        _drop_links(state)
        importlib.invalidate_caches()
        return ()
    _append(str(generation.site_packages), state=state)
    files = _unknown_files(state)
    if files:
        state.files |= _links_of_others(generation)
    finders = list(sys.meta_path)
    diagnostics = [
        problem
        for file in files
        if file.name not in state.files
        for problem in _process(file, state=state)
    ]
    state.finders += [finder for finder in sys.meta_path if finder not in finders]
    importlib.invalidate_caches()
    return tuple(diagnostics)


def deactivate(generation: Generation | None = None, *, owner: str = "") -> None:
    """Undo what ``activate`` did for ``owner``: with one generation, or with all."""
    states = [
        state
        for directory, state in _ACTIVE.items()
        if generation is None or directory == generation.directory
    ]
    for state in states:
        state.owners.discard(owner)
        if not state.owners:
            _undo(state)


def _undo(state: _Active) -> None:
    del _ACTIVE[state.generation.directory]
    if not is_inside(state.generation):  # else the process itself goes on using it
        release(state.generation)
    for path in state.paths:
        if path in sys.path:
            sys.path.remove(path)
    sys.path += [path for path in state.dropped if path not in sys.path]
    for finder in state.finders:
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)
    importlib.invalidate_caches()


def active() -> tuple[Generation, ...]:
    """The generations that this process uses, in the order of ``sys.path``."""
    return tuple(state.generation for state in _ACTIVE.values())


def _drop_links(state: _Active) -> None:
    """Take the skills' own folders off ``sys.path``, where the kernel runs inside.

    The interpreter followed their links when it started; from now on the kernel's
    finder alone says which skill has a name.
    """
    known = records.read(state.generation.record).skills.values()
    folders = [Path(skill.package_path) for skill in known]
    for path in python_path():
        real = Path(os.path.realpath(path)) if path else None
        if real and any(real.is_relative_to(folder) for folder in folders):
            sys.path.remove(path)
            state.dropped.append(path)


def _append(path: str, *, state: _Active) -> None:
    if path not in sys.path:
        sys.path.append(path)
        state.paths.append(path)


def _process(file: Path, *, state: _Active) -> Iterator[Diagnostic]:
    """What ``site`` does with such a file, but a bad line is told, not printed."""
    state.files.add(file.name)
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        yield _problem(file, what=f"cannot be read: {error}")
        return
    for number, raw in enumerate(lines, start=1):
        line = raw.rstrip()
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith(("import ", "import\t")):
            try:
                exec(line, {})  # noqa: S102  # the meaning of such a line
            except Exception as error:  # noqa: BLE001  # strangers' code runs here
                yield _problem(
                    file, what=f"fails: {type(error).__name__}: {error}", line=number
                )
            continue
        target = file.parent / line
        if is_there(target):
            _append(str(target), state=state)


def _problem(file: Path, *, what: str, line: int | None = None) -> Diagnostic:
    return Diagnostic(
        code="bad-pth",
        message=f"{file.name} in the environment {what}",
        fix="%reload_skills --retry, or reinstall the distribution that wrote it",
        path=file,
        line=line,
    )


def _unknown_files(state: _Active) -> list[Path]:
    """The ``.pth`` files that are neither done nor, by their name, ours."""
    known = records.read(state.generation.record).skills.values()
    state.files |= {link_of(skill.project) for skill in known if skill.project}
    site = state.generation.site_packages
    return sorted(file for file in site.glob("*.pth") if file.name not in state.files)


def _links_of_others(generation: Generation) -> frozenset[str]:
    """Names of the files that build backends wrote to make skills importable."""
    known = records.read(generation.record)
    names = {skill.project for skill in known.skills.values() if skill.project}
    links: set[str] = set()
    for info in generation.site_packages.glob("*.dist-info"):
        project = canonical_project(info.name.partition("-")[0])
        if project not in names:
            continue
        try:
            with (info / "RECORD").open(encoding="utf-8", newline="") as file:
                links.update(
                    row[0] for row in csv.reader(file) if row and row[0].endswith("pth")
                )
        except (OSError, UnicodeDecodeError):
            continue
    return frozenset(links)
