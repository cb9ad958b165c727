"""The system's keyring, where the package ``keyring`` and a backend for it are there.

Optional: the extra ``keyring`` brings the package. It is imported when a key is
stored, used or removed, never to find out which providers have one: asking a locked
keyring can put a window in front of somebody.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from prime_skills_ext.catalog.looking import real_path

__all__ = ["erase", "fetch", "is_installed", "keep"]

#: From here on a backend encrypts; below are the null and the plain text ones.
_SAFE_PRIORITY: Final = 1


def is_installed() -> bool:
    """Say whether the package is there; whether a backend works is not asked."""
    return find_spec("keyring") is not None


def keep(provider: str, key: str, *, agent_directory: Path) -> bool:
    """Store a key and read it back.

    Returns:
        Whether it is there now. Without a backend that encrypts nothing is stored.
    """
    if not is_installed():
        return False
    service = _service(agent_directory)
    try:
        keyring = _keyring()
        if keyring.get_keyring().priority < _SAFE_PRIORITY:
            return False
        keyring.set_password(service, provider, key)
        return bool(keyring.get_password(service, provider) == key)
    except Exception:  # noqa: BLE001  # a backend is a stranger's code
        return False


def fetch(provider: str, *, agent_directory: Path) -> str | None:
    """Return a key; ``None`` if there is none or it cannot be read now."""
    if not is_installed():
        return None
    try:
        key = _keyring().get_password(_service(agent_directory), provider)
    except Exception:  # noqa: BLE001  # a backend is a stranger's code
        return None
    return key if isinstance(key, str) and key else None


def erase(provider: str, *, agent_directory: Path) -> bool:
    """Remove a key.

    Returns:
        Whether it is gone; ``False`` if that cannot be said.
    """
    if not is_installed():
        return False
    service = _service(agent_directory)
    try:
        keyring = _keyring()
        if keyring.get_password(service, provider) is not None:
            keyring.delete_password(service, provider)
    except Exception:  # noqa: BLE001  # a backend is a stranger's code
        return False
    return True


def _keyring() -> Any:
    return import_module("keyring")


def _service(agent_directory: Path) -> str:
    # two agent directories must not share, or remove, each other's keys
    return f"prime-skills {real_path(agent_directory)}"
