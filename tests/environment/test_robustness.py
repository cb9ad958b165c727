"""Environments survive kills, damage and other processes."""

from __future__ import annotations

import errno
import json
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.environment import record as records
from prime_skills_ext.environment.uv import find_uv
from prime_skills_ext.environment.venv import CURRENT, locate
from prime_skills_ext.progress import ProgressEvent
from tests.environment.conftest import fake_uv

pytestmark = pytest.mark.integration

#: Runs ``ensure`` for the folders in argv and prints what came of it as JSON.
_DRIVER = """
import json, os, sys
from pathlib import Path
from prime_skills_ext.environment.installation import ensure
from prime_skills_ext.environment.venv import locate
from prime_skills_ext.skill.model import PythonPackage, Skill

def as_skill(folder):
    name = folder.name.replace("-", "_")
    package = PythonPackage(
        import_name=name, directory=folder, pyproject=folder / "pyproject.toml",
        src=folder / "src",
    )
    return Skill(
        name=folder.name, description="d", path=folder / "SKILL.md", directory=folder,
        identity=folder / "SKILL.md", import_name=name, python=package,
    )

mode, agent, *folders = sys.argv[1:]
environment = locate(mode=mode, agent_directory=Path(agent), environ=os.environ)
skills = [as_skill(Path(folder)) for folder in folders]
{before}
report = ensure(skills, environment=environment, environ=os.environ)
print(json.dumps({{
    "failed": {{path.parent.name: it.reason for path, it in report.failed.items()}},
    "installed": sorted(path.parent.name for path in report.installed),
    "generation": str(report.generation and report.generation.directory),
    "root": str(environment.root),
    "problem": report.problem and report.problem.reason,
}}))
"""

_NO_PROCESS = """
def refuse(event, arguments):
    if event in ("subprocess.Popen", "os.posix_spawn", "os.fork", "os.exec"):
        raise SystemExit(f"a process was started: {arguments}")
    if event == "open" and arguments[1] is not None and set(arguments[1]) & set("wax+"):
        raise SystemExit(f"a file was written: {arguments}")
    if event in ("os.mkdir", "os.rename", "os.remove"):
        raise SystemExit(f"the disk was changed: {arguments}")
sys.addaudithook(refuse)
sys.dont_write_bytecode = True
"""


def driver(world: Any, *skills: Any, mode: str = "overlay", before: str = "") -> Any:
    """A process that ensures ``skills``."""
    agent = world.environment.base.parents[1]
    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            _DRIVER.format(before=textwrap.dedent(before)),
            mode,
            str(agent),
            *(str(skill.directory) for skill in skills),
        ],
        env=world.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def answer(process: Any) -> Any:
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 0, stderr
    return json.loads(stdout)


def test_warm_call_starts_no_process_and_writes_nothing(
    world: Any, new_skill: Any
) -> None:
    """With nothing changed there is no process, no lock and no write."""
    bad = new_skill("bad", dependencies=("no-such-dist-xyz",))
    skills = [new_skill("a"), new_skill("b", dependencies=("a",)), bad]
    first = answer(driver(world, *skills))
    second = answer(driver(world, *skills, before=_NO_PROCESS))
    assert (first["installed"], second["installed"]) == (["a", "b"], [])
    assert second["failed"] == first["failed"]
    assert list(second["failed"]) == ["bad"]


def test_in03_four_processes_start_on_an_empty_environment(
    world: Any, new_skill: Any
) -> None:
    """All get what they asked for, and nobody's skill is lost."""
    skills = [new_skill(f"s-{number}") for number in range(5)]
    processes = [
        driver(world, skills[number], skills[number + 1]) for number in range(4)
    ]
    answers = [answer(process) for process in processes]
    assert [one["failed"] for one in answers] == [{}] * 4
    assert len({one["generation"] for one in answers}) == 1
    last = answer(driver(world, *skills, before=_NO_PROCESS))
    assert (last["installed"], last["failed"]) == ([], {})


