"""Where an environment is and whether a generation is well."""

from __future__ import annotations

import json
import platform
import sys
import sysconfig
from pathlib import Path

import pytest

from prime_skills_ext.environment.bases import MARKER, is_ours, places
from prime_skills_ext.environment.venv import (
    CURRENT,
    Environment,
    Mode,
    current,
    find_mode,
    generation_at,
    is_healthy,
    locate,
)


def make(directory: Path, *, home: str | None = None) -> None:
    """Something that looks like a virtual environment."""
    generation = generation_at(directory)
    generation.site_packages.mkdir(parents=True)
    generation.scripts.mkdir(parents=True, exist_ok=True)
    generation.python.symlink_to(sys.executable)
    version = ".".join(map(str, sys.version_info[:3]))
    home = home or str(Path(sys.executable).parent)
    text = f"home = {home}\nimplementation = CPython\nversion_info = {version}\n"
    (directory / "pyvenv.cfg").write_text(text, encoding="utf-8")


def find(tmp_path: Path, mode: Mode = "overlay", **environ: str) -> Environment:
    return locate(mode=mode, agent_directory=tmp_path / "agent", environ=environ)


def test_environment_lives_in_the_agent_directory(tmp_path: Path) -> None:
    """The default place, one directory per key; looking makes nothing."""
    environment = find(tmp_path)
    assert environment.root.parent == tmp_path / "agent" / "prime-skills" / "venvs"
    assert environment.root.name.startswith("overlay-")
    assert list(tmp_path.iterdir()) == []


def test_key_covers_what_must_not_be_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Mode, project, kernel and interpreter each lead to another environment."""
    roots = [find(tmp_path).root, find(tmp_path, "own").root]
    for project in ("one", "two"):
        environment = locate(
            mode="overlay",
            agent_directory=tmp_path / "agent",
            environ={},
            project_root=tmp_path / project,
        )
        roots.append(environment.root)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "kernel"))
    roots.append(find(tmp_path).root)
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path / "python"))
    roots.append(find(tmp_path).root)
    assert len(set(roots)) == len(roots)


def test_key_covers_the_platform(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Homes are shared between machines of several kinds."""
    roots = [find(tmp_path).root]
    monkeypatch.setattr(sysconfig, "get_platform", lambda: "plan9-mips")
    roots.append(find(tmp_path).root)
    monkeypatch.setattr(platform, "machine", lambda: "mips")
    roots.append(find(tmp_path).root)
    assert len(set(roots)) == len(roots)


def test_own_mode_means_the_same_from_every_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever environment starts the kernel, the base interpreter decides."""
    first = find(tmp_path, "own")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "another"))
    assert find(tmp_path, "own").root == first.root


def test_override_is_taken_when_it_is_missing_or_empty(tmp_path: Path) -> None:
    """PRIME_AGENT_KERNEL_VENV names where environments live."""
    place = tmp_path / "venv"
    assert find(tmp_path, PRIME_AGENT_KERNEL_VENV=str(place)).base == place
    place.mkdir()
    assert find(tmp_path, PRIME_AGENT_KERNEL_VENV=str(place)).base == place
    (place / MARKER).write_text("{}", encoding="utf-8")
    assert find(tmp_path, PRIME_AGENT_KERNEL_VENV=str(place)).base == place


def test_override_is_passed_over_when_it_is_not_ours(tmp_path: Path) -> None:
    """Somebody else's environment is never touched, and that is told."""
    place = tmp_path / "venv"
    place.mkdir()
    (place / "pyvenv.cfg").touch()
    environment = find(tmp_path, PRIME_AGENT_KERNEL_VENV=str(place))
    assert environment.base == tmp_path / "agent" / "prime-skills" / "venvs"
    assert [item.code for item in environment.diagnostics] == ["environment-not-ours"]


def test_data_home_is_used_when_the_agent_directory_cannot_be_written(
    tmp_path: Path,
) -> None:
    """A place that takes no file is found out by trying."""
    (tmp_path / "agent").touch()
    data = tmp_path / "data"
    environment = find(tmp_path, XDG_DATA_HOME=str(data))
    assert environment.base == data / "prime" / "agent" / "prime-skills" / "venvs"


