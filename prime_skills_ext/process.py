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
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO, Literal, final

from prime_skills_ext.errors import ProcessError

__all__ = ["MAX_LINE_CHARS", "TAIL_LINES", "Completed", "redact", "run"]

TAIL_LINES = 20
"""How many lines of stderr an error keeps."""

MAX_LINE_CHARS = 10_000
"""How much of one line of stderr is kept: it is for people."""

_GRACE_S = 2.0
"""How long a killed group may take to end, and a finished one to close its pipes."""

#: Programs that would otherwise wait for somebody who cannot be reached.
_NEVER_ASK = {
    "GIT_TERMINAL_PROMPT": "0",
    "GCM_INTERACTIVE": "never",
    "SSH_ASKPASS_REQUIRE": "never",
    "npm_config_yes": "true",
}

_USERINFO = re.compile(r"(?<=://)[^\s/?#'\"]*@")

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
    """

    argv: tuple[str, ...]
    returncode: int
    stdout: str
    stderr: str


def redact(text: str) -> str:
    """Replace user names and passwords of URLs in ``text``."""
    return _USERINFO.sub("***@", text)


def run(
    argv: Sequence[str | os.PathLike[str]],
    *,
    cwd: Path,
    timeout_s: float,
    env: Mapping[str, str] | None = None,
    check: bool = True,
    on_line: Callable[[str], None] | None = None,
) -> Completed:
    """Run a command to its end.

    Args:
        argv: Program and arguments; no shell is involved.
        cwd: Where it runs.
        timeout_s: Seconds after which the whole group is killed.
        env: Its environment; ``None`` means this process's own.
        check: Raise when it exits with anything but 0.
        on_line: Called in this thread with every line of either stream as it comes,
            without its line break and with secrets removed.

    Raises:
        ProcessError: It could not be started, ran out of time, or (with ``check``)
            failed.
    """
    command = [os.fspath(item) for item in argv]
    shown = tuple(redact(item) for item in command)
    collected: dict[_Stream, list[str]] = {"stdout": [], "stderr": []}
    process: subprocess.Popen[str] | None = None
    try:
        with _held_interrupt():
            process = _start(command, shown=shown, cwd=cwd, env=env)
        in_time = _follow(process, collected, timeout_s=timeout_s, on_line=on_line)
    finally:
        # also after an interrupt or an error in on_line: nothing may be left behind
        if process is not None:
            _end(process)
    stdout, stderr = ("".join(lines) for lines in collected.values())
    if not in_time:
        raise _failure(
            shown, f"did not end within {timeout_s:g} s", returncode=None, stderr=stderr
        )
    if check and process.returncode != 0:
        raise _failure(
            shown,
            f"failed with exit status {process.returncode}",
            returncode=process.returncode,
            stderr=stderr,
        )
    return Completed(
        argv=shown, returncode=process.returncode, stdout=stdout, stderr=stderr
    )


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
    environ = {**_NEVER_ASK, **(os.environ if env is None else env)}
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
    timeout_s: float,
    on_line: Callable[[str], None] | None,
) -> bool:
    """Collect both streams until they close; whether that was in time."""
    lines: _Lines = queue.SimpleQueue()
    for name, pipe in (("stdout", process.stdout), ("stderr", process.stderr)):
        threading.Thread(
            target=_pump, args=(name, pipe, lines), name=f"read {name}", daemon=True
        ).start()
    deadline = time.monotonic() + timeout_s
    open_pipes = 2
    while open_pipes:
        try:
            stream, line = lines.get(timeout=_patience(process, deadline=deadline))
        except queue.Empty:
            if process.poll() is not None:
                return True  # a grandchild keeps the pipe: the command itself is done
            if time.monotonic() >= deadline:
                return False
            continue
        if line is None:
            open_pipes -= 1
            continue
        collected[stream].append(line)
        if on_line is not None:
            on_line(redact(line.rstrip("\r\n")))
    try:
        process.wait(timeout=max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return False
    return True


def _patience(process: subprocess.Popen[str], *, deadline: float) -> float:
    left = max(0.0, deadline - time.monotonic())
    # short slices notice a command that ended while its child holds the pipe
    return min(left, _GRACE_S if process.poll() is None else _GRACE_S / 10)


def _pump(name: _Stream, pipe: IO[str], lines: _Lines) -> None:
    # ValueError: the pipe was closed under us, because the command was given up
    with contextlib.suppress(OSError, ValueError), pipe:
        for line in pipe:
            if name == "stderr" and len(line) > MAX_LINE_CHARS:
                lines.put((name, f"{line[:MAX_LINE_CHARS]}\N{HORIZONTAL ELLIPSIS}\n"))
            else:
                lines.put((name, line))
    lines.put((name, None))


def _end(process: subprocess.Popen[str]) -> None:
    """Make sure that the process and its group are gone."""
    if process.poll() is not None:
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


def _failure(
    shown: tuple[str, ...], what: str, *, returncode: int | None, stderr: str
) -> ProcessError:
    tail = "\n".join(redact(stderr).splitlines()[-TAIL_LINES:])
    message = f"{' '.join(shown)} {what}"
    return ProcessError(
        f"{message}:\n{tail}" if tail else message,
        fix="read its last lines above, then run the command in a terminal",
        argv=shown,
        returncode=returncode,
        stderr_tail=tail,
    )
