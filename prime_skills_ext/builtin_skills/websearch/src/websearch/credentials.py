"""Where the key for Serper comes from. Reads, never writes, and shows no key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

__all__ = ["find_key"]

_VARIABLE = "SERPER_API_KEY"
_SET_UP = (
    "Fix: get a key from https://serper.dev, then run %skill login serper, set the "
    f"environment variable {_VARIABLE}, or put "
    '{"serper": {"type": "api_key", "key": "<key>"}} into the auth.json of the agent '
    "directory (~/.prime/agent by default)"
)


def find_key(environ: Mapping[str, str]) -> str:
    """Find the key, anew for each search.

    Args:
        environ: The environment variables.

    Returns:
        The key.

    Raises:
        RuntimeError: There is none, or it cannot be one.
    """
    key = environ.get(_VARIABLE, "").strip()
    origin = f"the variable {_VARIABLE}"
    if not key:
        path = _auth_path(environ)
        key, origin = _stored_key(path, environ), str(path)
    if not key:
        message = f"websearch has no key for Serper.\n{_SET_UP}"
        raise RuntimeError(message)
    if not key.isascii() or not key.isprintable() or " " in key:
        message = (
            f"the key for Serper in {origin} has characters that no key has.\n{_SET_UP}"
        )
        raise RuntimeError(message)
    return key


def _auth_path(environ: Mapping[str, str]) -> Path:
    for variable in ("PRIME_AGENT_CODING_AGENT_DIR", "PI_CODING_AGENT_DIR"):
        if environ.get(variable):
            return Path(environ[variable]).expanduser() / "auth.json"
    return Path("~/.prime/agent/auth.json").expanduser()


def _stored_key(path: Path, environ: Mapping[str, str]) -> str:
    try:
        stored = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        message = f"{path} cannot be read: {type(error).__name__}.\n{_SET_UP}"
        # the text of a JSON error is the file's, and the file holds keys
        raise RuntimeError(message) from None
    entry = stored.get("serper") if isinstance(stored, dict) else None
    if not isinstance(entry, dict) or entry.get("type") != "api_key":
        return ""
    key = entry.get("key")
    if not isinstance(key, str):
        return ""
    if key.startswith("!"):
        message = (
            f"the key for Serper in {path} is a command, which a kernel does not run."
            f"\n{_SET_UP}"
        )
        raise RuntimeError(message)
    # a value may be the name of the variable that holds the key
    return environ.get(key, key).strip()
