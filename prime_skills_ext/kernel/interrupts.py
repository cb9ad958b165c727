"""Interrupts while skills are awaited: they take effect at once.

Two things are in the way of that in a kernel. A cell with ``await`` in it runs under a
handler that cancels the cell from the loop: a ``run`` that computes without giving the
loop a turn never notices, so a handler of ours raises where a skill's code is running,
and passes everything else on; to a handler of the user's own, that as well. And nothing
wakes a loop that is waiting, so the signal is made to, by its wakeup descriptor.

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
from contextlib import suppress
from types import CodeType, FrameType
from typing import Any, Final, TypeVar, final

__all__ = [
    "at_once",
    "begin",
    "cut",
    "end",
    "ends_loop",
    "hand_over",
    "leave_task",
    "renew",
    "shield",
    "stoppable",
]

T = TypeVar("T")

_SIGINT: Final = int(signal.SIGINT)
_DEFAULT: Final = signal.default_int_handler
#: On the ``KeyboardInterrupt`` that the handler raised.
_MARK: Final = "_prime_skills_signal"
#: ipykernel takes two turns of the loop to cancel a cell.
_TURNS_TO_CANCEL: Final = 8
#: Packages whose handlers do not raise, but have the loop cancel a task.
_DEFERRING: Final = frozenset({"asyncio", "ipykernel"})
#: Functions of ours whose callees are stopped by an interrupt.
_STOPPABLE: set[CodeType] = set()
#: Functions of ours whose callees are not.
_SHIELDED: set[CodeType] = set()
#: Where an interrupt would upset the books: the files of those functions, and this.
_OURS: set[str] = {__file__}


#: Calls in one turn of the loop that each put back what they changed. Those after
#: them leave it to the loop's next turn: twice two system calls are most of the time
#: that a call takes which does not wait, and nothing could be noticed between two.
_EXACT_CALLS: Final = 16


@final
class _State:
    """What is in place now.

    Attributes:
        main: The thread that handles signals.
        calls: Calls that run.
        ended: How often there was none left, in this turn of the loop.
        held: The loop whose next turn puts back what is in place.
        previous: The handler that ours stands before.
        turn: The loop that was asked for a turn, which shows that a call waits.
        descriptor: The wakeup descriptor that was set.
    """

    __slots__ = (
        "calls",
        "descriptor",
        "ended",
        "held",
        "main",
        "previous",
        "turn",
    )

    def __init__(self) -> None:
        self.main = threading.main_thread().ident
        self.calls = self.ended = 0
        self.previous: Any = _DEFAULT
        self.held: asyncio.AbstractEventLoop | None = None
        self.turn: asyncio.AbstractEventLoop | None = None
        self.descriptor: int | None = None


_STATE: Final = _State()


def stoppable(function: Callable[..., object]) -> None:
    """Let an interrupt stop what ``function`` calls, in the middle of its work."""
    code: CodeType = function.__code__
    _STOPPABLE.add(code)
    _OURS.add(code.co_filename)


def shield(function: Callable[..., object]) -> None:
    """Keep an interrupt from stopping ``function`` between two of its steps."""
    _SHIELDED.add(function.__code__)


def begin() -> bool:
    """Count a call that begins; ``end`` must follow if this says so."""
    if get_ident() != _STATE.main:
        return False  # signals are never handled here
    _STATE.calls += 1
    held = _STATE.held
    if held is None or held.is_closed():
        _install()
    return True


def end() -> None:
    """Count a call that ended; the last one puts everything back."""
    _STATE.calls -= 1
    if not _STATE.calls and _STATE.held is None:
        _STATE.ended += 1
        if _STATE.ended > _EXACT_CALLS:
            _STATE.held = _STATE.turn
        if _STATE.held is None:
            _put_back()


def at_once(work: Callable[[], T]) -> T:
    """Do what gives the loop no turn, and let an interrupt stop it all the same."""
    is_counted = begin()
    try:
        return work()
    except KeyboardInterrupt as error:
        cut(error)
        raise
    finally:
        if is_counted:
            end()


def renew() -> None:
    """Stand before the handler of a new cell: calls of earlier ones may still run."""
    if _STATE.calls and get_ident() == _STATE.main:
        _install()


def ends_loop(error: BaseException) -> bool:
    """Whether an interrupt would leave a task: that ends the loop, and a kernel.

    Where a cell's own code awaits, the shell catches it instead.
    """
    if not hasattr(error, _MARK) or _is_caught(sys._getframe(1)):  # noqa: SLF001  # the stack that signals see
        return False
    try:
        return asyncio.current_task() is not None
    except RuntimeError:  # no loop runs
        return False


async def hand_over() -> None:
    """Let the handler that was there before cancel what it cancels, this task too.

    It cancels the cell; what the cell awaits with this task must not be told first
    that this one ended, or the others would not be cancelled.
    """
    _STATE.previous(_SIGINT, None)
    with suppress(asyncio.CancelledError):
        for _ in range(_TURNS_TO_CANCEL):
            await asyncio.sleep(0)


def leave_task(error: KeyboardInterrupt) -> None:
    """Prepare an interrupt to leave a function that cannot await.

    Raises:
        CancelledError: In its place, where it would end the loop.
    """
    cut(error)
    if ends_loop(error):
        _STATE.previous(_SIGINT, None)
        raise asyncio.CancelledError from None


def cut(error: BaseException) -> None:
    """Take the handler off the end of a traceback: the skill's own line is the last."""
    trace = error.__traceback__ if hasattr(error, _MARK) else None
    while trace is not None and trace.tb_next is not None:
        if trace.tb_next.tb_frame.f_code is _interrupted.__code__:
            trace.tb_next = None
        trace = trace.tb_next


