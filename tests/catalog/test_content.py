"""What a skill's content is, as one hash."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from prime_skills_ext.catalog.content import content_hash, leaving_links
from tests.conftest import MakeSkill


@pytest.fixture
def folder(tmp_path: Path, make_skill: MakeSkill) -> Path:
    return make_skill(tmp_path, "a", python="", files={"sub/x": "1", "sub/y": "2"})


def _rename(folder: Path) -> None:
    (folder / "sub/x").rename(folder / "sub/z")


def _swap(folder: Path) -> None:
    (folder / "sub/x").write_text("2")
    (folder / "sub/y").write_text("1")


def _move(folder: Path) -> None:
    (folder / "sub/x").rename(folder / "x")


def _link(folder: Path) -> None:
    (folder / "sub/x").unlink()
    (folder / "sub/x").symlink_to("y")


def _fifo(folder: Path) -> None:
    os.mkfifo(folder / "pipe")


@pytest.mark.parametrize("change", [_rename, _swap, _move, _link, _fifo])
def test_every_change_shows(folder: Path, change: Callable[[Path], None]) -> None:
    """Names, bytes, places and kinds count; a FIFO does not block."""
    before = content_hash(folder)
    change(folder)
    assert before != content_hash(folder)


def test_target_of_a_link_counts_and_what_lies_there_does_not(folder: Path) -> None:
    """Formats row 30: links are never followed."""
    outside = folder.parent / "outside"
    outside.write_text("1")
    link = folder / "link"
    link.symlink_to(outside)
    before = content_hash(folder)
    outside.write_text("2")
    assert before == content_hash(folder)
    link.unlink()
    link.symlink_to("sub/x")
    assert before != content_hash(folder)


def test_times_modes_and_products_do_not_count(folder: Path) -> None:
    """Python and installers leave things behind."""
    before = content_hash(folder)
    os.utime(folder / "sub/x", (1, 1))
    (folder / "sub/x").chmod(0o700)
    for inside in ("src/a/__pycache__", "src/a.egg-info", ".git"):
        (folder / inside).mkdir()
        (folder / inside / "x").touch()
    assert before == content_hash(folder)


def test_place_of_the_folder_does_not_count(folder: Path, tmp_path: Path) -> None:
    """A copy elsewhere is the same content."""
    before = content_hash(folder)
    folder.rename(tmp_path / "elsewhere")
    assert before == content_hash(tmp_path / "elsewhere")


def test_links_that_leave_are_listed(folder: Path) -> None:
    """Those that stay inside are none of them."""
    (folder / "in").symlink_to("sub")
    (folder / "sub/up").symlink_to("../SKILL.md")
    (folder / "out").symlink_to("../..")
    (folder / "sub/etc").symlink_to("/etc")
    assert {folder / "out", folder / "sub/etc"} == set(leaving_links(folder))


def test_row30_what_a_link_leads_out_to_is_never_read(
    folder: Path, tmp_path: Path
) -> None:
    """The link is part of the skill, what lies behind it is not."""
    outside = tmp_path / "outside.txt"
    outside.write_text("1")
    (folder / "notes.txt").symlink_to(outside)
    before = content_hash(folder)
    outside.write_text("2")
    assert before == content_hash(folder)
    assert (folder / "notes.txt",) == leaving_links(folder)
