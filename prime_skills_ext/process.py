"""The only runner of external commands.

Every command gets a closed stdin, a session of its own (so it can neither ask on
the terminal nor outlive an interrupt), and a limit on its whole time. Nothing here
knows what the commands mean.
"""

from __future__ import annotations

import contextlib
import os
import queue
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO, Literal, final

from prime_skills_ext.errors import ProcessError

__all__ = [
    "MAX_LINE_CHARS",
    "NEVER_ASK",
    "TAIL_LINES",
    "Completed",
    "failure",
    "redact",
    "run",
    "shared",
]

TAIL_LINES = 20
"""How many lines of stderr an error keeps."""

MAX_LINE_CHARS = 10_000
"""How much of one line of stderr is kept: it is for people."""

_GRACE_S = 2.0
"""How long a killed group may take to end, and a finished one to close its pipes."""

#: Programs that would otherwise wait for somebody who cannot be reached.
NEVER_ASK = {
    "GIT_TERMINAL_PROMPT": "0",
    "GCM_INTERACTIVE": "never",
    "SSH_ASKPASS_REQUIRE": "never",
    "npm_config_yes": "true",
}

_USERINFO = re.compile(r"(?<=://)[^\s/?#'\"]*@")

_SHARED: ContextVar[Sequence[int]] = ContextVar("_SHARED", default=())

_Stream = Literal["stdout", "stderr"]
_Lines = queue.SimpleQueue[tuple[_Stream, str | None]]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Completed:
    """A command that ended by itself.

    Attributes:
        argv: The command, secrets removed.
        returncode: Its exit status; negative when a signal ended it.
        stdout: Everything it wrote there.
        stderr: Everything it wrote there.
        is_cut: It was ended because it wrote too much; what it wrote is not whole.
    """

    argv: tuple[str, ...]
    returncode: int
    stdout: str
    stderr: str
    is_cut: bool = False


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class _Limits:
    """How long a command may take, counted from now, and how much it may write."""

    timeout_s: float
    silence_s: float | None
    preamble: str | None
    most_chars: int | None
    is_too_much: threading.Event = field(default_factory=threading.Event)
    started: float = field(default_factory=time.monotonic)

    def left(self, *, has_spoken: bool) -> float:
        """Seconds until the next limit, negative after it."""
        limit = self.timeout_s
        if self.silence_s is not None and not has_spoken:
            limit = min(limit, self.silence_s)
        return self.started + limit - time.monotonic()

    def is_word(self, line: str) -> bool:
        """Whether a line shows that something moves."""
        return self.preamble is None or not line.lstrip().startswith(self.preamble)

    def broken(self) -> str:
        """Say which limit was the one."""
        silence = self.silence_s
        if silence is not None and self.left(has_spoken=True) > 0:
            return f"said nothing for {silence:g} s"
        return f"did not end within {self.timeout_s:g} s"


def redact(text: str) -> str:
    """Replace user names and passwords of URLs in ``text``."""
    return _USERINFO.sub("***@", text)


def run(
    argv: Sequence[str | os.PathLike[str]],
    *,
    cwd: Path,
    timeout_s: float,
    silence_s: float | None = None,
    preamble: str | None = None,
    env: Mapping[str, str] | None = None,
    check: bool = True,
    on_line: Callable[[str], None] | None = None,
    most_chars: int | None = None,
    leaves_nothing: bool = False,
) -> Completed:
    """Run a command to its end.

    Args:
        argv: Program and arguments; no shell is involved.
        cwd: Where it runs.
        timeout_s: Seconds after which the whole group is killed.
        silence_s: Seconds after which it is killed if it has said nothing at all;
            ``None`` lets it be silent to its end.
        preamble: How lines start that it says before it does anything: they break no
            silence.
        env: Its environment; ``None`` means this process's own.
        check: Raise when it exits with anything but 0.
        on_line: Called in this thread with every line of either stream as it comes,
            without its line break and with secrets removed.
        most_chars: How much it may write to one stream before the whole group is
            killed: an endless one would take all memory long before its time is up.
            ``None`` for what is known to end.
        leaves_nothing: What it started and left running is killed when it ends.

    Raises:
        ProcessError: It could not be started, ran out of time, or (with ``check``)
            failed.
    """
    command = [os.fspath(item) for item in argv]
    shown = tuple(redact(item) for item in command)
    collected: dict[_Stream, list[str]] = {"stdout": [], "stderr": []}
    process: subprocess.Popen[str] | None = None
    limits = _Limits(
        timeout_s=timeout_s,
        silence_s=silence_s,
        preamble=preamble,
        most_chars=most_chars,
    )
    try:
        with _held_interrupt():
            process = _start(command, shown=shown, cwd=cwd, env=env)
        broken = _follow(process, collected, limits=limits, on_line=on_line)
    finally:
        # also after an interrupt or an error in on_line: nothing may be left behind
        if process is not None:
            _end(process, with_children=leaves_nothing)
    stdout, stderr = ("".join(lines) for lines in collected.values())
    if broken is not None:
        raise failure(shown, broken, returncode=None, stderr=stderr)
    if check and process.returncode != 0:
        raise failure(
            shown,
            f"failed with exit status {process.returncode}",
            returncode=process.returncode,
            stderr=stderr,
        )
    return Completed(
        argv=shown,
        returncode=process.returncode,
        stdout=stdout,
        stderr=stderr,
        is_cut=limits.is_too_much.is_set(),
    )


