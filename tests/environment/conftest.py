"""Skills on disk, an environment of one's own, and an index of local wheels."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext import process
from prime_skills_ext.environment.installation import InstallReport, ensure
from prime_skills_ext.environment.venv import Environment, locate
from prime_skills_ext.progress import ProgressEvent
from prime_skills_ext.skill.model import Skill
from tests.conftest import as_skill
from tests.wheels import publish

NewSkill = Callable[..., Skill]


@pytest.fixture
def new_skill(tmp_path: Path, make_skill: Callable[..., Path]) -> NewSkill:
    """``new_skill("word-count", dependencies=…)``: a Python-backed skill."""

    def new(name: str, *, root: Path | None = None, **keywords: object) -> Skill:
        keywords.setdefault("python", "def run():\n    return 1\n")
        folder = make_skill(root or tmp_path / "skills", name, **keywords)
        return as_skill(folder)

    return new


@dataclass(kw_only=True)
class World:
    """An environment, and wheels that stand in for an index."""

    environment: Environment
    wheels: Path
    environ: dict[str, str]
    told: list[ProgressEvent] = field(default_factory=list)

    def ensure(
        self,
        *skills: Skill,
        retry: bool = False,
        allow_install: bool = True,
        unavailable: Sequence[Skill] = (),
        extra: Mapping[Path, tuple[str, ...]] | None = None,
    ) -> InstallReport:
        """Ensure ``skills`` and note what is told."""
        return ensure(
            skills,
            environment=self.environment,
            environ=self.environ,
            progress=self.told.append,
            retry=retry,
            allow_install=allow_install,
            unavailable=unavailable,
            extra_requirements=extra,
        )

    def publish(self, name: str, version: str, *requires: str) -> None:
        """Put a distribution with one module on the local index."""
        publish(self.wheels, name, version, *requires)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """An overlay environment; uv sees local wheels and its cache, no network."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    environ = {
        **os.environ,
        "PI_OFFLINE": "1",
        "UV_FIND_LINKS": str(wheels),
    }
    environment = locate(
        mode="overlay", agent_directory=tmp_path / "agent", environ=environ
    )
    return World(environment=environment, wheels=wheels, environ=environ)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commands that are started, as they are started."""
    seen: list[str] = []
    real = process.run

    def spy(argv: Sequence[object], **keywords: Any) -> process.Completed:
        seen.append(" ".join(map(str, argv)))
        return real(argv, **keywords)  # type: ignore[arg-type]

    monkeypatch.setattr(process, "run", spy)
    return seen


def reasons(report: InstallReport) -> dict[str, str]:
    return {path.parent.name: it.reason for path, it in report.failed.items()}


def names(report: InstallReport) -> list[str]:
    return sorted(path.parent.name for path in report.installed)


def run_python(report: InstallReport, code: str, *, cwd: Path) -> str:
    """What the generation's own python prints."""
    assert report.generation is not None
    argv: list[str | Path] = [report.generation.python, "-c", code]
    return process.run(argv, cwd=cwd, timeout_s=60).stdout.strip()


def rewrite(skill: Skill, old: str, new: str) -> None:
    assert skill.python is not None
    text = skill.python.pyproject.read_text(encoding="utf-8")
    assert old in text
    skill.python.pyproject.write_text(text.replace(old, new), encoding="utf-8")


def fake_uv(tmp_path: Path, world: Any, *, script: str, makes: bool = True) -> None:
    """A uv that installs like ``script``; it makes environments like the real one."""
    from prime_skills_ext.environment.uv import find_uv

    path = tmp_path / "uv"
    real = find_uv({})
    make = f'[ "$1" = venv ] && exec {real} "$@"\n' if makes else ""
    text = f"#!/bin/sh\n{make}{script}\n"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    world.environ["PRIME_SKILLS_UV"] = str(path)


def site(tmp_path: Path, name: str, **dists: tuple[str, ...]) -> Path:
    """A directory with distributions: ``a_1_0=("b>=2",)``."""
    folder = tmp_path / name
    for key, requires in dists.items():
        dist, _, version = key.partition("_")
        info = folder / f"{dist}-{version.replace('_', '.')}.dist-info"
        info.mkdir(parents=True)
        lines = [f"Name: {dist}", f"Version: {version.replace('_', '.')}"]
        lines += [f"Requires-Dist: {line}" for line in requires]
        (info / "METADATA").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder
