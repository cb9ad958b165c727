"""The directory of commands on PATH."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from prime_skills_ext.kernel.command_path import CommandPath


@pytest.fixture(autouse=True)
def path(monkeypatch: pytest.MonkeyPatch) -> str:
    """A ``PATH`` that the test may change."""
    monkeypatch.setenv("PATH", os.pathsep.join(["/one", "/two"]))
    return os.environ["PATH"]


def test_open_puts_a_private_directory_first() -> None:
    """Nobody else may put a command there, and it precedes everything."""
    commands = CommandPath()
    directory = commands.open()
    first, *rest = os.environ["PATH"].split(os.pathsep)
    mode = stat.S_IMODE(directory.stat().st_mode)
    commands.close()
    assert (str(directory), ["/one", "/two"], 0o700) == (first, rest, mode)


def test_open_twice_adds_one_entry() -> None:
    """A reload opens again: the entry stays one and stays first."""
    commands = CommandPath()
    first = commands.open()
    os.environ["PATH"] = os.pathsep.join(["/new", os.environ["PATH"]])
    second = commands.open()
    entries = os.environ["PATH"].split(os.pathsep)
    commands.close()
    assert (first, [str(first), "/new", "/one", "/two"]) == (second, entries)


def test_close_restores_path_and_removes_the_directory(path: str) -> None:
    """After unload nothing of ours is left, on PATH or on disk."""
    commands = CommandPath()
    directory = commands.open()
    commands.close()
    commands.close()
    assert (path, False) == (os.environ["PATH"], directory.exists())


def test_open_makes_the_directory_again_when_it_was_swept(path: str) -> None:
    """A cleaner of temporary files must not break a kernel that lives for weeks."""
    commands = CommandPath()
    Path(commands.open()).rmdir()
    again = commands.open()
    entries = os.environ["PATH"].split(os.pathsep)
    there = again.is_dir()
    commands.close()
    assert (True, [str(again), *path.split(os.pathsep)]) == (there, entries)


def test_w11_an_unset_path_loses_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a PATH the system's own directories are searched; so they are still."""
    monkeypatch.delenv("PATH")
    commands = CommandPath()
    directory = commands.open()
    entries = os.environ["PATH"].split(os.pathsep)
    commands.close()
    assert [str(directory), *os.defpath.split(os.pathsep)] == entries
    assert "PATH" not in os.environ


def test_w11_an_empty_path_does_not_come_to_mean_the_working_directory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An empty entry would run whatever lies beside the notebook."""
    monkeypatch.setenv("PATH", "")
    commands = CommandPath()
    directory = commands.open()
    path = os.environ["PATH"]
    commands.close()
    assert (str(directory), "") == (path, os.environ["PATH"])


def test_a_path_that_is_gone_at_close_stays_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What the user removed meanwhile is not made anew."""
    commands = CommandPath()
    commands.open()
    monkeypatch.delenv("PATH")
    commands.close()
    assert "PATH" not in os.environ
