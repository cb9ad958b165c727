"""``%skill check`` and ``prime-skills check``: what is meant, what comes out."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from prime_skills_ext import commands
from prime_skills_ext.__main__ import main
from prime_skills_ext.catalog.check_report import CheckReport
from prime_skills_ext.check import examine
from prime_skills_ext.completion import complete
from prime_skills_ext.errors import PrimeSkillsError, SettingsError, UnknownSkillError
from prime_skills_ext.grammar import split
from prime_skills_ext.manager import SkillManager
from tests.conftest import MakeSkill


@pytest.fixture
def project(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory of its own, which is its project."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def skills(project: Path, make_skill: MakeSkill) -> Path:
    """The project's skills: one right, one that can be corrected for certain."""
    folder = project / ".agents" / "skills"
    make_skill(folder, "right")
    make_skill(folder, "wrong", frontmatter="Name: wrong\ndescription: D.\n")
    return folder


def locations(report: CheckReport) -> list[str]:
    return [item.location for item in report.skills]


def test_check_alone_takes_what_is_yours(skills: Path, home: Path) -> None:
    """Explicit, project and user skills; not those that ship."""
    report = examine(SkillManager())
    assert locations(report) == [
        "project:.agents/skills: right",
        "project:.agents/skills: wrong",
    ]
    assert [len(item.findings) for item in report.skills] == [0, 1]
    assert not report.passed


def test_check_alone_takes_a_skill_once(skills: Path) -> None:
    """However many sources lead to it."""
    manager = SkillManager(skill_paths=[str(skills / "right")])
    assert len(examine(manager).skills) == 2


def test_check_alone_without_skills_of_yours_says_so(project: Path) -> None:
    """Nothing to check is no error."""
    assert examine(SkillManager()) == CheckReport()


def test_check_by_name_takes_any_skill(project: Path) -> None:
    """A skill that ships, too."""
    report = examine(SkillManager(), "edit")
    assert locations(report) == ["builtin: edit"]
    assert report.passed


@pytest.mark.parametrize("form", ["folder", "file", "parent", "relative", "bare"])
def test_check_by_path(
    tmp_path: Path, project: Path, make_skill: MakeSkill, form: str
) -> None:
    """A skill's folder, its file, or a folder of skills."""
    folder = make_skill(project, "mine")
    target = {
        "folder": str(folder),
        "file": str(folder / "SKILL.md"),
        "parent": str(project),
        "relative": "./mine",
        "bare": "mine",
    }[form]
    (item,) = examine(SkillManager(), target).skills
    assert item.name == "mine"


def test_check_of_a_lone_file(project: Path) -> None:
    """A lone .md file that was named is checked, whatever it says."""
    (project / "note.md").write_text("# x\n", encoding="utf-8")
    (item,) = examine(SkillManager(), "./note.md").skills
    assert [finding.code for finding in item.findings] == ["no-frontmatter"]


def test_check_of_a_name_that_is_a_folder_too_takes_the_skill(
    skills: Path, project: Path, make_skill: MakeSkill
) -> None:
    """As elsewhere; ``./NAME`` is the folder."""
    make_skill(project, "right")
    manager = SkillManager()
    assert locations(examine(manager, "right")) == ["project:.agents/skills: right"]
    assert locations(examine(manager, "./right")) == ["explicit: right"]


def test_check_of_a_qualified_name_takes_that_one(skills: Path) -> None:
    """The label of a source may look like a path."""
    report = examine(SkillManager(), "right@project:.agents/skills")
    assert locations(report) == ["project:.agents/skills: right"]


def test_check_of_a_path_with_an_at_sign(project: Path, make_skill: MakeSkill) -> None:
    """What exists is a path."""
    make_skill(project / "a@b", "mine")
    assert locations(examine(SkillManager(), "./a@b")) == ["explicit: mine"]


def test_check_where_the_folder_was_deleted_says_so(project: Path) -> None:
    """A relative path means nothing there."""
    manager = SkillManager()
    shutil.rmtree(project)
    with pytest.raises(PrimeSkillsError, match="the working directory was deleted"):
        examine(manager, "./mine")


def test_check_of_a_folder_takes_what_add_would_take(project: Path) -> None:
    """Lone files that describe a skill count there, and READMEs do not."""
    folder = project / "notes"
    folder.mkdir()
    (folder / "README.md").write_text("# x\n", encoding="utf-8")
    (folder / "note.md").write_text("---\ndescription: D.\n---\nx\n", encoding="utf-8")
    assert locations(examine(SkillManager(), "./notes")) == ["explicit: note.md"]


