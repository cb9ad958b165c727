"""``%skill use``, ``%%skill use`` and ``/skill:``: one text, whatever the way in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from prime_skills_ext.__main__ import main
from prime_skills_ext.prompt.activation import Activation
from prime_skills_ext.prompt.inline_shell import NOT_ALLOWED
from prime_skills_ext.prompt.usage import Usage, Uses
from tests.conftest import MakeSkill, Run, write_skill
from tests.doors import picture

pytestmark = pytest.mark.usefixtures("place")

ODD = "merge {a} $b 'c d' --json it's %x !y \\"


@pytest.fixture
def skills(home: Path, make_skill: MakeSkill) -> Path:
    """A user's skills: one to be used, one for models alone, one not for them."""
    root = home / ".agents" / "skills"
    header = "name: pdf\ndescription: Merges. Use for PDF.\nargument-hint: A  B\n"
    make_skill(root, "pdf", frontmatter=header, body="Merge them.\n")
    header = "name: quiet\ndescription: Waits. Use it.\nuser-invocable: false\n"
    make_skill(root, "quiet", frontmatter=header)
    header = "name: deploy\ndescription: D. Use it.\ndisable-model-invocation: true\n"
    make_skill(root, "deploy", frontmatter=header, body="Deploy.\n")
    return root


@pytest.fixture
def loaded(run: Run, skills: Path) -> Run:
    """A shell with the extension."""
    run("%load_ext prime_skills_ext")
    return run


@pytest.mark.parametrize(
    "cell",
    [
        f"%skill use pdf {ODD}",
        f"%skill use 'pdf'   {ODD}",
        f"%%skill use pdf\n{ODD}\n",
        f"%%skill use pdf {ODD}\n\n",
        f"/skill:pdf {ODD}",
        f"\n  /skill:pdf\n\n{ODD}\n",
        f"get_ipython().run_line_magic('skill', {'use pdf ' + ODD!r})",
    ],
)
def test_mx01_text_comes_as_it_is_typed(loaded: Run, cell: str) -> None:
    """Nothing of it is expanded, split or read as an option."""
    loaded("a, b = 1, 2")
    found = loaded(cell)
    assert isinstance(found, Activation)
    assert ("pdf", ODD) == (found.name, found.arguments)
    assert str(found).endswith(f"\n</skill>\n\nUser: {ODD}")


@pytest.mark.parametrize(
    "cell", ["%%skill use pdf\nwhat is this?", "/skill:pdf what is this?"]
)
def test_mx02_a_question_reaches_the_skill_in_a_cell(loaded: Run, cell: str) -> None:
    """A line that ends so is IPython's help; the other two forms take it."""
    assert "what is this?" == loaded(cell).arguments


@pytest.mark.parametrize("change", ["edit", "untrust"])
def test_se07_what_is_not_trusted_any_more_runs_nothing(
    loaded: Run, place: Path, make_skill: MakeSkill, change: str
) -> None:
    """A pin binds what is used, not what was there when the kernel last looked."""
    folder = place / ".agents" / "skills"
    make_skill(folder, "watch", body="!`echo one`\n")
    loaded("%reload_skills")
    loaded("%skill trust --pin")
    assert "one" == loaded("/skill:watch").body
    if change == "edit":
        make_skill(folder, "watch", body="!`touch pwned; echo two`\nRead me.\n")
    else:
        assert 0 == main(["untrust"])
    assert NOT_ALLOWED in loaded("/skill:watch").body
    assert not (place / "pwned").exists()


def test_manager_activates_as_the_magic_does(
    shell: InteractiveShell, loaded: Run
) -> None:
    """The way in for programs."""
    magic = shell.find_line_magic("skill")
    assert magic is not None
    manager = magic.__self__.manager
    assert manager.activate("pdf", "a b") == loaded("%skill use pdf a b")
    assert manager.activate("pdf") == loaded("%skill use pdf")


def test_assigned_instructions_are_a_value(loaded: Run) -> None:
    """MX-03: no coroutine, and nothing is printed."""
    loaded("found = %skill use pdf a")
    assert "a" == loaded("found").arguments


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("%skill use pfd a", 'did you mean "pdf"?'),
        ("/skill:pfd a", 'did you mean "pdf"?'),
        ("/skill:it's a", 'There is no skill "it\'s"'),
        ("%skill use", "arguments are required: NAME"),
        ("/skill:", "arguments are required: NAME"),
        ("%%skill use\npdf", "arguments are required: NAME"),
        ("%%skill show pdf\nmore", "unrecognized arguments: more"),
        ("%skill us pdf", 'did you mean "use"?'),
    ],
)
def test_mx09_what_is_wrong_is_told_with_a_way_out(
    loaded: Run, cell: str, told: str
) -> None:
    """Also of a cell that begins with ``/skill:``, which nothing else could mean."""
    with pytest.raises(UsageError) as caught:
        loaded(cell)
    assert told in str(caught.value)


def test_help_says_how_text_is_given(loaded: Run) -> None:
    """MX-02: before NAME, ``--help`` and ``--json`` are options of ours."""
    said = loaded("%skill use --help").text
    assert "ends in a question mark" in said
    found = loaded("%skill use --json pdf --json")
    assert ("pdf", "--json") == (found["name"], found["arguments"])
    assert found["text"].startswith('<skill name="pdf"')


