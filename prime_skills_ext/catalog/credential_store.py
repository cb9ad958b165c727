"""Storing and removing keys: ``auth.json`` in the agent directory, or the keyring.

The file has the reference's format and may hold other programs' logins, so whatever
else stands in it is kept, and one that cannot be read for certain is never
overwritten. No key ever stands in a message, a repr or the locals of a frame that a
traceback can show.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal, NoReturn, final

from prime_skills_ext.catalog import system_keyring
from prime_skills_ext.catalog.credentials import (
    is_in_keyring,
    is_variable,
    read_entries,
)
from prime_skills_ext.catalog.looking import real_path
from prime_skills_ext.errors import CredentialError
from prime_skills_ext.skill.model import Diagnostic
from prime_skills_ext.writing import exclusive, replace_text

__all__ = ["CredentialStore", "Secret", "Where"]

Where = Literal["auth.json", "keyring"]

_MAX_CHARS: Final = 1 << 16
_Entries = dict[str, Any]


@final
class Secret:
    """Text that shows itself to nobody who does not ask for it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text."""
        return self._text

    def __repr__(self) -> str:
        return "<secret>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not pickled")


@final
class CredentialStore:
    """The keys of one user.

    Args:
        agent_directory: Where ``auth.json`` lies.
    """

    def __init__(self, agent_directory: Path) -> None:
        self._agent_directory = agent_directory

    @property
    def path(self) -> Path:
        """The file; where that is a link, what it leads to."""
        return Path(real_path(self._agent_directory / "auth.json"))

    def providers(self) -> tuple[str, ...]:
        """Name the providers that have an entry, whatever it is worth."""
        entries, _ = read_entries(self._agent_directory)
        return tuple(sorted(entries))

    def save(self, provider: str, secret: Secret) -> Where:
        """Keep a key; it takes the place of an earlier one.

        Returns:
            Where it is kept: in the keyring, if there is one that works.

        Raises:
            CredentialError: It cannot be a key, or the file cannot be read for
                certain or written.
        """
        _check(provider, secret)
        where: Where = "auth.json"

        def change(entries: _Entries) -> None:
            nonlocal where
            if self._keep(provider, secret):
                where = "keyring"
                entries[provider] = {"type": "keyring"}
            else:
                entries[provider] = {"type": "api_key", "key": secret.reveal()}

        self._update(change)
        return where

    def remove(self, *providers: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Remove the entries of providers.

        Returns:
            Those that had one, and those of them whose key may still be in the
            keyring.

        Raises:
            CredentialError: The file cannot be read for certain or written.
        """
        removed: list[str] = []
        left: list[str] = []

        def change(entries: _Entries) -> None:
            for provider in providers:
                entry = entries.pop(provider, None)
                if entry is None:
                    continue
                removed.append(provider)
                if is_in_keyring(entry) and not self._erase(provider):
                    left.append(provider)

        self._update(change)
        return tuple(removed), tuple(left)

    def _keep(self, provider: str, secret: Secret) -> bool:
        directory = self._agent_directory
        return system_keyring.keep(provider, secret.reveal(), agent_directory=directory)

    def _erase(self, provider: str) -> bool:
        return system_keyring.erase(provider, agent_directory=self._agent_directory)

    def _update(self, change: Callable[[_Entries], None]) -> None:
        """Read, change and replace the file, one process at a time."""
        problem = self._try_update(change)
        if problem is not None:
            # raised here, where no frame below holds what stands in the file
            raise CredentialError(problem.message, fix=problem.fix, path=problem.path)

    def _try_update(self, change: Callable[[_Entries], None]) -> Diagnostic | None:
        path = self.path
        try:
            # the reference makes a folder auth.json.lock when it writes
            with exclusive(Path(f"{path}.prime-skills.lock")):
                found, problem = read_entries(self._agent_directory, for_writing=True)
                if problem is not None:
                    return problem
                entries = dict(found)
                change(entries)
                if entries != found:
                    text = json.dumps(entries, indent=2)
                    replace_text(path, text=f"{text}\n", durable=True)
        except OSError:
            return Diagnostic(
                code="auth-file",
                message="auth.json in the agent directory cannot be written.",
                fix=f"make {path.parent} writable, or let other kernels finish",
                path=path,
            )
        return None


def _check(provider: str, secret: Secret) -> None:
    reason = _why_not(secret.reveal())
    if reason is not None:
        raise CredentialError(
            f"what was entered cannot be a key for {provider}: {reason}",
            fix="copy the key again; nothing was stored",
        )


def _why_not(text: str) -> str | None:
    if not text:
        return "it is empty"
    if len(text) > _MAX_CHARS:
        return f"it is longer than {_MAX_CHARS} characters"
    if not text.isprintable() or " " in text:
        return "it holds spaces or control characters"
    if text.startswith("!"):
        return "one that begins with an exclamation mark counts as a command"
    if is_variable(text) and not os.environ.get(text, "").strip():
        return "it reads as the name of an environment variable, which is not set"
    return None
