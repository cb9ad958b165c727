"""What ``ensure`` does, with the real uv; an index of local wheels, no network."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext import process
from prime_skills_ext.environment import record as records
from prime_skills_ext.environment.installation import InstallReport
from prime_skills_ext.environment.record import Command
from prime_skills_ext.skill.model import Skill

pytestmark = pytest.mark.integration


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


@pytest.mark.parametrize("backend", ["hatchling", "setuptools", "uv_build"])
def test_cold_install_makes_skill_importable(
    world: Any, new_skill: Any, tmp_path: Path, backend: str
) -> None:
    """Whatever its backend, a plain skill is in after one call."""
    skill = new_skill("word-count", backend=backend)
    report = world.ensure(skill)
    assert (names(report), dict(report.failed)) == (["word-count"], {})
    code = "import word_count, rlm; print(word_count.run())"
    assert run_python(report, code, cwd=tmp_path) == "1"


def test_in05_offline_and_empty_cache_install_a_plain_skill(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """Without network and cache there is still no build, hence nothing to fetch."""
    world.environ["UV_CACHE_DIR"] = str(tmp_path / "cache")
    report = world.ensure(new_skill("a"), new_skill("b"))
    assert (names(report), dict(report.failed)) == (["a", "b"], {})


def test_third_party_requirement_is_installed(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """A requirement that the kernel lacks goes into the generation."""
    world.publish("acme-tool", "1.5")
    report = world.ensure(new_skill("a", dependencies=("acme-tool>=1",)))
    assert not report.failed
    code = "import acme_tool; print(acme_tool.version)"
    assert run_python(report, code, cwd=tmp_path) == "1.5"


def test_commands_are_what_the_project_declares(world: Any, new_skill: Any) -> None:
    """Commands come from metadata, with the import name they belong to."""
    skill = new_skill("word-count", scripts={"word_count": "rlm.skill:cli"})
    report = world.ensure(skill)
    expected = (Command("word_count", "rlm.skill:cli", "word_count"),)
    assert report.commands == {skill.identity: expected}


def test_missing_distribution_fails_its_skill_alone(world: Any, new_skill: Any) -> None:
    """One skill that cannot be had does not keep the others out."""
    bad = new_skill("bad", dependencies=("no-such-dist-xyz",))
    report = world.ensure(new_skill("a"), bad, new_skill("c"))
    assert names(report) == ["a", "c"]
    assert list(reasons(report)) == ["bad"]
    assert "no-such-dist-xyz" in reasons(report)["bad"]
    assert report.failed[bad.identity].fix
    assert "No solution found" in report.failed[bad.identity].log


def test_three_bad_of_many_are_isolated(world: Any, new_skill: Any) -> None:
    """Several culprits are found; everything else goes in."""
    good = [new_skill(f"good-{number}") for number in range(5)]
    bad = [
        new_skill("bad-0", dependencies=("no-such-dist-xyz",)),
        new_skill("bad-1", dependencies=("no-such-dist-abc>=2",)),
        new_skill("bad-2", dependencies=("no-such-dist-def",)),
    ]
    report = world.ensure(*good, *bad)
    assert sorted(reasons(report)) == ["bad-0", "bad-1", "bad-2"]
    assert len(report.installed) == 5


def test_more_culprits_than_rounds_are_asked_one_by_one(
    world: Any, new_skill: Any
) -> None:
    """With many bad skills every one is still told, and no good one is lost."""
    bad = [
        new_skill(f"bad-{number}", dependencies=(f"no-such-dist-{number}",))
        for number in range(12)
    ]
    report = world.ensure(new_skill("good"), *bad)
    assert len(report.failed) == 12
    assert names(report) == ["good"]


def test_toml_error_fails_its_skill_alone(world: Any, new_skill: Any) -> None:
    """A broken pyproject.toml is told from reading it, not from uv."""
    report = world.ensure(new_skill("a"), new_skill("bad", pyproject="[project\n"))
    assert names(report) == ["a"]
    assert "TOML" in reasons(report)["bad"]


def test_python_that_is_too_old_fails_its_skill_alone(
    world: Any, new_skill: Any
) -> None:
    """requires-python is checked before uv is asked."""
    skill = new_skill("future")
    rewrite(skill, '">=3.10"', '">=3.99"')
    report = world.ensure(skill, new_skill("a"))
    assert names(report) == ["a"]
    assert "requires Python >=3.99" in reasons(report)["future"]


@pytest.mark.network
def test_build_error_fails_its_skill_alone(world: Any, new_skill: Any) -> None:
    """What its own backend refuses is told with the backend's words."""
    setup = {"setup.py": "raise SystemExit('no way')\n"}
    bad = new_skill("bad", backend="setuptools", files=setup)
    world.environ.pop("PI_OFFLINE")  # isolated builds want setuptools
    report = world.ensure(new_skill("a"), bad)
    assert names(report) == ["a"]
    assert list(reasons(report)) == ["bad"]
    assert "no way" in report.failed[bad.identity].log


