"""What a second ``ensure`` does: nothing, unless something changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.environment import record as records
from tests.environment.conftest import fake_uv, names, rewrite, run_python

pytestmark = pytest.mark.integration


def test_in01_second_call_does_nothing_when_one_skill_is_broken(
    world: Any, new_skill: Any, calls: list[str]
) -> None:
    """Failures are remembered with their reason, and nothing is tried again."""
    skills = [new_skill("a"), new_skill("bad", dependencies=("no-such-dist-xyz",))]
    first = world.ensure(*skills)
    calls.clear()
    second = world.ensure(*skills)
    assert calls == []
    assert (second.installed, second.failed) == ((), first.failed)


def test_in01_failure_is_tried_again_when_asked(world: Any, new_skill: Any) -> None:
    """``retry`` looks again at what did not change."""
    skill = new_skill("a", dependencies=("acme-tool",))
    assert world.ensure(skill).failed
    world.publish("acme-tool", "1.0")
    assert world.ensure(skill).failed
    assert not world.ensure(skill, retry=True).failed


def test_in01_failure_is_tried_again_with_another_uv(
    tmp_path: Path, world: Any, new_skill: Any
) -> None:
    """What one cannot another may; going online is one more."""
    world.publish("acme-tool", "1.0")
    skill = new_skill("a", dependencies=("acme-tool",))
    world.ensure(new_skill("b"))
    fake_uv(tmp_path, world, script="echo 'error: no' >&2; exit 2")
    assert world.ensure(skill).failed
    del world.environ["PRIME_SKILLS_UV"]
    assert not world.ensure(skill).failed


def test_in01_failure_is_tried_again_when_its_inputs_change(
    world: Any, new_skill: Any
) -> None:
    """Correcting the file is enough."""
    skill = new_skill("a", dependencies=("no-such-dist-xyz",))
    assert world.ensure(skill).failed
    rewrite(skill, "'no-such-dist-xyz'", "")
    assert not world.ensure(skill).failed


def test_in02_added_dependency_is_installed(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """A changed pyproject.toml is installed anew."""
    world.publish("acme-tool", "1.0")
    skill = new_skill("a")
    world.ensure(skill)
    rewrite(skill, "dependencies = []", 'dependencies = ["acme-tool"]')
    report = world.ensure(skill)
    assert names(report) == ["a"]
    assert run_python(report, "import acme_tool; print('in')", cwd=tmp_path) == "in"


def test_in02_renamed_script_is_noticed(world: Any, new_skill: Any) -> None:
    """Commands follow the file."""
    skill = new_skill("a", scripts={"old": "a:run"})
    world.ensure(skill)
    rewrite(skill, "old =", "new =")
    report = world.ensure(skill)
    assert [command.name for command in report.commands[skill.identity]] == ["new"]


@pytest.mark.network
def test_in02_dynamic_dependency_file_is_an_input(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """A file behind ``dynamic`` counts as much as pyproject.toml."""
    world.environ.pop("PI_OFFLINE")
    world.publish("acme-tool", "1.0")
    pyproject = (
        '[project]\nname = "a"\nversion = "1"\ndynamic = ["dependencies"]\n'
        '[build-system]\nrequires = ["setuptools>=64"]\n'
        'build-backend = "setuptools.build_meta"\n'
        '[tool.setuptools.dynamic]\ndependencies = {file = ["needs.txt"]}\n'
    )
    skill = new_skill("a", pyproject=pyproject, files={"needs.txt": ""})
    assert not world.ensure(skill).failed
    (skill.directory / "needs.txt").write_text("acme-tool\n", encoding="utf-8")
    report = world.ensure(skill)
    assert (names(report), dict(report.failed)) == (["a"], {})
    assert run_python(report, "import acme_tool; print('in')", cwd=tmp_path) == "in"


def test_record_is_cumulative_when_the_selection_changes(
    world: Any, new_skill: Any, calls: list[str]
) -> None:
    """Going from A to B and back to A installs nothing the second time."""
    first, second = new_skill("a"), new_skill("b")
    world.ensure(first)
    world.ensure(second)
    calls.clear()
    report = world.ensure(first)
    assert (calls, report.installed, dict(report.failed)) == ([], (), {})


def test_order_of_the_selection_never_matters(
    world: Any, new_skill: Any, calls: list[str]
) -> None:
    """The record is compared as a set."""
    skills = [new_skill("alpha", dependencies=("zeta",)), new_skill("zeta")]
    world.ensure(*skills)
    calls.clear()
    assert world.ensure(*reversed(skills)).installed == ()
    assert calls == []


def test_folder_that_is_gone_leaves_the_record(world: Any, new_skill: Any) -> None:
    """A skill whose folder was removed is forgotten at the next change."""
    first, second = new_skill("a"), new_skill("b")
    world.ensure(first)
    first.directory.rename(first.directory.with_name("elsewhere"))
    report = world.ensure(second)
    assert report.generation is not None
    known = records.read(report.generation.record).skills.values()
    assert [skill.import_name for skill in known] == ["b"]
