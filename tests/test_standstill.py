"""A reload with nothing changed looks no further, and misses nothing for it.

Each test changes one thing that a run of the stages looks at, after a reload at rest.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from prime_skills_ext import pipeline
from prime_skills_ext.catalog import evidence
from prime_skills_ext.kernel.importing import SkillFinder
from prime_skills_ext.manager import SkillManager
from tests.conftest import write_skill
from tests.host.played import PlayedKernel


class World:
    """Skills of the user in a kernel that is at rest."""

    def __init__(self, home: Path, project: Path) -> None:
        self.home, self.project = home, project
        self.root = home / ".agents" / "skills"
        self.agent = home / ".prime" / "agent"
        self.agent.mkdir(parents=True)
        for name in ("a", "b"):
            write_skill(self.root, name, python="from .core import run\n")
            self.write(f"{name}/src/{name}/core.py", "def run():\n    return 1\n")
        write_skill(self.root, "notes")
        self.names: dict[str, Any] = {}
        self.kernel = PlayedKernel()
        self.manager = SkillManager(namespace=self.names, kernel=self.kernel)
        self.runs = 0

    def write(self, path: str, text: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def settle(self) -> None:
        """Reload until a reload runs no stage.

        Not before a test begins: pytest changes a variable then.
        """
        self.manager.reload()
        before = self.runs
        assert self.manager.reload() is None
        assert self.runs == before

    def reload(self) -> str:
        return repr(self.manager.reload())

    def state(self, name: str) -> str:
        return self.manager.catalogue.get(name).state


@pytest.fixture
def world(home: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    # files are written and looked at within one second here
    monkeypatch.setattr(evidence, "_SAFE_AGE_NS", -(10**10))
    monkeypatch.delenv("PRIME_SKILLS_UV")
    made = World(home, place)
    survey = pipeline.survey  # type: ignore[attr-defined]

    def counted(*words: Any, **keywords: Any) -> Any:
        made.runs += 1
        return survey(*words, **keywords)

    monkeypatch.setattr(pipeline, "survey", counted)
    made.manager.load()
    yield made
    made.manager.unload()


def _header(world: World) -> None:
    world.write("notes/SKILL.md", "---\nname: notes\ndescription: Other.\n---\n")


def _gone(world: World) -> None:
    shutil.rmtree(world.root / "b")


def _renamed(world: World) -> None:
    (world.root / "notes").rename(world.root / "other")


def _new(world: World) -> None:
    write_skill(world.root / "group" / "deep", "fresh")


def _new_source(world: World) -> None:
    write_skill(world.project / ".prime" / "agent" / "skills", "theirs")


def _settings(world: World) -> None:
    (world.agent / "settings.json").write_text(json.dumps({"skills": ["!notes"]}))


def _ignored(world: World) -> None:
    world.write(".gitignore", "notes/\n")


def _moved_back(world: World) -> None:
    shutil.move(world.root / "notes", world.project / "notes")


def _no_package(world: World) -> None:
    (world.root / "b/src/b/__init__.py").unlink()


def _new_package(world: World) -> None:
    write_skill(world.root, "notes", python="def run(): ...")


def _deleted_name(world: World) -> None:
    del world.names["a"]


def _forgotten_module(world: World) -> None:
    del sys.modules["a"]


def _older_finders(world: World) -> None:
    sys.meta_path[:] = [it for it in sys.meta_path if not isinstance(it, SkillFinder)]
    del sys.modules["a"]


def _plain_module(world: World) -> None:
    world.names["a"].__class__ = ModuleType


def _edit(world: World) -> None:
    world.write("a/src/a/core.py", "def run():\n    return 2\n")


def _new_module(world: World) -> None:
    world.write("a/src/a/extra.py", "x = 1\n")
    world.write("a/src/a/__init__.py", "from .core import run\nfrom . import extra\n")


def _data(world: World) -> None:
    world.write("a/src/a/table.csv", "1\n")


def _broken(world: World) -> None:
    world.write("a/src/a/core.py", "def run(:\n")


@pytest.mark.parametrize(
    ("change", "report"),
    [
        (_header, "~1 notes"),
        (_gone, "-1 b"),
        (_renamed, "~1 notes"),
        (_new, "+1 fresh"),
        (_new_source, "+1 theirs"),
        (_settings, "~1 notes"),
        (_ignored, "-1 notes"),
        (_moved_back, "-1 notes"),
        (_no_package, "~1 b"),
        (_new_package, "~1 notes"),
        (_edit, "~1 a"),
        (_new_module, "~1 a"),
        (_data, "~1 a"),
        (_broken, "!1 a"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_re03_whatever_changes_on_disk_is_noticed(
    world: World, change: Callable[[World], None], report: str
) -> None:
    """And once it is taken up the kernel is at rest again, unless it failed."""
    world.settle()
    change(world)
    assert report == world.reload()
    assert world.manager.reload() is None


@pytest.mark.parametrize(
    "change", [_deleted_name, _forgotten_module, _older_finders, _plain_module]
)
def test_what_the_user_took_is_given_back(
    world: World, change: Callable[[World], None]
) -> None:
    """``del a; %reload_skills``: nothing changed on disk, and yet it is repaired."""
    world.settle()
    change(world)
    assert world.manager.reload() is None
    assert world.names["a"] is sys.modules["a"]
    assert 1 == world.names["a"].run()
    assert callable(world.names["a"])


def test_a_name_of_the_users_is_theirs_until_they_let_it_go(world: World) -> None:
    """``a = 5`` is reported and left; ``del a`` gives it back."""
    world.settle()
    kept = world.names["a"]
    world.names["a"] = 5
    assert "~1 a" == world.reload()
    assert (5, "name-taken") == (world.names["a"], world.state("a"))
    world.settle()
    del world.names["a"]
    assert "~1 a" == world.reload()
    assert world.names["a"] is kept


def test_the_environment_is_looked_at_each_time(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Variables, keys and programs come and go without a file of ours."""
    world.settle()
    monkeypatch.setenv("SERPER_API_KEY", "k-123456")
    assert "websearch" in world.reload()
    assert world.state("websearch") != "needs-credential"
    world.settle()
    monkeypatch.delenv("SERPER_API_KEY")
    world.reload()
    assert "needs-credential" == world.state("websearch")
    world.settle()
    (world.agent / "auth.json").write_text(
        json.dumps({"serper": {"type": "api_key", "key": "abcdefgh"}})
    )
    (world.agent / "auth.json").chmod(0o600)
    assert "websearch" in world.reload()


