"""``%skill log`` and what a placeholder keeps of uv's words (IN-14)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from prime_skills_ext.__main__ import main
from prime_skills_ext.environment.uv import find_uv
from tests.conftest import MakeSkill, Run

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("place")]


@pytest.fixture
def failing(
    home: Path, tmp_path: Path, make_skill: MakeSkill, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A uv that exits with 1 after 500 lines, and a skill that needs it."""
    uv = tmp_path / "failing-uv"
    script = "echo 'error: disk on fire' >&2; seq 1 500 >&2; exit 1"
    uv.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    uv.chmod(0o755)
    monkeypatch.setenv("PRIME_SKILLS_UV", str(uv))
    root = home / ".agents" / "skills"
    make_skill(root, "needy", python="def run(): pass", dependencies=("acme-tool",))
    make_skill(root, "plain", python="def run(): pass")
    make_skill(root, "broken", python="1 / 0")


def test_in14_log_shows_what_uv_said(run: Run, failing: None) -> None:
    """All that is kept of it, with the fix of the table."""
    run("%load_ext prime_skills_ext")
    log = run("%skill log needy")
    assert "500" == log.text.splitlines()[-1]
    assert log.fix.endswith("%reload_skills --retry")


def test_in14_placeholder_keeps_the_last_lines(
    shell: InteractiveShell, run: Run, failing: None
) -> None:
    """``help``, which reads its docstring, shows them, and says where the rest is."""
    run("%load_ext prime_skills_ext")
    told = shell.user_ns["needy"].__doc__
    numbers = [line.strip() for line in told.splitlines() if line.strip().isdigit()]
    assert numbers == [str(number) for number in range(481, 501)]
    assert "%skill log needy shows all" in told


def test_log_of_a_failed_import_is_its_traceback(run: Run, failing: None) -> None:
    """The other way to fail has words, too."""
    run("%load_ext prime_skills_ext")
    assert "ZeroDivisionError" in run("%skill log broken").text


def test_log_of_a_skill_that_works_says_so(run: Run, failing: None) -> None:
    """Nothing is no error; an unknown name is."""
    run("%load_ext prime_skills_ext")
    assert run("%skill log edit").text.startswith("edit left no log")
    with pytest.raises(UsageError, match="There is no skill"):
        run("%skill log nedy")


def test_log_is_a_command_of_the_terminal(
    capsys: pytest.CaptureFixture[str], failing: None
) -> None:
    """As every other, plain data included."""
    assert 0 == main(["log", "edit", "--json"])
    assert json.loads(capsys.readouterr().out)["text"].startswith("edit left no log")


def test_log_of_what_failed_before_uv_says_why(run: Run, failing: None) -> None:
    """No log is not the same as no failure."""
    folder = Path.home() / ".agents" / "skills" / "plain"
    (folder / "pyproject.toml").write_text("[project", encoding="utf-8")
    run("%load_ext prime_skills_ext")
    told = run("%skill log plain")
    assert told.text.startswith(
        "plain left no log: it failed before uv was asked: pyproject.toml: "
    )
    assert "Correct line 1, then %reload_skills" == told.fix


def test_the_fix_of_a_clash_names_only_what_is_ones_own(
    run: Run,
    home: Path,
    tmp_path: Path,
    make_skill: MakeSkill,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nobody relaxes the requirements of a library."""
    words = (
        "error: No solution found when resolving dependencies\n"
        "  cause: Because acme==1.0 depends on acme-lib>=3 and needy==0.1.0 depends on "
        "acme-lib<3, we can conclude that acme==1.0 and needy==0.1.0 are incompatible."
    )
    uv = tmp_path / "uv"
    uv.write_text(
        # the file of requirements is among the arguments
        f"#!/bin/sh\ngrep -qs needy -- \"$@\" && {{ echo '{words}' >&2; exit 1; }}\n"
        f'exec {find_uv({})} "$@"\n',
        encoding="utf-8",
    )
    uv.chmod(0o755)
    monkeypatch.setenv("PRIME_SKILLS_UV", str(uv))
    root = home / ".agents" / "skills"
    make_skill(root, "needy", python="def run(): pass", dependencies=("acme-lib<3",))
    run("%load_ext prime_skills_ext")
    fix = run("%skill log needy").fix
    assert "relax it in the pyproject.toml of needy, then %reload_skills --retry" == fix
