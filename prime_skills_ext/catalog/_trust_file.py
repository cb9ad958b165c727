"""``trust.json``: entries in, entries out, replaced by rename.

A file that cannot be read, is not what it should be or can be written by others has
no entries and one diagnostic.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple, final

from prime_skills_ext.catalog.reading import read_file
from prime_skills_ext.errors import TrustError
from prime_skills_ext.skill.model import Diagnostic
from prime_skills_ext.writing import exclusive, replace_text

__all__ = ["Entry", "TrustFile"]

_SCHEMA: Final = 1
_MAX_BYTES: Final = 1 << 24


@final
class Entry(NamedTuple):
    """One decision.

    Attributes:
        trusted: What was decided.
        owner: Number of the owner that was accepted, when that is somebody else.
        pins: Content hash of each skill; ``None`` when the content does not matter.
    """

    trusted: bool
    owner: int | None = None
    pins: Mapping[str, str] | None = None


_Answer = tuple[Mapping[str, Entry], Diagnostic | None]


@final
class TrustFile:
    """The file, read again only when it was replaced."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stamp: tuple[int, ...] | None = None
        self._answer: _Answer = ({}, None)

    def read(self) -> _Answer:
        """Return the decisions by real path, and what is wrong with the file."""
        stamp = self._current_stamp()
        if stamp is None or stamp != self._stamp:
            self._answer = self._read()
            self._stamp = stamp
        return self._answer

    def write(self, root: str, entry: Entry) -> None:
        """Set one decision.

        Raises:
            TrustError: The file cannot be written, or cannot be read for certain.
        """
        try:
            with exclusive(Path(f"{self.path}.lock")):
                entries, problem = self._read()
                if problem is not None:
                    # starting anew would lose decisions that are still in there
                    raise TrustError(
                        problem.message, fix=problem.fix, path=problem.path
                    )
                self._replace({**entries, root: entry})
        except OSError as error:
            raise TrustError(
                "The decision cannot be written to trust.json in the agent directory",
                fix=f"make {self.path.parent} writable, or let other kernels finish",
                path=self.path,
            ) from error

    def _current_stamp(self) -> tuple[int, ...] | None:
        try:
            found = self.path.stat()
        except OSError:
            return None
        # the mode and owner count: they decide whether the file is believed
        return (
            found.st_dev,
            found.st_ino,
            found.st_mtime_ns,
            found.st_size,
            found.st_mode,
            found.st_uid,
        )

    def _read(self) -> _Answer:
        try:
            data = read_file(self.path, limit=_MAX_BYTES)
            mode = self.path.stat().st_mode
        except FileNotFoundError:
            return {}, None
        except OSError:
            return self._refuse("cannot be read", f"chmod 600 {self.path}")
        if os.name != "nt" and mode & (stat.S_IWGRP | stat.S_IWOTH):
            return self._refuse("can be changed by others", f"chmod 600 {self.path}")
        try:
            return _parse(json.loads(data)), None
        except (ValueError, RecursionError):
            return self._refuse(
                "is damaged",
                f"move {self.path} away, then run %skill trust where you need it",
            )

    def _refuse(self, why: str, fix: str) -> _Answer:
        return {}, Diagnostic(
            code="trust-store",
            message=f"trust.json in the agent directory {why}: no project is trusted.",
            fix=fix,
            path=self.path,
        )

    def _replace(self, entries: Mapping[str, Entry]) -> None:
        content = {
            "schema": _SCHEMA,
            "roots": {root: _to_json(entry) for root, entry in entries.items()},
        }
        text = json.dumps(content, indent=2, sort_keys=True) + "\n"
        # a decision, unlike a record, cannot be made again by us
        replace_text(self.path, text=text, durable=True)


def _to_json(entry: Entry) -> dict[str, object]:
    found = {"trusted": entry.trusted, "owner": entry.owner, "pins": entry.pins}
    return {key: value for key, value in found.items() if value is not None}


def _parse(content: object) -> dict[str, Entry]:
    """Read the whole file or nothing: half a store is no store."""
    if not isinstance(content, dict) or content.get("schema") != _SCHEMA:
        raise ValueError("not a trust store of this version")
    roots = content.get("roots")
    if not isinstance(roots, dict):
        raise ValueError("no roots")  # noqa: TRY004 - one error for all that is damaged
    return {root: _parse_entry(entry) for root, entry in roots.items()}


def _parse_entry(content: object) -> Entry:
    if not isinstance(content, dict):
        raise ValueError("not an entry")  # noqa: TRY004 - as above
    trusted, owner, pins = (content.get(key) for key in ("trusted", "owner", "pins"))
    are_pins = pins is None or (
        isinstance(pins, dict) and all(isinstance(pin, str) for pin in pins.values())
    )
    is_owner = owner is None or (isinstance(owner, int) and not isinstance(owner, bool))
    if not isinstance(trusted, bool) or not are_pins or not is_owner:
        raise ValueError("not an entry")
    return Entry(trusted=trusted, owner=owner, pins=pins)
