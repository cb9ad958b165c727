"""Who has code executed: a person, or a model through its host.

A host marks the cells of its model: an execute request with the metadata
``{"prime_skills": {"caller": "model"}}``. Everything else is a person's, a terminal
with all that is typed there as well. What a cell leaves running stays its own.

ipykernel 7 knows the request of each task. In ipykernel 6 the newest request counts for
all of them, so the tasks are told apart here. A thread that somebody starts without
their context goes by the newest request in both.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, Literal, final

from IPython.core.getipython import get_ipython

__all__ = ["Caller", "caller", "watch"]

Caller = Literal["model", "user"]

#: The caller of the cell that a task belongs to, where the kernel cannot say.
_OF_CELL: ContextVar[Caller] = ContextVar("prime_skills_caller")


@final
class _Requests:
    """The task that ipykernel 6 takes up requests in, one after the other."""

    __slots__ = ("task",)

    def __init__(self) -> None:
        self.task: weakref.ref[asyncio.Task[Any]] | None = None


_REQUESTS = _Requests()


def caller() -> Caller:
    """Say who has the code executed that asks."""
    kernel = getattr(get_ipython(), "kernel", None)
    if kernel is None:
        return "user"  # a terminal, or no shell at all
    kept = _OF_CELL.get(None)
    if kept is not None and not _is_between_cells():
        return kept
    return _marked(kernel)


def watch(shell: Any) -> Callable[[], None]:
    """Keep apart whose tasks are whose, where the kernel of ``shell`` does not.

    Args:
        shell: A shell of IPython.

    Returns:
        A function that ends it.
    """
    kernel = getattr(shell, "kernel", None)
    # private, but the fallback is right as well
    if kernel is None or isinstance(getattr(kernel, "_shell_parent", None), ContextVar):
        return lambda: None

    # pre_run_cell is not told of silent cells; these are
    def begin() -> None:
        _OF_CELL.set(_marked(kernel))

    def end() -> None:
        # expressions of the request follow, and messages of widgets
        with suppress(RuntimeError):
            task = asyncio.current_task()
            _REQUESTS.task = None if task is None else weakref.ref(task)

    events = (("pre_execute", begin), ("post_execute", end))
    for name, callback in events:
        shell.events.register(name, callback)

    def undo() -> None:
        _REQUESTS.task = None
        for name, callback in events:
            with suppress(ValueError):  # somebody took it away
                shell.events.unregister(name, callback)

    return undo


def _is_between_cells() -> bool:
    """Whether this runs where requests are taken up: the newest is the one then."""
    known = _REQUESTS.task
    try:
        return known is not None and known() is asyncio.current_task()
    except RuntimeError:  # a thread without a loop
        return False


def _marked(kernel: Any) -> Caller:
    request: object = kernel.get_parent()
    for key in ("metadata", "prime_skills"):
        request = request.get(key) if isinstance(request, Mapping) else None
    mark = request.get("caller") if isinstance(request, Mapping) else None
    return "model" if mark == "model" else "user"
