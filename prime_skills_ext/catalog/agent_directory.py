"""Where the user's skills, settings and stores live.

Apart from ``places``, because a warm launcher must know it: text in, text out, and
nothing is imported that a start of Python has not loaded.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

__all__ = ["expand_home", "find_agent_directory", "find_home"]

_VARIABLES = ("PRIME_AGENT_CODING_AGENT_DIR", "PI_CODING_AGENT_DIR")


def find_home(environ: Mapping[str, str]) -> str:
    """Return the user's home directory, as the user spells it."""
    named = environ.get("HOME") or environ.get("USERPROFILE")
    return _absolute(named or os.path.expanduser("~"))


def find_agent_directory(environ: Mapping[str, str], *, home: str) -> str:
    """Return the agent directory, whether it exists or not."""
    for variable in _VARIABLES:
        value = environ.get(variable, "").strip()
        if value:
            return _absolute(expand_home(value, home=home))
    return os.path.join(home, ".prime", "agent")


def expand_home(text: str, *, home: str) -> str:
    """Return a path with ``~`` and ``~/…`` expanded, and nothing else."""
    if text == "~":
        return home
    if text.startswith(("~/", f"~{os.sep}")):
        return os.path.join(home, text[2:].lstrip("/" + os.sep))
    return text


def _absolute(path: str) -> str:
    # as catalog.looking does it
    try:
        return os.path.abspath(path)
    except OSError:
        return os.path.join(os.sep, path)