@pytest.mark.parametrize("moment", ["make", "install", "write"])
def test_in10_killed_process_leaves_nothing_that_hurts(
    world: Any, new_skill: Any, moment: str
) -> None:
    """After ``kill -9`` in the middle the next start succeeds at once."""
    module, attribute = {
        "make": ("prime_skills_ext.environment.uv", "Uv.make"),
        "install": ("prime_skills_ext.environment.uv", "Uv.install"),
        "write": ("prime_skills_ext.environment.record", "write"),
    }[moment]
    before = f"""
        import functools, importlib, signal
        *owners, name = "{attribute}".split(".")
        module = importlib.import_module("{module}")
        target = functools.reduce(getattr, owners, module)
        real = getattr(target, name)
        def dying(*arguments, **keywords):
            if name != "write":
                real(*arguments, **keywords)
            os.kill(os.getpid(), signal.SIGKILL)
        setattr(target, name, dying)
    """
    skill = new_skill("a")
    process = driver(world, skill, before=before)
    process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL
    report = answer(driver(world, skill))
    assert (report["installed"], report["failed"]) == (["a"], {})
    root = Path(report["root"])
    assert not list(root.glob(".building-*"))
    assert sorted(path.name for path in root.iterdir() if path.name.isdigit()) == ["1"]


def test_in03_killed_live_install_is_repaired(world: Any, new_skill: Any) -> None:
    """A process killed after uv but before the record loses nothing."""
    first, second = new_skill("a"), new_skill("b")
    answer(driver(world, first))
    before = """
        import signal
        from prime_skills_ext.environment import record
        record.write = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)
    """
    driver(world, first, second, before=before).communicate(timeout=120)
    report = answer(driver(world, first, second))
    assert (report["installed"], report["failed"]) == (["b"], {})


