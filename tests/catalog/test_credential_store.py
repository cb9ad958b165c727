"""Keys come and go; whatever else stands in the file stays, and none is shown."""

from __future__ import annotations

import json
import os
import pickle
import stat
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keyring
import keyring.backend
import keyring.backends.fail
import keyring.errors
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prime_skills_ext.catalog.credential_store import CredentialStore, Secret
from prime_skills_ext.catalog.credentials import (
    CredentialNeed,
    credential_value,
    find_credentials,
    lent_variables,
)
from prime_skills_ext.errors import CredentialError

KEY = "sk-5e7c-very-secret"
NEED = CredentialNeed(provider="serper", variable="SERPER_API_KEY")


class MemoryKeyring(keyring.backend.KeyringBackend):
    """A keyring that encrypts nothing and says it does."""

    priority: Any = 5

    def __init__(self) -> None:
        super().__init__()
        self.held: dict[tuple[str, str], str] = {}
        self.is_locked = False

    def _open(self) -> None:
        if self.is_locked:
            raise keyring.errors.KeyringLocked("locked")

    def get_password(self, service: str, username: str) -> str | None:
        self._open()
        return self.held.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._open()
        self.held[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._open()
        del self.held[service, username]


@pytest.fixture(autouse=True)
def no_keyring() -> Iterator[None]:
    """No test touches the keyring of whoever runs it."""
    before = keyring.get_keyring()
    keyring.set_keyring(keyring.backends.fail.Keyring())
    yield
    keyring.set_keyring(before)


@pytest.fixture
def memory() -> MemoryKeyring:
    """A keyring that works."""
    backend = MemoryKeyring()
    keyring.set_keyring(backend)
    return backend


def content(agent: Path) -> Any:
    return json.loads((agent / "auth.json").read_text(encoding="utf-8"))


def save(agent: Path, key: str = KEY, provider: str = "serper") -> str:
    return CredentialStore(agent).save(provider, Secret(key))


def value(agent: Path, **environ: str) -> str | None:
    return credential_value(NEED, agent_directory=agent, environ=environ)


def test_key_is_kept_in_the_references_format_and_for_the_user_alone(
    tmp_path: Path,
) -> None:
    """The folder, too, where it had to be made."""
    agent = tmp_path / "home" / "agent"
    assert "auth.json" == save(agent)
    assert {"serper": {"type": "api_key", "key": KEY}} == content(agent)
    assert 0o600 == stat.S_IMODE((agent / "auth.json").stat().st_mode)
    assert 0o700 == stat.S_IMODE(agent.stat().st_mode)
    assert KEY == value(agent)


def test_other_logins_stay_in_their_order(tmp_path: Path) -> None:
    """Whatever they hold; a file that others could read is closed."""
    before = {
        "zeta": {"type": "oauth", "access": "t", "expires": 1790000000000, "x": [None]},
        "serper": {"type": "api_key", "key": "old"},
        "caf\u00e9": 1.5,
        "half": "\ud800",
    }
    path = tmp_path / "auth.json"
    path.write_text(json.dumps(before))
    path.chmod(0o644)
    save(tmp_path)
    assert {**before, "serper": {"type": "api_key", "key": KEY}} == content(tmp_path)
    assert [*before] == [*content(tmp_path)]
    assert 0o600 == stat.S_IMODE(path.stat().st_mode)


def test_remove_takes_that_entry_alone(tmp_path: Path) -> None:
    """What was not there is not said to be removed."""
    save(tmp_path)
    save(tmp_path, provider="other")
    removed = CredentialStore(tmp_path).remove("serper", "mcp:serper")
    assert (("serper",), ()) == removed
    assert ["other"] == [*content(tmp_path)]


def test_remove_without_a_file_makes_none(tmp_path: Path) -> None:
    """There is nothing to write."""
    assert ((), ()) == CredentialStore(tmp_path).remove("serper")
    assert not (tmp_path / "auth.json").exists()


@pytest.mark.parametrize("damaged", ['{"serper": sk-1', "[]", "", "\x00"])
def test_damaged_file_is_never_overwritten(tmp_path: Path, damaged: str) -> None:
    """Logins of other programs may be saved from it by hand."""
    path = tmp_path / "auth.json"
    path.write_text(damaged)
    for change in (
        lambda: save(tmp_path),
        lambda: CredentialStore(tmp_path).remove("x"),
    ):
        with pytest.raises(CredentialError, match=r"auth\.json in the agent directory"):
            change()
    assert damaged == path.read_text()


def test_link_stays_a_link(tmp_path: Path) -> None:
    """Where the file is kept elsewhere, that one is replaced."""
    real = tmp_path / "elsewhere" / "auth.json"
    real.parent.mkdir()
    real.write_text("{}")
    agent = tmp_path / "agent"
    agent.mkdir()
    (agent / "auth.json").symlink_to(real)
    save(agent)
    assert (agent / "auth.json").is_symlink()
    assert ["serper"] == [*json.loads(real.read_text())]


def test_folder_that_cannot_be_written_is_an_error_with_a_fix(tmp_path: Path) -> None:
    """And nothing is left behind."""
    (tmp_path / "agent").write_text("a file")
    with pytest.raises(CredentialError, match="cannot be written") as caught:
        save(tmp_path / "agent")
    assert KEY not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("", "it is empty"),
        ("two words", "spaces"),
        ("a\x1b[31m", "control characters"),
        ("!pass show serper", "spaces"),
        ("!pass", "counts as a command"),
        ("MY_SERPER_KEY", "the name of an environment variable"),
        ("k" * 100_000, "longer than"),
    ],
)
def test_what_cannot_be_a_key_is_refused_without_repeating_it(
    tmp_path: Path, key: str, reason: str
) -> None:
    """It would be stored and never work."""
    with pytest.raises(CredentialError, match=reason) as caught:
        save(tmp_path, key)
    assert not key or key not in str(caught.value)
    assert not (tmp_path / "auth.json").exists()


