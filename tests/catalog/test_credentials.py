"""Which providers have a key, without ever showing one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prime_skills_ext.catalog.credentials import (
    CredentialNeed,
    credential_value,
    declared_credential,
    find_credentials,
    is_met,
)
from prime_skills_ext.catalog.discovery import discover
from prime_skills_ext.kernel.lending import OwnEnviron
from tests.catalog.conftest import MakeSource, only
from tests.conftest import MakeSkill

SERPER = CredentialNeed(provider="serper", variable="SERPER_API_KEY")


def store(agent: Path, content: Any) -> None:
    path = agent / "auth.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    path.chmod(0o600)


def providers(agent: Path, **environ: str) -> frozenset[str]:
    return find_credentials(agent_directory=agent, environ=environ)[0]


def value(agent: Path, need: CredentialNeed = SERPER, **environ: str) -> str | None:
    return credential_value(need, agent_directory=agent, environ=environ)


def test_skill_declares_its_credential_in_metadata(
    tmp_path: Path, make_skill: MakeSkill, make_source: MakeSource
) -> None:
    """Provider and variable, as the built-in web search does."""
    make_skill(
        tmp_path,
        "a",
        frontmatter="name: a\ndescription: d\n"
        "metadata: {credential: {provider: serper, variable: SERPER_API_KEY}}\n",
    )
    skill = only(discover([make_source(tmp_path)])).skill
    assert declared_credential(skill) == SERPER


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ("{}", None),
        ("{credential: serper}", None),
        ("{credential: {variable: X}}", None),
        ("{credential: {provider: ' '}}", None),
        ("{credential: {provider: [a]}}", None),
        ("{credential: {provider: x}}", CredentialNeed(provider="x")),
        ("{credential: {provider: x, variable: }}", CredentialNeed(provider="x")),
        ("{credential: {provider: x, variable: ' '}}", CredentialNeed(provider="x")),
    ],
)
def test_odd_declarations_are_read_for_what_they_say(
    tmp_path: Path,
    make_skill: MakeSkill,
    make_source: MakeSource,
    metadata: str,
    expected: CredentialNeed | None,
) -> None:
    """Without a provider nothing is needed; the variable may be missing."""
    make_skill(
        tmp_path, "a", frontmatter=f"name: a\ndescription: d\nmetadata: {metadata}\n"
    )
    skill = only(discover([make_source(tmp_path)])).skill
    assert declared_credential(skill) == expected


def test_no_file_means_no_keys(tmp_path: Path) -> None:
    """And nothing to report."""
    assert (frozenset(), ()) == find_credentials(agent_directory=tmp_path, environ={})
    assert value(tmp_path) is None


@pytest.mark.parametrize(
    ("entry", "environ", "expected"),
    [
        ({"type": "api_key", "key": "k-1"}, {}, "k-1"),
        ({"type": "api_key", "key": " k-1\n"}, {}, "k-1"),
        ({"type": "api_key", "key": "MY_KEY"}, {"MY_KEY": "k-2"}, "k-2"),
        ({"type": "api_key", "key": "MY_KEY"}, {}, None),
        ({"type": "api_key", "key": "ABCDEF123"}, {}, "ABCDEF123"),
        ({"type": "api_key", "key": "!pass show serper"}, {}, None),
        ({"type": "api_key", "key": ""}, {}, None),
        ({"type": "api_key", "key": 5}, {}, None),
        ({"type": "api_key", "key": "k\0-1"}, {}, None),
        ({"type": "api_key", "key": "k\ud800-1"}, {}, None),
        ({"type": "api_key", "key": "k\n-1"}, {}, None),
        ({"type": "api_key"}, {}, None),
        ({"type": "oauth", "access": "t-1", "expires": 0}, {}, "t-1"),
        ({"type": "oauth", "access": ""}, {}, None),
        ({"type": "oauth", "access": "t\0-1"}, {}, None),
        ({"type": "oauth", "key": "k"}, {}, None),
        ({"type": "other", "key": "k"}, {}, None),
        ("k", {}, None),
        (None, {}, None),
    ],
)
def test_entry_is_worth_what_the_reference_says(
    tmp_path: Path, entry: Any, environ: dict[str, str], expected: str | None
) -> None:
    """A literal, the name of a variable, or a token; a command is none."""
    store(tmp_path, {"serper": entry})
    assert expected == value(tmp_path, SERPER, **environ)
    assert (expected is not None) == ("serper" in providers(tmp_path, **environ))


def test_environment_comes_before_the_file(tmp_path: Path) -> None:
    """A blank variable counts as unset."""
    store(tmp_path, {"serper": {"type": "api_key", "key": "stored"}})
    assert "given" == value(tmp_path, SERPER_API_KEY=" given ")
    assert "stored" == value(tmp_path, SERPER_API_KEY=" ")


def test_servers_are_known_with_and_without_their_prefix(tmp_path: Path) -> None:
    """``mcp:linear`` serves a skill that needs ``linear``."""
    store(tmp_path, {"mcp:linear": {"type": "oauth", "access": "t"}})
    assert {"mcp:linear", "linear"} == providers(tmp_path)
    assert "t" == value(tmp_path, CredentialNeed(provider="linear"))


def test_key_counts_from_the_moment_it_exists(tmp_path: Path) -> None:
    """Nothing is remembered."""
    assert value(tmp_path) is None
    store(tmp_path, {"serper": {"type": "api_key", "key": "k"}})
    assert "k" == value(tmp_path)


@pytest.mark.parametrize(
    ("need", "stored", "environ", "expected"),
    [
        (SERPER, set[str](), {}, False),
        (SERPER, {"serper"}, {}, True),
        (SERPER, set[str](), {"SERPER_API_KEY": "k"}, True),
        (SERPER, set[str](), {"SERPER_API_KEY": "  "}, False),
        (CredentialNeed(provider="x"), set[str](), {}, False),
    ],
)
def test_need_is_met_by_variable_or_store(
    need: CredentialNeed, stored: set[str], environ: dict[str, str], *, expected: bool
) -> None:
    """Either is enough."""
    assert expected == is_met(need, stored=stored, environ=environ)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "7", '{"serper": sk-secret}', "[" * 200_000]
)
def test_damaged_file_holds_no_key_and_is_not_quoted(
    tmp_path: Path, content: str
) -> None:
    """SE-08: the message says what is wrong without showing any of it."""
    store(tmp_path, content)
    found, (diagnostic,) = find_credentials(agent_directory=tmp_path, environ={})
    assert frozenset() == found
    assert "auth-file" == diagnostic.code
    assert "secret" not in repr(diagnostic)


def test_file_that_others_can_read_is_reported(tmp_path: Path) -> None:
    """Its keys still count."""
    store(tmp_path, {"serper": {"type": "api_key", "key": "k"}})
    (tmp_path / "auth.json").chmod(0o644)
    found, (diagnostic,) = find_credentials(agent_directory=tmp_path, environ={})
    assert {"serper"} == found
    assert "can be read by others" in diagnostic.message


def test_file_that_is_a_fifo_does_not_block(tmp_path: Path) -> None:
    """It is one diagnostic."""
    os.mkfifo(tmp_path / "auth.json")
    _, (diagnostic,) = find_credentials(agent_directory=tmp_path, environ={})
    assert "cannot be read: not a regular file" in diagnostic.message


@given(st.text(st.characters(exclude_categories=()), max_size=20))
def test_no_key_raises(tmp_path_factory: pytest.TempPathFactory, key: str) -> None:
    """JSON can hold texts that no variable can."""
    folder = tmp_path_factory.mktemp("agent")
    store(folder, {"serper": {"type": "api_key", "key": key}})
    given_key = credential_value(SERPER, agent_directory=folder, environ=OwnEnviron())
    assert given_key is None or b"\0" not in os.fsencode(given_key)


@given(st.binary(max_size=100))
def test_no_content_raises(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    """Whatever stands in the file."""
    folder = tmp_path_factory.mktemp("agent")
    (folder / "auth.json").write_bytes(content)
    assert frozenset() == find_credentials(agent_directory=folder, environ={})[0]
