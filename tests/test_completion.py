"""What Tab offers: words of a line, and arguments between a call's brackets."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from prime_skills_ext.completion import (
    Call,
    arguments,
    complete,
    complete_slash,
    find_call,
)


def _complete(line: str) -> list[str]:
    return complete(line, names=["edit", "word-count"], usable=["pdf", "word-count"])


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("%skill time", ["timeline"]),
        ("%skill --", ["--all", "--json", "--help"]),
        ("%skill word-count --", ["--json", "--help"]),
        ("%skill word-count ", []),
        ("%skill show ", ["edit", "word-count"]),
        ("%skill show edit ", []),
        ("%skill check --fix --", ["--write", "--json", "--help"]),
        ("%skill disable --user w", ["word-count"]),
        ("%skill trust --owner ", []),
        ("%skill use ", ["pdf", "word-count"]),
        ("%%skill use w", ["word-count"]),
        ("%skill use pdf ", []),
        ("%skill use pdf p", []),
        ("%skill prompt --caller ", ["model", "user"]),
        ("%skill budget --budget ", []),
        ("%skill nonsense ", []),
        ("%reload_skills --", ["--retry", "--now", "--json", "--help"]),
        ("%reload_skills --now --r", ["--retry"]),
    ],
)
def test_mx09_words_are_offered_where_they_fit(line: str, offered: list[str]) -> None:
    """Subcommands, names and options; no option and no positional twice."""
    assert offered == _complete(line)


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("%skill add my", ["my\\ skills/"]),
        ("%skill add my\\ skills/o", ["my\\ skills/one/"]),
        ("%skill add 'my skills/o", ["'my skills/one/"]),
        ("%skill add ", ["my\\ skills/"]),
        ("%skill add .h", [".hidden/"]),
        ("%skill check my", ["my\\ skills/"]),
        ("%skill trust --pin m", ["my\\ skills/"]),
        ("%skill add nowhere/x", []),
    ],
)
def test_mx09_folders_are_offered_as_they_can_be_typed(
    line: str, offered: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spaces are kept together; what is hidden is asked for by its dot."""
    (tmp_path / "my skills" / "one").mkdir(parents=True)
    (tmp_path / ".hidden").mkdir()
    monkeypatch.chdir(tmp_path)
    assert offered == _complete(line)


def test_mx09_value_of_an_option_is_a_folder_where_it_is_one() -> None:
    """The command in a terminal, too."""
    line = "prime-skills kernelspec install --prefix /"
    assert "/tmp/" in complete(line, names=[], door="prime-skills")


@pytest.mark.parametrize(
    ("before", "typed", "offered"),
    [
        ("/skill:", "", ['"My Skill"', "pdf", "word-count"]),
        ("/skill:'My S", "'My S", ["'My Skill'"]),
        ('/skill:"p', '"p', ['"pdf"']),
        ("/skill:'My Skill' ", "'My Skill' ", []),
        ("\n  /skill:w", "w", ["word-count"]),
        ("/skill:pdf ", "pdf ", []),
        ("/skill:pdf\np", "pdf\np", []),
    ],
)
def test_mx09_names_are_offered_behind_the_slash(
    before: str, typed: str, offered: list[str]
) -> None:
    """Where the name ends the skill's text begins, which nobody can complete."""
    usable = ["word-count", "pdf", "My Skill"]
    assert (typed, offered) == complete_slash(before, usable=usable)


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("%skill use ", ['"My Skill"', "pdf"]),
        ("%skill show 'My", ["'My Skill'"]),
        ('%skill "My', ['"My Skill"']),
        ("%skill M", []),
    ],
)
def test_mx09_names_are_offered_as_they_can_be_typed(
    line: str, offered: list[str]
) -> None:
    """One with a space in it is one word in quotation marks."""
    names = ["pdf", "My Skill"]
    assert offered == complete(line, names=names, usable=names)


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ('await skills["word-count"](', Call("word-count", "", "")),
        ("skills['word-count']('a', to", Call("word-count", "'a',", "to")),
        ("skills.json(li", Call("json", "", "li")),
        ("x = [skills.json(a, f(1), ", Call("json", "a, f(1),", "")),
        ('skills["a@user"](\n    x=1,\n    ', Call("a@user", "x=1,", "")),
        ("skills.json(a=", None),
        ("skills.json('", None),
        ("skills.json(f(", None),
        ("skills.json(1)", None),
        ("myskills.json(", None),
        ("other(", None),
        ("", None),
    ],
)
def test_call_of_a_skill_is_found_around_the_cursor(
    text: str, call: Call | None
) -> None:
    """Where a name may stand; nothing in strings, values and other calls."""
    assert call == find_call(text)


def test_arguments_are_those_that_can_still_be_given() -> None:
    """By name, without what is there and what has no name."""

    def run(one: str, /, two: int, *rest: int, three: int = 3, **more: int) -> None: ...

    assert ["two=", "three="] == arguments(run, Call("x", "'1',", ""))
    assert ["three="] == arguments(run, Call("x", "two=2,", ""))
    assert ["two="] == arguments(run, Call("x", "", "tw"))
    assert [] == arguments(None, Call("x", "", ""))
    assert [] == arguments(type, Call("x", "", ""))


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("%skill trust --pinn", 'did you mean "--pin"?'),
        ("%skill list --alll", 'did you mean "--all"?'),
        ("%skill doctr", 'did you mean "doctor"?'),
        ("%skill show edti", 'did you mean "edit"?'),
        ("%reload_skills --rety", 'did you mean "--retry"?'),
    ],
)
def test_mx09_near_misses_are_told(
    words: str, meant: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Unknown subcommands, options and names get a suggestion."""
    from prime_skills_ext.commands import answer, reload
    from prime_skills_ext.errors import PrimeSkillsError
    from prime_skills_ext.manager import SkillManager

    door, _, line = words.partition(" ")
    ask = partial(answer, door="%skill") if door == "%skill" else reload
    with pytest.raises(PrimeSkillsError) as caught:
        ask(SkillManager(environ={}), line)
    assert meant in (caught.value.fix or "")
