"""Rows of the reference's own catalogue (§12.5) and of its weaknesses (§11.B).

Those that no other test states as such; the rest stands in the other files here.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.environment import record as records
from tests.environment.conftest import names, reasons, rewrite, run_python

pytestmark = pytest.mark.integration


def installs(calls: list[str]) -> list[str]:
    return [call for call in calls if " pip install " in call]


def test_s12_5_row1_named_directory_holds_the_environment(
    tmp_path: Path, world: Any, new_skill: Any
) -> None:
    """``PRIME_AGENT_KERNEL_VENV`` is where it is installed."""
    from prime_skills_ext.environment.installation import ensure
    from prime_skills_ext.environment.venv import locate

    environ = world.environ | {"PRIME_AGENT_KERNEL_VENV": str(tmp_path / "named")}
    place = locate(mode="overlay", agent_directory=tmp_path / "agent", environ=environ)
    report = ensure([new_skill("a")], environment=place, environ=environ)
    assert report.generation is not None
    assert report.generation.directory.is_relative_to(tmp_path / "named")
    assert not (tmp_path / "agent").exists()


def test_s12_5_rows4_to_7_siblings_are_matched_however_they_are_written(
    tmp_path: Path, world: Any, new_skill: Any, calls: list[str]
) -> None:
    """By project name, not folder; with extras and a version; in one call of uv."""
    zeta = new_skill("zeta", project="Prime.Zeta_Tool")
    alpha = new_skill("alpha", dependencies=("prime-zeta-tool[fast]>=0.1",))
    report = world.ensure(alpha, zeta)
    assert (["alpha", "zeta"], {}) == (names(report), dict(report.failed))
    assert 1 == len(installs(calls))
    known = records.read(report.generation.record).skills[str(alpha.directory)]
    assert known.pyproject_hash.startswith("sha256:")
    assert known.siblings == (str(zeta.directory),)
    code = "import alpha, zeta; print(alpha.run() + zeta.run())"
    assert "2" == run_python(report, code, cwd=tmp_path)


def test_w15_dependency_that_sorts_after_its_dependent_is_warm(
    world: Any, new_skill: Any, calls: list[str]
) -> None:
    """A set is compared: the order in which it went in never matters."""
    skills = [new_skill("alpha", dependencies=("zeta",)), new_skill("zeta")]
    world.ensure(*skills)
    calls.clear()
    assert [] == names(world.ensure(*reversed(skills)))
    assert [] == calls


def test_s12_5_row8_edited_skill_is_installed_again_alone(
    world: Any, new_skill: Any, calls: list[str]
) -> None:
    """The environment stays, and nothing else counts as installed anew."""
    skills = [new_skill("a"), new_skill("b")]
    old = world.ensure(*skills)
    before = records.read(old.generation.record).skills
    rewrite(skills[0], '"0.1.0"', '"0.2.0"')
    calls.clear()
    report = world.ensure(*skills)
    after = records.read(report.generation.record).skills
    assert (names(report), report.generation) == (["a"], old.generation)
    assert 1 == len(installs(calls))
    changed = [key for key in after if after[key] != before[key]]
    assert changed == [str(skills[0].directory)]


def test_s12_5_row9_w17_second_start_retries_nothing_and_rebuilds_nothing(
    world: Any, new_skill: Any, calls: list[str]
) -> None:
    """The good one is in; the bad one's failure is remembered, with uv's reason."""
    skills = [new_skill("good"), new_skill("bad", dependencies=("no-such-dist-xyz",))]
    first = world.ensure(*skills)
    calls.clear()
    again = world.ensure(*skills)
    assert (["good"], [], []) == (names(first), names(again), calls)
    assert reasons(again) == reasons(first)
    assert "no-such-dist-xyz" in reasons(again)["bad"]


@pytest.mark.parametrize("field", ["base", "schema", "site", "kernel"])
def test_s12_5_rows10_13_stale_record_is_renewed(
    world: Any, new_skill: Any, field: str
) -> None:
    """An old form, another runtime, a changed directory: renewed, then warm."""
    skill = new_skill("a")
    generation = world.ensure(skill).generation
    data = json.loads(generation.record.read_text(encoding="utf-8"))
    fresh = data[field]
    generation.record.write_text(json.dumps({**data, field: 8}), encoding="utf-8")
    report = world.ensure(skill)
    assert {} == dict(report.failed)
    renewed = json.loads(report.generation.record.read_text(encoding="utf-8"))
    if field != "site":  # another directory has another stamp
        assert renewed[field] == fresh
    assert [] == names(world.ensure(skill))


def test_w26_what_the_record_says_is_checked_against_the_disk(
    world: Any, new_skill: Any
) -> None:
    """A distribution that vanished behind our back is installed again."""
    world.publish("acme-tool", "1.0")
    skill = new_skill("a", dependencies=("acme-tool",))
    site = world.ensure(skill).generation.site_packages
    for path in site.glob("acme_tool*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    report = world.ensure(skill)
    assert (["a"], {}) == (names(report), dict(report.failed))
    assert list(site.glob("acme_tool-1.0.dist-info"))


def test_in06_project_named_otherwise_than_its_folder(
    tmp_path: Path, world: Any, new_skill: Any
) -> None:
    """Hatchling would refuse it; the import name leads to this very folder."""
    text = (
        '[project]\nname = "prime-skill-a"\nversion = "1"\n[build-system]\n'
        'requires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
    )
    skill = new_skill("a", pyproject=text)
    report = world.ensure(skill)
    assert {} == dict(report.failed)
    where = run_python(report, "import a; print(a.__file__)", cwd=tmp_path)
    assert Path(where).is_relative_to(skill.directory)
