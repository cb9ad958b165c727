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
from typing import Any, NamedTuple

from IPython.core.getipython import get_ipython

from prime_skills_ext.skill.model import Caller

__all__ = ["caller", "watch"]


class _Cell(NamedTuple):
    """The cell that code belongs to, where the kernel cannot say.

    Attributes:
        caller: Who has it executed.
        request: The message that asks for it; ``None`` when that asks for no cell.
        task: In which it began.
        depth: How many cells it is by now: code may run cells itself.
    """

    caller: Caller
    request: str | None
    task: weakref.ref[asyncio.Task[Any]] | None
    depth: int = 1


_CELL: ContextVar[_Cell | None] = ContextVar("prime_skills_cell", default=None)


def caller() -> Caller:
    """Say who has the code executed that asks."""
    kernel = getattr(get_ipython(), "kernel", None)
    if kernel is None:
        return "user"  # a terminal, or no shell at all
    cell = _CELL.get()
    return _marked(kernel) if cell is None else cell.caller


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
        _CELL.set(_begun(kernel, outer=_CELL.get()))

    def end() -> None:
        cell = _CELL.get()
        if cell is None:
            return  # of an `await`: it began in a task of its own
        if cell.depth > 1:
            _CELL.set(cell._replace(depth=cell.depth - 1))
        elif cell.task == _task():
            # expressions of the request follow, and messages of widgets
            _CELL.set(None)

    events = (("pre_execute", begin), ("post_execute", end))
    for name, callback in events:
        shell.events.register(name, callback)

    def undo() -> None:
        for name, callback in events:
            with suppress(ValueError):  # somebody took it away
                shell.events.unregister(name, callback)

    return undo


def _begun(kernel: Any, *, outer: _Cell | None) -> _Cell:
    request, task = _asks_for(kernel), _task()
    if outer is not None and outer.request is not None:
        # cells of two requests in one task: the end of the first went unheard
        is_left_over = outer.request != request and outer.task == task is not None
        if not is_left_over:
            return outer._replace(depth=outer.depth + 1)
    return _Cell(_marked(kernel), request, task)


def _task() -> weakref.ref[asyncio.Task[Any]] | None:
    try:
        task = asyncio.current_task()
    except RuntimeError:  # a thread without a loop
        return None
    return None if task is None else weakref.ref(task)


def _asks_for(kernel: Any) -> str | None:
    """Return the id of the request for a cell that is answered now, if it is one."""
    header = kernel.get_parent().get("header", {})
    is_cell = header.get("msg_type") == "execute_request"
    return header.get("msg_id") if is_cell else None


def _marked(kernel: Any) -> Caller:
    request: object = kernel.get_parent()
    for key in ("metadata", "prime_skills"):
        request = request.get(key) if isinstance(request, Mapping) else None
    mark = request.get("caller") if isinstance(request, Mapping) else None
    return "model" if mark == "model" else "user"
