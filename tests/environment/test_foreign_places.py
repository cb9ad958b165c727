"""Skills whose own backend or ``tool.uv.sources`` say where something lies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.environment.conftest import names, reasons, run_python

pytestmark = pytest.mark.integration

_PROJECT = '[project]\nname = "{name}"\nversion = "0.1"\ndependencies = ["{needs}"]\n'
_UV_BUILD = '[build-system]\nrequires = ["uv_build"]\nbuild-backend = "uv_build"\n'
_BROKEN = (
    '[project]\nname = "broken"\nversion = "0.1"\n'
    '[build-system]\nrequires = []\nbuild-backend = "own"\nbackend-path = ["."]\n'
)


@pytest.mark.parametrize("editable", ["", ", editable = true"])
def test_in16_source_may_name_the_folder_of_a_sibling(
    world: Any, new_skill: Any, tmp_path: Path, editable: str
) -> None:
    """It is the place that its author's own uv needs, and no contradiction."""
    sibling = new_skill("sibling")
    source = f'[tool.uv.sources]\nsibling = {{ path = "../sibling"{editable} }}\n'
    project = _PROJECT.format(name="user", needs="sibling") + source + _UV_BUILD
    code = "import sibling\ndef run():\n    return sibling.run() + 1\n"
    user = new_skill("user", pyproject=project, python=code)

    report = world.ensure(user, sibling)

    assert (names(report), dict(report.failed)) == (["sibling", "user"], {})
    assert run_python(report, "import user; print(user.run())", cwd=tmp_path) == "2"


def test_in01_build_that_fails_costs_nobody_else_beside_an_error_without_a_name(
    world: Any, new_skill: Any
) -> None:
    """Uv resolves without a build: who fails there comes out at the very end."""
    source = '[tool.uv.sources]\nother = { path = "../nowhere" }\n'
    project = _PROJECT.format(name="lost", needs="other") + source + _UV_BUILD
    broken = {"own.py": "raise SystemExit('no compiler')\n"}
    skills = [
        new_skill("broken", pyproject=_BROKEN, files=broken),
        new_skill("lost", pyproject=project),
        new_skill("good"),
        new_skill("last"),
    ]

    report = world.ensure(*skills)

    assert names(report) == ["good", "last"]
    assert sorted(reasons(report)) == ["broken", "lost"]
    assert reasons(report)["broken"].startswith("Failed to build `broken`")
    assert reasons(report)["lost"].startswith("Distribution not found at")
