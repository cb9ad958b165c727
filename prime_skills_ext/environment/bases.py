"""Which directories may hold environments of ours, and which of them is used.

Reads the disk, and tries whether it can be written; leaves nothing behind.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from prime_skills_ext.catalog.looking import expanded, is_file, is_there
from prime_skills_ext.skill.model import Diagnostic

__all__ = ["MARKER", "find_base", "is_ours", "places"]

MARKER = "prime-skills-environment.json"
"""What makes a directory ours: it says what the environment in it is for."""


def find_base(
    agent_directory: Path, *, environ: Mapping[str, str], pointer: Path
) -> tuple[Path, tuple[Diagnostic, ...]]:
    """The directory that holds the keyed environments, and what was passed over.

    Args:
        agent_directory: Where environments normally live.
        environ: Read for ``PRIME_AGENT_KERNEL_VENV``, ``XDG_DATA_HOME``, ``HOME``.
        pointer: What is below the directory in which the environment was made.
    """
    diagnostics: list[Diagnostic] = []
    named = environ.get("PRIME_AGENT_KERNEL_VENV")
    if named:
        directory = expanded(named).absolute()
        if is_ours(directory):
            return directory, ()
        diagnostics.append(
            Diagnostic(
                code="environment-not-ours",
                message="PRIME_AGENT_KERNEL_VENV names a directory that holds "
                "something else; it is left alone and the default place is used",
                fix="unset PRIME_AGENT_KERNEL_VENV or let it name an empty directory",
                path=directory,
            )
        )
    usual = _usual(agent_directory, environ=environ)
    for directory in usual:
        # what exists is used even on a disk that has become read-only
        if is_file(directory / pointer) or _is_writable(directory):
            return directory, tuple(diagnostics)
    return usual[0], tuple(diagnostics)


def places(agent_directory: Path, *, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Every directory that may hold environments of ours, each once.

    Args:
        agent_directory: As for ``find_base``.
        environ: Likewise.
    """
    named = environ.get("PRIME_AGENT_KERNEL_VENV")
    usual = _usual(agent_directory, environ=environ)
    found = (expanded(named).absolute(), *usual) if named else usual
    return tuple(dict.fromkeys(path for path in found if is_ours(path)))


def is_ours(directory: Path) -> bool:
    """Whether we may write there: it is missing, empty, or carries our marker."""
    if is_file(directory / MARKER):
        return True
    try:
        return not any(directory.iterdir())
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _usual(agent_directory: Path, *, environ: Mapping[str, str]) -> tuple[Path, Path]:
    """Where environments normally live, and where if that cannot be written."""
    data_home = environ.get("XDG_DATA_HOME") or "~/.local/share"
    return (
        agent_directory / "prime-skills" / "venvs",
        expanded(data_home) / "prime" / "agent" / "prime-skills/venvs",
    )


def _is_writable(directory: Path) -> bool:
    """Whether something can be made there; leaves nothing behind."""
    nearest = directory
    while not is_there(nearest) and nearest != nearest.parent:
        nearest = nearest.parent
    try:
        # os.access lies for root and on some network disks: write for real
        with tempfile.TemporaryFile(dir=nearest):
            return True
    except OSError:
        return False
