"""Runs external commands without keeping the event loop waiting: ``process``'s twin.

Each command gets a session of its own and a limit on its whole time. It is given what
to read instead of a closed stdin; nobody answers it.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from prime_skills_ext.errors import ProcessError
from prime_skills_ext.process import NEVER_ASK, Completed, failure, redact

__all__ = ["MAX_BYTES", "run"]

MAX_BYTES: Final = 1_000_000
"""How much of what a command writes is kept, for each of the two streams."""

#: How long a command that ended may take to close its pipes: its children have them.
_GRACE_S: Final = 0.2

#: What runs, and for which process of ours: one that is forked has no part in it.
_RUNNING: Final[dict[Process, int]] = {}


async def run(
    argv: Sequence[str | os.PathLike[str]],
    *,
    cwd: Path,
    timeout_s: float,
    env: Mapping[str, str],
    stdin: str = "",
) -> Completed:
    """Run a command to its end; when this is cancelled, its whole group is killed.

    Args:
        argv: Program and arguments; no shell is involved.
        cwd: Where it runs.
        timeout_s: Seconds after which the whole group is killed.
        env: Its environment.
        stdin: What it can read.

    Raises:
        ProcessError: It could not be started, or ran out of time.
    """
    command = [os.fspath(item) for item in argv]
    shown = tuple(redact(item) for item in command)
    process = await _start(command, shown=shown, cwd=cwd, env=env)
    kept = (bytearray(), bytearray())
    _RUNNING[process] = os.getpid()
    talking = [
        asyncio.ensure_future(_feed(process, stdin.encode())),
        *(
            asyncio.ensure_future(_collect(stream, into=into))
            for stream, into in zip((process.stdout, process.stderr), kept, strict=True)
        ),
    ]
    try:
        is_done = await _wait(process, talking, timeout_s=timeout_s)
    finally:
        for task in talking:
            task.cancel()
        await _end(process)
        _RUNNING.pop(process, None)
    stdout, stderr = (text.decode(errors="replace") for text in kept)
    if not is_done or process.returncode is None:
        what = f"did not end within {timeout_s:g} s"
        raise failure(shown, what, returncode=None, stderr=stderr)
    return Completed(
        argv=shown, returncode=process.returncode, stdout=stdout, stderr=stderr
    )


async def _start(
    command: Sequence[str],
    *,
    shown: tuple[str, ...],
    cwd: Path,
    env: Mapping[str, str],
) -> Process:
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *command,
            cwd=cwd,
            env={**NEVER_ASK, **env},
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=True,
        )
    )
    try:
        # what is cancelled half started would leave a child that nobody knows
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with contextlib.suppress(OSError, ValueError):
            await _end(await starting)
        raise
    except (OSError, ValueError) as error:
        raise ProcessError(
            f"{shown[0]} could not be started: {error}",
            fix=f"check that {shown[0]} is installed and that {cwd} is a directory",
            argv=shown,
            returncode=None,
            stderr_tail="",
        ) from error


async def _wait(
    process: Process, talking: Sequence[asyncio.Future[None]], *, timeout_s: float
) -> bool:
    """Wait until the command itself ended and was heard; whether it did in time."""
    loop = asyncio.get_running_loop()
    last = loop.time() + timeout_s
    while process.returncode is None and loop.time() < last:
        # in some versions of Python `wait` waits for the pipes, which children may have
        await _look(process, timeout_s=min(_GRACE_S, last - loop.time()))
    if process.returncode is None:
        return False
    await asyncio.wait(talking, timeout=_GRACE_S)
    return True


async def _look(process: Process, *, timeout_s: float) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), timeout=timeout_s)


async def _feed(process: Process, text: bytes) -> None:
    stdin = process.stdin
    assert stdin is not None  # noqa: S101  # it is a pipe
    # a command need not read what it is given
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        stdin.write(text)
        await stdin.drain()
    stdin.close()


async def _collect(stream: asyncio.StreamReader | None, *, into: bytearray) -> None:
    assert stream is not None  # noqa: S101  # it is a pipe
    while chunk := await stream.read(65_536):
        into += chunk[: MAX_BYTES - len(into)]


async def _end(process: Process) -> None:
    """Make sure that the process and its group are gone, and its pipes closed."""
    if process.returncode is None:
        _kill(process)
        # the loop may be closed soon, and must have heard of it before
        while process.returncode is None:
            await _look(process, timeout_s=_GRACE_S)
    # private, but nothing else closes pipes that a child of the command holds open
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()


def _kill(process: Process) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


@atexit.register
def _leave_nothing() -> None:
    """Kill what a kernel was shut down over: its loop stops, and cancels nothing."""
    for process, owner in [*_RUNNING.items()]:
        if process.returncode is None and owner == os.getpid():
            _kill(process)
