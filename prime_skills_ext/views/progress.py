"""What long work shows while it lasts, and takes away when it is done.

In a notebook it is one line in the cell, in a terminal a spinner, elsewhere nothing.
Nothing of it stays in a saved notebook, and in a kernel nothing goes to stderr:
nbval and every other runner of notebooks would count that as output.

A request that denies stdin comes from a program (nbval, nbclient, papermill): nobody
watches, so nothing is shown. ``NO_COLOR`` silences too; ``PRIME_SKILLS_PROGRESS``
decides over all of that: ``0`` for nothing, ``1`` for what people see, ``json`` for
events that a host reads, each the moment it happens: in a kernel a display of the type
``MIME_TYPE``, elsewhere a line on stderr.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import asdict
from html import escape
from threading import RLock, Timer
from types import TracebackType
from typing import Any, Final, Protocol, Self, TextIO, final
from uuid import uuid4

from prime_skills_ext.progress import Listener, ProgressEvent

__all__ = ["DELAY_S", "MIME_TYPE", "Line", "Progress", "choose_line", "log_to"]

#: Work that is done sooner shows nothing to people, in seconds: no flicker, no trace.
DELAY_S: Final = 0.4

#: What an event is displayed as in a kernel, where a host asked for events.
MIME_TYPE: Final = "application/vnd.prime-skills.progress+json"

_VARIABLE: Final = "PRIME_SKILLS_PROGRESS"


class Line(Protocol):
    """A place for the step that work is at."""

    #: Every step is wanted at once, also of work that is done soon.
    is_prompt: bool

    def show(self, event: ProgressEvent) -> None:
        """Show a step in place of the one before."""

    def clear(self) -> None:
        """Leave the place as it was before the first step."""


@final
class Progress:
    """Shows what is being done: ``with progress: … progress.say(event) …``.

    It may be entered again and again, also while it is entered. Outside of ``with``
    saying something shows nothing.

    Args:
        environ: The environment variables to obey; ``None`` means the process's, as
            they are when the work begins.
        delay_s: How long work lasts before people see it, in seconds.
    """

    def __init__(
        self, *, environ: Mapping[str, str] | None = None, delay_s: float = DELAY_S
    ) -> None:
        self._environ = environ
        self._delay_s = delay_s
        self._lock = RLock()
        self._depth = 0
        self._event: ProgressEvent | None = None
        self._has_begun = False
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

    def say(self, event: ProgressEvent) -> None:
        """Tell the step that begins now."""
        with self._lock:
            if self._depth == 0:
                return
            self._event = event
            if self._shown:
                self._show()
            elif not self._has_begun:
                self._has_begun = True
                self._begin()

    def _begin(self) -> None:
        environ = os.environ if self._environ is None else self._environ
        self._line = choose_line(environ=environ)
        if self._line is None:
            return
        if self._delay_s <= 0 or self._line.is_prompt:
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
        if self._line is not None and self._event is not None:
            self._line.show(self._event)

    def _end(self) -> None:
        line, timer, shown = self._line, self._timer, self._shown
        self._line, self._timer, self._event = None, None, None
        self._shown = self._has_begun = False
        if timer is not None:
            timer.cancel()
        if line is not None and shown:
            line.clear()


def choose_line(*, environ: Mapping[str, str]) -> Line | None:
    """Return the place where progress is seen now, ``None`` when nobody looks."""
    wanted = environ.get(_VARIABLE)
    if wanted == "0" or (wanted not in {"1", "json"} and environ.get("NO_COLOR")):
        return None
    shell = _running_shell()
    if (kernel := getattr(shell, "kernel", None)) is not None:
        request = kernel.get_parent("shell").get("content", {})
        if not (wanted in {"1", "json"} or request.get("allow_stdin", False)):
            return None
        alone = _is_one_line(request.get("code", ""))
        return _CellLine(shell.display_pub, alone=alone, as_json=wanted == "json")
    if sys.stderr is None:
        return None
    if wanted == "json":
        return _JsonLines(sys.stderr)
    return _TerminalLine(sys.stderr) if sys.stderr.isatty() else None


def log_to(stream: TextIO, *, environ: Mapping[str, str]) -> Listener:
    """Return what writes steps to a log: one line per stage, or per step as JSON.

    Args:
        stream: The log, for example of the server that starts a kernel.
        environ: ``PRIME_SKILLS_PROGRESS`` is obeyed.
    """
    wanted = environ.get(_VARIABLE)
    if wanted == "json":
        return _JsonLines(stream).show
    stage: list[str] = []

    def write(event: ProgressEvent) -> None:
        # a log is not rewritten in place: each of fifty builds would be a line
        if wanted != "0" and stage != [event.stage]:
            stage[:] = [event.stage]
            _write(stream, f"prime-skills: {event.message}")

    return write


def _write(stream: TextIO, line: str) -> None:
    # who reads may be gone, which is no reason not to install
    with suppress(OSError, ValueError):
        stream.write(f"{line}\n")
        stream.flush()


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

    For people it is opened without content, so that whatever does not follow updates
    (nbval does not) sees nothing in it. At the end it is emptied; where the cell is
    this one line and can have no other output, it is removed altogether.
    """

    def __init__(self, display: Any, *, alone: bool, as_json: bool = False) -> None:
        self.is_prompt = as_json
        self._display = display
        self._id = uuid4().hex
        self._alone = alone
        self._open = False

    def show(self, event: ProgressEvent) -> None:
        if not self._open and not self.is_prompt:
            self._publish({}, update=False)
            self._open = True
        if self.is_prompt:
            data: dict[str, object] = {MIME_TYPE: asdict(event)}
        else:
            data = {"text/plain": _words(event), "text/html": _html(event)}
        self._publish(data, update=self._open)
        self._open = True

    def clear(self) -> None:
        self._publish({}, update=True)
        if self._alone:
            self._display.clear_output()

    def _publish(self, data: Mapping[str, object], *, update: bool) -> None:
        transient = {"display_id": self._id}
        self._display.publish(data, metadata={}, transient=transient, update=update)


