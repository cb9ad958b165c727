"""A thousand random edits: at every step the kernel answers as a model of them does.

The model knows two things of each skill: what its folder says, and what the kernel
last took up. Skills, shell, environment and reloads are real.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import threading
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from prime_skills_ext import process
from prime_skills_ext.catalog import evidence
from prime_skills_ext.errors import SkillUnavailableError, UnknownSkillError
from tests.conftest import write_skill
from tests.doors import fresh_shell

NAMES = ("ant", "bee-hive", "cat", "dog")
#: Ways to write a skill that answers ``n``; a broken one answers nothing.
GOOD = {
    "one module": {"__init__": "def helper():\n    return {n}\n{run}"},
    "a submodule": {
        "__init__": "from .core import helper\n{run}",
        "core": "def helper():\n    return {n}\n",
    },
    "all in a submodule": {
        "__init__": "from .core import run\n",
        "core": "def helper():\n    return {n}\n{run}",
    },
    "a class": {
        "__init__": "from .core import Thing\nthing = Thing()\n"
        "def helper():\n    return thing.m()\n{run}",
        "core": "class Base:\n    n = {n}\nclass Thing(Base):\n"
        "    def m(self):\n        return self.n\n",
    },
    "a cache": {
        "__init__": "import functools\n@functools.lru_cache\n"
        "def helper():\n    return {n}\n{run}",
    },
}
BROKEN = {
    "syntax": {"__init__": "def run(:\n"},
    "raises": {"__init__": "def helper():\n    return {n}\n1 / 0\n"},
    "imports": {"__init__": "from .nowhere import run\n"},
    "no function": {"__init__": "run = {n}\n"},
    "deep": {
        "__init__": "from .core import helper\n{run}",
        "core": "def helper():\n    return {n}\nimport nowhere_at_all\n",
    },
}
RUN = """
def run(go=None):
    if go is not None:
        go.wait()
    return {n}, helper()
"""
FRESH = """
import json, sys
from prime_skills_ext.manager import SkillManager
manager, found = SkillManager(namespace={}), {}
manager.load()
for item in manager.catalogue.skills:
    value = manager.snapshot.bindings.values.get(item.skill.identity)
    if item.source.kind == "user" and item.skill.python is not None:
        found[item.name] = list(value.run()) if item.state == "ready" else item.state
