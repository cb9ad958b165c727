"""Every environment of ours is found and judged; nothing else is touched."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.environment.bases import MARKER, places
from prime_skills_ext.environment.installation import ensure
from prime_skills_ext.environment.inventory import EnvironmentInfo, Inventory, Pruned
from prime_skills_ext.environment.locking import FILES
from prime_skills_ext.environment.pruning import GRACE_S
from prime_skills_ext.environment.rebuilding import rebuild
from prime_skills_ext.environment.stocktaking import prune_all, take_stock
from prime_skills_ext.environment.usage import hold, release
from prime_skills_ext.environment.venv import generation_at, locate

pytestmark = pytest.mark.integration


def stock(world: Any, *, deep: bool = True) -> Inventory:
    return take_stock([world.environment.base], here=world.environment, deep=deep)


def tidy(world: Any, *, everything: bool = False, dry_run: bool = False) -> Pruned:
    return prune_all(
        [world.environment.base],
        here=world.environment,
        everything=everything,
        dry_run=dry_run,
    )


def copy_of(world: Any, name: str, **facts: object) -> Path:
    """Another environment: a copy of the one used here, made for something else."""
    root: Path = world.environment.root
    other = root.parent / name
    shutil.copytree(root, other, symlinks=True)
    said = json.loads((root / MARKER).read_text(encoding="utf-8"))
    (other / MARKER).write_text(json.dumps({**said, **facts}), encoding="utf-8")
    return other


def named(found: Inventory, name: str) -> EnvironmentInfo:
    return next(one for one in found.environments if one.key == name)


def snapshot(root: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every file with its mode, time and bytes, every folder with its mode and time."""
    found = {}
    for path in sorted([root, *root.rglob("*")]):
        state = path.lstat()
        data = path.read_bytes() if path.is_file() else os.fsencode(path.name)
        found[str(path)] = (state.st_mode, state.st_mtime_ns, data)
    return found


def test_environment_used_here_is_told_whole(world: Any, new_skill: Any) -> None:
    """For whom, which generations, how many skills, and that it is well."""
    bad = new_skill("bad", dependencies=("no-such-dist-xyz",))
    world.ensure(new_skill("a"), new_skill("b"), bad)
    (found,) = stock(world).environments
    root = world.environment.root
    assert (found.key, found.directory, found.mode) == (root.name, root, "overlay")
    assert (Path(sys.prefix), Path(sys.base_prefix).resolve()) == (
        found.kernel_prefix,
        found.base_prefix,
    )
    assert (True, None, None) == (found.is_here, found.gone, found.fix)
    (one,) = found.generations
    assert (root / "1", True, False) == (one.directory, one.is_current, one.is_in_use)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert (version, 2, 1, None) == (one.python, one.skills, one.failed, one.problem)
    assert found.size_bytes > one.size_bytes > 0
    assert one == found.current


def test_generation_that_a_process_uses_says_so(world: Any, new_skill: Any) -> None:
    """This process, for one."""
    generation = world.ensure(new_skill("a")).generation
    hold(generation)
    try:
        assert stock(world).environments[0].generations[0].is_in_use
    finally:
        release(generation)


def test_every_base_directory_is_looked_into(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """The agent directory, where it falls back to, and what a variable names."""
    skill = new_skill("a")
    agent = world.environment.base.parents[1]
    named_by_variable = tmp_path / "named"
    data = tmp_path / "data"
    assert {} == world.ensure(skill).failed
    environ = {**world.environ, "PRIME_AGENT_KERNEL_VENV": str(named_by_variable)}
    where = locate(mode="overlay", agent_directory=agent, environ=environ)
    assert {} == ensure([skill], environment=where, environ=environ).failed
    shutil.copytree(
        world.environment.base, data / "prime" / "agent" / "prime-skills" / "venvs"
    )
    environ = {**environ, "XDG_DATA_HOME": str(data)}
    everywhere = places(agent, environ=environ)
    found = take_stock(everywhere, here=where).environments
    assert [named_by_variable, world.environment.base, everywhere[2]] == [
        one.directory.parent for one in found
    ]
    assert [True, False, False] == [one.is_here for one in found]


def test_in09_interpreter_that_is_another_by_now_is_noticed(
    world: Any, new_skill: Any
) -> None:
    """It has to be started to be seen: the file is there."""
    generation = world.ensure(new_skill("a")).generation
    generation.python.unlink()
    text = "#!/bin/sh\nprintf '%s\\n' /elsewhere 3.99\n"
    generation.python.write_text(text, encoding="utf-8")
    generation.python.chmod(0o755)
    (found,) = stock(world).environments
    assert found.current is not None
    assert f"and {generation.python} is 3.99" in (found.current.problem or "")
    assert "%skill env rebuild" == found.fix


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("exit 3", "its interpreter does not run"),
        ("printf '%s\\n' /elsewhere {version}", "its interpreter works for /elsewhere"),
    ],
)
def test_in09_interpreter_that_does_not_work_is_noticed(
    world: Any, new_skill: Any, script: str, problem: str
) -> None:
    """It does not run, or runs for another place."""
    generation = world.ensure(new_skill("a")).generation
    generation.python.unlink()
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    text = f"#!/bin/sh\n{script.format(version=version)}\n"
    generation.python.write_text(text, encoding="utf-8")
    generation.python.chmod(0o755)
    (found,) = stock(world).environments
    assert found.generations[0].problem is not None
    assert found.generations[0].problem.startswith(problem)


