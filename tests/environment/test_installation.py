"""What ``ensure`` does, with the real uv; an index of local wheels, no network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext import process
from prime_skills_ext.environment.record import Command
from tests.environment.conftest import names, reasons, rewrite, run_python

pytestmark = pytest.mark.integration


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


def test_commands_of_the_environment_run_where_it_is(
    world: Any, new_skill: Any
) -> None:
    """It was built elsewhere, and may be moved: they name no place."""
    skill = new_skill("a", python="def run(): print('ran')", scripts={"do-a": "a:run"})
    generation = world.ensure(skill).generation
    moved = generation.directory.with_name("moved")
    said = []
    for folder in (generation.scripts, moved / generation.scripts.name):
        done = process.run([folder / "do-a"], cwd=folder, timeout_s=60)
        said.append(done.stdout)
        if not moved.exists():
            generation.directory.rename(moved)
    assert ["ran\n"] * 2 == said


def test_missing_distribution_fails_its_skill_alone(world: Any, new_skill: Any) -> None:
    """One skill that cannot be had does not keep the others out."""
    bad = new_skill("bad", dependencies=("no-such-dist-xyz",))
    report = world.ensure(new_skill("a"), bad, new_skill("c"))
    assert names(report) == ["a", "c"]
    assert list(reasons(report)) == ["bad"]
    assert "no-such-dist-xyz" in reasons(report)["bad"]
    assert report.failed[bad.identity].fix
    assert "No solution found" in report.failed[bad.identity].log


def test_three_bad_of_many_are_isolated(
    world: Any, new_skill: Any, calls: list[str]
) -> None:
    """Several culprits are found in few calls; everything else goes in with one."""
    good = [new_skill(f"good-{number:02}") for number in range(47)]
    bad = [
        new_skill("bad-0", dependencies=("no-such-dist-xyz",)),
        new_skill("bad-1", dependencies=("no-such-dist-abc>=2",)),
        new_skill("bad-2", dependencies=("no-such-dist-def",)),
    ]
    report = world.ensure(*good, *bad)
    assert sorted(reasons(report)) == ["bad-0", "bad-1", "bad-2"]
    assert 47 == len(report.installed)
    # makes the environment, one for each culprit, one for all the others; the first
    # is repeated without what offline cannot be had
    assert len(calls) <= 6


def test_many_culprits_cost_one_call_each(
    world: Any, new_skill: Any, calls: list[str]
) -> None:
    """With many bad skills every one is still told, and no good one is asked about."""
    bad = [
        new_skill(f"bad-{number}", dependencies=(f"no-such-dist-{number}",))
        for number in range(12)
    ]
    report = world.ensure(new_skill("good"), *bad)
    assert len(report.failed) == 12
    assert names(report) == ["good"]
    assert len(calls) <= 15


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
    world: Any, new_skill: Any, calls: list[str]
) -> None:
    """Only they are out, and nobody asks an index for what is the skill's name."""
    broken = new_skill("b", dependencies=("no-such-dist-xyz",))
    report = world.ensure(new_skill("a", dependencies=("b",)), broken, new_skill("c"))
    assert names(report) == ["c"]
    assert reasons(report)["a"].startswith("because b failed: ")
    assert len([call for call in calls if " pip install " in call]) == 2


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


def test_in08_files_of_the_working_directory_do_not_interfere(
    tmp_path: Path, world: Any, new_skill: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Uv reads settings and a version of Python where it runs: that is not here."""
    here = tmp_path / "project"
    here.mkdir()
    (here / "uv.toml").write_text("[[", encoding="utf-8")
    (here / "pyproject.toml").write_text("[[", encoding="utf-8")
    (here / ".python-version").write_text("2.7\n", encoding="utf-8")
    monkeypatch.chdir(here)
    setup = {"setup.py": "from setuptools import setup; setup()\n"}
    skills = [new_skill("a"), new_skill("b", backend="uv_build", files=setup)]
    report = world.ensure(*skills)
    assert (names(report), dict(report.failed)) == (["a", "b"], {})


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


_UNLIKE = """\
[project]
name = "prime-skill-fetch"
version = "0.1.0"

[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
"""


def test_in06_project_named_otherwise_resolves_to_this_directory(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """No backend has to find the package; the import name is the skill's own code."""
    skill = new_skill("fetch", pyproject=_UNLIKE)
    report = world.ensure(skill)
    assert (["fetch"], {}) == (names(report), dict(report.failed))
    code = "import fetch; print(fetch.__file__)"
    found = run_python(report, code, cwd=tmp_path)
    assert skill.directory / "src" / "fetch" / "__init__.py" == Path(found)


def test_in06_backend_that_would_find_nothing_is_told_before_it_runs(
    world: Any, new_skill: Any
) -> None:
    """Where the backend has to run, the two lines come instead of its trace."""
    unlike = _UNLIKE.replace("hatchling.build", "uv_build").replace(
        "hatchling", "uv_build"
    )
    skill = new_skill("fetch", pyproject=unlike, files={"setup.cfg": "[metadata]\n"})
    failure = world.ensure(skill).failed[skill.identity]
    assert "`prime_skill_fetch`, and will not find src/fetch." in failure.reason
    lines = '[tool.uv.build-backend]\nmodule-name = "fetch"'
    assert f"Add these two lines to pyproject.toml:\n{lines}" == failure.fix
    assert "building" not in {event.stage for event in world.told}
    rewrite(skill, "[build-system]", f"{lines}\n\n[build-system]")
    assert ["fetch"] == names(world.ensure(skill))
    assert "building" in {event.stage for event in world.told}
