"""``env rebuild``: the same again, beside what is there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.environment import record as records
from prime_skills_ext.environment.activation import activate, deactivate
from prime_skills_ext.environment.inventory import Rebuilt
from prime_skills_ext.environment.rebuilding import rebuild
from prime_skills_ext.environment.venv import current
from prime_skills_ext.errors import InstallError, PrimeSkillsError
from tests.environment.conftest import fake_uv, run_python

pytestmark = pytest.mark.integration


def anew(world: Any, *skills: Any) -> Rebuilt:
    return rebuild(
        skills,
        environment=world.environment,
        environ=world.environ,
        progress=world.told.append,
    )


def test_in10_rebuild_is_beside_and_whole(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """Everything recorded is in it, what others want too; the old one is untouched."""
    world.publish("acme-tool", "1.0")
    skill, other = new_skill("a", dependencies=("acme-tool",)), new_skill("b")
    world.ensure(skill, other)
    old = world.ensure(skill).generation
    before = sorted(old.directory.rglob("*"))
    world.publish("acme-tool", "1.1")
    found = anew(world, skill)
    assert ("2", 2, ()) == (found.directory.name, found.skills, found.failed)
    assert before == sorted(old.directory.rglob("*"))
    report = world.ensure(skill, other)
    assert (found.directory, ()) == (report.generation.directory, report.installed)
    code = "import acme_tool, a, b; print(acme_tool.version)"
    assert "1.1" == run_python(report, code, cwd=tmp_path)


def test_in10_rebuild_repairs_what_was_changed_behind_our_back(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """Also where no time stamp tells: a load would not notice."""
    world.publish("acme-tool", "1.0")
    skill = new_skill("a", dependencies=("acme-tool",))
    report = world.ensure(skill)
    site = report.generation.site_packages
    then = site.stat().st_mtime_ns
    (site / "acme_tool.py").unlink()
    os.utime(site, ns=(then, then))
    assert report.generation == world.ensure(skill).generation
    anew(world, skill)
    code = "import acme_tool; print(acme_tool.version)"
    assert "1.0" == run_python(world.ensure(skill), code, cwd=tmp_path)


def test_in10_rebuild_that_would_lose_a_skill_changes_nothing(
    world: Any, new_skill: Any
) -> None:
    """What cannot be had again stays where it is installed."""
    world.publish("acme-tool", "1.0")
    skill = new_skill("a", dependencies=("acme-tool",))
    old = world.ensure(skill)
    (world.wheels / "acme_tool-1.0-py3-none-any.whl").unlink()
    with pytest.raises(InstallError, match="a would be missing") as caught:
        anew(world, skill)
    assert caught.value.fix
    assert (old.generation, ()) == (
        current(world.environment),
        world.ensure(skill).installed,
    )
    assert ["1"] == _numbers(world)


def test_in10_rebuild_with_a_uv_that_fails_changes_nothing(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """The old generation stays current, and nothing half made is left."""
    skill = new_skill("a")
    old = world.ensure(skill).generation
    fake_uv(tmp_path, world, script="echo 'error: no' >&2; exit 2")
    with pytest.raises(PrimeSkillsError):
        anew(world, skill)
    assert (old, ["1"]) == (current(world.environment), _numbers(world))
    assert [] == list(world.environment.root.glob(".building-*"))


def test_rebuild_keeps_a_failure_and_names_it(world: Any, new_skill: Any) -> None:
    """What failed before is tried again and may fail again."""
    bad = new_skill("bad", dependencies=("no-such-dist-xyz",))
    skill = new_skill("a")
    world.ensure(skill, bad)
    found = anew(world, skill, bad)
    assert (("bad",), 1, None) == (found.failed, found.skills, found.fix)
    record = records.read(found.directory / ".bootstrap-version")
    assert {"installed", "failed"} == {one.state for one in record.skills.values()}


def test_kernel_that_uses_the_old_one_is_told_to_restart(
    world: Any, new_skill: Any
) -> None:
    """It keeps what it has until then."""
    skill = new_skill("a")
    old = world.ensure(skill).generation
    activate(old, owner="test")
    try:
        found = anew(world, skill)
        assert "restart the kernel: it goes on with the environment it has" == found.fix
        assert old == world.ensure(skill).generation
    finally:
        deactivate(owner="test")
    assert found.directory == world.ensure(skill).generation.directory


def test_older_than_a_rebuild_is_not_chosen_again(
    tmp_path: Path, world: Any, new_skill: Any
) -> None:
    """Also by who has a copy elsewhere, as a launcher has of what we ship."""
    launchers = new_skill("a", root=tmp_path / "launcher")
    kernels = new_skill("a", root=tmp_path / "kernel")
    first = [
        world.ensure(one).generation.directory.name for one in (launchers, kernels)
    ]
    assert ["1", "1"] == first
    assert "2" == anew(world, kernels).directory.name
    after = [world.ensure(one) for one in (launchers, kernels, launchers)]
    assert ["2"] * 3 == [report.generation.directory.name for report in after]
    assert [1, 0, 0] == [len(report.installed) for report in after]


def test_rebuild_where_nothing_is_makes_it(world: Any, new_skill: Any) -> None:
    """The first generation is as good as the next."""
    assert ("1", 1) == (
        (found := anew(world, new_skill("a"))).directory.name,
        found.skills,
    )


def test_custom_mode_has_nothing_to_rebuild(world: Any) -> None:
    """Nothing is ever installed there."""
    world.environment = world.environment._replace(mode="custom")
    with pytest.raises(InstallError, match="PRIME_AGENT_KERNEL_PYTHON"):
        anew(world)


def _numbers(world: Any) -> list[str]:
    root = world.environment.root
    return sorted(path.name for path in root.iterdir() if path.name.isdigit())
