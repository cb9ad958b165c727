"""What long work shows while it lasts, and takes away when it is done.

In a notebook it is one line in the cell, in a terminal a spinner, elsewhere nothing.
Nothing of it stays in a saved notebook, and in a kernel nothing goes to stderr:
nbval and every other runner of notebooks would count that as output.

A request that denies stdin comes from a program (nbval, nbclient, papermill): nobody
watches, so nothing is shown. ``NO_COLOR`` silences too; ``PRIME_SKILLS_PROGRESS`` set
to ``0`` or ``1`` decides over all of that.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextvars import Context, copy_context
from html import escape
from threading import RLock, Timer
from types import TracebackType
from typing import Any, Final, Protocol, Self, final
from uuid import uuid4

__all__ = ["DELAY_S", "Line", "Progress", "choose_line"]

#: Work that is done sooner shows nothing, in seconds: no flicker, no trace.
DELAY_S: Final = 0.4


class Line(Protocol):
    """A place for one line of text."""

    def show(self, text: str) -> None:
        """Show a text in place of the one before."""

    def clear(self) -> None:
        """Leave the place as it was before the first text."""


@final
class Progress:
    """Says what is being done: ``with progress: … progress.say("Installing") …``.

    It may be entered again and again, also while it is entered. Outside of ``with``
    saying something shows nothing.

    Args:
        environ: The environment variables to obey; ``None`` means the process's, as
            they are when the work begins.
        delay_s: How long work lasts before it shows, in seconds.
    """

    def __init__(
        self, *, environ: Mapping[str, str] | None = None, delay_s: float = DELAY_S
    ) -> None:
        self._environ = environ
        self._delay_s = delay_s
        self._lock = RLock()
        self._depth = 0
        self._text = ""
        self._line: Line | None = None
        self._timer: Timer | None = None
        self._shown = False

    def __enter__(self) -> Self:
        with self._lock:
            self._depth += 1
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._end()

    def say(self, text: str) -> None:
        """Tell the step that begins now, in a few words."""
        with self._lock:
            if self._depth == 0:
                return
            self._text = " ".join(text.split())
            if self._shown:
                self._show()
            elif self._timer is None:
                self._begin()

    def _begin(self) -> None:
        environ = os.environ if self._environ is None else self._environ
        self._line = choose_line(environ=environ)
        if self._line is None:
            return
        if self._delay_s <= 0:
            self._shown = True
            self._show()
            return
        # a cell is known by context variables, which a new thread does not have
        self._timer = Timer(self._delay_s, self._appear, args=[copy_context()])
        self._timer.daemon = True
        self._timer.start()

    def _appear(self, context: Context) -> None:
        with self._lock:
            if self._timer is not None:
                self._shown = True
                context.run(self._show)

    def _show(self) -> None:
        if self._line is not None:
            self._line.show(self._text)

    def _end(self) -> None:
        line, timer, shown = self._line, self._timer, self._shown
        self._line, self._timer, self._shown = None, None, False
        if timer is not None:
            timer.cancel()
        if line is not None and shown:
            line.clear()


def choose_line(*, environ: Mapping[str, str]) -> Line | None:
    """Return the place where progress is seen now, ``None`` when nobody looks."""
    wanted = environ.get("PRIME_SKILLS_PROGRESS")
    if wanted == "0" or (wanted != "1" and environ.get("NO_COLOR")):
        return None
    shell = _running_shell()
    if (kernel := getattr(shell, "kernel", None)) is not None:
        request = kernel.get_parent("shell").get("content", {})
        if wanted != "1" and not request.get("allow_stdin", False):
            return None
        return _CellLine(shell.display_pub, alone=_is_one_line(request.get("code", "")))
    return _TerminalLine() if sys.stderr is not None and sys.stderr.isatty() else None


def _running_shell() -> Any:
    # the command line never loads IPython; where a shell runs, it is loaded
    if (module := sys.modules.get("IPython.core.getipython")) is None:
        return None
    return module.get_ipython()


def _is_one_line(code: str) -> bool:
    lines = (line.strip() for line in code.splitlines())
    return sum(1 for line in lines if line and not line.startswith("#")) == 1


@final
class _CellLine:
    """One display in the running cell, rewritten in place.

    It is opened without content, so that whatever does not follow updates (nbval does
    not) sees nothing in it. At the end it is emptied; where the cell is this one line
    and can have no other output, it is removed altogether.
    """

    def __init__(self, display: Any, *, alone: bool) -> None:
        self._display = display
        self._id = uuid4().hex
        self._alone = alone
        self._open = False

    def show(self, text: str) -> None:
        if not self._open:
            self._open = True
            self._publish({}, update=False)
        styled = f"<span style='opacity:0.7'>◌ {escape(text)}…</span>"
        self._publish({"text/plain": f"{text}…", "text/html": styled}, update=True)

    def clear(self) -> None:
        self._publish({}, update=True)
        if self._alone:
            self._display.clear_output()

    def _publish(self, data: dict[str, str], *, update: bool) -> None:
        transient = {"display_id": self._id}
        self._display.publish(data, metadata={}, transient=transient, update=update)


@final
class _TerminalLine:
    """A spinner on the terminal's stderr, gone without a trace."""

    def __init__(self) -> None:
        self._status: Any = None

    def show(self, text: str) -> None:
        if self._status is None:
            from rich.console import Console  # noqa: PLC0415 - only when it is slow

            self._status = Console(stderr=True).status("")
            self._status.start()
        from rich.markup import escape as escape_markup  # noqa: PLC0415 - as above

        self._status.update(f"{escape_markup(text)}…")

    def clear(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None
