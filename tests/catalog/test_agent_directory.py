"""Where the user's things live, in words that need no import."""

from __future__ import annotations

from pathlib import Path

import pytest

from prime_skills_ext.catalog.agent_directory import (
    expand_home,
    find_agent_directory,
    find_home,
)


def test_home_is_the_environments_and_else_the_users(home: Path) -> None:
    """Windows has another variable for it."""
    assert "/a" == find_home({"HOME": "/a", "USERPROFILE": "/b"})
    assert "/b" == find_home({"USERPROFILE": "/b"})
    assert str(home) == find_home({})


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, "/home/me/.prime/agent"),
        ({"PI_CODING_AGENT_DIR": "/pi"}, "/pi"),
        ({"PI_CODING_AGENT_DIR": "/pi", "PRIME_AGENT_CODING_AGENT_DIR": "/it"}, "/it"),
        ({"PRIME_AGENT_CODING_AGENT_DIR": " ~/it "}, "/home/me/it"),
        ({"PRIME_AGENT_CODING_AGENT_DIR": "  "}, "/home/me/.prime/agent"),
    ],
)
def test_agent_directory_is_the_named_one(
    environ: dict[str, str], expected: str
) -> None:
    """The first variable that says something wins."""
    assert expected == find_agent_directory(environ, home="/home/me")


def test_path_in_a_folder_that_was_deleted_leads_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is absolute all the same."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    environ = {"PI_CODING_AGENT_DIR": "agent"}
    assert "/agent" == find_agent_directory(environ, home="/home/me")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("~", "/me"), ("~/a", "/me/a"), ("~//a", "/me/a"), ("~you/a", "~you/a")],
)
def test_only_ones_own_home_is_expanded(text: str, expected: str) -> None:
    """As the reference does."""
    assert expected == expand_home(text, home="/me")
