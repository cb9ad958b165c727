"""What environments there are, as values: what ``env list`` and ``env prune`` return.

Values only: ``stocktaking`` finds them out, ``views`` say how they look.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, final

__all__ = [
    "EnvironmentInfo",
    "EnvironmentPath",
    "GenerationInfo",
    "Inventory",
    "Pruned",
    "Rebuilt",
    "Removal",
    "RemovalKind",
]

RemovalKind = Literal["environment", "generation", "leftover", "wheels"]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class GenerationInfo:
    """One generation of an environment.

    Attributes:
        directory: Where it is; its name is its number.
        is_current: New kernels start with it, if it fits what they need.
        is_in_use: A living process uses it, or nobody can tell.
        python: Its Python's version, ``None`` if it does not say.
        skills: How many skills are installed in it.
        failed: How many could not be.
        size_bytes: What its files hold; uv shares many of them with its cache.
        problem: Why it cannot be used, ``None`` if it can.
    """

    directory: Path
    is_current: bool
    is_in_use: bool
    python: str | None
    skills: int
    failed: int
    size_bytes: int
    problem: str | None = None


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class EnvironmentInfo:
    """One environment: a series of generations.

    Attributes:
        key: The name of its directory.
        directory: Where that is.
        mode: ``"overlay"``, ``"own"``, or ``None`` if its description is damaged.
        kernel_prefix: Whose kernels it is for, in overlay mode.
        project_root: The project whose skills it holds, ``None`` for everybody's.
        base_prefix: The Python that it was made with.
        is_here: It is the one that is used here.
        generations: Oldest first.
        size_bytes: What everything in it holds.
        gone: What it was for and is not there any more, in one sentence.
        fix: What to do about what is wrong, if something is.
    """

    key: str
    directory: Path
    mode: str | None
    kernel_prefix: Path | None
    project_root: Path | None
    base_prefix: Path | None
    is_here: bool
    generations: tuple[GenerationInfo, ...]
    size_bytes: int
    gone: str | None = None
    fix: str | None = None

    @property
    def current(self) -> GenerationInfo | None:
        """The generation that new kernels start with."""
        return next((one for one in self.generations if one.is_current), None)


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Inventory:
    """Every environment of ours that was found, the one used here first."""

    environments: tuple[EnvironmentInfo, ...]
    places: tuple[Path, ...]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class EnvironmentPath:
    """Where the environment used here is, or its interpreter."""

    path: Path


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Removal:
    """One thing that was, or would be, removed.

    Attributes:
        path: Where it was.
        kind: What it was.
        why: What made it useless.
        size_bytes: What it frees; what uv's cache shares is not freed.
    """

    path: Path
    kind: RemovalKind
    why: str
    size_bytes: int


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Pruned:
    """What pruning did, or would do.

    Attributes:
        removed: Everything that went, or would go.
        is_dry_run: Nothing was touched.
        skipped: Environments that could not be pruned, and why.
        kept: How many generations are kept for a while, which ``--all`` would remove.
    """

    removed: tuple[Removal, ...]
    is_dry_run: bool = False
    skipped: tuple[str, ...] = ()
    kept: int = 0

    @property
    def size_bytes(self) -> int:
        """What all of it frees."""
        return sum(one.size_bytes for one in self.removed)


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Rebuilt:
    """What rebuilding an environment gave.

    Attributes:
        directory: The new generation.
        skills: How many skills are installed in it.
        failed: Names of the skills that could not be installed before either.
        fix: What to do to use it, ``None`` if nothing is.
    """

    directory: Path
    skills: int
    failed: tuple[str, ...] = ()
    fix: str | None = None
