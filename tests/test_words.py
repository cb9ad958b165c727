"""What is typed after ``%skill`` and ``%reload_skills``, and what is said to it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.error import UsageError

from prime_skills_ext.views.text import render
from tests.conftest import MakeSkill
from tests.doors import fresh_shell

Run = Callable[[str], Any]


@pytest.fixture
def run(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Run a cell of a shell that has loaded us, without any uv."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PRIME_SKILLS_UV", str(tmp_path / "no-uv"))
    monkeypatch.setenv("PATH", os.environ["PATH"])
    with fresh_shell() as shell:

        def run_cell(code: str) -> Any:
            done = shell.run_cell(code)
            done.raise_error()
            return done.result

        run_cell("%load_ext prime_skills_ext")
        yield run_cell


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("sync", "%reload_skills"),
        ("demo", "prime-skills demo"),
        ("kernelspec install", "prime-skills kernelspec install"),
    ],
)
def test_commands_of_the_terminal_are_pointed_to(
    words: str, says: str, run: Run
) -> None:
    """Whoever read the README meets no "there is no skill"."""
    with pytest.raises(UsageError, match=says):
        run(f"%skill {words}")


@pytest.mark.parametrize("words", ["lsit", "lsit --all", "shwo edit"])
def test_mistyped_commands_are_suggested(words: str, run: Run) -> None:
    """A word that is neither a skill nor a command may be meant as either."""
    with pytest.raises(UsageError, match=r'did you mean "(list|show)"'):
        run(f"%skill {words}")


def test_missing_folder_is_told_with_what_can_be_done(run: Run) -> None:
    """Nothing was added, so nothing can be taken up by a reload."""
    with pytest.raises(UsageError, match=r"does not exist\.\nFix: correct the path$"):
        run("%skill add nowhere")


def test_adding_a_folder_changes_no_other_skill(
    tmp_path: Path, make_skill: MakeSkill, run: Run
) -> None:
    """The label of an earlier folder counts the later ones; that is no change."""
    make_skill(tmp_path, "first")
    make_skill(tmp_path, "second")
    assert "+1 first" == repr(run("%skill add first"))
    assert "+1 second" == repr(run("%skill add second"))
    assert "-1 second" == repr(run("%skill forget second"))


def test_retry_in_vain_is_answered(home: Path, make_skill: MakeSkill, run: Run) -> None:
    """Silence would say that all is well."""
    make_skill(
        home / ".agents" / "skills",
        "needy",
        python="def run(): ...",
        dependencies=("no-such-dist-psx-1",),
    )
    assert "!1 needy" == repr(run("%reload_skills"))
    assert run("%reload_skills") is None
    assert "!1 needy" == repr(run("%reload_skills --retry"))


def test_project_can_be_set_while_the_kernel_runs(
    tmp_path: Path, make_skill: MakeSkill, run: Run
) -> None:
    """Like every other trait it counts from the next reload on."""
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / ".git").mkdir(parents=True)
    make_skill(elsewhere / ".agents" / "skills", "notes")
    run(f"%config SkillManager.project = {str(elsewhere)!r}")
    assert "+1 notes" == repr(run("%reload_skills"))
    assert "~1 notes" == repr(run("%skill trust"))
    run("%config SkillManager.project = None")
    assert "-1 notes" == repr(run("%reload_skills"))


def test_skill_creators_reference_is_read_as_it_says(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line in its instructions works when it is pasted."""
    body = run('skills["skill-creator"]').body
    (line,) = re.findall(r"`(print\(.*?read_text\(\)\))`", body)
    capsys.readouterr()
    run(line)
    assert capsys.readouterr().out.startswith("# Python skills\n")


def test_missing_explicit_path_is_told_once(tmp_path: Path, run: Run) -> None:
    """The message names the path; a place in brackets would repeat it."""
    gone = tmp_path / "gone"
    run(f"%config SkillManager.skill_paths = [{str(gone)!r}]")
    run("%reload_skills")
    table, checks = render(run("%skill")), render(run("%skill doctor"))
    assert (1, 1) == (table.count("gone"), " ".join(checks.split()).count(str(gone)))
