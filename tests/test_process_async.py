"""External commands that the event loop does not wait for, against real processes."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext import process
from prime_skills_ext.errors import ProcessError
from prime_skills_ext.kernel.skills import run_sync
from prime_skills_ext.process import Completed
from prime_skills_ext.process_async import MAX_BYTES, run
from tests.processes import has_ended

#: Longest that anything here may take but what is broken.
LIMIT_S = 60


def sh(
    command: str, *, where: Path, stdin: str = "", timeout_s: float = LIMIT_S
) -> Any:
    argv = ["sh", "-c", command]
    return run(argv, cwd=where, env=os.environ, stdin=stdin, timeout_s=timeout_s)


def open_files() -> int:
    return len([*Path("/proc/self/fd").iterdir()])


def both(work: Callable[[], Any]) -> list[Any]:
    """Do it on a loop of the main thread, and on one of another thread."""
    return [asyncio.run(work()), run_sync(work())]


def test_both_streams_the_status_and_what_it_reads(tmp_path: Path) -> None:
    """A signal's number is negative, as everywhere."""
    (tmp_path / "here").touch()
    code = "cat; ls; echo err >&2; exit 3"
    for done in both(lambda: sh(code, where=tmp_path, stdin="é\n")):
        assert isinstance(done, Completed)
        assert (3, "é\nhere\n", "err\n") == (done.returncode, done.stdout, done.stderr)
    killed = asyncio.run(sh("kill -9 $$", where=tmp_path))
    assert -9 == killed.returncode


def test_what_is_not_read_or_is_too_much_does_no_harm(tmp_path: Path) -> None:
    """A command may leave its input alone, and say more than is kept."""
    done = asyncio.run(sh("exit 0", where=tmp_path, stdin="x" * 1_000_000))
    assert 0 == done.returncode
    code = f"print('y' * {MAX_BYTES + 5})"
    argv = [sys.executable, "-c", code]
    done = asyncio.run(run(argv, cwd=tmp_path, env=os.environ, timeout_s=LIMIT_S))
    assert (0, MAX_BYTES) == (done.returncode, len(done.stdout))


def test_a_child_that_stays_behind_is_not_waited_for(tmp_path: Path) -> None:
    """The command is done, though the child holds its pipes."""

    async def main() -> tuple[Completed, int]:
        before = open_files()
        done = await sh("echo said; sleep 600 & echo $!", where=tmp_path)
        await asyncio.sleep(0)  # transports close one turn later
        return done, open_files() - before

    done, left_open = asyncio.run(main())
    said, pid = done.stdout.split()
    try:
        assert (0, "said", 0) == (done.returncode, said, left_open)
    finally:
        os.kill(int(pid), 9)


def test_the_loop_runs_while_a_command_does(tmp_path: Path) -> None:
    """Several at once, each waiting for what only the loop can do."""

    async def main() -> list[str]:
        os.mkfifo(tmp_path / "gate")
        waiting = [asyncio.ensure_future(sh("cat gate", where=tmp_path))]
        opener = await sh("echo open > gate", where=tmp_path)
        assert 0 == opener.returncode
        return [(await task).stdout for task in waiting]

    assert ["open\n"] == asyncio.run(main())


def test_the_whole_group_ends_with_the_time(tmp_path: Path) -> None:
    """The error says what it had said until then."""
    code = "echo $$ >pids; sleep 600 & echo $! >>pids; echo half >&2; wait"
    with pytest.raises(ProcessError, match=r"did not end within 1 s:\nhalf"):
        asyncio.run(sh(code, where=tmp_path, timeout_s=1))
    assert all(has_ended(int(pid)) for pid in (tmp_path / "pids").read_text().split())


def test_the_whole_group_ends_when_it_is_cancelled(tmp_path: Path) -> None:
    """However early or late that is."""
    os.mkfifo(tmp_path / "pids")

    async def main() -> list[int]:
        early = asyncio.ensure_future(sh("exec sleep 600", where=tmp_path))
        await asyncio.sleep(0)
        code = "sleep 600 & echo $$ $! >pids; wait"
        late = asyncio.ensure_future(sh(code, where=tmp_path))
        text = await asyncio.to_thread((tmp_path / "pids").read_text)
        for task in (early, late):
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        return [int(pid) for pid in text.split()]

    assert all(has_ended(pid) for pid in asyncio.run(main()))


def test_nothing_runs_on_when_python_ends(tmp_path: Path) -> None:
    """A kernel can be shut down while a command runs that nobody watches then."""
    os.mkfifo(tmp_path / "pids")
    code = f"""
import asyncio, os
from pathlib import Path
from prime_skills_ext.process_async import run
async def main():
    # what it reads is only given to what is known to run
    command = "cat; sleep 600 & echo $$ $! >pids; wait"
    where = Path({str(tmp_path)!r})
    asyncio.ensure_future(
        run(["sh", "-c", command], cwd=where, timeout_s=600, env=os.environ)
    )
    # as a kernel does: the loop stops, and nothing is cancelled
    text = await asyncio.to_thread((where / "pids").read_text)
    print(text, flush=True)
loop = asyncio.new_event_loop()
loop.run_until_complete(main())
"""
    argv = [sys.executable, "-c", code]
    done = process.run(argv, cwd=tmp_path, timeout_s=LIMIT_S)
    pids = [int(word) for word in done.stdout.split()]
    assert 2 == len(pids)
    assert all(map(has_ended, pids))


def test_what_cannot_be_started_says_so(tmp_path: Path) -> None:
    """No such program, no such folder."""
    with pytest.raises(ProcessError, match="no-such could not be started") as caught:
        asyncio.run(run(["no-such"], cwd=tmp_path, env=os.environ, timeout_s=LIMIT_S))
    assert "check that no-such is installed" in caught.value.fix
    with pytest.raises(ProcessError, match="sh could not be started"):
        asyncio.run(sh("true", where=tmp_path / "nowhere"))