def test_in16_sibling_is_taken_from_the_folder(world: Any, new_skill: Any) -> None:
    """A skill that requires another one gets the folder, whatever the spelling."""
    first = new_skill("a", dependencies=("Prime.Skill_B",))
    report = world.ensure(first, new_skill("b", project="prime-skill-b"))
    assert (names(report), dict(report.failed)) == (["a", "b"], {})


def test_in16_cycle_is_installed_and_told(world: Any, new_skill: Any) -> None:
    """Skills that require each other go in together."""
    report = world.ensure(
        new_skill("a", dependencies=("b",)), new_skill("b", dependencies=("a",))
    )
    assert (names(report), dict(report.failed)) == (["a", "b"], {})
    assert [item.code for item in report.diagnostics] == ["dependency-cycle"]


def test_in16_dependent_fails_because_its_sibling_failed(
    world: Any, new_skill: Any
) -> None:
    """Only the broken skill and what requires it are out."""
    broken = new_skill("b", dependencies=("no-such-dist-xyz",))
    report = world.ensure(new_skill("a", dependencies=("b",)), broken, new_skill("c"))
    assert names(report) == ["c"]
    assert reasons(report)["a"].startswith("because b failed: ")


def test_unavailable_skill_is_never_looked_up_on_the_index(
    world: Any, new_skill: Any
) -> None:
    """A package of that name on the index does not take the skill's place."""
    world.publish("hidden", "1.0")
    hidden = new_skill("hidden")
    report = world.ensure(
        new_skill("a", dependencies=("hidden",)), unavailable=[hidden]
    )
    expected = "it requires the skill hidden, which is not available here"
    assert reasons(report) == {"a": expected}
    assert not names(report)


def test_skill_works_again_when_the_one_it_requires_is_selected(
    world: Any, new_skill: Any
) -> None:
    """A failure for want of a skill ends when the skill is there."""
    first, second = new_skill("a", dependencies=("b",)), new_skill("b")
    world.ensure(second)
    assert world.ensure(first, unavailable=[second]).failed
    assert not world.ensure(first, second).failed


def test_skill_fails_when_the_one_it_requires_is_deselected(
    world: Any, new_skill: Any
) -> None:
    """An unchanged skill is not ready if what it requires went away."""
    first, second = new_skill("a", dependencies=("b",)), new_skill("b")
    assert not world.ensure(first, second).failed
    assert list(reasons(world.ensure(first, unavailable=[second]))) == ["a"]


def test_two_skills_with_one_project_name_are_told_apart(
    world: Any, new_skill: Any
) -> None:
    """The first of a distribution name goes in, the second says why it does not."""
    report = world.ensure(
        new_skill("a", project="same"), new_skill("b", project="same")
    )
    assert names(report) == ["a"]
    assert reasons(report) == {
        "b": "its project name same is also the one of the skill a"
    }


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


def test_in04_what_the_kernel_has_is_not_installed_again(
    world: Any, new_skill: Any
) -> None:
    """A requirement that the kernel meets goes nowhere."""
    report = world.ensure(new_skill("a", dependencies=("packaging",)))
    assert report.generation is not None
    assert not report.failed
    assert not list(report.generation.site_packages.glob("packaging*"))


