"""A footprint notes what is looked at, whoever looks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from prime_skills_ext.catalog.reading import read_file
from prime_skills_ext.launching.footprint import Footprint
from prime_skills_ext.launching.memo import stamp

pytestmark = pytest.mark.usefixtures("later")


def test_files_that_are_read_and_folders_that_are_listed_are_noted(
    tmp_path: Path,
) -> None:
    """In every way that Python has, whether or not they are there."""
    names = ["a", "b", "c"]
    for name in names:
        (tmp_path / name).write_text(name, encoding="utf-8")
    for name in ("scanned", "listed"):
        (tmp_path / name).mkdir()

    with Footprint({}) as footprint:
        (tmp_path / "a").read_text(encoding="utf-8")
        read_file(tmp_path / "b", limit=9)
        with (tmp_path / "c").open("rb"), os.scandir(tmp_path / "scanned"):
            list((tmp_path / "listed").iterdir())
        with pytest.raises(FileNotFoundError):
            read_file(tmp_path / "absent", limit=9)

    expected = {
        str(tmp_path / name): stamp(str(tmp_path / name))
        for name in (*names, "scanned", "listed", "absent")
    }
    assert expected == footprint.stamps()


def test_nothing_is_noted_before_and_after(tmp_path: Path) -> None:
    """Only the plan counts."""
    (tmp_path / "a").write_text("", encoding="utf-8")
    (tmp_path / "a").read_bytes()
    with Footprint({}) as footprint:
        pass
    (tmp_path / "a").read_bytes()

    assert {} == footprint.stamps()


def test_files_that_are_written_are_not_noted(tmp_path: Path) -> None:
    """They are what the plan makes, not what it goes by."""
    with Footprint({}) as footprint:
        (tmp_path / "a").write_text("", encoding="utf-8")

    assert {} == footprint.stamps()


def test_relative_paths_are_noted_as_absolute_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read stays the same when the process moves on."""
    monkeypatch.chdir(tmp_path)
    with Footprint({}) as footprint, os.scandir(), os.scandir(b"."):
        pass

    assert {str(tmp_path): stamp(str(tmp_path))} == footprint.stamps()


def test_folder_that_is_opened_counts_by_being_there(tmp_path: Path) -> None:
    """As ``.git``, which may be a file that says where the real one is."""
    with Footprint({}) as footprint, pytest.raises(OSError, match="regular"):
        read_file(tmp_path, limit=9)

    assert {str(tmp_path): []} == footprint.stamps()


def test_variables_are_noted_when_they_are_asked_for_by_name() -> None:
    """A copy for another process asks for none."""
    with Footprint({"A": "1", "B": "2"}) as footprint:
        environ = footprint.environ
        assert {"A": "1", "B": "2"} == {**environ} == dict(environ)
        assert ("1", None) == (environ.get("A"), environ.get("C"))
        assert "D" not in environ

    assert {"A", "C", "D"} == footprint.names


def test_what_just_changed_is_no_footprint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It could change once more without its times moving."""
    path = tmp_path / "a"
    path.write_text("", encoding="utf-8")
    now = path.stat().st_mtime_ns
    monkeypatch.setattr("time.time_ns", lambda: now + 10**6)
    with Footprint({}) as footprint:
        path.read_bytes()

    assert footprint.stamps() is None


def test_coarse_clock_needs_a_longer_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some file systems count whole seconds."""
    second = 2_000_000_000 * 10**9
    path = tmp_path / "a"
    path.write_text("", encoding="utf-8")
    os.utime(path, ns=(second, second))
    for age, is_kept in ((10**9, False), (3 * 10**9, True)):
        monkeypatch.setattr("time.time_ns", lambda age=age: second + age)
        with Footprint({}) as footprint:
            path.read_bytes()
        assert is_kept == (footprint.stamps() is not None)


def test_what_the_plan_made_may_be_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was put in place by rename: another change would be another file."""
    path = tmp_path / "a"
    path.write_text("", encoding="utf-8")
    monkeypatch.setattr("time.time_ns", lambda: path.stat().st_mtime_ns)
    footprint = Footprint({})
    footprint.add([path], is_made=True)

    assert {str(path): stamp(str(path))} == footprint.stamps()


def test_what_lies_below_a_dropped_folder_is_forgotten(tmp_path: Path) -> None:
    """Caches of ours follow from everything else."""
    ours, other = tmp_path / "ours", tmp_path / "ours-not"
    for folder in (ours, other):
        folder.mkdir()
        (folder / "a").write_text("", encoding="utf-8")
    with Footprint({}) as footprint:
        for folder in (ours, other):
            list(folder.iterdir())
            (folder / "a").read_bytes()

    footprint.drop([ours], listed=True)
    expected = {str(ours / "a"), str(other), str(other / "a")}
    assert expected == set(footprint.stamps() or ())
    footprint.drop([ours], listed=False)
    assert {str(other), str(other / "a")} == set(footprint.stamps() or ())