manager.unload()
print(json.dumps(found))
"""


@dataclass
class Modelled:
    """One skill.

    Attributes:
        disk: What its folder says: an answer, ``"broken"``, or ``None`` without one.
        live: What the kernel took up: an answer, ``"unavailable"`` or ``None``.
        parked: What it answered when its folder went.
        user: What the user bound to its name.
        holds: What the user took from it while it worked.
        go: Ends its call in a thread.
    """

    disk: Any = None
    live: Any = None
    parked: Any = None
    user: Any = None
    holds: Any = None
    go: threading.Event | None = None
    call: list[Any] = field(default_factory=list)
    thread: threading.Thread | None = None


class LifeOfSkills(RuleBasedStateMachine):
    """Edits and the model of them."""

    steps = 0
    environment: Path
    names_of_skills = st.sampled_from(NAMES)
    then = st.sampled_from(("%reload_skills", "polled", "nothing"))

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.skills = {name: Modelled() for name in NAMES}

    @initialize(present=st.lists(names_of_skills, max_size=3, unique=True))
    def start(self, present: list[str]) -> None:
        stack = self.stack
        home = Path(stack.enter_context(tempfile.TemporaryDirectory())).resolve()
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("HOME", str(home))
        patch.setenv("PRIME_AGENT_KERNEL_VENV", str(self.environment))
        # files are written and looked at within one second here
        patch.setattr(evidence, "_SAFE_AGE_NS", -(10**10))
        (home / "project" / ".git").mkdir(parents=True)
        patch.chdir(home / "project")
        self.clock = home / "clock"
        self.root = home / ".agents" / "skills"
        self.root.mkdir(parents=True)
        self.shell: Any = stack.enter_context(fresh_shell())
        for name in present:
            self.add_edit_or_fix(name, "a class", 1, then="nothing")
        self.shell.run_line_magic("load_ext", "prime_skills_ext")
        for name in present:
            self.take_up(self.skills[name])
        stack.callback(self.shell.run_line_magic, "unload_ext", "prime_skills_ext")
        self.names = self.shell.user_ns

    def teardown(self) -> None:
        for skill in self.skills.values():
            if skill.go is not None:
                skill.go.set()
                assert skill.thread is not None
                skill.thread.join(60)
        self.stack.close()

    def write(self, name: str, files: dict[str, str], *, number: int) -> None:
        package = self.root / name / "src" / name.replace("-", "_")
        if not package.is_dir():
            write_skill(self.root, name, python="")
        for old in package.glob("*.py"):
            if old.stem not in files:
                old.unlink()
        for stem, text in files.items():
            run = RUN.format(n=number)
            code = text.format(n=number, run=run)
            (package / f"{stem}.py").write_text(code, encoding="utf-8")

    def tick(self) -> None:
        """Wait until the clock of the file system moves on."""
        self.clock.write_text("")
        before = self.clock.stat().st_mtime_ns
        while self.clock.stat().st_mtime_ns == before:
            self.clock.write_text("")

    @rule(
        name=names_of_skills,
        way=st.sampled_from(sorted(GOOD)),
        n=st.integers(0, 9),
        then=then,
    )
    def add_edit_or_fix(self, name: str, way: str, n: int, then: str) -> None:
        self.write(name, GOOD[way], number=n)
        self.skills[name].disk = (n, n)
        self.reload(then)

    @rule(name=names_of_skills, way=st.sampled_from(sorted(BROKEN)), then=then)
    def break_it(self, name: str, way: str, then: str) -> None:
        """Some never worked before."""
        self.write(name, BROKEN[way], number=1)
        self.skills[name].disk = "broken"
        self.reload(then)

    @rule(name=names_of_skills, then=then)
    def remove(self, name: str, then: str) -> None:
        if self.skills[name].disk is not None:
            shutil.rmtree(self.root / name)
            self.skills[name].disk = None
            self.reload(then)

    @rule(name=names_of_skills, to=names_of_skills, n=st.integers(0, 9), then=then)
    def rename(self, name: str, to: str, n: int, then: str) -> None:
        source, target = self.skills[name], self.skills[to]
        if source.disk is not None and target.disk is None:
            self.remove(name, "nothing")
            self.add_edit_or_fix(to, "a submodule", n, then)

    @rule(name=names_of_skills, value=st.integers())
    def rebind(self, name: str, value: int) -> None:
        self.names[name.replace("-", "_")] = self.skills[name].user = [value]

    @rule(name=names_of_skills)
    def give_back(self, name: str) -> None:
        self.names.pop(name.replace("-", "_"), None)
        self.skills[name].user = None

    @rule(name=names_of_skills)
    def hold(self, name: str) -> None:
        """``from ant import run``."""
        if isinstance(self.skills[name].live, tuple):
            self.skills[name].holds = self.names["skills"][name].run

    @rule(name=names_of_skills)
    def call_in_a_thread(self, name: str) -> None:
        skill = self.skills[name]
        if skill.go is None and isinstance(skill.live, tuple):
            go = skill.go = threading.Event()
            skill.call = [skill.live]
            run = self.names["skills"][name].run
            skill.thread = threading.Thread(
                target=lambda: skill.call.append(run(go)), daemon=True
            )
            skill.thread.start()
            while not any(
                frame.f_code.co_name == "run" and frame.f_locals.get("go") is go
                for frame in self.frames(skill.thread)
            ):
                pass

    @staticmethod
    def frames(thread: threading.Thread) -> Any:
        frame = sys._current_frames().get(thread.ident or 0)
        while frame is not None:
            yield frame
            frame = frame.f_back

    @rule(name=names_of_skills)
    def end_the_call(self, name: str) -> None:
        skill = self.skills[name]
        if skill.go is not None:
            skill.go.set()
            assert skill.thread is not None
            skill.thread.join(60)
            skill.go = None
            begun, ended = skill.call
            assert begun == ended, "a call in a thread saw two versions"

    @rule(then=then)
    def reload(self, then: str) -> None:
        if then == "nothing":
            return
        self.tick()
        if then == "polled":
            self.shell.run_line_magic("config", "SkillManager.auto_reload = True")
            self.shell.run_cell("pass")
            self.shell.run_line_magic("config", "SkillManager.auto_reload = False")
        else:
            self.shell.run_line_magic("reload_skills", "")
        self.tick()
        for skill in self.skills.values():
            self.take_up(skill)

    def take_up(self, skill: Modelled) -> None:
        if skill.disk is None:
            if isinstance(skill.live, tuple):
                skill.parked = skill.live
            skill.live = None
            skill.holds = None
            return
        if skill.live is None:
            # one that comes back has the modules that it had
            skill.live, skill.parked = skill.parked, None
        if isinstance(skill.live, tuple):
            # a broken edit leaves the version before, a call in a thread waits
            if skill.disk != "broken" and skill.go is None:
                skill.live = skill.disk
        else:
            skill.live = "unavailable" if skill.disk == "broken" else skill.disk

    @invariant()
    def every_answer_is_the_models(self) -> None:
        if not hasattr(self, "shell"):
            return
        for name, skill in self.skills.items():
            assert (name, self.answer(name)) == (name, skill.live)
            bound = name.replace("-", "_")
            if skill.user is not None:
                assert self.names[bound] is skill.user
            if skill.holds is not None and isinstance(skill.live, tuple):
                assert skill.holds() == skill.live

    def answer(self, name: str) -> Any:
        try:
            value = self.names["skills"][name]
        except UnknownSkillError:
            return None
        try:
            call = value()
            call.send(None)
        except StopIteration as end:
            return end.value
        except SkillUnavailableError:
            return "unavailable"
        raise AssertionError("it waits")

    @invariant()
    @precondition(lambda self: hasattr(self, "shell"))
    def every_fiftieth_step_a_fresh_process_agrees(self) -> None:
        cls = type(self)
        cls.steps += 1
        if cls.steps % 50:
            return
        done = process.run(
            [sys.executable, "-c", FRESH],
            cwd=Path.cwd(),
            env=os.environ,
            timeout_s=120,
        )
        expected = {
            name: "import-failed" if skill.disk == "broken" else list(skill.disk)
            for name, skill in self.skills.items()
            if skill.disk is not None
        }
        assert expected == json.loads(done.stdout)


def test_a_thousand_edits_answer_as_a_model_of_them_does(
    tmp_path: Path, home: Path
) -> None:
    """Every step in the kernel, every fiftieth in a fresh process, too."""
    LifeOfSkills.steps = 0
    LifeOfSkills.environment = tmp_path / "environments"
    run_state_machine_as_test(
        LifeOfSkills,
        settings=settings(
            max_examples=32,
            stateful_step_count=50,
            derandomize=True,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert LifeOfSkills.steps >= 1000