def _words(event: ProgressEvent) -> str:
    return event.message if event.stage == "ready" else f"{event.message}…"


def _html(event: ProgressEvent) -> str:
    bar = ""
    if (event.total or 0) > 1 and event.stage != "ready":
        bar = (
            f" <progress value='{event.done}' max='{event.total}' "
            "style='width:8em;vertical-align:middle'></progress>"
        )
    words = escape(_words(event))
    return f"<span role='status' style='opacity:0.7'>◌ {words}{bar}</span>"


@final
class _TerminalLine:
    """A spinner on the terminal's stderr, gone without a trace."""

    is_prompt = False

    def __init__(self, stream: TextIO) -> None:
        # not looked up later: a skill's import has streams of its own meanwhile
        self._stream = stream
        self._spinner: Any = None
        self._live: Any = None

    def show(self, event: ProgressEvent) -> None:
        # only when it is slow
        from rich.spinner import Spinner  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        text = Text(_words(event))
        if self._live is not None:
            self._spinner.update(text=text)
            return
        from rich.console import Console  # noqa: PLC0415
        from rich.live import Live  # noqa: PLC0415

        self._spinner = Spinner("dots", text, style="status.spinner")
        self._live = Live(
            self._spinner,
            console=Console(file=self._stream),
            refresh_per_second=12.5,
            transient=True,
            # sys.stdout and sys.stderr belong to whoever replaced them last
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()

    def clear(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None


@final
class _JsonLines:
    """One line per step, which stays: a program reads it."""

    is_prompt = True

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def show(self, event: ProgressEvent) -> None:
        _write(self._stream, json.dumps(asdict(event)))

    def clear(self) -> None:
        """Leave what was written."""
