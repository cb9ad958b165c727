"""Installing beside what is there: the kernel, other skills, other kernels."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.environment import record as records
from tests.environment.conftest import names, reasons, run_python, site

pytestmark = pytest.mark.integration


def test_in04_what_the_kernel_has_is_not_installed_again(
    tmp_path: Path, world: Any, new_skill: Any
) -> None:
    """A requirement that the kernel meets goes nowhere; commands find it as well."""
    report = world.ensure(new_skill("a", dependencies=("packaging",)))
    assert report.generation is not None
    assert not report.failed
    assert not list(report.generation.site_packages.glob("packaging*"))
    code = "import packaging; print(packaging.__version__)"
    assert run_python(report, code, cwd=tmp_path) == metadata.version("packaging")


def test_in04_conflict_with_the_kernel_is_named(world: Any, new_skill: Any) -> None:
    """Skill, requirement, the kernel's version and path, and the command."""
    skill = new_skill("a", dependencies=("packaging>=9999",))
    report = world.ensure(skill, new_skill("b"))
    assert names(report) == ["b"]
    # this process, which stands for the kernel, has imported it
    assert reasons(report)["a"].startswith(
        "skill a needs packaging>=9999, the kernel has packaging "
        f"{metadata.version('packaging')} loaded at "
    )
    assert report.failed[skill.identity].fix == (
        f"uv pip install --python {sys.executable} 'packaging>=9999', then restart "
        "the kernel; or relax it in the pyproject.toml of a"
    )


def test_in04_conflict_that_can_be_told_is_told_without_uv(
    world: Any, new_skill: Any, calls: list[str]
) -> None:
    """The check over both environments comes first."""
    good = new_skill("b")
    world.ensure(good)
    calls.clear()
    report = world.ensure(good, new_skill("a", dependencies=("packaging>=9999",)))
    assert (["a"], []) == (list(reasons(report)), calls)


def test_in04_conflict_below_a_requirement_leaves_nothing_behind(
    world: Any, new_skill: Any
) -> None:
    """What turns out not to fit after installing is taken out again."""
    world.publish("acme-tool", "1.0", "packaging>=9999", "acme-base")
    world.publish("acme-base", "1.0")
    world.publish("other", "1.0")
    world.ensure(new_skill("b"))
    good = new_skill("c", dependencies=("other",))
    report = world.ensure(new_skill("a", dependencies=("acme-tool",)), good)
    assert names(report) == ["c"]
    assert "(through acme-tool 1.0)" in reasons(report)["a"]
    assert report.generation is not None
    assert not list(report.generation.site_packages.glob("acme*"))
    assert list(report.generation.site_packages.glob("other*"))