@pytest.mark.parametrize("name", ["my skills", "it's", 'a "b"', "a\\b"])
def test_next_command_of_check_can_be_pasted(
    project: Path, name: str, make_skill: MakeSkill
) -> None:
    """Whatever the folder is called."""
    header = "Name: mine\ndescription: D.\n"
    make_skill(project / name, "mine", frontmatter=header)
    fix = examine(SkillManager(), f"./{name}").fix
    assert fix is not None
    words = split(fix.removeprefix("%skill "), door="%skill")
    assert ["check", f"./{name}", "--fix"] == words


def test_check_of_nothing_known_suggests(project: Path) -> None:
    """A typing error gets the nearest name."""
    with pytest.raises(UnknownSkillError, match="edit"):
        examine(SkillManager(), "edti")


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        (".", "there is no skill in ."),
        ("./none", "path `./none` does not exist"),
        ("~nobody-of-that-name/x", "path `~nobody-of-that-name/x` does not exist"),
        ("./x.txt", "path `./x.txt` is neither a folder nor a `.md` file"),
    ],
)
def test_check_of_a_path_without_a_skill_says_so(
    project: Path, target: str, reason: str
) -> None:
    """In the words of ``add``; whether the path exists or not."""
    (project / "x.txt").touch()
    with pytest.raises(PrimeSkillsError, match=re.escape(reason)):
        examine(SkillManager(), target)


def test_fix_first_shows_then_writes(skills: Path) -> None:
    """Each step says what to type next."""
    manager = SkillManager()
    checked = examine(manager, "./.agents/skills")
    assert checked.fix == "%skill check ./.agents/skills --fix"
    shown = examine(manager, "./.agents/skills", fix=True)
    assert shown.fix == "%skill check ./.agents/skills --fix --write"
    assert [change.written for change in shown.changes] == [False]
    assert not shown.passed
    written = examine(manager, "./.agents/skills", fix=True, write=True)
    assert [change.written for change in written.changes] == [True]
    assert written.passed
    assert written.fix is None


def test_write_without_fix_is_refused(skills: Path) -> None:
    """Nothing is written that was not asked for in full."""
    with pytest.raises(SettingsError, match="--write writes what --fix shows"):
        examine(SkillManager(), write=True)


def test_sibling_may_be_imported(project: Path, make_skill: MakeSkill) -> None:
    """Another skill, known here or checked beside it, needs no declaration."""
    run = "def run(): pass\n"
    scripts = {"one_more": "rlm.skill:cli"}
    make_skill(project / "s", "other", python=run, scripts={"other": "rlm.skill:cli"})
    make_skill(
        project / "s", "one-more", python=f"import other, edit\n{run}", scripts=scripts
    )
    assert examine(SkillManager(), "./s").all_findings() == ()


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_command_ends_with_1_on_errors(
    skills: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...]
) -> None:
    """With and without --json; a script must be able to rely on it."""
    assert main(["check", "wrong", *more]) == 1
    assert main(["check", "right", *more]) == 0
    capsys.readouterr()


def test_json_holds_everything_that_is_known(
    skills: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Counts, findings with place and correction, changes, and the next step."""
    main(["check", "wrong", "--json", "--fix"])
    told = json.loads(capsys.readouterr().out)
    assert (told["passed"], told["errors"], told["warnings"]) == (False, 1, 0)
    (finding,) = told["skills"][0]["findings"]
    assert finding == {
        "code": "key-case",
        "severity": "error",
        "path": str(skills / "wrong" / "SKILL.md"),
        "line": 2,
        "column": 1,
        "reason": "Fields are spelled in lower case: `name`, not `Name`.",
        "fix": "Write `name:` on line 2.",
        "written": "Name: wrong",
        "corrected": "name: wrong",
    }
    assert told["changes"][0]["written"] is False
    assert told["fix"] == "prime-skills check wrong --fix --write"


def test_terminal_is_told_its_own_command(
    skills: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is offered there can be typed there."""
    main(["check", "wrong"])
    assert "fix: prime-skills check wrong --fix" in capsys.readouterr().out


def test_magic_returns_the_report(skills: Path) -> None:
    """A value, not a print."""
    value = commands.run(SkillManager(), "check right", door="%skill")
    assert isinstance(value, CheckReport)


def test_tab_offers_names_folders_and_options(skills: Path) -> None:
    """Whatever check takes."""
    assert complete("%skill check ri", names=["right"]) == ["right"]
    assert complete("%skill check .agents/s", names=[]) == [".agents/skills/"]
    assert complete("%skill check --w", names=[]) == ["--write"]
