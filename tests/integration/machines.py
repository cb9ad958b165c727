"""A machine of one's own: a home, an index of wheels, a uv that is counted, kernels.

What every fault must leave behind is checked here: nobody else is harmed, what worked
still works, and the next start repairs the rest.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from prime_skills_ext.environment import record as records
from prime_skills_ext.environment.uv import find_uv
from prime_skills_ext.environment.venv import CURRENT, generation_at
from tests.conftest import write_skill
from tests.wheels import publish

__all__ = ["Machine", "Session", "lines_of", "tree_hash", "wait_for"]

_TIMEOUT_S = 120
_REPOSITORY = Path(__file__).resolve().parents[2]


def tree_hash(folder: Path) -> str:
    """Digest of every name and content below ``folder``; bytecode does not count."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if "__pycache__" in path.parts:
            continue
        digest.update(f"{path.relative_to(folder)}\0".encode())
        if path.is_symlink():
            digest.update(os.fsencode(path.readlink()))
        elif path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()


def lines_of(file: Path) -> list[str]:
    """The lines that were written to ``file``, none if nobody made it."""
    return file.read_text("utf-8").splitlines() if file.exists() else []


def wait_for(condition: Callable[[], object]) -> None:
    """Wait until something holds; what takes too long never comes."""
    end = time.monotonic() + _TIMEOUT_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


class Session:
    """A process that has loaded the extension's skills and answers."""

    def __init__(
        self, directory: Path, *, python: str | Path, environ: Mapping[str, str]
    ) -> None:
        self.process = subprocess.Popen(
            [python, "-m", "tests.integration.session"],
            cwd=directory,
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def read(self) -> dict[str, Any]:
        """What it says next."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(self.process.communicate(timeout=_TIMEOUT_S)[1])
        told: dict[str, Any] = json.loads(line)
        return told

    def ask(self, word: str) -> dict[str, Any]:
        """Say ``word`` and return what it says then."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()
        return self.read()

    def end(self) -> dict[str, Any]:
        """Return what it says after the load, and let it end."""
        stdout, stderr = self.process.communicate(timeout=_TIMEOUT_S)
        assert ("", 0) == (stderr, self.process.returncode), stderr
        told: dict[str, Any] = json.loads(stdout)
        return told


@dataclass(kw_only=True)
class Machine:
    """A home with skills, projects beside it, and an index of wheels; no network."""

    folder: Path
    environ: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.home = self.folder / "home"
        self.project = self.folder / "project"
        self.wheels = self.folder / "wheels"
        self.skills = self.home / ".agents" / "skills"
        self.agent = self.home / ".prime" / "agent"
        self.asked = self.folder / "asked"
        for path in (self.skills, self.wheels, self.project / ".git"):
            path.mkdir(parents=True)
        self.environ = {
            **os.environ,
            "HOME": str(self.home),
            "PYTHONPATH": str(_REPOSITORY),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PI_OFFLINE": "1",
            "UV_FIND_LINKS": str(self.wheels),
            "PRIME_SKILLS_UV": str(self.uv(f'exec {find_uv({})} "$@"')),
            **self.environ,
        }

    def uv(self, script: str) -> Path:
        """Write a uv that notes every call of it and then does ``script``."""
        path = self.folder / f"uv-{hashlib.sha256(script.encode()).hexdigest()[:8]}"
        text = f'#!/bin/sh\necho "$@" >>"{self.asked}"\n{script}\n'
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return path

    @property
    def calls(self) -> list[str]:
        """The calls of uv since they were last cleared."""
        return lines_of(self.asked)

    def publish(self, name: str, version: str, *requires: str) -> None:
        """Put a distribution with one module on the index."""
        publish(self.wheels, name, version, *requires)

    def skill(self, name: str, *, root: Path | None = None, **keywords: Any) -> Path:
        """Write a skill that answers with its name."""
        keywords.setdefault("python", f"def run():\n    return {name!r}\n")
        return write_skill(root or self.skills, name, **keywords)

    def user_of(
        self, name: str, module: str, *dependencies: str, root: Path | None = None
    ) -> Path:
        """Write a skill that answers with the version of what it imports."""
        # read again from the disk each time: a living kernel sees what is there now
        code = (
            f"import importlib, {module}\n"
            f"def run():\n    return importlib.reload({module}).version\n"
        )
        return self.skill(name, root=root, python=code, dependencies=dependencies)

    def session(
        self,
        directory: Path | None = None,
        /,
        *,
        python: str | Path = sys.executable,
        **environ: str,
    ) -> Session:
        """Start a process that loads; it is told what it needs by ``environ``."""
        return Session(
            directory or self.project, python=python, environ=self.environ | environ
        )

    def start(
        self, directory: Path | None = None, /, **keywords: Any
    ) -> dict[str, Any]:
        """Start a process, and return how things stood after the load."""
        with self.session(directory, **keywords) as session:
            return session.end()

    @contextmanager
    def neighbours(self) -> Iterator[None]:
        """Whatever happens inside, two others are as well as before.

        One is a kernel of another project, with an environment of its own; the other
        lives in the environment to which the fault happens.
        """
        other = self.folder / "other"
        (other / ".git").mkdir(parents=True)
        root = other / ".agents" / "skills"
        self.publish("of-others", "1.0")
        self.user_of("theirs", "of_others", "of-others", root=root)
        before = self.start(other, PRIME_SKILLS_TRUST="all")
        assert "1.0" == before["answers"]["theirs"]
        theirs = tree_hash(Path(before["generation"]))
        with self.session() as living:
            mine = living.read()["answers"]
            yield
            assert living.ask("answer")["answers"] == mine
        assert tree_hash(Path(before["generation"])) == theirs
        self.asked.unlink(missing_ok=True)
        after = self.start(
            other, PRIME_SKILLS_TRUST="all", PRIME_SKILLS_UV="/nowhere/uv"
        )
        assert "1.0" == after["answers"]["theirs"]
        assert after["generation"] == before["generation"]

    def is_whole(self, told: Mapping[str, Any], **keywords: Any) -> bool:
        """Whether all skills are ready, recorded, and need nothing at the next start.

        Args:
            told: What a start said.
            keywords: As that start was given.
        """
        root = Path(told["root"])
        number = (root / CURRENT).read_text("utf-8").strip()
        known = records.read(generation_at(root / number).record).skills.values()
        recorded = {one.import_name for one in known if one.state == "installed"}
        names = {name.replace("-", "_") for name in told["states"]}
        again = self.start(**keywords, PRIME_SKILLS_UV="/nowhere/uv")
        return (
            set(told["states"].values()) == {"ready"}
            and again["states"] == told["states"]
            and again["answers"] == told["answers"]
            and names <= recorded
            and not list(root.glob(".building-*"))
            and not list(root.glob(".request-*"))
        )
