"""``%skill login`` and ``logout`` at the doors of this process."""

from __future__ import annotations

import io
import json
import os
import sys
import traceback
import warnings
from pathlib import Path

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.error import StdinNotImplementedError, UsageError
from IPython.core.interactiveshell import InteractiveShell

from prime_skills_ext import login
from prime_skills_ext.__main__ import main
from prime_skills_ext.catalog.credential_store import Secret
from prime_skills_ext.completion import complete
from prime_skills_ext.errors import CredentialError, SettingsError
from prime_skills_ext.manager import SkillManager
from tests.conftest import MakeSkill, Run

KEY = "sk-5e7c-very-secret"
ASKING = """
    import os

    def run() -> bool:
        return os.environ.get("TRACKER_KEY") == "sk-5e7c-very-secret"
"""
HEADER = (
    "name: tracker\ndescription: Tracks. Use when things are lost.\n"
    "metadata: {credential: {provider: tracking, variable: TRACKER_KEY}}\n"
)

pytestmark = pytest.mark.usefixtures("place")


@pytest.fixture
def tracker(home: Path, make_skill: MakeSkill) -> Path:
    """A skill of the user's that needs a key and no requirement."""
    return make_skill(
        home / ".agents" / "skills", "tracker", frontmatter=HEADER, python=ASKING
    )


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a person types, in a front end that asks as a kernel's does."""
    answers: list[str] = []

    def front_end(prompt: str = "Password: ") -> str:
        answers.append(prompt)
        return answers.pop(0)

    monkeypatch.setattr("getpass.getpass", front_end)
    return answers


def auth(home: Path) -> Path:
    return home / ".prime" / "agent" / "auth.json"


def keep(home: Path, **entries: str) -> None:
    stored = {name: {"type": "api_key", "key": key} for name, key in entries.items()}
    auth(home).parent.mkdir(parents=True, exist_ok=True)
    auth(home).write_text(json.dumps(stored))
    auth(home).chmod(0o600)


def state(run: Run, name: str = "tracker") -> str:
    found = run("%skill list --json")["skills"]
    return str(next(item["state"] for item in found if item["name"] == name))


def test_login_makes_the_skill_ready_and_logout_undoes_it(
    run: Run, tracker: Path, typed: list[str], home: Path
) -> None:
    """At once, without a restart; the variable is there for the call alone."""
    run("%load_ext prime_skills_ext")
    assert "needs-credential" == state(run)
    typed.append(KEY)
    said = run("%skill login tracking")
    assert (
        "the key for tracking is kept in auth.json of the agent directory; "
        "tracker is ready" == said.text
    )
    assert ["Key for tracking: "] == typed
    assert "ready" == state(run)
    assert run("await tracker()") is True
    assert "TRACKER_KEY" not in os.environ
    said = run("%skill logout tracking")
    assert "the key for tracking is removed; tracker is needs-credential" == said.text
    assert "`%skill login tracking`, or set the environment variable TRACKER_KEY" == (
        said.fix
    )
    assert "needs-credential" == state(run)
    assert {} == json.loads(auth(home).read_text())


def test_file_that_changes_alone_counts_at_the_next_reload(
    run: Run, tracker: Path, home: Path
) -> None:
    """Another program may log in and out."""
    run("%load_ext prime_skills_ext")
    keep(home, tracking=KEY)
    assert "~1 tracker" == repr(run("%reload_skills"))
    assert run("await tracker()") is True
    auth(home).unlink()
    assert "~1 tracker" == repr(run("%reload_skills"))
    assert "needs-credential" == state(run)


def test_key_that_was_taken_away_since_is_told_at_the_call(
    run: Run, tracker: Path, home: Path
) -> None:
    """The skill does not run without it."""
    keep(home, tracking=KEY)
    run("%load_ext prime_skills_ext")
    keep(home)
    with pytest.raises(CredentialError, match="no key for tracking"):
        run("await tracker()")


