"""The file of decisions: private, whole, and never believed when in doubt."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prime_skills_ext.catalog.trust import (
    TrustStore,
)
from prime_skills_ext.errors import TrustError


def test_store_is_private_and_leaves_no_crumbs(
    project: Path, agent: Path, store: TrustStore
) -> None:
    """Mode 0600, replaced by rename."""
    store.trust(project)
    store.untrust(project)
    assert 0o600 == stat.S_IMODE(store.path.stat().st_mode)
    assert {"trust.json", "trust.json.lock"} >= {item.name for item in agent.iterdir()}


def test_store_keeps_other_decisions(
    tmp_path: Path, project: Path, agent: Path, store: TrustStore
) -> None:
    """Two kernels that decide one after the other lose nothing."""
    other = tmp_path / "other"
    other.mkdir()
    store.decision(project)
    TrustStore(agent).trust(other)
    store.trust(project)
    assert store.decision(other).trusted
    assert store.decision(project).trusted


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b"null",
        b'{"schema": 2, "roots": {}}',
        b'{"schema": 1}',
        b'{"schema": 1, "roots": {"ROOT": true}}',
        b'{"schema": 1, "roots": {"ROOT": {"trusted": 1}}}',
        b'{"schema": 1, "roots": {"ROOT": {"trusted": true, "pins": []}}}',
        b'{"schema": 1, "roots": {"ROOT": {"trusted": true, "pins": {"a": 1}}}}',
        b'{"schema": 1, "roots": {"ROOT": {"trusted": true, "owner": "me"}}}',
        b'{"schema": 1, "roots": {"ROOT": {"trusted": true, "owner": true}}}',
        b'{"schema": 1, "roots": {"ROOT": {"trusted": true}, "/x": {}}}',
        b"[" * 200_000,
    ],
)
def test_se01_damaged_store_means_untrusted(
    project: Path, agent: Path, store: TrustStore, content: bytes
) -> None:
    """One diagnostic says so, and deciding anew does not wipe what is in there."""
    content = content.replace(b"ROOT", os.fsencode(project))
    agent.mkdir(parents=True)
    store.path.write_bytes(content)
    store.path.chmod(0o600)
    assert not store.decision(project).trusted
    assert ["trust-store"] == [item.code for item in store.diagnostics()]
    with pytest.raises(TrustError, match="is damaged"):
        store.trust(project)
    assert content == store.path.read_bytes()


@given(st.binary(max_size=200))
def test_no_content_of_the_store_raises(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    """Nor does it trust anybody."""
    folder = tmp_path_factory.mktemp("agent")
    (folder / "trust.json").write_bytes(content)
    assert not TrustStore(folder).decision(folder).trusted


def test_se01_store_that_others_can_write_means_untrusted(
    project: Path, store: TrustStore
) -> None:
    """Whoever can write it could trust anything; the fix closes it."""
    store.trust(project)
    store.path.chmod(0o666)
    assert not store.decision(project).trusted
    (diagnostic,) = store.diagnostics()
    assert "can be changed by others" in diagnostic.message
    assert f"chmod 600 {store.path}" == diagnostic.fix
    store.path.chmod(0o600)
    assert store.decision(project).trusted


def test_se01_unreadable_store_means_untrusted(
    project: Path, agent: Path, store: TrustStore
) -> None:
    """A folder under its name is as unreadable as it gets."""
    store.path.mkdir(parents=True)
    assert not store.decision(project).trusted
    assert ["trust-store"] == [item.code for item in store.diagnostics()]


def test_store_that_cannot_be_written_is_an_error_with_the_fix(
    unprivileged_folder: Path,
) -> None:
    """The decision was not taken, and the user hears it."""
    agent = unprivileged_folder / "agent"
    agent.mkdir()
    agent.chmod(0o500)
    root = unprivileged_folder / "root"
    root.mkdir()
    with pytest.raises(TrustError, match="cannot be written") as caught:
        TrustStore(agent).trust(root)
    assert f"make {agent} writable, or let other kernels finish" == caught.value.fix


def test_failed_write_leaves_the_store_as_it_was(
    project: Path, agent: Path, store: TrustStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk loses no decision."""
    store.trust(project)
    before, files = store.path.read_bytes(), sorted(agent.iterdir())

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(TrustError):
        store.untrust(project)
    assert before == store.path.read_bytes()
    assert files == sorted(agent.iterdir())


def test_store_is_json_with_a_schema(project: Path, store: TrustStore) -> None:
    """Later versions can tell."""
    store.trust(project)
    content = json.loads(store.path.read_text())
    assert {"schema": 1, "roots": {str(project): {"trusted": True}}} == content