@contextlib.contextmanager
def shared(handle: int) -> Iterator[None]:
    """Let every command that this thread runs meanwhile hold an open file, too.

    So does what the command starts itself, for as long as it lives. POSIX only.

    Args:
        handle: The file's descriptor.
    """
    handles = [*_SHARED.get(), handle]
    token = _SHARED.set(handles)
    try:
        yield
    finally:
        _SHARED.reset(token)
        # a task that began meanwhile goes on with what it saw of the variable, and the
        # number may be another file's by then
        handles.clear()


@contextlib.contextmanager
def _held_interrupt() -> Iterator[None]:
    """Let an interrupt wait until the process that is being started is known.

    Raised inside of ``Popen`` it would leave a child that nobody can end.
    """
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler) or threading.current_thread() is not (
        threading.main_thread()
    ):
        yield
        return
    held: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda *arguments: held.append(arguments))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if held:
        handler(*held[0])


def _start(
    command: Sequence[str],
    *,
    shown: tuple[str, ...],
    cwd: Path,
    env: Mapping[str, str] | None,
) -> subprocess.Popen[str]:
    environ = {**NEVER_ASK, **(os.environ if env is None else env)}
    try:
        return subprocess.Popen(
            command,
            cwd=cwd,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
            pass_fds=tuple(_SHARED.get()),
        )
    except (OSError, ValueError) as error:
        fix = f"check that {shown[0]} is installed and may be executed"
        if not Path(cwd).is_dir():
            fix = f"create the directory {cwd}"
        raise ProcessError(
            f"{shown[0]} could not be started: {error}",
            fix=fix,
            argv=shown,
            returncode=None,
            stderr_tail="",
        ) from error


def _follow(
    process: subprocess.Popen[str],
    collected: Mapping[_Stream, list[str]],
    *,
    limits: _Limits,
    on_line: Callable[[str], None] | None,
) -> str | None:
    """Collect both streams until they close; return which limit was broken, if any."""
    lines: _Lines = queue.SimpleQueue()
    for name, pipe in (("stdout", process.stdout), ("stderr", process.stderr)):
        threading.Thread(
            target=_pump,
            args=(name, pipe, lines, limits),
            name=f"read {name}",
            daemon=True,
        ).start()
    has_spoken = False
    open_pipes = 2
    while open_pipes:
        left = limits.left(has_spoken=has_spoken)
        try:
            stream, line = lines.get(timeout=_patience(process, left=left))
        except queue.Empty:
            if process.poll() is not None:
                return None  # a grandchild keeps the pipe: the command itself is done
            if limits.left(has_spoken=has_spoken) <= 0:
                return limits.broken()
            continue
        if line is None:
            if limits.is_too_much.is_set():
                return None
            open_pipes -= 1
            continue
        has_spoken = has_spoken or limits.is_word(line)
        collected[stream].append(line)
        if on_line is not None:
            on_line(redact(line.rstrip("\r\n")))
    try:
        process.wait(timeout=max(0.0, limits.left(has_spoken=True)))
    except subprocess.TimeoutExpired:
        return limits.broken()
    return None


def _patience(process: subprocess.Popen[str], *, left: float) -> float:
    # short slices notice a command that ended while its child holds the pipe
    slice_s = _GRACE_S if process.poll() is None else _GRACE_S / 10
    return min(max(0.0, left), slice_s)


def _pump(name: _Stream, pipe: IO[str], lines: _Lines, limits: _Limits) -> None:
    left = limits.most_chars
    # ValueError: the pipe was closed under us, because the command was given up
    with contextlib.suppress(OSError, ValueError), pipe:
        # a line may be endless, too
        while line := pipe.readline(-1 if left is None else left + 1):
            if left is not None:
                left -= len(line)
                if left < 0:
                    limits.is_too_much.set()
                    break
            if name == "stderr" and len(line) > MAX_LINE_CHARS:
                lines.put((name, f"{line[:MAX_LINE_CHARS]}\N{HORIZONTAL ELLIPSIS}\n"))
            else:
                lines.put((name, line))
    lines.put((name, None))


def _end(process: subprocess.Popen[str], *, with_children: bool) -> None:
    """Make sure that the process and its group are gone.

    Args:
        process: What was started.
        with_children: Its group goes as well if it has ended by itself.
    """
    if process.poll() is not None:
        if with_children:
            _signal_group(process, getattr(signal, "SIGKILL", signal.SIGTERM))
        return
    for number in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        _signal_group(process, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=_GRACE_S)
            break
    # a child that ignored the first signal must not outlive its parent
    _signal_group(process, getattr(signal, "SIGKILL", signal.SIGTERM))


def _signal_group(process: subprocess.Popen[str], number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:
            process.terminate()


def failure(
    shown: tuple[str, ...], what: str, *, returncode: int | None, stderr: str
) -> ProcessError:
    """Make the error of a command that ran and failed.

    Args:
        shown: The command, secrets removed.
        what: What it did, as the end of a sentence.
        returncode: Its exit status; ``None`` when it did not end by itself.
        stderr: All that it wrote there.
    """
    tail = "\n".join(redact(stderr).splitlines()[-TAIL_LINES:])
    message = f"{' '.join(shown)} {what}"
    return ProcessError(
        f"{message}:\n{tail}" if tail else message,
        fix="read its last lines above, then run the command in a terminal",
        argv=shown,
        returncode=returncode,
        stderr_tail=tail,
    )
