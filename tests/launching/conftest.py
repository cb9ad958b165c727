"""A launcher that is started over and over, and an environment for all of it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from prime_skills_ext.launcher import Launch, choose
from prime_skills_ext.launching.deciding import decide
from prime_skills_ext.launching.memo import Decision

_HOUR_NS = 3600 * 10**9


class Launcher:
    """What Jupyter starts, up to the moment at which it becomes the kernel.

    Args:
        environ: The environment variables of the server.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = dict(environ)
        self.started = 0
        self.planned = 0

    def start(self, *arguments: str) -> Launch:
        """Start once, with a connection file of its own as Jupyter does."""
        self.started += 1
        words = ("-f", f"/run/kernel-{self.started}.json", *arguments)
        return choose(words, environ=self.environ, decide=self._decide)

    def plans(self, *arguments: str) -> bool:
        """Start once and say whether that needed a plan."""
        before = self.planned
        launch = self.start(*arguments)
        assert launch.environ.get("PRIME_SKILLS_LAUNCH_ERROR") is None
        return self.planned > before

    def _decide(self, arguments: Sequence[str], environ: Mapping[str, str]) -> Decision:
        self.planned += 1
        return decide(arguments, environ)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """An hour passes between what a test writes and the start that follows."""
    real = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: real() + _HOUR_NS)


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An agent directory whose environment the tests of a module share."""
    return tmp_path_factory.mktemp("agent").resolve()


@pytest.fixture
def project(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of its own as the working directory."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def launcher(agent: Path, home: Path, project: Path, later: None) -> Launcher:
    """A launcher in the project, with one skill of the user's."""
    (home / ".agents" / "skills").mkdir(parents=True)
    return Launcher(
        {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "IPYTHONDIR": str(home / ".ipython"),
            "UV_CACHE_DIR": os.environ["UV_CACHE_DIR"],
            "PRIME_AGENT_CODING_AGENT_DIR": str(agent),
        }
    )


@pytest.fixture
def custom(home: Path, project: Path, later: None) -> Launcher:
    """A launcher of this Python as it is."""
    return Launcher(
        {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "PRIME_AGENT_KERNEL_PYTHON": sys.executable,
        }
    )