def test_skills_name_does_for_its_provider(
    run: Run, tracker: Path, typed: list[str], home: Path
) -> None:
    """People know the skill."""
    run("%load_ext prime_skills_ext")
    typed.append(KEY)
    run("%skill login tracker")
    assert ["tracking"] == [*json.loads(auth(home).read_text())]


def test_server_login_goes_where_its_skills_look(
    home: Path, make_skill: MakeSkill, run: Run, typed: list[str]
) -> None:
    """Under the prefix that the reference uses; logout takes any form of it."""
    source = "class McpIntegration: ...\n\ndef run(): ...\n"
    make_skill(home / ".agents" / "skills", "linear", python=source)
    run("%load_ext prime_skills_ext")
    assert "needs-credential" == state(run, "linear")
    typed.append(KEY)
    run("%skill login linear")
    assert ["mcp:linear"] == [*json.loads(auth(home).read_text())]
    assert "ready" == state(run, "linear")
    run("%skill logout linear")
    assert "needs-credential" == state(run, "linear")


@pytest.mark.parametrize("word", ["trackin", KEY])
def test_unknown_provider_is_refused_before_anything_is_asked(
    run: Run, tracker: Path, typed: list[str], word: str
) -> None:
    """With the nearest one; the word is not repeated, it may be a key."""
    run("%load_ext prime_skills_ext")
    with pytest.raises(UsageError, match="no skill here asks for a key") as caught:
        run(f"%skill login {word}")
    assert [] == typed
    assert KEY not in str(caught.value)
    assert ('did you mean "tracking"?' in str(caught.value)) == (word != KEY)


@pytest.mark.parametrize(
    "line",
    [f"tracking {KEY}", f"--key={KEY}", f"tracking --key {KEY}", f"tracking '{KEY}"],
)
def test_key_on_the_line_is_refused_and_not_repeated(
    run: Run, tracker: Path, typed: list[str], line: str
) -> None:
    """It stands in the history now, and the person is told."""
    run("%load_ext prime_skills_ext")
    with pytest.raises(UsageError, match="stay in the history") as caught:
        run(f"%skill login {line}")
    assert KEY not in str(caught.value)
    assert [] == typed


def test_help_of_login_is_help(run: Run) -> None:
    """As for every subcommand."""
    run("%load_ext prime_skills_ext")
    assert "PROVIDER" in run("%skill login --help").text


def test_login_without_a_provider_says_how(run: Run) -> None:
    """The usual words."""
    run("%load_ext prime_skills_ext")
    with pytest.raises(UsageError, match="PROVIDER"):
        run("%skill login")


@pytest.mark.parametrize("key", ["", "two words", "!pass"])
def test_what_is_no_key_changes_nothing(
    run: Run, tracker: Path, typed: list[str], home: Path, key: str
) -> None:
    """And is not repeated."""
    run("%load_ext prime_skills_ext")
    typed.append(key)
    with pytest.raises(UsageError, match="cannot be a key for tracking") as caught:
        run("%skill login tracking")
    assert not key or key not in str(caught.value)
    assert not auth(home).exists()
    assert "needs-credential" == state(run)


def test_damaged_file_is_told_and_left_alone(
    run: Run, tracker: Path, typed: list[str], home: Path
) -> None:
    """Nothing of it is shown."""
    auth(home).parent.mkdir(parents=True)
    auth(home).write_text(f'{{"serper": {KEY}')
    run("%load_ext prime_skills_ext")
    typed.append("another-key")
    with pytest.raises(UsageError, match="is not valid JSON") as caught:
        run("%skill login tracking")
    said = "".join(traceback.format_exception(caught.value))
    assert KEY not in said
    assert "another-key" not in said
    assert f'{{"serper": {KEY}' == auth(home).read_text()