def _interrupted(number: int, frame: FrameType | None) -> None:
    if _stops(frame) and _defers(_STATE.previous):
        error = KeyboardInterrupt()
        setattr(error, _MARK, True)
        raise error
    _STATE.previous(number, frame)


def _defers(handler: object) -> bool:
    """Whether a handler cancels from the loop; any other one is the user's will."""
    function = getattr(handler, "func", handler)  # asyncio's own is a partial
    module = str(getattr(function, "__module__", None))
    return module.partition(".")[0] in _DEFERRING


def _stops(frame: FrameType | None) -> bool:
    if frame is None or frame.f_code.co_filename in _OURS:
        return False
    while frame is not None and frame.f_code not in _SHIELDED:
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


def _install() -> None:
    handler = _get(_SIGINT)
    if handler is not _interrupted and handler is not _DEFAULT and callable(handler):
        _STATE.previous = _set(_SIGINT, _interrupted)
    if _STATE.turn is not None and not _STATE.turn.is_closed():
        return
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:  # another framework's loop, or none
        _STATE.turn = None
        return
    _STATE.turn = loop
    loop.call_soon(_turn, loop)


def _turn(loop: asyncio.AbstractEventLoop) -> None:
    """What happens when the loop gets its next turn."""
    _STATE.turn = _STATE.held = None
    _STATE.ended = 0
    if _STATE.calls:
        _set_descriptor(loop)
    else:
        _put_back()


def _put_back() -> None:
    try:
        # whoever put another handler there meanwhile keeps it
        if _get(_SIGINT) is _interrupted:
            _set(_SIGINT, _STATE.previous)
        if _STATE.descriptor is not None:
            _unset_descriptor(_STATE.descriptor)
    except ValueError:
        pass  # collected in another thread: the next call puts it back


def _set_descriptor(loop: asyncio.AbstractEventLoop) -> None:
    """Let a signal wake the loop: some call waits."""
    # private to the loops of asyncio that wait in a selector; others wake themselves
    socket = getattr(loop, "_csock", None)
    if socket is None or _STATE.descriptor is not None:
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


stoppable(at_once)
