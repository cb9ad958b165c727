"""Make a generation beside the others and put it in place.

All of it happens under the environment's lock. Nothing is replaced before what
replaces it has been verified; what was current before stays where it is.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from prime_skills_ext.catalog.looking import is_file
from prime_skills_ext.environment.bases import MARKER
from prime_skills_ext.environment.links import KERNEL_PTH
from prime_skills_ext.environment.usage import IN_USE, mark
from prime_skills_ext.environment.uv import Uv
from prime_skills_ext.environment.venv import (
    CURRENT,
    Environment,
    Generation,
    generation_at,
    is_healthy,
    is_pointed,
    numbered,
    pointed,
)
from prime_skills_ext.errors import InstallError
from prime_skills_ext.writing import replace_text

__all__ = ["STAGE", "Staged", "mend", "prepare", "stage", "staged"]


STAGE = ".building-"
"""How the names of directories begin that are being made or removed."""


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


def mend(environment: Environment) -> None:
    """Point to the newest generation that is well, if the pointer is lost or damaged.

    Half a generation never has a number: whatever has one was verified before.

    Raises:
        OSError: The disk does not take it.
    """
    root = environment.root
    if is_pointed(root):
        return
    for directory in reversed(numbered(root)):
        if is_healthy(generation_at(directory)):
            replace_text(root / CURRENT, text=f"{directory.name}\n")
            return


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
        number = 1 + max((int(path.name) for path in numbered(root)), default=0)
        self.generation.directory.replace(root / str(number))
        superseded = pointed(root)
        replace_text(root / CURRENT, text=f"{number}\n")
        if superseded is not None:
            mark(superseded)  # it was the one to use until now
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
    directory = stage(root) / "venv"
    for leftover in root.glob(f"{STAGE}*"):  # of a process that was killed
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


def stage(root: Path) -> Path:
    """Make the directory to build in, or to move to what is being removed.

    Its name is the same each time, because it gets into uv's words: the same failure
    must read the same. After a process was killed it is another one: where locks are
    not shared with commands, its uv may still be writing to the old place.
    """
    directory = root / f"{STAGE}next"
    try:
        directory.mkdir()
    except FileExistsError:
        return Path(tempfile.mkdtemp(prefix=STAGE, dir=root))
    return directory