def test_no_frame_that_a_traceback_could_show_holds_the_key(
    tracker: Path, home: Path
) -> None:
    """``%xmode Verbose`` and ``%tb`` show local variables."""
    auth(home).mkdir(parents=True)  # cannot be read as a file
    manager = SkillManager()
    with pytest.raises(CredentialError) as caught:
        login.login(manager, "tracking", ask=lambda _: Secret(KEY))
    frames = [*traceback.walk_tb(caught.value.__traceback__)][1:]
    assert KEY not in repr([frame.f_locals for frame, _ in frames])


def test_logout_without_a_key_says_what_is_there(
    run: Run, tracker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variable may hold one."""
    run("%load_ext prime_skills_ext")
    with pytest.raises(UsageError, match="no key for tracking is stored"):
        run("%skill logout tracking")
    monkeypatch.setenv("TRACKER_KEY", KEY)
    with pytest.raises(UsageError, match="TRACKER_KEY holds one") as caught:
        run("%skill logout tracking")
    assert KEY not in str(caught.value)


def test_variable_that_is_set_wins_and_login_says_so(
    run: Run, tracker: Path, typed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is surprised by a stored key that is not used."""
    monkeypatch.setenv("TRACKER_KEY", "mine-is-other")
    run("%load_ext prime_skills_ext")
    typed.append(KEY)
    assert run("%skill login tracking").text.endswith(
        "TRACKER_KEY is set and is used instead"
    )
    assert run("await tracker()") is False


def test_providers_are_completed(
    shell: InteractiveShell, run: Run, tracker: Path, home: Path
) -> None:
    """Those that skills ask for, and those that have a key."""
    keep(home, other=KEY)
    run("%load_ext prime_skills_ext")
    for typed, offered in (
        ("%skill login ", {"other", "serper", "tracking"}),
        ("%skill logout tr", {"tracking"}),
        ("%skill logout --j", {"--json"}),
    ):
        with provisionalcompleter():
            found = {x.text for x in shell.Completer.completions(typed, len(typed))}
        assert offered <= found


def test_no_provider_is_asked_for_by_other_commands() -> None:
    """Completion of a name does not read the store."""

    def fail() -> tuple[str, ...]:
        raise AssertionError

    assert ["a"] == complete("%skill show ", names=["a"], providers=fail)


def test_front_end_without_input_is_told_where_to_go(
    run: Run, tracker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A notebook that is executed by a program."""

    def front_end(prompt: str = "") -> str:
        raise StdinNotImplementedError(prompt)

    monkeypatch.setattr("getpass.getpass", front_end)
    run("%load_ext prime_skills_ext")
    with pytest.raises(UsageError, match="front end cannot ask for a key"):
        run("%skill login tracking")


def test_program_may_pipe_the_key_in(
    tracker: Path,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One line, and no question."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{KEY}\nmore\n"))
    assert 0 == main(["login", "tracking"])
    stored = json.loads(auth(home).read_text())
    assert {"tracking": {"type": "api_key", "key": KEY}} == stored
    said = capsys.readouterr()
    assert KEY not in said.out + said.err
    assert "kept in auth.json" in said.out


def test_terminal_that_cannot_hide_what_is_typed_is_not_used(
    tracker: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rather no key than one on the screen."""
    import getpass

    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    def shown(prompt: str = "") -> str:
        warnings.warn("echo", getpass.GetPassWarning, stacklevel=2)
        raise AssertionError

    shown.__module__ = getpass.__name__
    monkeypatch.setattr(getpass, "getpass", shown)
    monkeypatch.setattr(sys, "stdin", Screen())
    assert 1 == main(["login", "tracking"])
    assert "would show the key" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["login", "tracking", KEY], ["login", f"-{KEY}"]])
def test_key_in_the_words_of_a_command_is_not_repeated(
    tracker: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    """Exit code 2: the words do not fit."""
    assert 2 == main(words)
    assert KEY not in capsys.readouterr().err


def test_error_of_the_grammar_is_one_of_settings(tracker: Path) -> None:
    """As callers of ``commands`` expect."""
    from prime_skills_ext import commands

    with pytest.raises(SettingsError):
        commands.run(SkillManager(), f"login tracking {KEY}", door="%skill")