def test_in04_conflict_with_the_kernel_is_named(world: Any, new_skill: Any) -> None:
    """Skill, requirement, the kernel's version and path, and the command."""
    skill = new_skill("a", dependencies=("packaging>=9999",))
    report = world.ensure(skill, new_skill("b"))
    assert names(report) == ["b"]
    assert reasons(report)["a"].startswith(
        "skill a needs packaging>=9999, the kernel has packaging "
    )
    assert report.failed[skill.identity].fix == (
        f"uv pip install --python {sys.executable} 'packaging>=9999', then restart "
        "the kernel"
    )


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
    assert list(reasons(report)) == ["b"]
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


def test_folder_that_is_gone_leaves_the_record(world: Any, new_skill: Any) -> None:
    """A skill whose folder was removed is forgotten at the next change."""
    first, second = new_skill("a"), new_skill("b")
    world.ensure(first)
    first.directory.rename(first.directory.with_name("elsewhere"))
    report = world.ensure(second)
    assert report.generation is not None
    known = records.read(report.generation.record).skills.values()
    assert [skill.import_name for skill in known] == ["b"]


def test_markdown_skills_need_no_environment(world: Any, new_skill: Any) -> None:
    """Without a Python-backed skill nothing is made at all."""
    report = world.ensure()
    assert report.generation is None
    assert not world.environment.root.exists()


def test_nothing_is_installed_when_that_is_not_allowed(
    world: Any, new_skill: Any, calls: list[str]
) -> None:
    """Looking tells who would work: whoever requires nothing does."""
    needy = new_skill("needy", dependencies=("no-such-dist-xyz",))
    report = world.ensure(new_skill("a"), needy, allow_install=False)
    assert calls == []
    assert reasons(report) == {
        "needy": "it needs no-such-dist-xyz; it is not installed yet"
    }
    assert report.failed[needy.identity].fix == "%reload_skills"


def test_in08_enclosing_workspace_does_not_interfere(
    tmp_path: Path, world: Any, new_skill: Any
) -> None:
    """A broken uv workspace around skill and environment is not looked at."""
    (tmp_path / "pyproject.toml").write_text(
        '[tool.uv.workspace]\nmembers = ["packages/*"]\n'
        '[tool.uv]\nindex-url = "http://127.0.0.1:9/simple"\n',
        encoding="utf-8",
    )
    (tmp_path / "packages" / "x").mkdir(parents=True)
    world.publish("acme-tool", "1.0")
    world.environ.pop("PI_OFFLINE")
    report = world.ensure(new_skill("a", dependencies=("acme-tool",)))
    assert (names(report), dict(report.failed)) == (["a"], {})


def test_decoy_variables_lead_uv_nowhere(
    tmp_path: Path, world: Any, new_skill: Any
) -> None:
    """Other environments named by variables stay untouched."""
    decoy = tmp_path / "decoy"
    decoy.mkdir()
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT", "PYTHONPATH"):
        world.environ[name] = str(decoy)
    report = world.ensure(new_skill("a"))
    assert not report.failed
    assert list(decoy.iterdir()) == []


@pytest.mark.parametrize("folder", ["with space", "é#%20", "quote's;x"])
def test_odd_paths_are_installed(
    tmp_path: Path, world: Any, new_skill: Any, folder: str
) -> None:
    """No character of a path breaks the fast lane."""
    skill = new_skill("a", root=tmp_path / folder)
    report = world.ensure(skill)
    assert not report.failed
    assert run_python(report, "import a; print(a.run())", cwd=tmp_path) == "1"


@pytest.mark.network
def test_real_index_serves_a_requirement(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """Offline first, then online: a package that exists is fetched."""
    world.environ.pop("PI_OFFLINE")
    report = world.ensure(new_skill("a", dependencies=("text-unidecode>=1.3",)))
    assert not report.failed
    code = "import text_unidecode; print('in')"
    assert run_python(report, code, cwd=tmp_path) == "in"
