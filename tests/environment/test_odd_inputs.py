"""Odd paths, odd requirements and a record that somebody edited."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.environment.conftest import names, run_python

pytestmark = pytest.mark.integration


@pytest.mark.parametrize("folder", ["with space", "é#%20", "quote's;x"])
def test_odd_paths_are_installed(
    tmp_path: Path, world: Any, new_skill: Any, folder: str
) -> None:
    """No character of a path breaks the fast lane."""
    skill = new_skill("a", root=tmp_path / folder)
    report = world.ensure(skill)
    assert not report.failed
    assert "1" == run_python(report, "import a; print(a.run())", cwd=tmp_path)


def test_path_with_a_hash_is_installed_by_its_own_backend(
    tmp_path: Path, world: Any, new_skill: Any
) -> None:
    """Uv takes what follows a # for a fragment, so it is given a link."""
    files = {"setup.py": ""}
    skill = new_skill("a", root=tmp_path / "c#", backend="uv_build", files=files)
    report = world.ensure(skill)
    assert {} == dict(report.failed)
    assert "1" == run_python(report, "import a; print(a.run())", cwd=tmp_path)
    assert {} == dict(world.ensure(skill, new_skill("b")).failed)


def test_record_with_a_senseless_entry_costs_its_skill_an_install(
    tmp_path: Path, world: Any, new_skill: Any
) -> None:
    """Whoever edits a record by hand breaks one skill's entry, not every skill."""
    skills = [new_skill("a"), new_skill("b")]
    generation = world.ensure(*skills).generation
    data = json.loads(generation.record.read_text(encoding="utf-8"))
    data["pythonSkills"][0]["extra"] = ["@@"]
    generation.record.write_text(json.dumps(data), encoding="utf-8")
    report = world.ensure(*skills)
    assert (["a"], {}) == (names(report), dict(report.failed))
    again = world.ensure(*skills)
    assert ([], {}) == (names(again), dict(again.failed))


def test_relative_requirement_is_refused_in_uvs_words(
    world: Any, new_skill: Any
) -> None:
    """The reason is uv's innermost one, not that a file could not be parsed."""
    skill = new_skill("a", dependencies=("other @ file:../other",))
    reason = world.ensure(skill).failed[skill.identity].reason
    assert (
        "Failed to read `a`: relative path without a working directory: ../other"
        == reason
    )
