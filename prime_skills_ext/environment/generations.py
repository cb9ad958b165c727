"""Make a generation beside the others, put it in place, prune the forgotten ones.

All of it happens under the environment's lock. Nothing is removed before what
replaces it has been verified, and nothing that a living process uses is removed.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from prime_skills_ext.catalog.looking import is_file
from prime_skills_ext.environment.usage import IN_USE, is_in_use
from prime_skills_ext.environment.uv import Uv
from prime_skills_ext.environment.venv import (
    CURRENT,
    MARKER,
    Environment,
    Generation,
    generation_at,
    is_healthy,
    pointed,
)
from prime_skills_ext.errors import InstallError
from prime_skills_ext.writing import replace_text

__all__ = ["KERNEL_PTH", "PRUNE_AFTER_S", "Staged", "prepare", "prune", "staged"]

KERNEL_PTH = "zz-prime-skills-kernel.pth"
"""Lets a generation's own python import what the kernel has, after its own."""

PRUNE_AFTER_S = 3600.0
"""How long a superseded generation is kept for kernels that are just starting."""

_STAGE = ".building-"


def prepare(environment: Environment) -> None:
    """Make the environment's directory and mark it as ours.

    Raises:
        OSError: It cannot be written.
    """
    root = environment.root
    root.mkdir(parents=True, exist_ok=True)
    marks = [(root / MARKER, json.dumps(environment.facts, indent=1) + "\n")]
    if environment.base is not None:
        marks.append((environment.base / MARKER, "{}\n"))
    # uv looks for a workspace and for settings upwards from here: let it stop here
    marks += [(root / "pyproject.toml", ""), (root / "uv.toml", "")]
    for path, text in marks:
        if not is_file(path):
            replace_text(path, text=text)


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Staged:
    """A generation that is being built and that nobody sees yet."""

    environment: Environment
    generation: Generation

    def publish(self) -> Generation:
        """Put it in place and point to it.

        Raises:
            InstallError: It is not well; what was current stays current.
            OSError: The disk does not take it; likewise.
        """
        if not is_healthy(self.generation):
            raise InstallError(
                f"the new environment in {self.environment.root} is not complete",
                fix="%reload_skills --retry",
                path=self.environment.root,
            )
        root = self.environment.root
        number = 1 + max((int(path.name) for path in _numbered(root)), default=0)
        self.generation.directory.replace(root / str(number))
        replace_text(root / CURRENT, text=f"{number}\n")
        return generation_at(root / str(number))


@contextlib.contextmanager
def staged(
    environment: Environment, *, uv: Uv, kernel_paths: Sequence[Path]
) -> Iterator[Staged]:
    """Make an empty generation; unless it is published it is removed again.

    Raises:
        ProcessError: uv could not make it.
        InstallError: uv says that it made it, but did not.
        OSError: The disk does not take it.
    """
    root = environment.root
    directory = _stage(root) / "venv"
    for leftover in root.glob(f"{_STAGE}*"):  # of a process that was killed
        if leftover != directory.parent:
            shutil.rmtree(leftover, ignore_errors=True)
    try:
        uv.make(directory, python=environment.interpreter)
        generation = generation_at(directory)
        if not is_healthy(generation):
            raise InstallError(
                f"{uv.binary} made no virtual environment, and did not say why",
                fix="let PRIME_SKILLS_UV name another uv, then %reload_skills --retry",
                path=uv.binary,
            )
        (directory / IN_USE).touch()
        # made now, so that Python does not change the directory's time stamp later
        (generation.site_packages / "__pycache__").mkdir(exist_ok=True)
        if environment.mode == "overlay":
            lines = [
                f"import site; site.addsitedir({os.fspath(path)!a})\n"
                for path in kernel_paths
            ]
            text = "".join(lines)
            (generation.site_packages / KERNEL_PTH).write_text(text, encoding="ascii")
        yield Staged(environment=environment, generation=generation)
    finally:
        shutil.rmtree(directory.parent, ignore_errors=True)


def _stage(root: Path) -> Path:
    """Make the directory to build in.

    Its name is the same each time, because it gets into uv's words: the same failure
    must read the same. After a process was killed it is another one: the uv that it
    started may still be writing to the old place.
    """
    directory = root / f"{_STAGE}next"
    try:
        directory.mkdir()
    except FileExistsError:
        return Path(tempfile.mkdtemp(prefix=_STAGE, dir=root))
    return directory


def prune(environment: Environment) -> tuple[Path, ...]:
    """Remove generations that are neither current nor in use nor young.

    Returns:
        What was removed.
    """
    root = environment.root
    current = pointed(environment)
    # without a pointer nobody can tell which one a kernel is about to start in
    if current is None or time.time() - _changed(root) < PRUNE_AFTER_S:
        return ()
    removed = []
    for directory in _numbered(root):
        if directory != current.directory and not is_in_use(directory):
            # renamed first: half a generation must never look like a whole one
            grave = Path(tempfile.mkdtemp(prefix=_STAGE, dir=root))
            directory.replace(grave / "venv")
            shutil.rmtree(grave, ignore_errors=True)
            removed.append(directory)
    return tuple(removed)


def _changed(root: Path) -> float:
    """When the pointer was written."""
    try:
        return (root / CURRENT).stat().st_mtime
    except OSError:
        return time.time()


def _numbered(root: Path) -> list[Path]:
    found = [path for path in root.iterdir() if path.name.isdecimal()]
    return sorted(found, key=lambda path: int(path.name))
