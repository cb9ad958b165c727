"""What was changed behind our back is found, and what to do about it is right."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.environment.drift import Drift, find_drift
from prime_skills_ext.environment.installation import InstallReport

pytestmark = pytest.mark.integration


def drift(world: Any, report: InstallReport, *skills: Any) -> tuple[Drift, ...]:
    assert report.generation is not None
    return find_drift(
        skills, environment=world.environment, generation=report.generation
    )


@pytest.fixture
def installed(world: Any, new_skill: Any) -> tuple[Any, InstallReport]:
    """A skill that needs acme-tool, which needs acme-base 2."""
    world.publish("acme-tool", "1.0", "acme-base>=2")
    world.publish("acme-base", "2.0")
    skill = new_skill("a", dependencies=("acme-tool",))
    return skill, world.ensure(skill)


def replace_base(report: InstallReport) -> Path:
    """Somebody puts acme-base 1.0 in the place of 2.0."""
    assert report.generation is not None
    packages = report.generation.site_packages
    old = packages / "acme_base-2.0.dist-info"
    text = (old / "METADATA").read_text(encoding="utf-8")
    (old / "METADATA").unlink()
    (old / "METADATA").write_text(text.replace("2.0", "1.0"), encoding="utf-8")
    old.rename(packages / "acme_base-1.0.dist-info")
    return packages


def test_in04_what_is_as_it_was_is_no_drift(world: Any, installed: Any) -> None:
    """Skills that are installed and well say nothing."""
    skill, report = installed
    assert () == drift(world, report, skill)


def test_in04_replaced_distribution_is_found_with_its_chain(
    world: Any, installed: Any
) -> None:
    """Skill, requirement, chain, the version that is there, path and fix."""
    skill, report = installed
    packages = replace_base(report)
    expected = Drift(
        skill="a",
        reason="it needs acme-base>=2 (through acme-tool 1.0), and acme-base 1.0 is "
        f"at {packages}",
        fix="%reload_skills, then restart the kernel",
    )
    assert (expected,) == drift(world, report, skill)


def test_in04_fix_of_a_replaced_distribution_helps(world: Any, installed: Any) -> None:
    """The next load builds a generation that has what is needed."""
    skill, report = installed
    replace_base(report)
    again = world.ensure(skill)
    assert ({}, "2") == (again.failed, again.generation.directory.name)
    assert () == drift(world, again, skill)


def test_in04_change_that_no_load_notices_is_rebuilt(
    world: Any, installed: Any
) -> None:
    """Where no time stamp tells, the fix is another one."""
    skill, report = installed
    packages = report.generation.site_packages
    then = packages.stat().st_mtime_ns
    replace_base(report)
    os.utime(packages, ns=(then, then))
    assert ["%skill env rebuild, then restart the kernel"] == [
        one.fix for one in drift(world, report, skill)
    ]


def test_in04_distribution_that_disappeared_is_found(
    world: Any, installed: Any, tmp_path: Path
) -> None:
    """Nothing is in its place."""
    skill, report = installed
    info = report.generation.site_packages / "acme_tool-1.0.dist-info"
    info.rename(tmp_path / info.name)
    assert ["it needs acme-tool, which is not there any more"] == [
        one.reason for one in drift(world, report, skill)
    ]


def test_in04_change_of_the_kernel_is_found(
    world: Any, installed: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the kernel got since goes before what we installed."""
    skill, report = installed
    place = tmp_path / "kernel" / "site-packages"
    folder = place / "acme_base-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Name: acme-base\nVersion: 1.0\n", "utf-8")
    monkeypatch.syspath_prepend(str(place))
    (found,) = drift(world, report, skill)
    assert f"and acme-base 1.0 is at {place}" in found.reason
    fix = f"uv pip install --python {sys.executable} 'acme-base>=2'"
    assert f"{fix}, then restart the kernel" == found.fix


def test_skill_that_is_not_selected_is_not_checked(world: Any, installed: Any) -> None:
    """What others use is theirs to check."""
    _, report = installed
    replace_base(report)
    assert () == drift(world, report)
