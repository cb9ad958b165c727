"""A small world for the kernel room: skills on disk, binders, a real shell."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from prime_skills_ext.kernel.binding import Binder
from prime_skills_ext.kernel.bindings import Bindings
from prime_skills_ext.skill.model import Skill
from tests.conftest import as_skill

NewSkill = Callable[..., Skill]
NewBinder = Callable[..., Binder]


@pytest.fixture
def new_skill(tmp_path: Path, make_skill: Callable[..., Path]) -> NewSkill:
    """Write a Python-backed skill: ``new_skill("a", python, **modules)``.

    ``modules`` are further modules of its package: ``core="def run(): ..."``.
    """

    def new(name: str, python: str, *, root: str = "skills", **modules: str) -> Skill:
        module = name.replace("-", "_")
        files = {f"src/{module}/{key}.py": text for key, text in modules.items()}
        folder = make_skill(tmp_path / root, name, python=python, files=files)
        return as_skill(folder)

    return new


@pytest.fixture(autouse=True)
def _writes_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stale bytecode is among what is tested: let Python write it."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


@pytest.fixture
def new_binder() -> Iterator[NewBinder]:
    """Make binders that are unbound at the end."""
    binders: list[Binder] = []

    def new(user_ns: dict[str, Any], hidden: dict[str, Any] | None = None) -> Binder:
        binder = Binder(user_ns, hidden={} if hidden is None else hidden)
        binders.append(binder)
        return binder

    yield new
    for binder in binders:
        binder.unbind()


@pytest.fixture
def user_ns() -> dict[str, Any]:
    """What a user's names live in."""
    return {}


@pytest.fixture
def binder(new_binder: NewBinder, user_ns: dict[str, Any]) -> Binder:
    """A binder of ``user_ns``."""
    return new_binder(user_ns)


@pytest.fixture
def shell(home: Path) -> Iterator[InteractiveShell]:
    """A real shell without a history that raises what a cell raises."""
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    shell = InteractiveShell(config=config)
    yield shell
    shell.restore_sys_module_state()


class Live:
    """One bound skill, its files and its reloads."""

    def __init__(self, binder: Binder, skill: Any, user_ns: dict[str, Any]) -> None:
        self.binder = binder
        self.skill = skill
        self.package = Path(skill.python.src) / skill.import_name
        binder.bind([skill])
        self.module: Any = user_ns.get(skill.import_name)

    def edit(self, **modules: str | None) -> Bindings:
        """Write (``None``: delete) modules of the package, then reload."""
        for name, text in modules.items():
            path = self.package / f"{name.replace('init', '__init__')}.py"
            if text is None:
                path.unlink()
            else:
                path.write_text(text)
        return self.reload()

    def reload(self) -> Bindings:
        return self.binder.bind([self.skill], reload=True)

    def state(self, bindings: Bindings) -> str | None:
        problem = bindings.problems.get(self.skill.identity)
        return None if problem is None else problem.state


@pytest.fixture
def live(binder: Binder, user_ns: dict[str, Any], new_skill: Any) -> Any:
    """Write and bind a skill called ``a``."""

    def make(python: str, **modules: str) -> Live:
        return Live(binder, new_skill("a", python, **modules), user_ns)

    return make
