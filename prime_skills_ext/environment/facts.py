"""What an environment is measured against: the kernel's packages and our own.

Reads this interpreter's surroundings; changes nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, final

from prime_skills_ext.environment.fingerprint import kernel_paths, signature
from prime_skills_ext.environment.ours import (
    OWN_NAME,
    RUNTIME_NAME,
    own_identity,
    runtime_identity,
)
from prime_skills_ext.environment.venv import Environment, Generation
from prime_skills_ext.later import later
from prime_skills_ext.progress import Listener, ProgressEvent
from prime_skills_ext.skill.model import Skill

if TYPE_CHECKING:
    from prime_skills_ext.environment import wheel
    from prime_skills_ext.environment.wheel import Wheel
else:
    wheel = later("prime_skills_ext.environment.wheel")  # made when they are installed

__all__ = ["OURS", "Facts", "Request", "facts", "is_inside"]

OURS = frozenset({RUNTIME_NAME, OWN_NAME})
"""Distributions that come from us and from no index."""


@final
class Request(NamedTuple):
    """What ``ensure`` was asked for."""

    skills: Sequence[Skill]
    environment: Environment
    environ: Mapping[str, str]
    progress: Listener | None = None
    retry: bool = False
    unavailable: Sequence[Skill] = ()
    extra: Mapping[Path, tuple[str, ...]] = MappingProxyType({})

    def tell(self, event: ProgressEvent) -> None:
        """Report progress, if anybody listens."""
        if self.progress is not None:
            self.progress(event)


@final
class Facts(NamedTuple):
    """What decides about an environment besides skills.

    Attributes:
        identities: Which runtime, and which package of ours, it has to hold.
        with_own: A kernel runs in it, so it holds this package, too.
        lines: What else such an environment needs.
        kernel_paths: Where the kernel's packages are, in overlay mode.
        kernel: Signature of those.
        is_inside: This process runs in the current generation, so what that holds
            besides skills is right by definition and was not looked at.
    """

    identities: tuple[str, ...]
    with_own: bool = False
    lines: tuple[str, ...] = ()
    kernel_paths: tuple[Path, ...] = ()
    kernel: str = ""
    is_inside: bool = False

    @property
    def base(self) -> str:
        """Identity of what the environment has to hold besides skills."""
        parts = [*self.identities, *self.lines]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    @property
    def runtime(self) -> Wheel:
        """The distribution that skills import, made anew."""
        return wheel.runtime_wheel()

    @property
    def own(self) -> Wheel | None:
        """This package, for an environment that a kernel runs in, made anew."""
        return wheel.own_wheel() if self.with_own else None

    @property
    def spare(self) -> tuple[str, ...]:
        """What only the runtime's command line needs, and skills do not."""
        return wheel.required_names(self.runtime)


def facts(environment: Environment, *, current: Generation | None = None) -> Facts:
    """Look around.

    Args:
        environment: Which one.
        current: Its current generation, if this process may be running in it.

    Raises:
        InstallError: Our own files are not complete.
    """
    runtime = runtime_identity()
    if environment.mode != "own":
        paths = kernel_paths(apart_from=environment.base or environment.root)
        return Facts(identities=(runtime,), kernel_paths=paths, kernel=signature(paths))
    if current is not None and is_inside(current):
        return Facts(identities=(runtime,), is_inside=True)
    lines = ["ipykernel"]
    with contextlib.suppress(PackageNotFoundError):
        # the kernel's own uv must judge like the launcher's
        lines.append(f"uv=={version('uv')}")
    with contextlib.suppress(PackageNotFoundError):
        # the keys that were put into a keyring here must be found there, too
        version("keyring")
        lines.append("keyring")
    return Facts(
        identities=(runtime, own_identity()), with_own=True, lines=tuple(lines)
    )


def is_inside(generation: Generation) -> bool:
    """Whether this process runs in ``generation``."""
    return Path(sys.prefix).resolve() == generation.directory.resolve()
