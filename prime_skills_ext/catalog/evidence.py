"""What an answer was based on, so that an equal world need not be asked again.

Evidence is gathered after an answer was found and holds as long as looking again would
find the same: every file and folder is what it was, and every other question has the
answer that it had. In doubt it does not hold.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from operator import attrgetter
from pathlib import Path
from typing import Final, final

__all__ = ["Evidence"]

#: Clocks of file systems tick once in two seconds at worst.
_SAFE_AGE_NS: Final = 3 * 10**9
#: Windows keeps the time of creation in the place of the time of change.
_HAS_CHANGE_TIME: Final = os.name != "nt"

_Mark = tuple[int, ...]
_mark: Final[Callable[[os.stat_result], _Mark]] = attrgetter(
    "st_mtime_ns", "st_ctime_ns", "st_size", "st_ino", "st_dev"
)


@final
class Evidence:
    """What one run of the stages went by.

    A folder stands for the names in it, a file for its content. One that changed a
    moment before the run may change again without its times moving: with such a one
    among them the evidence never holds.

    Args:
        since_ns: When the run began, as ``time.time_ns`` tells it.
    """

    def __init__(self, *, since_ns: int) -> None:
        self._youngest = since_ns - _SAFE_AGE_NS
        self._marks: dict[str, _Mark] = {}
        self._absent: set[str] = set()
        self._answers: list[tuple[Callable[[], object], object]] = []
        self._is_firm = _HAS_CHANGE_TIME

    def add_paths(self, paths: Iterable[str | Path]) -> None:
        """Add what was looked at; it may exist or not."""
        for path in map(str, paths):
            if path in self._marks or path in self._absent:
                continue
            try:
                mark = _mark(os.stat(path))  # noqa: PTH116 - thousands of them
            except (OSError, ValueError):
                # who appears in a folder that is looked at changes that
                if os.path.dirname(path) not in self._marks or os.path.lexists(path):  # noqa: PTH120 - as above
                    self._absent.add(path)
                continue
            self._marks[path] = mark
            if max(mark[:2]) > self._youngest:
                self._is_firm = False

    def add_answer(self, ask: Callable[[], object], *, answer: object) -> None:
        """Add a question that can be asked again at little cost, and its answer."""
        self._answers.append((ask, answer))

    def doubt(self) -> None:
        """Say that something was looked at which cannot be told here."""
        self._is_firm = False

    def holds(self) -> bool:
        """Say whether everything is as it was."""
        if not self._is_firm:
            return False
        stat, mark = os.stat, _mark
        try:
            for path, before in self._marks.items():
                if mark(stat(path)) != before:
                    return False
        except OSError:
            return False
        return not any(map(_exists, self._absent)) and all(
            ask() == answer for ask, answer in self._answers
        )


def _exists(path: str) -> bool:
    try:
        os.stat(path)  # noqa: PTH116 - as above
    except (OSError, ValueError):
        return False
    return True