def test_programs_are_looked_for_each_time(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is installed in a folder of ``PATH`` that was there before."""
    world.settle()
    tools = tmp_path / "tools"
    tools.mkdir()
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    world.write(
        "needy/SKILL.md",
        "---\nname: needy\ndescription: Needs it.\n"
        "metadata:\n  requires:\n    bins: [no-such-tool-yet]\n---\n",
    )
    world.reload()
    world.settle()
    before = world.state("needy")
    program = tools / "no-such-tool-yet"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    world.reload()
    assert ("needs-requirement", "instructions") == (before, world.state("needy"))


def test_the_host_is_looked_at_each_time(world: World) -> None:
    """It comes and goes on other threads, and no file changes."""
    world.write(
        "asks/SKILL.md",
        "---\nname: asks\ndescription: Asks.\n"
        "metadata: {host: {requests: model.info}}\n---\n",
    )
    assert "+1 asks" == world.reload()
    world.settle()
    host = world.kernel.announce("model.info")
    assert ("~1 asks", "instructions") == (world.reload(), world.state("asks"))
    world.settle()
    host.ended({})
    assert ("~1 asks", "needs-host") == (world.reload(), world.state("asks"))


def test_trust_is_looked_at_each_time(world: World) -> None:
    """Given, taken back, and bound to content."""
    world.settle()
    theirs = world.project / ".prime" / "agent" / "skills"
    folder = write_skill(theirs, "theirs", python="def run(): return 1")
    world.reload()
    world.settle()
    store = world.manager
    from prime_skills_ext.catalog.trust import TrustStore

    trust = TrustStore(store.places.agent_directory)
    for act, state in (
        (lambda: trust.trust(world.project, pin=True), "ready"),
        (lambda: (folder / "more.txt").write_text("new"), "untrusted"),
        (lambda: trust.trust(world.project), "ready"),
        (lambda: trust.untrust(world.project), "untrusted"),
    ):
        act()
        assert "~1 theirs" == world.reload()
        assert world.state("theirs") == state
        assert world.manager.reload() is None


def test_a_setting_of_the_manager_is_looked_at_each_time(
    world: World, tmp_path: Path
) -> None:
    """``skill_paths`` may be changed in place."""
    world.settle()
    write_skill(tmp_path / "more", "extra")
    world.manager.skill_paths = [str(tmp_path / "more")]
    assert "+1 extra" == world.reload()
    world.settle()
    world.manager.skill_paths = []
    assert "-1 extra" == world.reload()
    world.manager.imports = "lazy"
    write_skill(world.root, "late", python="def run(): ...\n")
    assert "+1 late" == world.reload()
    world.settle()
    assert "late" not in sys.modules
    world.manager.imports = "eager"
    world.manager.reload()
    assert "late" in sys.modules


def test_a_young_file_is_not_believed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It could change again without its times moving."""
    world.settle()
    monkeypatch.setattr(evidence, "_SAFE_AGE_NS", 10**12)
    write_skill(world.root, "young")
    world.manager.reload()
    before = world.runs
    assert world.manager.reload() is None
    assert world.runs == before + 1


def test_an_edit_runs_no_stage_that_does_not_depend_on_it(world: World) -> None:
    """Of one skill's code, nothing else is looked at anew."""
    world.settle()
    before = world.runs
    _edit(world)
    assert (world.reload(), world.runs) == ("~1 a", before)
    assert 2 == world.names["a"].run()
    _broken(world)
    assert ("!1 a", "stale") == (world.reload(), world.state("a"))
    # asked once more, it is tried once more
    assert world.manager.reload() is None
    _edit(world)
    assert (world.reload(), world.state("a"), world.runs) == ("~1 a", "ready", before)


def test_the_answer_of_a_reload_is_told_once(world: World) -> None:
    """What the last reload did is not reported by the next one."""
    world.settle()
    _new(world)
    assert "+1 fresh" == world.reload()
    bindings = world.manager.snapshot.bindings
    assert world.manager.reload() is None
    _edit(world)
    world.manager.reload()
    assert world.manager.reload() is None
    assert () == world.manager.snapshot.bindings.changed
    assert bindings.names != {}
