"""Waiting for the lock of an environment, and not getting it."""

from __future__ import annotations

import errno
import signal
import subprocess
import sys
from typing import Any

import filelock
import pytest

from prime_skills_ext.environment import locking
from prime_skills_ext.progress import ProgressEvent

pytestmark = pytest.mark.integration


def test_in03_wait_is_told_after_two_seconds_and_ends(
    world: Any, new_skill: Any
) -> None:
    """Whoever waits for the lock says so, and goes on when it is free."""
    world.ensure(new_skill("a"))
    code = (
        "import filelock, select, sys\n"
        "with filelock.FileLock(sys.argv[1]):\n"
        "    print('held', flush=True)\n"
        "    select.select([sys.stdin], [], [], 10)\n"
    )
    path = world.environment.root / locking.LOCK
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
        world.told = type("Told", (list,), {"append": staticmethod(free)})()
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


def test_in03_lock_that_stays_taken_is_named(
    world: Any, new_skill: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the limit the error names the lock; what is installed goes on working."""
    first = new_skill("a")
    world.ensure(first)
    monkeypatch.setattr(locking, "PATIENCE_S", 0.05)
    monkeypatch.setattr(locking, "LIMIT_S", 0.1)
    needy = new_skill("needy", dependencies=("acme-tool",))
    path = world.environment.root / locking.LOCK
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


def test_interrupt_ends_the_wait_for_the_lock(
    world: Any, new_skill: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C is obeyed while waiting."""
    world.ensure(new_skill("a"))
    monkeypatch.setattr(locking, "PATIENCE_S", 0.05)

    def interrupt(event: ProgressEvent) -> None:
        if event.stage == "waiting":
            signal.raise_signal(signal.SIGINT)

    world.told = type("Told", (list,), {"append": staticmethod(interrupt)})()
    with (
        filelock.FileLock(world.environment.root / locking.LOCK),
        pytest.raises(KeyboardInterrupt),
    ):
        world.ensure(new_skill("b"))
