"""What an environment is measured against: the kernel's packages and our own.

Reads this interpreter's surroundings; changes nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from prime_skills_ext.environment.fingerprint import kernel_paths, signature
from prime_skills_ext.environment.venv import Environment, Generation
from prime_skills_ext.environment.wheel import (
    OWN_NAME,
    RUNTIME_NAME,
    Wheel,
    own_wheel,
    runtime_wheel,
)
from prime_skills_ext.skill.model import Skill

__all__ = ["OURS", "Facts", "Request", "facts", "is_inside"]

OURS = frozenset({RUNTIME_NAME, OWN_NAME})
"""Distributions that come from us and from no index."""


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """What ``ensure`` was asked for."""

    skills: Sequence[Skill]
    environment: Environment
    environ: Mapping[str, str]
    progress: Callable[[str], None] | None = None
    retry: bool = False
    unavailable: Sequence[Skill] = ()
    extra: Mapping[Path, tuple[str, ...]] = field(default_factory=dict)

    def tell(self, message: str) -> None:
        """Report progress, if anybody listens."""
        if self.progress is not None:
            self.progress(message)


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """What decides about an environment besides skills.

    Attributes:
        runtime: The distribution that skills import.
        own: This package, for an environment that a kernel runs in.
        lines: What else such an environment needs.
        kernel_paths: Where the kernel's packages are, in overlay mode.
        kernel: Signature of those.
        is_inside: This process runs in the current generation, so what that holds
            besides skills is right by definition and was not looked at.
    """

    runtime: Wheel
    own: Wheel | None = None
    lines: tuple[str, ...] = ()
    kernel_paths: tuple[Path, ...] = ()
    kernel: str = ""
    is_inside: bool = False

    @property
    def base(self) -> str:
        """Identity of what the environment has to hold besides skills."""
        parts = [self.runtime.digest, self.own.digest if self.own else "", *self.lines]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    @property
    def spare(self) -> tuple[str, ...]:
        """What only the runtime's command line needs, and skills do not."""
        prefix = "Requires-Dist: "
        return tuple(
            canonicalize_name(Requirement(line.removeprefix(prefix)).name)
            for line in self.runtime.metadata.splitlines()
            if line.startswith(prefix)
        )


def facts(environment: Environment, *, current: Generation | None = None) -> Facts:
    """Look around.

    Args:
        environment: Which one.
        current: Its current generation, if this process may be running in it.

    Raises:
        InstallError: Our own files are not complete.
    """
    runtime = runtime_wheel()
    if environment.mode != "own":
        paths = kernel_paths(apart_from=environment.base or environment.root)
        return Facts(runtime=runtime, kernel_paths=paths, kernel=signature(paths))
    if current is not None and is_inside(current):
        return Facts(runtime=runtime, is_inside=True)
    lines = ["ipykernel"]
    with contextlib.suppress(PackageNotFoundError):
        # the kernel's own uv must judge like the launcher's
        lines.append(f"uv=={version('uv')}")
    with contextlib.suppress(PackageNotFoundError):
        # the keys that were put into a keyring here must be found there, too
        version("keyring")
        lines.append("keyring")
    return Facts(runtime=runtime, own=own_wheel(), lines=tuple(lines))


def is_inside(generation: Generation) -> bool:
    """Whether this process runs in ``generation``."""
    return Path(sys.prefix).resolve() == generation.directory.resolve()
