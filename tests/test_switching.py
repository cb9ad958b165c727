"""``%skill enable``, ``disable`` and ``--no-skills``, and what the doors show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from IPython.core.error import UsageError

from prime_skills_ext.__main__ import main
from prime_skills_ext.errors import SkillUnavailableError
from prime_skills_ext.views.text import render
from tests.conftest import MakeSkill, Run

pytestmark = pytest.mark.usefixtures("place")


@pytest.fixture
def loaded(run: Run, home: Path, make_skill: MakeSkill) -> Run:
    """A shell with the extension and the user's skill ``word-count``."""
    make_skill(
        home / ".agents/skills",
        "word-count",
        python="async def run(text: str) -> int:\n    return len(text.split())\n",
    )
    run("%load_ext prime_skills_ext")
    return run


@pytest.fixture
def settings(home: Path) -> Path:
    """The user's settings, with something of the user's in them."""
    path = home / ".prime/agent/settings.json"
    path.parent.mkdir(parents=True)
    path.write_text('{\n    "theme": "dark"\n}')
    return path


def test_disable_makes_a_placeholder_and_enable_brings_it_back(
    loaded: Run, settings: Path
) -> None:
    """At once, in this kernel; the file is as it was before."""
    before = settings.read_bytes()
    assert "~1" in repr(loaded("%skill disable word-count"))
    with pytest.raises(SkillUnavailableError, match=r"%skill enable word-count"):
        loaded("await word_count('a b')")
    with pytest.raises(ImportError, match="disable"):
        loaded("from word_count import run")
    assert ["-word-count"] == json.loads(settings.read_text())["skills"]
    assert "~1" in repr(loaded("%skill enable word_count"))
    assert 2 == loaded("await word_count('a b')")
    assert before == settings.read_bytes()


def test_table_shows_what_is_off_and_why(loaded: Run) -> None:
    """State, reason and fix, as for every other state."""
    loaded("%skill disable word-count")
    said = render(loaded("%skill list"))
    assert "disabled" in said
    assert '"-word-count" in the user\'s settings.json disables it' in said
    assert "fix: %skill enable word-count" in said
    card = loaded("%skill word-count --json")["skill"]
    assert ("disabled", "%skill enable word-count") == (card["state"], card["fix"])


def test_scopes_are_apart_and_the_most_restrictive_wins(
    loaded: Run, place: Path
) -> None:
    """What stays off says where, and the fix works."""
    loaded("%skill disable word-count")
    loaded("%skill disable word-count --project")
    path = place / ".prime/agent/settings.json"
    assert {"skills": ["-word-count"]} == json.loads(path.read_text())
    message = loaded("%skill enable word-count --user")
    assert "%skill enable word-count --project" == message.fix
    assert "stays disabled" in message.text
    loaded(message.fix)
    assert 1 == loaded("await word_count('a')")
    assert not path.exists()


def test_qualified_name_disables_one_of_two(
    loaded: Run, home: Path, make_skill: MakeSkill
) -> None:
    """The next one takes the name."""
    make_skill(home / ".agents/skills", "edit")
    loaded("%reload_skills")
    loaded("%skill disable edit@user:.agents/skills")
    assert "builtin" == loaded("%skill show edit --json")["skill"]["source"]
    loaded("%skill enable edit@user:.agents/skills")
    assert "builtin" != loaded("%skill show edit --json")["skill"]["source"]


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("disable wordcount", 'did you mean "word-count"'),
        ("enable nothing-here", "There is no skill"),
        ("enable word-count", "do not disable word-count by name"),
        ("disable word-count --user --project", "exclude each other"),
        ("disable", "use it as: %skill disable"),
    ],
)
def test_mistakes_are_usage_errors(loaded: Run, command: str, says: str) -> None:
    """With a suggestion or a fix."""
    with pytest.raises(UsageError, match=says):
        loaded(f"%skill {command}")


def test_enable_cannot_undo_a_glob(loaded: Run, settings: Path) -> None:
    """It might bring back others; the entry is named."""
    settings.write_text('{"skills": ["!word-*"]}')
    loaded("%reload_skills")
    with pytest.raises(UsageError, match=r'remove "!word-\*" from the user'):
        loaded("%skill enable word-count")


def test_entry_that_outlived_its_skill_can_be_taken_out(
    loaded: Run, settings: Path
) -> None:
    """By the name that it has."""
    settings.write_text('{"skills": ["-gone", "-other"]}')
    loaded("%skill enable gone")
    assert '{"skills": ["-other"]}' == settings.read_text()


def test_w48_damaged_settings_are_told_and_not_overwritten(
    loaded: Run, settings: Path
) -> None:
    """The doctor names the place; what was off stays off."""
    loaded("%skill disable word-count")
    settings.write_text('{"skills": ["-word-count",]}')
    loaded("%reload_skills")
    assert "disabled" == loaded("%skill word-count --json")["skill"]["state"]
    told = [it for it in loaded("%skill doctor").problems if "settings" in it.title]
    assert 1 == len(told)
    assert f"({settings}:1)" in told[0].detail
    with pytest.raises(UsageError, match="is damaged and is not overwritten"):
        loaded("%skill enable word-count")


def test_tab_completes_scopes_and_names(loaded: Run) -> None:
    """As for every subcommand."""
    from prime_skills_ext.completion import complete

    assert ["--project"] == complete("%skill enable x --p", names=["edit"])
    assert ["edit"] == complete("%skill disable e", names=["edit"])


def test_terminal_switches_off_and_on(
    settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The fix can be pasted there."""
    assert 0 == main(["disable", "skill-creator"])
    capsys.readouterr()
    assert 0 == main(["list"])
    assert "prime-skills enable skill-creator" in capsys.readouterr().out
    assert 0 == main(["enable", "skill-creator"])
    assert 2 == main(["enable", "skill-creator"])


def test_no_skills_leaves_the_explicit_ones(
    tmp_path: Path, make_skill: MakeSkill, capsys: pytest.CaptureFixture[str]
) -> None:
    """``--no-skills`` in a terminal, the trait in a kernel."""
    folder = make_skill(tmp_path, "notes")
    assert 0 == main(["--no-skills", "--skill", str(folder), "list", "--json"])
    found = json.loads(capsys.readouterr().out)["skills"]
    assert ["notes"] == [item["name"] for item in found]


def test_no_skills_is_a_trait(loaded: Run) -> None:
    """Set in a running kernel, it counts from the next reload on."""
    loaded("%config SkillManager.no_skills = True")
    loaded("%reload_skills")
    assert [] == loaded("%skill list --json")["skills"]