@pytest.mark.parametrize("lost", ["pyvenv.cfg", "home", "python", "packages"])
def test_in09_what_is_missing_is_named_without_a_process(
    world: Any, new_skill: Any, calls: list[str], lost: str
) -> None:
    """What a load checks as well, in words."""
    generation = world.ensure(new_skill("a")).generation
    config = generation.directory / "pyvenv.cfg"
    if lost == "pyvenv.cfg":
        config.unlink()
    elif lost == "home":
        config.write_text(f"home = /gone\nversion = {sys.version}\n", encoding="utf-8")
    elif lost == "python":
        generation.python.unlink()
    else:
        shutil.rmtree(generation.site_packages)
    calls.clear()
    problem = stock(world, deep=False).environments[0].generations[0].problem
    said = {
        "pyvenv.cfg": "it has no readable pyvenv.cfg",
        "home": "the Python that it was made with is gone: /gone",
        "python": f"its interpreter is gone: {generation.python}",
        "packages": f"its packages are gone: {generation.site_packages}",
    }
    assert (said[lost], []) == (problem, calls)


@pytest.mark.parametrize(
    ("facts", "gone"),
    [
        ({"interpreter": "/gone/python cpython-311 x"}, "its Python is gone: /gone/p"),
        ({"kernelPrefix": "/gone"}, "the Python of its kernels is gone: /gone"),
        ({"projectRoot": "/gone"}, "its project is gone: /gone"),
        (
            {"interpreter": f"{sys.base_prefix} cpython-310 x"},
            "its kernels have another Python by now: ",
        ),
    ],
)
def test_environment_that_lost_its_purpose_is_told_and_pruned(
    world: Any, new_skill: Any, facts: dict[str, str], gone: str
) -> None:
    """Its Python, its kernels or its project are not there any more."""
    skill = new_skill("a")
    world.ensure(skill)
    other = copy_of(world, "overlay-other", **facts)
    found = named(stock(world), "overlay-other")
    assert (found.gone or "").startswith(gone)
    assert "%skill env prune" == found.fix
    planned = tidy(world, dry_run=True)
    assert other.is_dir()
    done = tidy(world)
    assert (replace(planned, is_dry_run=False), [other]) == (
        done,
        [one.path for one in done.removed],
    )
    assert not other.exists()
    assert ((), {}) == (world.ensure(skill).installed, world.ensure(skill).failed)


@pytest.mark.parametrize("missing", FILES)
def test_dry_run_makes_no_file_to_lock(
    world: Any, new_skill: Any, missing: str
) -> None:
    """An older version left one of the two."""
    world.ensure(new_skill("a"))
    (world.environment.root / missing).unlink()
    before = snapshot(world.environment.base)
    assert () == tidy(world, dry_run=True).removed
    assert before == snapshot(world.environment.base)


def test_environment_in_use_is_never_removed(world: Any, new_skill: Any) -> None:
    """A kernel of a project that was deleted goes on."""
    world.ensure(new_skill("a"))
    other = copy_of(world, "overlay-other", projectRoot="/gone")
    generation = generation_at(other / "1")
    hold(generation)
    try:
        assert () == tidy(world, everything=True).removed
    finally:
        release(generation)
    assert (other / "1").is_dir()


