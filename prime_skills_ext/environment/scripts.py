"""The shell commands of the selected skills, in a directory of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from prime_skills_ext.environment.record import Command

__all__ = ["write_scripts"]


def write_scripts(
    directory: Path,
    *,
    python: Path,
    commands: Iterable[Command],
    sources: Mapping[str, Path],
) -> None:
    """Make ``directory`` hold exactly the scripts of ``commands``.

    Args:
        directory: Created if missing; whatever else lies in it is removed.
        python: Interpreter that runs the scripts.
        commands: First of a name wins; those whose import name is not in
            ``sources`` are left out.
        sources: Import name to ``src`` of the winning skills.
    """
    raise NotImplementedError