def test_in04_conflict_ends_with_the_kernels_package(
    world: Any, new_skill: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the fix says is enough: nobody has to ask for another try."""
    kernel = site(tmp_path, "site-packages", acme_1_0=())
    monkeypatch.setattr(sys, "path", [*sys.path, str(kernel)])
    skill = new_skill("a", dependencies=("acme>=2",))
    report = world.ensure(skill)
    assert "the kernel has acme 1.0 at" in reasons(report)["a"]
    assert report.failed == world.ensure(skill).failed
    (kernel / "acme-1.0.dist-info").rename(kernel / "acme-2.0.dist-info")
    assert ({}, ["a"]) == (reasons(report := world.ensure(skill)), names(report))


def test_extra_of_a_kernel_package_is_installed(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """What only an extra of a package of the kernel requires is still fetched."""
    world.publish("trio", "99.0")
    report = world.ensure(new_skill("a", dependencies=("anyio[trio]",)))
    assert not report.failed
    assert (
        run_python(report, "import trio; print(trio.version)", cwd=tmp_path) == "99.0"
    )


def test_live_install_keeps_what_is_there(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """A later skill does not raise a version that an earlier one uses."""
    world.publish("acme-tool", "1.0")
    world.ensure(new_skill("a", dependencies=("acme-tool",)))
    world.publish("acme-tool", "2.0")
    report = world.ensure(new_skill("b", dependencies=("acme-tool",)))
    code = "import acme_tool; print(acme_tool.version)"
    assert run_python(report, code, cwd=tmp_path) == "1.0"


def test_replacement_goes_into_the_next_generation(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """Where only another version would do, the old generation stays as it is."""
    world.publish("acme-tool", "1.0")
    first = new_skill("a", dependencies=("acme-tool",))
    old = world.ensure(first)
    world.publish("acme-tool", "2.0")
    new = world.ensure(first, new_skill("b", dependencies=("acme-tool>=2",)))
    code = "import acme_tool; print(acme_tool.version)"
    assert not new.failed
    assert new.generation != old.generation
    versions = [run_python(one, code, cwd=tmp_path) for one in (old, new)]
    assert versions == ["1.0", "2.0"]
    assert run_python(new, "import a, b; print('in')", cwd=tmp_path) == "in"


def test_new_skill_cannot_break_an_earlier_one(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """Of two that contradict each other the new one fails; nothing changes."""
    for version in ("1.0", "2.0"):
        world.publish("acme-tool", version)
    first = new_skill("a", dependencies=("acme-tool<2",))
    old = world.ensure(first)
    report = world.ensure(first, new_skill("b", dependencies=("acme-tool>=2",)))
    assert {"b": "b needs acme-tool>=2, and a needs acme-tool<2"} == reasons(report)
    assert report.generation == old.generation
    code = "import acme_tool; print(acme_tool.version)"
    assert run_python(report, code, cwd=tmp_path) == "1.0"


def test_later_skill_cannot_break_one_of_lower_precedence(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """What was there first stays, wherever the new one stands in the selection."""
    for version in ("1.0", "2.0"):
        world.publish("acme-tool", version)
    first = new_skill("z", dependencies=("acme-tool<2",))
    world.ensure(first)
    report = world.ensure(new_skill("a", dependencies=("acme-tool>=2",)), first)
    assert list(reasons(report)) == ["a"]


def test_replacement_that_would_break_another_skill_is_refused(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """If what is installed cannot be had again, it stays where it is."""
    world.publish("acme-tool", "1.0", "acme-base")
    world.publish("acme-base", "1.0")
    world.publish("other-tool", "1.0")
    first = new_skill("a", dependencies=("acme-tool",))
    old = world.ensure(first, new_skill("c", dependencies=("other-tool",)))
    world.publish("other-tool", "2.0")
    (world.wheels / "acme_base-1.0-py3-none-any.whl").unlink()
    report = world.ensure(first, new_skill("b", dependencies=("other-tool>=2",)))
    assert reasons(report) == {"b": "it cannot be installed beside a"}
    assert report.generation == old.generation
    assert run_python(report, "import a, acme_base; print('in')", cwd=tmp_path) == "in"


def test_conflict_with_another_kernels_skill_gets_its_own_generation(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """A skill that is not selected here does not keep a selected one out."""
    for version in ("1.0", "2.0"):
        world.publish("acme-tool", version)
    old = world.ensure(new_skill("a", dependencies=("acme-tool<2",)))
    report = world.ensure(new_skill("b", dependencies=("acme-tool>=2",)))
    assert not report.failed
    assert report.generation != old.generation


def test_extra_requirement_is_installed_and_remembered(
    world: Any, new_skill: Any, calls: list[str]
) -> None:
    """What a skill imports without saying so is added once."""
    world.publish("acme-tool", "1.0")
    skill = new_skill("a")
    world.ensure(skill)
    report = world.ensure(skill, extra={skill.identity: ("acme-tool",)})
    assert names(report) == ["a"]
    calls.clear()
    assert world.ensure(skill).installed == ()
    assert calls == []
    assert report.generation is not None
    entry = next(iter(records.read(report.generation.record).skills.values()))
    assert entry.extra == ("acme-tool",)


def test_drift_is_repaired_when_a_requirement_disappears(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """The record is not believed against what is installed."""
    world.publish("acme-tool", "1.0")
    skill = new_skill("a", dependencies=("acme-tool",))
    report = world.ensure(skill)
    assert report.generation is not None
    for path in report.generation.site_packages.glob("acme_tool*"):
        path.rename(tmp_path / path.name)
    report = world.ensure(skill)
    assert names(report) == ["a"]
    assert run_python(report, "import acme_tool; print('in')", cwd=tmp_path) == "in"


def test_in10_after_a_kill_the_next_one_is_built_elsewhere(
    world: Any, new_skill: Any, calls: list[str]
) -> None:
    """The uv of the killed process may live on, and must not write into the new one."""
    left = world.environment.root / ".building-next"
    (left / "venv" / "half").mkdir(parents=True)
    (world.environment.root / ".request-x").mkdir()
    assert {} == dict(world.ensure(new_skill("a")).failed)
    made = [call for call in calls if " venv " in call]
    assert 1 == len(made)
    assert str(left / "venv") not in made[0]
    names_left = {path.name for path in world.environment.root.iterdir()}
    assert not [name for name in names_left if name.startswith((".b", ".r"))]
