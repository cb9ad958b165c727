"""How often the skills of one kernel are used: taken note of, written now and then.

The kernel counts calls where they are made; here they get the name of their skill.
What the file looks like is ``prompt.usage``'s.
"""

from __future__ import annotations

import atexit
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

from prime_skills_ext.kernel.terms import take_calls
from prime_skills_ext.later import later

if TYPE_CHECKING:
    from prime_skills_ext.prompt import usage
    from prime_skills_ext.prompt.usage import Usage
    from prime_skills_ext.snapshot import Snapshot
else:
    usage = later("prime_skills_ext.prompt.usage")  # a load counts nothing

__all__ = ["Counting"]

#: Uses are written at most that often, and at the end.
_INTERVAL_S: Final = 60.0
#: At the end of a kernel another one is waited for, but not for long.
_PATIENCE_S: Final = 1.0


@final
class Counting:
    """The numbers of one kernel.

    Args:
        agent_directory: Where they are kept.
        is_on: Whether uses count; asked each time.
        snapshot: Gives what the last run of the stages found; ``None`` before one.
    """

    def __init__(
        self,
        agent_directory: Path,
        *,
        is_on: Callable[[], bool],
        snapshot: Callable[[], Snapshot | None],
    ) -> None:
        self._agent_directory = agent_directory
        self._is_on = is_on
        self._snapshot = snapshot
        self._usage: Usage | None = None
        self._next_write = time.monotonic() + _INTERVAL_S
        # one object, so that it can be taken back
        self._at_end = partial(self.write, wait_s=_PATIENCE_S)

    @property
    def usage(self) -> Usage:
        """How often each skill was used on this machine."""
        if self._usage is None:
            self._usage = usage.Usage(usage.usage_file(self._agent_directory))
        return self._usage

    def at_first(self) -> Mapping[str, int]:
        """Return how often each skill was used before this kernel asked."""
        if not self._is_on():
            return {}
        return {name: uses.total for name, uses in self.usage.at_first().items()}

    def add_activation(self, name: str) -> None:
        """Count that the instructions of a skill were used."""
        if self._is_on():
            self.usage.add(name, activations=1)

    def take_note(self) -> None:
        """Count the calls since the last time; nothing is written."""
        snapshot = self._snapshot()
        if snapshot is None:
            return
        # taken where nothing counts, too: they must not count later
        calls = _take_calls(snapshot)
        if self._is_on():
            for name, count in calls.items():
                self.usage.add(name, calls=count)

    def write(self, *, wait_s: float = 0.0) -> None:
        """Write down what was counted, if anything was.

        Args:
            wait_s: Longest to wait for another kernel that does so, in seconds.
        """
        self.take_note()
        if self._usage is not None and self._is_on():
            self._usage.write(wait_s=wait_s)

    def after_cell(self) -> None:
        """Write down what was counted, once in a while."""
        now = time.monotonic()
        if now >= self._next_write:
            self._next_write = now + _INTERVAL_S
            self.write()

    def begin(self) -> None:
        """Have it written when the process ends."""
        atexit.register(self._at_end)

    def end(self) -> None:
        """Write now, and not when the process ends."""
        self._at_end()
        atexit.unregister(self._at_end)


def _take_calls(snapshot: Snapshot) -> dict[str, int]:
    """Return how often each skill was called since this was last asked, by name."""
    calls = {
        identity: count
        for identity, value in snapshot.bindings.values.items()
        if (count := take_calls(value))
    }
    if not calls:
        return {}
    found: dict[str, int] = {}
    for item in snapshot.catalogue.skills:
        if count := calls.get(item.skill.identity, 0):
            found[item.name] = found.get(item.name, 0) + count
    return found
