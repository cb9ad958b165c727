"""A generation in the living interpreter, and out of it again."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.environment.activation import activate, active, deactivate
from prime_skills_ext.environment.usage import is_in_use, release
from prime_skills_ext.environment.venv import Generation

pytestmark = pytest.mark.integration


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Whatever a test leaves behind ends with it."""
    modules = set(sys.modules)
    yield
    deactivate()
    deactivate(owner="other")
    for name in set(sys.modules) - modules:
        del sys.modules[name]


@pytest.fixture
def generation(world: Any, new_skill: Any) -> Generation:
    """One with a third-party package and a skill."""
    world.publish("acme-tool", "1.0")
    report = world.ensure(new_skill("some-skill", dependencies=("acme-tool",)))
    found: Generation = report.generation
    return found


def test_requirements_become_importable(generation: Generation) -> None:
    """What a skill requires can be imported at once."""
    assert activate(generation) == ()
    assert importlib.import_module("acme_tool").version == "1.0"


def test_links_of_skills_are_passed_over(generation: Generation) -> None:
    """Skills come from the kernel's finder, never from a link in the generation."""
    before = list(sys.path)
    activate(generation)
    assert [entry for entry in sys.path if entry not in before] == [
        str(generation.site_packages)
    ]
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("some_skill")


def test_kernel_comes_first(generation: Generation) -> None:
    """The generation is appended: the kernel's own packages win."""
    activate(generation)
    assert sys.path[-1] == str(generation.site_packages)


def test_deactivate_restores_the_path(generation: Generation) -> None:
    """Afterwards everything is as it was."""
    before = (list(sys.path), list(sys.meta_path))
    activate(generation)
    activate(generation)
    deactivate(generation)
    assert (list(sys.path), list(sys.meta_path)) == before
    assert active() == ()


def test_generation_stays_until_every_owner_is_done(generation: Generation) -> None:
    """Two shells in one process do not take it from each other."""
    activate(generation)
    activate(generation, owner="other")
    deactivate()
    assert active() == (generation,)
    deactivate(owner="other")
    assert active() == ()


def test_path_lines_and_import_lines_are_processed(
    generation: Generation, tmp_path: Path
) -> None:
    """What ``site`` would do is done, and undone."""
    extra = tmp_path / "extra"
    extra.mkdir()
    (generation.site_packages / "more.pth").write_text(
        f"# a comment\n\n{extra}\n{tmp_path / 'missing'}\n"
        "import sys; sys.meta_path.append(type('Finder', (), "
        "{'find_spec': staticmethod(lambda *a: None)}))\n",
        encoding="utf-8",
    )
    before = (list(sys.path), list(sys.meta_path))
    assert activate(generation) == ()
    assert str(extra) in sys.path
    assert len(sys.meta_path) == len(before[1]) + 1
    deactivate()
    assert (list(sys.path), list(sys.meta_path)) == before


def test_bad_lines_become_diagnostics(
    generation: Generation, capsys: pytest.CaptureFixture[str]
) -> None:
    """A broken file is told, not printed, and does not stop the others."""
    (generation.site_packages / "bad.pth").write_text(
        "import no_such_module_xyz\n", encoding="utf-8"
    )
    (generation.site_packages / "binary.pth").write_bytes(b"\xff\xfe\n")
    found = activate(generation)
    assert [(item.code, item.line) for item in found] == [
        ("bad-pth", 1),
        ("bad-pth", None),
    ]
    assert "no_such_module_xyz" in found[0].message
    assert capsys.readouterr().err == ""


def test_later_install_is_taken_in(
    generation: Generation, world: Any, new_skill: Any
) -> None:
    """What is installed while the generation is active imports at once."""
    activate(generation)
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("late_tool")
    world.publish("late-tool", "3.0")
    report = world.ensure(new_skill("b", dependencies=("late-tool",)))
    assert report.generation == generation
    assert importlib.import_module("late_tool").version == "3.0"


def test_replaced_distribution_says_restart(
    generation: Generation, world: Any, new_skill: Any
) -> None:
    """What this process has imported in another version is named, nothing else."""
    activate(generation)
    world.publish("acme-tool", "2.0")
    report = world.ensure(new_skill("b", dependencies=("acme-tool>=2",)))
    assert ({}, ()) == (dict(report.failed), report.restart)
    deactivate()
    activate(report.generation)
    assert "2.0" == importlib.import_module("acme_tool").version
    world.publish("acme-tool", "3.0")
    report = world.ensure(new_skill("c", dependencies=("acme-tool>=3",)))
    assert ({}, ("acme-tool",)) == (dict(report.failed), report.restart)


def test_kernel_inside_goes_on_using_its_generation(
    world: Any, new_skill: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unloading the extension does not move the process out of its interpreter."""
    generation = world.ensure(new_skill("a")).generation
    with monkeypatch.context() as patched:
        patched.setattr(sys, "prefix", str(generation.directory))
        activate(generation, owner="test")
        deactivate(owner="test")
        assert is_in_use(generation.directory)
    release(generation)
    assert not is_in_use(generation.directory)
