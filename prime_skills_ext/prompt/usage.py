"""How often each skill was used: numbers by name, kept on this machine.

The listing cuts the least used first, so it must know. A file in the agent directory
holds names and numbers, and nothing about when, where or with what. Losing it is no
harm: damaged it counts as empty, and a disk that is full is not the user's problem.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, final

from prime_skills_ext.writing import exclusive, replace_text

__all__ = ["Usage", "Uses", "usage_file"]

_SCHEMA: Final = 1
#: Of a file that is longer than any list of skills nothing is read.
_MAX_BYTES: Final = 1 << 22


@final
class Uses(NamedTuple):
    """How often one skill was used.

    Attributes:
        calls: Times that it was called as a function.
        activations: Times that its instructions were given to a model.
    """

    calls: int = 0
    activations: int = 0

    @property
    def total(self) -> int:
        """Both together."""
        return self.calls + self.activations

    def plus(self, other: Uses) -> Uses:
        """Return the sum with another count."""
        return Uses(self.calls + other.calls, self.activations + other.activations)


@final
class Usage:
    """The numbers of one kernel: what the file said, and what came since.

    Args:
        path: The file; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._pending: dict[str, Uses] = {}
        self._first: Mapping[str, Uses] | None = None

    def at_first(self) -> Mapping[str, Uses]:
        """Return what the file said when it was first asked for here.

        A listing goes by this, so that it stays the same for as long as a kernel
        lives, whatever is used meanwhile.
        """
        if self._first is None:
            self._first = _read(self.path)
        return self._first

    def now(self) -> dict[str, Uses]:
        """Return what the file says now, and what is not written yet."""
        return _sum(_read(self.path), self._pending)

    def add(self, name: str, *, calls: int = 0, activations: int = 0) -> None:
        """Count uses of a skill; nothing is written."""
        new = {name: Uses(calls, activations)}
        self._pending = _sum(self._pending, new)

    def write(self, *, wait_s: float) -> bool:
        """Add what is not written yet to the file.

        Args:
            wait_s: Longest to wait for another process that writes it, in seconds.

        Returns:
            Whether nothing is left to write.
        """
        if not self._pending:
            return True
        try:
            with exclusive(self._lock, timeout_s=wait_s):
                replace_text(self.path, text=_text(self.now()))
        except OSError:
            return False  # the next time, or never: numbers are not worth a word
        self._pending = {}
        return True

    def clear(self) -> bool:
        """Forget every number.

        Returns:
            Whether there was any.

        Raises:
            OSError: It cannot be removed.
        """
        with exclusive(self._lock):
            were_there = bool(self.now())
            self.path.unlink(missing_ok=True)
        self._pending = {}
        return were_there

    @property
    def _lock(self) -> Path:
        return Path(f"{self.path}.lock")


def usage_file(agent_directory: Path) -> Path:
    """Return where the numbers are kept."""
    return agent_directory / "prime-skills" / "usage.json"


def _read(path: Path) -> dict[str, Uses]:
    try:
        if path.stat().st_size > _MAX_BYTES:
            return {}
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict) or found.get("schema") != _SCHEMA:
        return {}
    skills = found.get("skills")
    if not isinstance(skills, dict):
        return {}
    return {
        name: Uses(_number(entry.get("calls")), _number(entry.get("activations")))
        for name, entry in skills.items()
        if isinstance(entry, dict)
    }


def _number(value: Any) -> int:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return value if is_count else 0


def _sum(one: Mapping[str, Uses], other: Mapping[str, Uses]) -> dict[str, Uses]:
    found = dict(one)
    for name, uses in other.items():
        found[name] = found.get(name, Uses()).plus(uses)
    return found


def _text(skills: Mapping[str, Uses]) -> str:
    entries = {name: skills[name]._asdict() for name in sorted(skills)}
    # escapes: a name that the file system could not decode is no UTF-8
    return json.dumps({"schema": _SCHEMA, "skills": entries}, indent=1) + "\n"
