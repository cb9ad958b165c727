"""Who executes code of a skill just now, in other threads.

Looks at frames and keeps no books: a call is seen however it was started. It
changes nothing.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import threading
from asyncio import AbstractEventLoop, Task
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from types import (
    AsyncGeneratorType,
    CoroutineType,
    FrameType,
    GeneratorType,
    ModuleType,
)
from typing import Any, Final

__all__ = ["calls_in_threads"]

#: What can stand in a chain of awaits and has a frame of its own.
_SUSPENDED: Final = (CoroutineType, GeneratorType, AsyncGeneratorType)
_MAX_AWAITS: Final = 1000


def calls_in_threads(modules: Iterable[ModuleType], *, src: Path) -> int:
    """Count the calls of some modules that run in threads other than this one.

    Calls that wait in an event loop of another thread count as well: they may go on
    at any moment. Those that wait in a loop of this thread cannot.

    Args:
        modules: Whose code is meant.
        src: Where that code lies; code of it that is in no module counts, too.
    """
    # a skill may put anything in the place of a module
    namespaces = {id(getattr(module, "__dict__", None)) for module in modules}
    folder = f"{src}{os.sep}"

    def is_theirs(frame: FrameType) -> bool:
        return id(frame.f_globals) in namespaces or frame.f_code.co_filename.startswith(
            folder
        )

    here = threading.get_ident()
    calls = 0
    for thread, top in sys._current_frames().items():  # noqa: SLF001  # as documented
        if thread == here:
            continue
        frames = list(_callers(top))
        calls += any(map(is_theirs, frames))
        for loop in _loops(frames):
            calls += sum(
                any(map(is_theirs, _awaiting(task))) for task in _waiting(loop)
            )
    return calls


def _callers(top: FrameType | None) -> Iterator[FrameType]:
    while top is not None:
        yield top
        top = top.f_back


def _loops(frames: Collection[FrameType]) -> list[AbstractEventLoop]:
    """The event loops that a thread runs, whatever they are made of.

    One that is written in C has no frame, but whoever runs it has.
    """
    found: dict[int, AbstractEventLoop] = {}
    for frame in frames:
        for value in list(frame.f_locals.values()):
            loop = getattr(value, "_loop", None) if _is_runner(value) else value
            if isinstance(loop, AbstractEventLoop) and loop.is_running():
                found[id(loop)] = loop
    return list(found.values())


def _is_runner(value: object) -> bool:
    return isinstance(value, asyncio.Runner)


def _waiting(loop: AbstractEventLoop) -> list[Task[Any]]:
    """The tasks of a loop but the one that runs: its frames were seen already."""
    try:
        tasks = asyncio.all_tasks(loop)
    except RuntimeError:  # they come and go too fast to be counted
        return []
    return [task for task in tasks if task is not asyncio.current_task(loop)]


def _awaiting(task: Task[Any]) -> Iterator[FrameType]:
    """The frames of everything that a task waits through."""
    current: object = task.get_coro()
    for _ in range(_MAX_AWAITS):
        if isinstance(current, CoroutineType):
            frame, current = current.cr_frame, current.cr_await
        elif isinstance(current, GeneratorType):
            frame, current = current.gi_frame, current.gi_yieldfrom
        elif isinstance(current, AsyncGeneratorType):
            frame, current = current.ag_frame, current.ag_await
        else:
            # one step of an asynchronous generator does not say of which
            current = next(filter(_is_suspended, gc.get_referents(current)), None)
            if current is None:
                return
            continue
        if frame is not None:
            yield frame


def _is_suspended(value: object) -> bool:
    return isinstance(value, _SUSPENDED)