def test_data_home_is_used_when_a_parent_is_read_only(tmp_path: Path) -> None:
    """Nobody can make a folder there, not even who may write everywhere else."""
    data = tmp_path / "data"
    environment = locate(
        mode="overlay",
        agent_directory=Path("/proc/prime/agent"),
        environ={"XDG_DATA_HOME": str(data)},
    )
    assert data / "prime" / "agent" / "prime-skills" / "venvs" == environment.base
    assert [] == list(tmp_path.iterdir())


def test_every_place_is_named_once(tmp_path: Path) -> None:
    """What a variable names counts if it is ours or empty, before the usual ones."""
    agent, data = tmp_path / "agent", tmp_path / "data"
    theirs = tmp_path / "theirs"
    (theirs / "bin").mkdir(parents=True)
    default = agent / "prime-skills" / "venvs"
    usual = (default, data / "prime" / "agent" / "prime-skills" / "venvs")

    def found(named: Path | None) -> tuple[Path, ...]:
        environ = {"XDG_DATA_HOME": str(data)}
        if named is not None:
            environ["PRIME_AGENT_KERNEL_VENV"] = str(named)
        return places(agent, environ=environ)

    mine = tmp_path / "mine"
    assert [usual, usual, (mine, *usual), usual] == [
        found(None),
        found(theirs),
        found(mine),
        found(default),
    ]


def test_existing_environment_is_used_even_if_it_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was installed stays usable on a disk that became read-only."""
    environment = find(tmp_path)
    environment.root.mkdir(parents=True)
    (environment.root / CURRENT).write_text("1\n", encoding="utf-8")
    monkeypatch.setattr(
        "prime_skills_ext.environment.bases._is_writable", lambda _: False
    )
    assert find(tmp_path).root == environment.root


def test_default_place_is_named_when_nothing_can_be_written(tmp_path: Path) -> None:
    """The error then names the place that people know."""
    (tmp_path / "agent").touch()
    (tmp_path / "data").touch()
    environment = find(tmp_path, XDG_DATA_HOME=str(tmp_path / "data"))
    assert environment.base == tmp_path / "agent" / "prime-skills" / "venvs"


def test_custom_mode_names_the_interpreter(tmp_path: Path) -> None:
    """It has no generation at all."""
    python = str(tmp_path / "python")
    environment = find(tmp_path, "custom", PRIME_AGENT_KERNEL_PYTHON=python)
    assert (environment.interpreter, current(environment)) == (Path(python), None)


def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, facts: object) -> Path:
    root = tmp_path / "some-key"
    (root / "1").mkdir(parents=True)
    (root / MARKER).write_text(json.dumps(facts), encoding="utf-8")
    monkeypatch.setattr(sys, "prefix", str(root / "1"))
    return root


def test_own_kernel_finds_the_environment_it_runs_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever that is, and whoever made it."""
    facts = {"mode": "own", "projectRoot": None}
    root = inside(tmp_path, monkeypatch, facts)
    assert (find(tmp_path, "own").root, find(tmp_path, "own").mode) == (root, "own")


