"""Custom mode: the interpreter is used as it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from prime_skills_ext.environment.installation import ensure
from prime_skills_ext.environment.venv import locate


def test_nothing_is_installed_and_nothing_started(
    new_skill: Any, tmp_path: Path, calls: list[str]
) -> None:
    """Who has what it requires is ready; the others say how to help them."""
    environ = {**os.environ, "PRIME_AGENT_KERNEL_PYTHON": "/opt/python"}
    environment = locate(
        mode="custom", agent_directory=tmp_path / "agent", environ=environ
    )
    needy = new_skill("needy", dependencies=("no-such-dist-xyz>=1",))
    skills = [new_skill("a", dependencies=("packaging",)), needy]
    report = ensure(skills, environment=environment, environ=environ)
    assert calls == []
    assert not (tmp_path / "agent").exists()
    assert (report.generation, report.problem) == (None, None)
    assert list(report.failed) == [needy.identity]
    failure = report.failed[needy.identity]
    assert failure.reason.startswith("it needs no-such-dist-xyz>=1; ")
    assert "/opt/python -m pip install" in failure.fix


def test_skill_whose_requirements_nobody_knows_is_not_ready(
    new_skill: Any, tmp_path: Path
) -> None:
    """Requirements that only a backend could tell are not taken for met."""
    text = '[project]\nname = "a"\nversion = "1"\ndynamic = ["dependencies"]\n'
    environment = locate(mode="custom", agent_directory=tmp_path, environ={})
    skill = new_skill("a", pyproject=text)
    report = ensure([skill], environment=environment, environ={})
    assert list(report.failed) == [skill.identity]
