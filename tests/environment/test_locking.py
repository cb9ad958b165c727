"""Waiting for the lock of an environment, and not getting it."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import filelock
import pytest

from prime_skills_ext import process
from prime_skills_ext.environment import locking
from prime_skills_ext.progress import ProgressEvent

pytestmark = pytest.mark.integration

#: What a living process holds, and what the commands of one that is gone hold.
EITHER = pytest.mark.parametrize("name", locking.FILES)


def listen(world: Any, listener: Callable[[ProgressEvent], None]) -> None:
    """Let ``listener`` be told what ``world`` would note."""
    world.told = type("Told", (list,), {"append": staticmethod(listener)})()


@EITHER
def test_in03_wait_is_told_after_two_seconds_and_ends(
    world: Any, new_skill: Any, name: str
) -> None:
    """Whoever waits for the lock says so, and goes on when it is free."""
    world.ensure(new_skill("a"))
    code = (
        "import filelock, sys\n"
        "with filelock.FileLock(sys.argv[1]):\n"
        "    print('held', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    path = world.environment.root / name
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        holder.stdout.readline()
        stdin = holder.stdin

        def free(event: ProgressEvent) -> None:
            told.append(event)
            if event.stage == "waiting":
                stdin.close()

        told: list[ProgressEvent] = []
        listen(world, free)
        report = world.ensure(new_skill("b"))
    assert not report.failed
    message = "Waiting for another process that installs skills"
    assert ProgressEvent(stage="waiting", message=message) == told[0]


def test_in01_remembered_failure_waits_for_nobody(
    world: Any, new_skill: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With nothing to do no lock is taken, whether all is well or not."""
    skills = [new_skill("a"), new_skill("bad", dependencies=("no-such-dist-xyz",))]
    first = world.ensure(*skills)
    monkeypatch.setattr(locking, "PATIENCE_S", 0.05)
    monkeypatch.setattr(locking, "LIMIT_S", 0.1)
    with filelock.FileLock(world.environment.root / locking.LOCK):
        again = world.ensure(*skills)
    assert (first.failed, None) == (again.failed, again.problem)


@EITHER
def test_in03_lock_that_stays_taken_is_named(
    world: Any, new_skill: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """After the limit the error names the lock; what is installed goes on working."""
    first = new_skill("a")
    world.ensure(first)
    monkeypatch.setattr(locking, "PATIENCE_S", 0.05)
    monkeypatch.setattr(locking, "LIMIT_S", 0.1)
    needy = new_skill("needy", dependencies=("acme-tool",))
    path = world.environment.root / name
    with filelock.FileLock(path):
        report = world.ensure(first, new_skill("b"), needy)
    assert [one.parent.name for one in report.failed] == ["needy"]
    assert str(path) in report.failed[needy.identity].reason
    assert report.problem is not None


def test_in13_disk_without_locks_leaves_installed_skills_usable(
    world: Any, new_skill: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """'No locks available' is tried a few times, then said; nothing breaks."""
    first = new_skill("a")
    world.ensure(first)
    tries: list[int] = []

    def no_locks(*_: object, **__: object) -> None:
        tries.append(1)
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(locking, "_PAUSE_S", 0)
    monkeypatch.setattr(filelock.FileLock, "acquire", no_locks)
    report = world.ensure(first, new_skill("b"))
    assert (dict(report.failed), len(tries)) == ({}, 3)
    assert report.problem is not None
    assert "No locks available" in report.problem.reason


@EITHER
def test_interrupt_ends_the_wait_for_the_lock(
    world: Any, new_skill: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Ctrl-C is obeyed while waiting."""
    world.ensure(new_skill("a"))
    monkeypatch.setattr(locking, "PATIENCE_S", 0.05)

    def interrupt(event: ProgressEvent) -> None:
        if event.stage == "waiting":
            signal.raise_signal(signal.SIGINT)

    listen(world, interrupt)
    with (
        filelock.FileLock(world.environment.root / name),
        pytest.raises(KeyboardInterrupt),
    ):
        world.ensure(new_skill("b"))


def test_in10_what_a_killed_process_started_holds_the_lock(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """Down to the children of commands: the lock is free when the last one ended."""
    world.ensure(new_skill("a"))
    free, ended = tmp_path / "free", tmp_path / "ended"
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from prime_skills_ext import process\n"
        "from prime_skills_ext.environment.locking import locked\n"
        "with locked(Path(sys.argv[1])):\n"
        "    process.run(sys.argv[2:], cwd=Path.cwd(), timeout_s=60)\n"
        "    print('run', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    child = f"until [ -e {free} ]; do sleep 0.01; done; : >{ended}"
    command = ["/bin/sh", "-c", f"({child}) >/dev/null 2>&1 &"]
    with subprocess.Popen(
        [sys.executable, "-c", code, str(world.environment.root), *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        assert b"run\n" == holder.stdout.readline()
        holder.kill()
    told: list[tuple[str, bool]] = []

    def let_go(event: ProgressEvent) -> None:
        told.append((event.stage, ended.exists()))
        free.touch()

    listen(world, let_go)
    try:
        assert {} == dict(world.ensure(new_skill("b")).failed)
    finally:
        free.touch()
    assert [("waiting", False), ("resolving", True)] == told[:2]


def test_server_that_a_command_left_running_holds_nobody_up(
    world: Any, new_skill: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever ends by itself lets go of the lock, for whatever it started as well."""
    world.ensure(new_skill("a"))
    root = world.environment.root
    monkeypatch.setattr(locking, "PATIENCE_S", 0)
    monkeypatch.setattr(locking, "LIMIT_S", 0)
    command = ["/bin/sh", "-c", "sleep 600 >/dev/null 2>&1 & echo $!"]
    with locking.locked(root):
        done = process.run(command, cwd=tmp_path, timeout_s=60)
    try:
        with locking.locked(root):
            pass
    finally:
        os.kill(int(done.stdout), signal.SIGKILL)


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOTSUP])
def test_in13_disk_whose_locks_cannot_be_shared_is_used_without(
    world: Any, new_skill: Any, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """The process itself has a lock: only what it starts is not waited for."""

    def flock(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    without = SimpleNamespace(flock=flock, LOCK_EX=2, LOCK_NB=4, LOCK_UN=8)
    monkeypatch.setattr(locking, "_FCNTL", without)
    report = world.ensure(new_skill("a"))
    assert ({}, None) == (dict(report.failed), report.problem)


def test_in13_shared_lock_that_fails_is_named(
    world: Any, new_skill: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any other error of the disk is tried a few times, then said."""

    def flock(*_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    broken = SimpleNamespace(flock=flock, LOCK_EX=2, LOCK_NB=4, LOCK_UN=8)
    monkeypatch.setattr(locking, "_FCNTL", broken)
    monkeypatch.setattr(locking, "_PAUSE_S", 0)
    problem = world.ensure(new_skill("a")).problem
    assert f"no lock for {world.environment.root / locking.WORKING}" in problem.reason