def test_environment_used_here_is_never_removed(world: Any, new_skill: Any) -> None:
    """Whatever its description says."""
    world.ensure(new_skill("a"))
    marker = world.environment.root / MARKER
    marker.write_text('{"projectRoot": "/gone"}', encoding="utf-8")
    assert () == tidy(world, everything=True).removed


def test_environment_that_was_never_filled_goes_after_an_hour(world: Any) -> None:
    """Somebody may be about to fill it."""
    empty = world.environment.base / "overlay-empty"
    empty.mkdir(parents=True)
    (empty / MARKER).write_text("{}", encoding="utf-8")
    assert () == tidy(world).removed
    then = time.time() - 2 * GRACE_S
    os.utime(empty, (then, then))
    assert ["nothing was ever installed in it"] == [
        one.why for one in tidy(world).removed
    ]
    assert not empty.exists()


def test_environment_of_another_python_keeps_what_serves_it(
    world: Any, new_skill: Any
) -> None:
    """Another interpreter's kernels are alive: only what nobody needs is removed."""
    world.ensure(new_skill("a"))
    other = copy_of(world, "own-other", mode="own", kernelPrefix=None)
    assert () == tidy(world, everything=True).removed
    assert named(stock(world), "own-other").gone is None
    assert (other / "1").is_dir()


def test_what_is_not_ours_is_neither_told_nor_touched(
    world: Any, new_skill: Any
) -> None:
    """Also right beside: a folder without our marker is somebody else's."""
    world.ensure(new_skill("a"))
    strange = world.environment.base / "their-venv"
    (strange / ".building-next").mkdir(parents=True)
    (strange / "pyvenv.cfg").write_text("home = /gone\n", encoding="utf-8")
    before = snapshot(strange)
    assert [world.environment.root.name] == [
        one.key for one in stock(world).environments
    ]
    tidy(world, everything=True)
    assert before == snapshot(strange)


def test_damaged_description_is_no_reason_to_remove(world: Any, new_skill: Any) -> None:
    """Nobody knows then for whom it is."""
    world.ensure(new_skill("a"))
    other = copy_of(world, "overlay-other")
    for text in ("", "[]", '{"interpreter": 3}', '{"interpreter": "x"}'):
        (other / MARKER).write_text(text, encoding="utf-8")
        assert named(stock(world, deep=False), "overlay-other").mode is None
        assert () == tidy(world).removed
        assert other.is_dir()


def test_lock_that_cannot_be_had_skips_one_environment(
    world: Any, new_skill: Any
) -> None:
    """The others are pruned all the same."""
    world.ensure(new_skill("a"))
    other = copy_of(world, "overlay-other")
    (other / ".lock").unlink(missing_ok=True)
    (other / ".lock").mkdir()
    (world.environment.root / ".request-1").mkdir()
    done = tidy(world)
    assert [world.environment.root / ".request-1"] == [one.path for one in done.removed]
    assert [True] == [why.startswith(f"{other}: ") for why in done.skipped]


def test_foreign_venv_is_not_touched_by_anything(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """The reference's own environment keeps every byte, mode and time."""
    theirs = tmp_path / "kernel-venv"
    (theirs / "bin").mkdir(parents=True)
    (theirs / "bin" / "python").symlink_to(sys.executable)
    (theirs / "pyvenv.cfg").write_text("home = /usr/bin\n", encoding="utf-8")
    record = '{"version": 3, "pythonSkills": [{"importName": "edit"}]}'
    (theirs / ".bootstrap-version").write_text(record, encoding="utf-8")
    (theirs / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    before = snapshot(theirs)
    environ = {**world.environ, "PRIME_AGENT_KERNEL_VENV": str(theirs)}
    agent = world.environment.base.parents[1]
    where = locate(mode="overlay", agent_directory=agent, environ=environ)
    skill = new_skill("a")
    assert {} == ensure([skill], environment=where, environ=environ).failed
    rebuild([skill], environment=where, environ=environ)
    everywhere = places(agent, environ=environ)
    assert theirs not in everywhere
    assert [where.root] == [
        one.directory for one in take_stock(everywhere, here=where).environments
    ]
    prune_all(everywhere, here=where, everything=True)
    assert before == snapshot(theirs)
    assert ["environment-not-ours"] == [item.code for item in where.diagnostics]
