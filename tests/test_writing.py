"""Files of ours: replaced as a whole or not at all."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from filelock import FileLock, Timeout

from prime_skills_ext.writing import exclusive, replace_bytes, replace_text


@pytest.mark.parametrize("durable", [False, True])
def test_replaced_file_holds_the_text_for_its_owner_alone(
    tmp_path: Path, *, durable: bool
) -> None:
    """What was there is gone, and nothing lies beside it."""
    path = tmp_path / "store.json"
    path.write_text("old", encoding="utf-8")
    replace_text(path, text="new ö\n", durable=durable)
    assert "new ö\n" == path.read_text(encoding="utf-8")
    assert 0o600 == stat.S_IMODE(path.stat().st_mode)
    assert [path] == list(tmp_path.iterdir())


def test_text_that_is_no_utf8_comes_back_as_it_was(tmp_path: Path) -> None:
    """A path may hold bytes that are no text."""
    path = tmp_path / "pointer"
    replace_text(path, text="caf\udce9")
    assert b"caf\xe9" == path.read_bytes()


def test_failed_write_leaves_no_draft(tmp_path: Path) -> None:
    """The old file stays, and nothing lies beside it."""
    path = tmp_path / "taken"
    path.mkdir()
    (path / "x").touch()
    with pytest.raises(OSError, match="taken"):
        replace_text(path, text="new")
    assert [path] == list(tmp_path.iterdir())


def test_file_for_others_keeps_their_permissions(tmp_path: Path) -> None:
    """They are there before its name is."""
    path = tmp_path / "SKILL.md"
    replace_bytes(path, data=b"a\r\n\xff", mode=0o644)
    assert b"a\r\n\xff" == path.read_bytes()
    assert 0o644 == stat.S_IMODE(path.stat().st_mode)


def test_lock_makes_its_folder_and_keeps_others_out(tmp_path: Path) -> None:
    """Nobody else can read the folder, and the lock is held until the block ends."""
    lock = tmp_path / "new" / "store.lock"
    with exclusive(lock):
        assert 0o700 == stat.S_IMODE(lock.parent.stat().st_mode)
        with pytest.raises(Timeout):
            FileLock(lock, timeout=0).acquire()
    FileLock(lock, timeout=0).acquire().lock.release()
