"""What is removed, what is kept, and that neither hurts anybody."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.environment import record as records
from prime_skills_ext.environment import usage
from prime_skills_ext.environment.pruning import (
    GRACE_S,
    KEEP_S,
    disk_size,
    prune,
    remove_environment,
)
from prime_skills_ext.environment.rebuilding import rebuild
from prime_skills_ext.environment.usage import IN_USE
from prime_skills_ext.environment.venv import generation_at, numbered

pytestmark = pytest.mark.integration


def age(directory: Path, seconds: float) -> None:
    """Let the generation's last use be that long ago."""
    then = time.time() - seconds
    os.utime(directory / IN_USE, (then, then))


def numbers(root: Path) -> list[str]:
    return [path.name for path in numbered(root)]


@contextmanager
def user_of(directory: Path, *, before: str = "") -> Iterator[Any]:
    """A living process that uses a generation."""
    code = textwrap.dedent(before) + (
        "\nimport sys\nfrom pathlib import Path\n"
        "from prime_skills_ext.environment import usage, venv\n"
        "usage.hold(venv.generation_at(Path(sys.argv[1])))\n"
        "print('held', flush=True); sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(directory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as user:
        assert user.stdout is not None
        assert b"held\n" == user.stdout.readline()
        yield user
        user.kill()


@pytest.fixture
def superseded(world: Any, new_skill: Any) -> Path:
    """An environment whose first generation nobody needs: an edit made it stale."""
    skill = new_skill("a")
    world.ensure(skill).generation.python.unlink()
    world.ensure(skill)
    root: Path = world.environment.root
    assert ["1", "2"] == numbers(root)
    return root


@pytest.fixture
def rivals(world: Any, new_skill: Any) -> tuple[Any, Any]:
    """Two selections with a generation each."""
    world.publish("acme-tool", "1.0")
    world.publish("acme-tool", "2.0")
    old = new_skill("old", dependencies=("acme-tool<2",))
    new = new_skill("new", dependencies=("acme-tool>=2",))
    world.ensure(old)
    world.ensure(new)
    return old, new


def test_superseded_generation_goes_when_it_is_forgotten(superseded: Path) -> None:
    """Not in the first hour: a kernel may be starting in it."""
    assert () == prune(superseded)
    age(superseded / "1", 2 * GRACE_S)
    assert [superseded / "1"] == [one.path for one in prune(superseded)]
    assert ["2"] == numbers(superseded)


def test_folder_that_is_merely_called_like_a_generation_stays(
    superseded: Path,
) -> None:
    """Only what we made goes, however long ago it was used."""
    strange = superseded / "2024"
    strange.mkdir()
    (strange / "thesis.txt").touch()
    removed = prune(superseded, everything=True)
    assert [one.path.name for one in removed if one.kind == "generation"] == ["1"]
    assert (strange / "thesis.txt").exists()


def test_in03_generation_in_use_stays(superseded: Path) -> None:
    """A living process keeps it; death, however sudden, gives it up."""
    age(superseded / "1", 2 * KEEP_S)
    with user_of(superseded / "1"):
        assert () == prune(superseded)
        assert () == prune(superseded, everything=True)
        assert remove_environment(superseded, why="test") is None
    assert () == prune(superseded)  # it was used a moment ago
    age(superseded / "1", 2 * KEEP_S)
    assert [superseded / "1"] == [one.path for one in prune(superseded)]


def test_generation_of_which_nobody_can_tell_stays(superseded: Path) -> None:
    """A disk without locks is no proof that nobody uses it."""
    file = superseded / "1" / IN_USE
    file.unlink()
    file.symlink_to(IN_USE)  # opening it fails
    os.utime(superseded / "1", (0, 0))
    assert () == prune(superseded, everything=True)


def test_in09_generation_in_use_stays_with_the_locks_of_windows(
    superseded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exclusive locks on bytes do as well: each user has one, who prunes wants all."""
    fake = """
        import fcntl, os, types
        from prime_skills_ext.environment import usage

        def locking(handle, mode, count):
            writable = os.open(f"/proc/self/fd/{handle}", os.O_RDWR)
            start = os.lseek(handle, 0, os.SEEK_CUR)
            fcntl.lockf(writable, fcntl.LOCK_EX | fcntl.LOCK_NB, count, start)

        usage._MSVCRT = types.SimpleNamespace(locking=locking, LK_NBLCK=2)
    """
    scope: dict[str, Any] = {}
    monkeypatch.setattr(usage, "_MSVCRT", None)
    exec(textwrap.dedent(fake), scope)  # the same in both processes
    age(superseded / "1", 2 * KEEP_S)
    with user_of(superseded / "1", before=fake):
        with user_of(superseded / "1", before=fake):
            age(superseded / "1", 2 * KEEP_S)
            assert () == prune(superseded)
        age(superseded / "1", 2 * KEEP_S)
        assert () == prune(superseded)
    assert [superseded / "1"] == [one.path for one in prune(superseded)]


def test_generation_of_another_selection_is_kept_for_a_month(
    world: Any, rivals: Any
) -> None:
    """Whoever switches back within that time finds it."""
    root = world.environment.root
    age(root / "1", KEEP_S - GRACE_S)
    assert () == prune(root)
    age(root / "1", KEEP_S + GRACE_S)
    assert [root / "1"] == [one.path for one in prune(root) if one.kind == "generation"]


def test_older_than_a_rebuild_is_not_kept_for_others(world: Any, rivals: Any) -> None:
    """Nobody chooses it again."""
    root = world.environment.root
    _, new = rivals
    rebuild([new], environment=world.environment, environ=world.environ)
    age(root / "1", 2 * GRACE_S)
    age(root / "2", 2 * GRACE_S)
    prune(root)
    assert ["3"] == numbers(root)


@pytest.mark.parametrize("lost", ["folder", "base", "kernel"])
def test_generation_that_serves_no_selection_is_not_kept(
    world: Any, rivals: Any, lost: str
) -> None:
    """Its skill was removed, or what it was built on is another one by now."""
    root = world.environment.root
    old, _ = rivals
    if lost == "folder":
        shutil.rmtree(old.directory)
    else:
        path = root / "1" / ".bootstrap-version"
        data = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**data, lost: "another"}), encoding="utf-8")
    age(root / "1", 2 * GRACE_S)
    prune(root)
    assert ["2"] == numbers(root)


def test_removal_that_is_killed_leaves_no_half_generation(
    superseded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is out of the way before its first file goes."""
    age(superseded / "1", 2 * GRACE_S)
    with monkeypatch.context() as killed:
        killed.setattr(shutil, "rmtree", lambda *_, **__: None)
        prune(superseded)
    assert ["2"] == numbers(superseded)
    prune(superseded)
    assert [] == list(superseded.glob(".building-*"))


def test_all_removes_what_is_kept_for_others(world: Any, rivals: Any) -> None:
    """On request nothing is kept that is neither current nor in use."""
    root = world.environment.root
    prune(root, everything=True)
    assert ["2"] == numbers(root)


def test_generation_of_an_older_state_is_not_kept(world: Any, new_skill: Any) -> None:
    """What was edited since is of no use to any selection."""
    world.publish("acme-tool", "1.0")
    world.publish("acme-tool", "2.0")
    skill = new_skill("a", dependencies=("acme-tool<2",))
    world.ensure(skill)
    new_skill("a", dependencies=("acme-tool>=2",))
    world.ensure(skill)
    root = world.environment.root
    age(root / "1", 2 * GRACE_S)
    prune(root)
    assert ["2"] == numbers(root)


@pytest.mark.parametrize("text", [None, "9\n"])
def test_nothing_goes_without_a_pointer(superseded: Path, text: str | None) -> None:
    """Nobody can tell then which one a kernel is about to start in."""
    (superseded / "current").unlink()
    if text is not None:
        (superseded / "current").write_text(text, encoding="utf-8")
    age(superseded / "1", 2 * KEEP_S)
    assert [] == [
        one for one in prune(superseded, everything=True) if one.kind != "wheels"
    ]


def test_new_generation_prunes_what_was_forgotten(world: Any, new_skill: Any) -> None:
    """Old generations go when a new one is made, not before their time."""
    skill = new_skill("a")
    root = world.environment.root
    for _ in range(3):
        world.ensure(skill).generation.python.unlink()
    for number in ("1", "2", "3"):
        age(root / number, 2 * GRACE_S)
    world.ensure(skill)
    assert ["3", "4"] == numbers(root)


def test_superseding_counts_as_the_last_use(world: Any, new_skill: Any) -> None:
    """A generation that was current for months is not forgotten at once."""
    skill = new_skill("a")
    first = world.ensure(skill).generation
    age(first.directory, 2 * KEEP_S)
    first.python.unlink()
    before = time.time()
    world.ensure(skill)
    assert before <= (first.directory / IN_USE).stat().st_mtime


def test_leftovers_of_killed_processes_go(superseded: Path) -> None:
    """Half-built generations, requests and drafts; a draft that may be live stays."""
    for name in (".building-next", ".building-x1", ".request-1"):
        (superseded / name / "venv").mkdir(parents=True)
    for name in ("current.abc", "current.def"):
        (superseded / name).touch()
    then = time.time() - 2 * GRACE_S
    os.utime(superseded / "current.abc", (then, then))
    removed = prune(superseded)
    assert {"leftover"} == {one.kind for one in removed}
    assert [".building-next", ".building-x1", ".request-1", "current.abc"] == [
        one.path.name for one in removed
    ]
    assert [] == [*superseded.glob(".b*"), *superseded.glob(".r*")]
    assert (superseded / "current.def").is_file()


def test_wheels_go_with_the_generations_that_name_them(
    world: Any, rivals: Any, calls: list[str]
) -> None:
    """A wheel that anything installed comes from stays, the runtime's too."""
    root = world.environment.root
    stray = root / "wheels" / "0123" / "stray-1.0-py3-none-any.whl"
    stray.parent.mkdir()
    stray.touch()
    names = {path.name.partition("-")[0] for path in root.glob("wheels/*/*.whl")}
    assert {"stray", "old", "new", "prime_agent_runtime"} == names
    prune(root)
    left = {path.name.partition("-")[0] for path in root.glob("wheels/*/*.whl")}
    assert {"old", "new", "prime_agent_runtime"} == left
    assert not stray.parent.exists()
    prune(root, everything=True)
    left = {path.name.partition("-")[0] for path in root.glob("wheels/*/*.whl")}
    assert {"new", "prime_agent_runtime"} == left
    calls.clear()
    assert ((), {}) == (
        world.ensure(rivals[1]).installed,
        world.ensure(rivals[1]).failed,
    )
    assert [] == calls


def test_skill_is_added_beside_after_pruning(
    world: Any, new_skill: Any, rivals: Any
) -> None:
    """Pruning leaves nothing that uv would install again in place of itself."""
    prune(world.environment.root, everything=True)
    report = world.ensure(rivals[1], new_skill("third"))
    assert ("2", {}) == (report.generation.directory.name, report.failed)
    known = records.read(report.generation.record).skills.values()
    assert ["new", "third"] == sorted(skill.import_name for skill in known)


def test_dry_run_touches_nothing(superseded: Path) -> None:
    """It says the same and does nothing."""
    age(superseded / "1", 2 * GRACE_S)
    (superseded / ".building-next").mkdir()
    (superseded / "wheels" / "x").mkdir(parents=True)
    (superseded / "wheels" / "x" / "x.whl").write_bytes(b"1234")
    before = sorted(superseded.rglob("*"))
    said = prune(superseded, dry_run=True)
    assert before == sorted(superseded.rglob("*"))
    assert said == prune(superseded)


def test_size_counts_a_file_once_and_frees_what_nobody_shares(tmp_path: Path) -> None:
    """What uv links from its cache frees nothing when it goes."""
    (tmp_path / "cache").write_bytes(b"123")
    folder = tmp_path / "folder"
    (folder / "inside").mkdir(parents=True)
    empty, _ = disk_size(folder)
    (folder / "shared").hardlink_to(tmp_path / "cache")
    (folder / "one").write_bytes(b"12345")
    (folder / "inside" / "two").hardlink_to(folder / "one")
    total, freed = disk_size(folder)
    assert (8, 5) == (total - empty, freed - empty)


def test_lock_that_is_shared_is_no_obstacle_to_the_same_process(
    superseded: Path,
) -> None:
    """What this process itself uses is in use."""
    generation = generation_at(superseded / "1")
    usage.hold(generation)
    assert usage.is_in_use(generation.directory)
    usage.release(generation)
    assert not usage.is_in_use(generation.directory)