def test_unload_takes_every_form_back(
    shell: InteractiveShell, run: Run, skills: Path
) -> None:
    """Cell magic, input and events."""
    before = picture(shell)
    run("%load_ext prime_skills_ext")
    during = picture(shell)
    assert before["transforms"] != during["transforms"]
    assert "skill" in during["magics"]["cell"]
    run("%unload_ext prime_skills_ext")
    assert before == picture(shell)
    assert not shell.run_cell("/skill:pdf").success


def _completed(shell: InteractiveShell, text: str) -> list[tuple[str, str]]:
    with provisionalcompleter():
        found = [*shell.Completer.completions(text, len(text))]
    return sorted((text[: x.start] + x.text, x.type or "") for x in found)


@pytest.mark.parametrize(
    "start", ["%skill use ", "%%skill use ", "/skill:", "\n/skill:"]
)
def test_mx09_tab_offers_what_a_person_may_use(
    shell: InteractiveShell, loaded: Run, start: str
) -> None:
    """With what each takes where a front end shows the type of a word."""
    offered = _completed(shell, start)
    assert [(f"{start}{name}", "skill") for name in ("deploy", "edit")] == offered[:2]
    assert (f"{start}pdf", "A\N{NO-BREAK SPACE}B") in offered
    assert f"{start}quiet" not in dict(offered)
    assert [(f"{start}pdf", "A\N{NO-BREAK SPACE}B")] == _completed(shell, f"{start}pd")


def test_setting_switches_the_offer_off(
    shell: InteractiveShell, run: Run, skills: Path, home: Path
) -> None:
    """``enableSkillCommands``: what is typed in full works all the same."""
    settings = home / ".prime" / "agent" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"enableSkillCommands": false}', encoding="utf-8")
    run("%load_ext prime_skills_ext")
    assert "/skill:pdf" not in dict(_completed(shell, "/skill:"))
    assert "pdf" == run("/skill:pdf").name


def test_terminal_prints_the_same_text(
    skills: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Words behind the name are the text; one word alone is taken whole."""
    assert 0 == main(["use", "pdf", "merge  all", "b?"])
    assert capsys.readouterr().out.endswith("\n\nUser: 'merge  all' b?\n")
    assert 0 == main(["use", "pdf", "merge  all"])
    assert capsys.readouterr().out.endswith("\n\nUser: merge  all\n")


def test_uses_are_counted_and_shown(
    shell: InteractiveShell, loaded: Run, home: Path, make_skill: MakeSkill
) -> None:
    """Calls and activations, by name; clearing forgets them."""
    make_skill(home / ".agents/skills", "twice", python="def run(n=1): return 2 * n\n")
    loaded("%reload_skills")
    loaded("await twice(); await twice(); await twice(n=2)")
    loaded("%skill use pdf")
    loaded("%skill use twice")
    expected = [
        {"name": "twice", "calls": 3, "activations": 1, "is_here": True},
        {"name": "pdf", "calls": 0, "activations": 1, "is_here": True},
    ]
    assert expected == loaded("%skill stats --json")["skills"]
    # written when the extension goes, and there for the next kernel
    loaded("%unload_ext prime_skills_ext")
    loaded("%load_ext prime_skills_ext")
    (home / ".agents/skills/pdf/SKILL.md").unlink()
    loaded("%reload_skills")
    expected[1]["is_here"] = False
    assert expected == loaded("%skill stats --json")["skills"]
    assert "numbers are gone" in loaded("%skill stats --clear").text
    assert [] == loaded("%skill stats --json")["skills"]


@pytest.mark.parametrize("switch", ["variable", "trait"])
def test_nothing_is_counted_where_that_is_switched_off(
    run: Run,
    skills: Path,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    switch: str,
) -> None:
    """Nor written: there is no file."""
    if switch == "variable":
        monkeypatch.setenv("PRIME_SKILLS_USAGE", "0")
    write_skill(skills, "once", python="def run(): return 1\n")
    run("%load_ext prime_skills_ext")
    if switch == "trait":
        run("%config SkillManager.usage_counts = False")
    run("await once()")
    run("%skill use pdf")
    found: Any = run("%skill stats --json")
    assert ([], False) == (found["skills"], found["is_counting"])
    run("%unload_ext prime_skills_ext")
    assert not (home / ".prime/agent/prime-skills/usage.json").exists()


def test_uses_are_written_while_the_kernel_runs(
    shell: InteractiveShell, loaded: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a cell, but rarely: a kernel that is killed loses a minute's."""
    magic = shell.find_line_magic("skill")
    assert magic is not None
    manager = magic.__self__.manager
    loaded("%skill use pdf")
    assert not manager.counting.usage.path.exists()
    manager.counting._next_write = 0.0
    loaded("1")
    assert {"pdf": Uses(0, 1)} == Usage(manager.counting.usage.path).now()
    loaded("%skill use pdf")
    loaded("1")
    assert {"pdf": Uses(0, 1)} == Usage(manager.counting.usage.path).now()