def test_in10_failing_rebuild_keeps_what_is_there(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """When the replacement cannot be made the old one stays current."""
    skill = new_skill("a")
    old = world.ensure(skill)
    record = records.read(old.generation.record)
    stale = {**json.loads(old.generation.record.read_text("utf-8")), "base": "older"}
    old.generation.record.write_text(json.dumps(stale), encoding="utf-8")
    fake_uv(tmp_path, world, script="echo 'error: no' >&2; exit 2")
    report = world.ensure(skill)
    assert (report.generation, dict(report.failed)) == (old.generation, {})
    assert report.problem is not None
    assert records.read(old.generation.record).skills == record.skills


def test_full_disk_keeps_the_old_record(
    world: Any, new_skill: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record that cannot be written is a problem, not a loss."""
    first, second = new_skill("a"), new_skill("b")
    generation = world.ensure(first).generation
    before = generation.record.read_bytes()

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(records, "write", full)
    report = world.ensure(first, second)
    assert dict(report.failed) == {}
    assert report.problem is not None
    assert "No space left" in report.problem.reason
    assert generation.record.read_bytes() == before


def test_garbage_for_a_record_is_an_empty_record(world: Any, new_skill: Any) -> None:
    """A record that makes no sense costs a reinstall and nothing else."""
    skill = new_skill("a")
    generation = world.ensure(skill).generation
    generation.record.write_text("{not json", encoding="utf-8")
    report = world.ensure(skill)
    assert (len(report.installed), dict(report.failed)) == (1, {})


def test_project_switches_reinstall_nothing(
    world: Any, new_skill: Any, tmp_path: Path, calls: list[str]
) -> None:
    """Two projects with a skill of the same name never fight over an environment."""
    from prime_skills_ext.environment.installation import ensure
    from prime_skills_ext.environment.venv import locate

    agent = world.environment.base.parents[1]
    pairs = []
    for name in ("one", "two"):
        root = tmp_path / name
        environment = locate(
            mode="overlay",
            agent_directory=agent,
            environ=world.environ,
            project_root=root,
        )
        pairs.append((environment, new_skill("same", root=root / "skills")))
    for environment, skill in pairs:
        ensure([skill], environment=environment, environ=world.environ)
    calls.clear()
    for _ in range(5):
        for environment, skill in pairs:
            report = ensure([skill], environment=environment, environ=world.environ)
            assert (report.installed, dict(report.failed)) == ((), {})
    assert calls == []
    assert pairs[0][0].root != pairs[1][0].root


def test_interrupted_install_leaves_nothing(world: Any, new_skill: Any) -> None:
    """Ctrl-C in the middle frees the lock and removes what was half made."""

    def interrupt(event: ProgressEvent) -> None:
        if event.message.endswith("resolved"):
            signal.raise_signal(signal.SIGINT)

    told = world.told
    world.told = type("Told", (list,), {"append": staticmethod(interrupt)})()
    skill = new_skill("a")
    with pytest.raises(KeyboardInterrupt):
        world.ensure(skill)
    root = world.environment.root
    assert not [path for path in root.iterdir() if path.name.startswith(".b")]
    assert not (root / CURRENT).exists()
    world.told = told
    assert not world.ensure(skill).failed


def test_emptied_store_of_wheels_hurts_nobody(world: Any, new_skill: Any) -> None:
    """What is installed does not need the file that it came from."""
    world.ensure(new_skill("a"))
    shutil.rmtree(world.environment.root / "wheels")
    report = world.ensure(new_skill("b"))
    assert (len(report.installed), dict(report.failed)) == (1, {})


@pytest.mark.parametrize("content", [b"\xff\xfe", b"", b"7", b"7x", b"../1", None])
def test_in10_damaged_pointer_is_mended(
    world: Any, new_skill: Any, calls: list[str], content: bytes | None
) -> None:
    """What it says is on the disk as well: the newest generation that is well."""
    skill = new_skill("a")
    root = world.environment.root
    world.ensure(skill)
    (root / CURRENT).unlink()
    if content is not None:
        (root / CURRENT).write_bytes(content)
    calls.clear()
    report = world.ensure(skill)
    assert (root / "1", ()) == (report.generation.directory, report.installed)
    assert ("1\n", []) == ((root / CURRENT).read_text(encoding="utf-8"), calls)


@pytest.mark.network
def test_own_environment_in_which_no_kernel_starts_is_not_put_in_place(
    tmp_path: Path, world: Any, new_skill: Any
) -> None:
    """All is installed and looks well; only starting it tells."""
    world.environ.pop("PI_OFFLINE")
    site = '"${it%/bin/python}"/lib/python*/site-packages/ipykernel/kernelapp.py'
    lose = f'for it in "$@"; do case $it in */bin/python) rm {site};; esac; done'
    fake_uv(tmp_path, world, script=f'{find_uv({})} "$@" || exit $?\n{lose}')
    place = world.environment.base.parents[1]
    world.environment = locate(mode="own", agent_directory=place, environ=world.environ)
    report = world.ensure(new_skill("a"))
    assert report.generation is None
    assert report.problem is not None
    assert "failed with exit status 1" in report.problem.reason
    assert "ipykernel" in report.problem.log
    assert [] == [it for it in world.environment.root.iterdir() if it.name.isdigit()]


@pytest.mark.network
def test_own_mode_makes_an_environment_that_a_kernel_starts_in(
    world: Any, new_skill: Any
) -> None:
    """It holds ipykernel, the runtime and this package; inside, all is warm."""
    world.environ.pop("PI_OFFLINE")
    skill = new_skill("a")
    first = answer(driver(world, skill, mode="own"))
    assert (first["failed"], first["problem"]) == ({}, None)
    python = Path(first["generation"], "bin", "python")
    code = (
        "import prime_skills_ext, ipykernel, rlm, a; print(prime_skills_ext.__file__)"
    )
    ran = subprocess.run(
        [python, "-I", "-c", code], capture_output=True, text=True, check=True
    )
    assert first["generation"] in ran.stdout
    again = answer(driver(world, skill, mode="own", before=_NO_PROCESS))
    assert (again["generation"], again["installed"]) == (first["generation"], [])
    agent = world.environment.base.parents[1]
    inside = subprocess.run(
        [
            python,
            "-I",
            "-c",
            _DRIVER.format(before=_NO_PROCESS),
            "own",
            str(agent),
            skill.directory,
        ],
        env=world.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(inside.stdout) == again


@pytest.mark.network
def test_own_kernels_of_rival_selections_each_keep_their_generation(
    world: Any, new_skill: Any
) -> None:
    """The launcher chooses; the kernel that it starts means the same generation."""
    world.environ.pop("PI_OFFLINE")
    world.publish("acme-tool", "1.0")
    world.publish("acme-tool", "2.0")
    old = new_skill("old", dependencies=("acme-tool<2",))
    new = new_skill("new", dependencies=("acme-tool>=2",))
    built = [answer(driver(world, skill, mode="own")) for skill in (old, new)]
    agent = world.environment.base.parents[1]
    code = _DRIVER.format(before=_NO_PROCESS)
    for skill, made in [(old, built[0]), (new, built[1])] * 2:
        launched = answer(driver(world, skill, mode="own", before=_NO_PROCESS))
        words = ["own", str(agent), str(skill.directory)]
        inside = subprocess.run(
            [f"{made['generation']}/bin/python", "-I", "-c", code, *words],
            env=world.environ,
            capture_output=True,
            text=True,
            check=True,
        )
        wanted = {**made, "installed": []}
        assert [wanted, wanted] == [launched, json.loads(inside.stdout)]
    assert built[0]["generation"] != built[1]["generation"]
