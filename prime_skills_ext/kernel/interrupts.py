"""Interrupts while skills are awaited: they take effect at once.

Two things are in the way of that in a kernel. A cell with ``await`` in it runs under a
handler that cancels the cell from the loop: a ``run`` that computes without giving the
loop a turn never notices, so a handler of ours raises where a skill's code is running,
and passes everything else on. And nothing wakes a loop that is waiting, so the signal
is made to, by its wakeup descriptor.

Both are there while a call runs in the main thread, are counted, and are put back
exactly. Nothing here knows what a skill is.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import threading

# signal.signal turns numbers into enumerations and back, which takes ten times as long
# as what it does; a call may take half a microsecond, not five
from _signal import getsignal as _get  # type: ignore[import-not-found]
from _signal import signal as _set
from _thread import get_ident
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, Final, final

__all__ = ["begin", "cut", "end", "stoppable", "translate"]

_SIGINT: Final = int(signal.SIGINT)
_DEFAULT: Final = signal.default_int_handler
#: On the ``KeyboardInterrupt`` that the handler raised.
_MARK: Final = "_prime_skills_signal"
#: Functions of ours whose callees are stopped by an interrupt.
_STOPPABLE: set[CodeType] = set()
#: Where an interrupt would upset the books: the files of those functions, and this.
_OURS: set[str] = {__file__}


@final
class _State:
    """What is in place now.

    Attributes:
        main: The thread that handles signals.
        calls: Calls that run.
        previous: The handler that ours stands before.
        turn: The loop that was asked for a turn, which shows that a call waits.
        descriptor: The wakeup descriptor that was set.
    """

    __slots__ = ("calls", "descriptor", "main", "previous", "turn")

    def __init__(self) -> None:
        self.main = threading.main_thread().ident
        self.calls = 0
        self.previous: Any = _DEFAULT
        self.turn: asyncio.AbstractEventLoop | None = None
        self.descriptor: int | None = None


_STATE: Final = _State()


def stoppable(function: Callable[..., object]) -> None:
    """Let an interrupt stop what ``function`` calls, in the middle of its work."""
    code: CodeType = function.__code__  # type: ignore[attr-defined]  # a function has
    _STOPPABLE.add(code)
    _OURS.add(code.co_filename)


def begin() -> bool:
    """Count a call that begins; ``end`` must follow if this says so."""
    if get_ident() != _STATE.main:
        return False  # signals are never handled here
    handler = _get(_SIGINT)
    if handler is not _interrupted and handler is not _DEFAULT and callable(handler):
        _STATE.previous = _set(_SIGINT, _interrupted)
    _STATE.calls += 1
    turn = _STATE.turn
    if turn is None or turn.is_closed():
        _ask_for_turn()
    return True


def end() -> None:
    """Count a call that ended; the last one puts everything back."""
    _STATE.calls -= 1
    if _STATE.calls:
        return
    try:
        # whoever put another handler there meanwhile keeps it
        if _get(_SIGINT) is _interrupted:
            _set(_SIGINT, _STATE.previous)
        if _STATE.descriptor is not None:
            _unset_descriptor(_STATE.descriptor)
    except ValueError:
        pass  # collected in another thread: the next call puts it back


def translate(error: BaseException) -> asyncio.CancelledError | None:
    """Return what an interrupt is where nobody would catch a ``KeyboardInterrupt``.

    One that leaves a task ends the loop, and a kernel with it. So the handler that
    was there before is told, which cancels the cell, and the task is cancelled.
    """
    if not hasattr(error, _MARK) or _is_caught(sys._getframe(1)):  # noqa: SLF001  # the stack that signals see
        return None
    try:
        if asyncio.current_task() is None:
            return None
    except RuntimeError:  # no loop runs
        return None
    _STATE.previous(_SIGINT, None)
    return asyncio.CancelledError()


def cut(error: BaseException) -> None:
    """Take the handler off the end of a traceback: the skill's own line is the last."""
    trace = error.__traceback__ if hasattr(error, _MARK) else None
    while trace is not None and trace.tb_next is not None:
        if trace.tb_next.tb_frame.f_code is _interrupted.__code__:
            trace.tb_next = None
        trace = trace.tb_next


def _interrupted(number: int, frame: FrameType | None) -> None:
    if _stops(frame):
        error = KeyboardInterrupt()
        setattr(error, _MARK, True)
        raise error
    _STATE.previous(number, frame)


def _stops(frame: FrameType | None) -> bool:
    if frame is None or frame.f_code.co_filename in _OURS:
        return False
    while frame is not None:
        if frame.f_code in _STOPPABLE:
            return True
        frame = frame.f_back
    return False


def _is_caught(frame: FrameType | None) -> bool:
    """Whether the stack is that of a cell: the shell shows its exceptions."""
    shell = sys.modules.get("IPython.core.interactiveshell")
    if shell is None:
        return False
    code = shell.InteractiveShell.run_code.__code__
    while frame is not None:
        if frame.f_code is code:
            return True
        frame = frame.f_back
    return False


def _ask_for_turn() -> None:
    """See to it that a call that waits is woken; most calls never wait."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:  # another framework's loop, or none
        return
    _STATE.turn = loop
    loop.call_soon(_turn, loop)


def _turn(loop: asyncio.AbstractEventLoop) -> None:
    _STATE.turn = None
    # private to the loops of asyncio that wait in a selector; others wake themselves
    socket = getattr(loop, "_csock", None)
    if socket is None or not _STATE.calls or _STATE.descriptor is not None:
        return
    descriptor = socket.fileno()
    before = signal.set_wakeup_fd(descriptor, warn_on_full_buffer=False)
    if before == -1:
        _STATE.descriptor = descriptor
    else:
        signal.set_wakeup_fd(before)  # somebody else's, who wakes the loop


def _unset_descriptor(ours: int) -> None:
    now = signal.set_wakeup_fd(-1)
    if now not in (-1, ours):
        signal.set_wakeup_fd(now)
    _STATE.descriptor = None