def test_own_kernel_gets_an_overlay_for_another_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A project that is trusted later is overlaid until the next start."""
    facts = {"mode": "own", "projectRoot": None}
    root = inside(tmp_path, monkeypatch, facts)
    environment = locate(
        mode="own",
        agent_directory=tmp_path / "agent",
        environ={},
        project_root=tmp_path / "project",
    )
    assert (environment.mode, environment.kernel_prefix) == ("overlay", root / "1")


@pytest.mark.parametrize("facts", [[], {"mode": "overlay"}, "text"])
def test_marker_that_means_something_else_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, facts: object
) -> None:
    """Only an own environment of ours is one to be inside of."""
    root = inside(tmp_path, monkeypatch, facts)
    assert find(tmp_path, "own").root != root


@pytest.mark.parametrize(
    ("system", "python", "packages"),
    [
        ("posix", "bin/python", "lib/python3.*/site-packages"),
        ("nt", "Scripts/python.exe", "Lib/site-packages"),
    ],
)
def test_in09_layout_follows_the_platform(
    tmp_path: Path, system: str, python: str, packages: str
) -> None:
    """One helper knows where things are on POSIX and on Windows."""
    generation = generation_at(tmp_path, system=system)
    assert generation.python == tmp_path / python
    assert generation.site_packages.match(packages)


def test_whole_generation_is_healthy(tmp_path: Path) -> None:
    """Configuration, base, interpreter and packages are there."""
    make(tmp_path / "1")
    assert is_healthy(generation_at(tmp_path / "1"))


def test_generation_is_unhealthy_when_the_base_is_gone(tmp_path: Path) -> None:
    """An interpreter that was removed cannot run it."""
    make(tmp_path / "1", home=str(tmp_path / "gone"))
    assert not is_healthy(generation_at(tmp_path / "1"))


def test_generation_is_unhealthy_when_its_python_dangles(tmp_path: Path) -> None:
    """A link to nothing is no interpreter."""
    make(tmp_path / "1")
    generation = generation_at(tmp_path / "1")
    generation.python.unlink()
    generation.python.symlink_to(tmp_path / "gone")
    assert not is_healthy(generation)


def test_generation_is_unhealthy_when_its_packages_are_gone(tmp_path: Path) -> None:
    """There is nothing to append or to start in."""
    make(tmp_path / "1")
    generation_at(tmp_path / "1").site_packages.rmdir()
    assert not is_healthy(generation_at(tmp_path / "1"))


def test_generation_is_unhealthy_when_it_is_for_another_python(
    tmp_path: Path,
) -> None:
    """Another minor version has other packages."""
    make(tmp_path / "1")
    config = tmp_path / "1" / "pyvenv.cfg"
    text = config.read_text(encoding="utf-8").replace("version_info = 3", "version = 2")
    config.write_text(text, encoding="utf-8")
    assert not is_healthy(generation_at(tmp_path / "1"))


@pytest.mark.parametrize("pointer", ["", "../1", "two", "²", "7"])
def test_pointer_that_points_nowhere_gives_no_generation(
    tmp_path: Path, pointer: str
) -> None:
    """Whatever stands in the pointer file, only a number of ours counts."""
    environment = find(tmp_path)._replace(root=tmp_path)
    make(tmp_path / "1")
    (tmp_path / CURRENT).write_text(pointer, encoding="utf-8")
    assert current(environment) is None
    (tmp_path / CURRENT).write_text("1\n", encoding="utf-8")
    assert current(environment) == generation_at(tmp_path / "1")


def test_directory_is_ours_only_with_a_marker_or_without_content(
    tmp_path: Path,
) -> None:
    """A file in the place of the directory is not ours."""
    file = tmp_path / "file"
    file.touch()
    answers = [is_ours(tmp_path / "missing"), is_ours(tmp_path), is_ours(file)]
    assert answers == [True, False, False]


def test_mode_is_custom_in_the_named_python_only(tmp_path: Path) -> None:
    """Every venv links to the same program: another one's kernel installs as ever."""
    other = tmp_path / "bin" / "python"
    other.parent.mkdir()
    other.symlink_to(Path(sys.executable).resolve())
    here = Path(sys.executable)
    found = [
        find_mode({"PRIME_AGENT_KERNEL_PYTHON": str(here)}),
        find_mode({"PRIME_AGENT_KERNEL_PYTHON": here.name, "PATH": str(here.parent)}),
        find_mode({"PRIME_AGENT_KERNEL_PYTHON": str(other)}),
        find_mode({}),
    ]
    assert found == ["custom", "custom", "overlay", "overlay"]


def test_mode_is_own_in_the_generation_that_the_launcher_named(tmp_path: Path) -> None:
    """A process that inherited the variables runs somewhere else."""
    variables = {"PRIME_SKILLS_MODE": "own", "PRIME_SKILLS_GENERATION": sys.prefix}
    elsewhere = {**variables, "PRIME_SKILLS_GENERATION": str(tmp_path)}
    assert ["own", "overlay"] == [find_mode(variables), find_mode(elsewhere)]
