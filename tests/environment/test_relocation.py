"""Environments that were moved or copied, or that lost their Python, work on."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.environment import record as records
from tests.environment.conftest import run_python

pytestmark = pytest.mark.integration


def test_in09_unwell_generation_is_replaced(world: Any, new_skill: Any) -> None:
    """An interpreter that is gone leads to the next generation, with everything."""
    first, second = new_skill("a"), new_skill("b")
    old = world.ensure(first).generation
    old.python.unlink()
    report = world.ensure(second)
    assert not report.failed
    assert report.generation.directory.name == "2"
    known = records.read(report.generation.record).skills.values()
    assert sorted(skill.import_name for skill in known) == ["a", "b"]
    assert old.site_packages.is_dir()


def test_in09_moved_environment_works(
    world: Any, new_skill: Any, tmp_path: Path, calls: list[str]
) -> None:
    """Generations are relocatable: nothing is done where everything is well."""
    skill = new_skill("a")
    world.ensure(skill)
    moved = tmp_path / "moved"
    shutil.move(world.environment.root, moved)
    world.environment = world.environment._replace(root=moved)
    calls.clear()
    report = world.ensure(skill)
    assert (moved / "1", (), {}) == (
        report.generation.directory,
        report.installed,
        report.failed,
    )
    assert [] == calls
    code = "import a, sys; print(a.run(), sys.prefix)"
    assert f"1 {moved / '1'}" == run_python(report, code, cwd=tmp_path)


def test_in09_skill_is_added_to_a_moved_environment(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """What the record says of the old place hurts nobody, nor does its absence."""
    world.publish("acme-tool", "1.0")
    first = new_skill("a", dependencies=("acme-tool",))
    world.ensure(first)
    original, moved = world.environment.root, tmp_path / "moved"
    shutil.move(original, moved)
    world.environment = world.environment._replace(root=moved)
    report = world.ensure(first, new_skill("b"))
    assert {} == report.failed
    code = "import a, b, acme_tool; print('in')"
    assert "in" == run_python(report, code, cwd=tmp_path)
    assert not original.exists()


@pytest.mark.parametrize("with_times", [True, False])
def test_in09_copied_environment_stands_alone(
    world: Any, new_skill: Any, tmp_path: Path, *, with_times: bool
) -> None:
    """What happens in the copy leaves the original as it is."""
    world.publish("acme-tool", "1.0")
    first = new_skill("a", dependencies=("acme-tool",))
    world.ensure(first)
    original = world.environment
    before = sorted(original.root.rglob("*"))
    copied = tmp_path / "copied"
    shutil.copytree(original.root, copied, symlinks=True)
    if not with_times:
        for path in copied.rglob("*"):
            if not path.is_symlink():
                os.utime(path)
    world.environment = original._replace(root=copied)
    report = world.ensure(first, new_skill("b"))
    assert {} == report.failed
    assert report.generation.directory.is_relative_to(copied)
    code = "import a, b, acme_tool; print('in')"
    assert "in" == run_python(report, code, cwd=tmp_path)
    assert before == sorted(original.root.rglob("*"))


def test_in09_base_interpreter_that_is_gone_is_repaired(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """The next start builds a generation with the Python that there is."""
    first, second = new_skill("a"), new_skill("b")
    old = world.ensure(first).generation
    gone = tmp_path / "gone" / "bin"
    config = old.directory / "pyvenv.cfg"
    lines = config.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.startswith("home")]
    config.write_text("\n".join([f"home = {gone}", *kept]) + "\n", encoding="utf-8")
    old.python.unlink()
    old.python.symlink_to(gone / "python")
    report = world.ensure(second)
    assert ("2", {}) == (report.generation.directory.name, report.failed)
    assert () == world.ensure(first, second).installed
    assert "1" == run_python(report, "import a; print(a.run())", cwd=tmp_path)
