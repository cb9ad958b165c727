"""Where the user's skills, settings and stores live.

Apart from ``places``, because a warm launcher must know it and import little else.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from prime_skills_ext.catalog.looking import absolute

__all__ = ["expand_home", "find_agent_directory", "find_home"]

_VARIABLES = ("PRIME_AGENT_CODING_AGENT_DIR", "PI_CODING_AGENT_DIR")


def find_home(environ: Mapping[str, str]) -> Path:
    """Return the user's home directory, as the user spells it."""
    named = environ.get("HOME") or environ.get("USERPROFILE")
    return absolute(named or str(Path.home()))


def find_agent_directory(environ: Mapping[str, str], *, home: Path) -> Path:
    """Return the agent directory, whether it exists or not."""
    for variable in _VARIABLES:
        value = environ.get(variable, "").strip()
        if value:
            return absolute(expand_home(value, home=home))
    return home / ".prime" / "agent"


def expand_home(text: str, *, home: Path) -> str:
    """Return a path with ``~`` and ``~/…`` expanded, and nothing else."""
    if text == "~":
        return str(home)
    if text.startswith(("~/", f"~{os.sep}")):
        return str(home / text[2:].lstrip("/" + os.sep))
    return text