def test_name_of_a_variable_that_is_set_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reference's format allows it."""
    monkeypatch.setenv("MY_SERPER_KEY", KEY)
    save(tmp_path, "MY_SERPER_KEY")
    assert KEY == value(tmp_path, MY_SERPER_KEY=KEY)


def test_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    """One after the other, whatever the order."""
    names = [f"p{number}" for number in range(8)]
    threads = [
        threading.Thread(target=save, kwargs={"agent": tmp_path, "provider": name})
        for name in names
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert names == sorted(content(tmp_path))


def test_secret_shows_itself_nowhere() -> None:
    """Neither as text nor in a pickle."""
    secret = Secret(KEY)
    assert KEY not in f"{secret} {secret!r} {[secret]}"
    with pytest.raises(TypeError):
        pickle.dumps(secret)


@given(st.text(max_size=40))
def test_no_text_that_is_entered_breaks_anything(
    tmp_path_factory: pytest.TempPathFactory, key: str
) -> None:
    """It is kept as it is, or refused."""
    agent = tmp_path_factory.mktemp("agent")
    try:
        save(agent, key)
    except CredentialError:
        assert not (agent / "auth.json").exists()
    else:
        assert key == content(agent)["serper"]["key"]


def test_keyring_that_works_is_used(tmp_path: Path, memory: MemoryKeyring) -> None:
    """The file says that there is a key, and holds none."""
    assert "keyring" == save(tmp_path)
    assert {"serper": {"type": "keyring"}} == content(tmp_path)
    assert [KEY] == [*memory.held.values()]
    assert KEY == value(tmp_path)


def test_who_has_a_key_is_known_without_opening_the_keyring(
    tmp_path: Path, memory: MemoryKeyring
) -> None:
    """A start must not put a window in front of anybody."""
    save(tmp_path)
    memory.get_password = None  # type: ignore[assignment,method-assign]
    found = find_credentials(agent_directory=tmp_path, environ={})
    assert (frozenset({"serper"}), ()) == found


def test_keyring_that_does_not_encrypt_is_not_used(
    tmp_path: Path, memory: MemoryKeyring
) -> None:
    """A file of ours is better than one of somebody's."""
    memory.priority = 0.5
    assert "auth.json" == save(tmp_path)
    assert {} == memory.held


def test_keyring_that_fails_is_not_used(tmp_path: Path, memory: MemoryKeyring) -> None:
    """The key is in the file then."""
    memory.is_locked = True
    assert "auth.json" == save(tmp_path)
    assert KEY == value(tmp_path)


def test_logout_clears_the_keyring(tmp_path: Path, memory: MemoryKeyring) -> None:
    """And the note in the file."""
    save(tmp_path)
    assert (("serper",), ()) == CredentialStore(tmp_path).remove("serper")
    assert ({}, {}) == (memory.held, content(tmp_path))


def test_logout_with_a_locked_keyring_says_what_is_left(
    tmp_path: Path, memory: MemoryKeyring
) -> None:
    """It no longer counts, and the person knows where it is."""
    save(tmp_path)
    memory.is_locked = True
    assert (("serper",), ("serper",)) == CredentialStore(tmp_path).remove("serper")
    assert {} == content(tmp_path)


def test_agent_directories_do_not_share_keys(
    tmp_path: Path, memory: MemoryKeyring
) -> None:
    """Nor remove each other's."""
    save(tmp_path / "a", "key-a")
    save(tmp_path / "b", "key-b")
    CredentialStore(tmp_path / "a").remove("serper")
    assert "key-b" == value(tmp_path / "b")


def test_call_with_a_locked_keyring_says_so(
    tmp_path: Path, memory: MemoryKeyring
) -> None:
    """Rather than let the skill claim that there is no key."""
    save(tmp_path)
    memory.is_locked = True
    with pytest.raises(CredentialError, match="keyring that holds it is locked"):
        lent_variables(NEED, agent_directory=tmp_path, environ={})


def test_key_without_the_package_is_reported(
    tmp_path: Path, memory: MemoryKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not count, and the message names both ways out."""
    save(tmp_path)
    monkeypatch.setattr(
        "prime_skills_ext.catalog.system_keyring.find_spec", lambda _: None
    )
    found, (note,) = find_credentials(agent_directory=tmp_path, environ={})
    assert (frozenset(), "keyring-missing") == (found, note.code)
    assert "%skill login serper" in note.fix
    assert value(tmp_path) is None
    assert (("serper",), ("serper",)) == CredentialStore(tmp_path).remove("serper")


@pytest.mark.parametrize(
    ("environ", "expected"),
    [({}, {"SERPER_API_KEY": KEY}), ({"SERPER_API_KEY": "mine"}, {})],
)
def test_skill_is_lent_its_variable_unless_the_user_set_it(
    tmp_path: Path, environ: dict[str, str], expected: dict[str, str]
) -> None:
    """The environment comes first."""
    save(tmp_path)
    lent = lent_variables(NEED, agent_directory=tmp_path, environ=environ)
    assert expected == lent


def test_skill_that_names_no_variable_is_lent_nothing(tmp_path: Path) -> None:
    """It reads the file itself."""
    need = CredentialNeed(provider="serper")
    assert {} == lent_variables(need, agent_directory=tmp_path, environ=os.environ)
