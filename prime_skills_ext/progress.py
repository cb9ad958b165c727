"""What long work tells while it lasts: events, and the feed that hands them on.

Whoever works knows a ``Listener``; how an event looks is ``views.progress``'s. The
fields of an event are what hosts rely on: fields may be added, none changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import RLock
from typing import Literal, final

__all__ = ["Feed", "Listener", "ProgressEvent", "Stage", "counted"]

Stage = Literal[
    "waiting",  # for another process that installs into the same environment
    "environment",  # a virtual environment is made
    "resolving",  # versions are chosen
    "downloading",
    "building",  # a build backend runs
    "installing",
    "checking",  # a new environment is started once
    "importing",
    "ready",  # the last event of what began with any other
]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class ProgressEvent:
    """One step of long work.

    Attributes:
        stage: What is being done, for programs.
        message: The same for people: one line, no path, no time.
        done: How much of ``total`` is behind; ``None`` where nothing is counted.
        total: How much there is to do in this stage; ``None`` as above.
        skill: The name of the one skill that it is about, ``None`` for several.
    """

    stage: Stage
    message: str
    done: int | None = None
    total: int | None = None
    skill: str | None = None


#: Is told each step, in the thread that works; what it raises ends the work.
Listener = Callable[[ProgressEvent], None]


@final
class Feed:
    """Hands what is told on to all who listen.

    Whoever begins to listen while work is going on is told the latest step at once.
    """

    def __init__(self, *listeners: Listener) -> None:
        self._lock = RLock()
        self._listeners = [*listeners]
        self._latest: ProgressEvent | None = None

    @property
    def latest(self) -> ProgressEvent | None:
        """The step that work is at; ``None`` when nothing was told in it yet."""
        return self._latest

    def tell(self, event: ProgressEvent) -> None:
        """Tell everybody a step."""
        # locked: who joins meanwhile is told it once, not twice and not never
        with self._lock:
            self._latest = event
            for listener in [*self._listeners]:
                listener(event)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Tell ``listener`` all that comes; return what ends that."""
        with self._lock:
            self._listeners.append(listener)
            if self._latest is not None:
                listener(self._latest)

        def stop() -> None:
            with self._lock:
                if listener in self._listeners:
                    self._listeners.remove(listener)

        return stop

    @contextmanager
    def work(self) -> Iterator[None]:
        """Enclose work: what it told last is the past when it has ended."""
        self._latest = None
        try:
            yield
        finally:
            self._latest = None


def counted(count: int, noun: str) -> str:
    """``1 skill``, ``2 skills``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
