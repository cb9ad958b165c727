"""Faults of the machine: what is killed, full, missing, hanging, gone or moved."""

from __future__ import annotations

import random
import resource
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.environment import record as records
from prime_skills_ext.environment.uv import find_uv
from prime_skills_ext.environment.venv import generation_at
from tests.integration.conftest import uv
from tests.integration.machines import Machine, lines_of, wait_for

pytestmark = pytest.mark.integration


def record_of(told: dict[str, Any]) -> Path:
    return generation_at(Path(told["generation"])).record


def test_in10_kill_at_ten_moments_of_an_install(machine: Machine) -> None:
    """Wherever it strikes, a normal start afterwards has everything."""
    moments = random.Random(4)  # the same ten each time
    machine.publish("acme", "1.0")
    machine.user_of("first", "acme", "acme")
    cold = {"PRIME_AGENT_KERNEL_VENV": str(machine.folder / "measured")}
    begin = time.monotonic()
    machine.start(**cold)
    lasted = time.monotonic() - begin
    with machine.neighbours():
        for number in range(10):
            # by turns into what is there, and where nothing is yet
            environ = {}
            if number % 2:
                where = machine.folder / f"environments-{number}"
                environ["PRIME_AGENT_KERNEL_VENV"] = str(where)
            machine.publish(f"acme-{number}", "1.0")
            machine.user_of(f"s{number}", f"acme_{number}", f"acme-{number}")
            with machine.session(**environ) as struck:
                time.sleep(lasted * (number + moments.random()) / 10)
            told = machine.start(**environ)
            assert struck.process.returncode in {-9, 0}
            assert machine.is_whole(told, **environ)
            assert number + 2 == len(told["answers"])


#: What a uv still does whose caller was killed, by the word that it was called with.
_LAST_DEEDS = {
    # as one does that unpacks: it makes the folders that it writes to
    "venv": 'for place; do :; done; mkdir -p "$place/late"',
    # nobody reads what it says any more, which must not end it
    "pip": f'{find_uv({})} "$@" >/dev/null 2>&1',
}


@pytest.mark.parametrize("step", _LAST_DEEDS)
def test_uv_that_outlives_its_kernel_is_waited_for(machine: Machine, step: str) -> None:
    """Killed while uv runs: nobody else writes before that uv is gone, too."""
    machine.publish("acme", "1.0")
    machine.user_of("first", "acme", "acme")
    new = {"PRIME_AGENT_KERNEL_VENV": str(machine.folder / "new")}
    begun, free, done, steps = (
        machine.folder / name for name in ("begun", "free", "done", "steps")
    )
    slow = machine.uv(
        f'[ "$1" = {step} ] || exec {find_uv({})} "$@"\n'
        f": >{begun}; until [ -e {free} ]; do sleep 0.01; done\n"
        f"{_LAST_DEEDS[step]}; : >{done}"
    )
    if step == "pip":  # into what is there
        machine.start(**new)
        machine.publish("other", "1.0")
        machine.user_of("second", "other", "other")
    with machine.session(**new, PRIME_SKILLS_UV=str(slow)):
        wait_for(begun.exists)
    try:
        with machine.session(**new, STEPS=str(steps)) as following:
            wait_for(lambda: lines_of(steps))
            assert "waiting" == lines_of(steps)[0]
            free.touch()
            told = following.read()
            assert done.exists()
    finally:
        free.touch()
    assert machine.is_whole(told, **new)


@pytest.mark.parametrize("what", ["record", "everything"])
def test_full_disk_loses_nothing(machine: Machine, what: str) -> None:
    """The limit of the system itself refuses what is written; the old record stays."""
    # what coverage writes at the end does not fit either, and it says so on stderr
    for name in ("COVERAGE_PROCESS_START", "COVERAGE_PROCESS_CONFIG"):
        machine.environ.pop(name, None)
    machine.publish("acme", "1.0")
    for number in range(12):
        machine.skill(f"s{number:02}")
    machine.user_of("user", "acme", "acme")
    with machine.neighbours():
        before = machine.start()
        record = record_of(before).read_bytes()
        assert len(record) > 8000
        machine.skill("new")
        machine.publish("other", "1.0")
        machine.user_of("needy", "other", "other")
        limit = 6000 if what == "record" else 1
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        with machine.session() as full:
            resource.prlimit(full.process.pid, resource.RLIMIT_FSIZE, (limit, hard))
            told = full.end()
        assert soft == resource.getrlimit(resource.RLIMIT_FSIZE)[0]
        assert told["problem"] is not None
        assert told["answers"].items() >= {**before["answers"], "new": "new"}.items()
        assert record_of(before).read_bytes() == record
        healed = machine.start()
        assert machine.is_whole(healed)
        assert "1.0" == healed["answers"]["needy"]


def test_in14_missing_uv_costs_only_who_needs_it(machine: Machine) -> None:
    """What is installed works, what needs nothing works, the rest says where."""
    machine.publish("acme", "1.0")
    machine.publish("other", "1.0")
    machine.user_of("user", "acme", "acme")
    with machine.neighbours():
        machine.skill("plain")
        machine.user_of("also", "acme", "acme>=1")
        machine.user_of("needy", "other", "other")
        told = machine.start(PRIME_SKILLS_UV="/nowhere/uv")
        assert {"also": "1.0", "plain": "plain", "user": "1.0"} == told["answers"]
        assert "it needs other; uv not found" in told["reasons"]["needy"]
        assert "/nowhere/uv" in told["reasons"]["needy"]
        assert machine.is_whole(machine.start())


@pytest.mark.parametrize("is_cold", [False, True])
def test_hanging_uv_is_waited_for_once(machine: Machine, *, is_cold: bool) -> None:
    """The second load knows, another try is made when asked, and all is repaired."""
    machine.publish("acme", "1.0")
    machine.publish("other", "1.0")
    machine.user_of("user", "acme", "acme")
    hanging = {
        "PRIME_SKILLS_UV": str(machine.uv("exec sleep 600")),
        # it must have time to be counted
        "PRIME_SKILLS_UV_TIMEOUT": "3",
    }
    own = {"PRIME_AGENT_KERNEL_VENV": str(machine.folder / "new")} if is_cold else {}
    with machine.neighbours():
        machine.user_of("needy", "other", "other")
        machine.skill("plain")
        machine.asked.unlink()
        told = machine.start(**hanging, **own)
        assert "did not end within 3 s" in told["reasons"]["needy"]
        assert "plain" == told["answers"]["plain"]
        assert told["states"]["user"] == ("install-failed" if is_cold else "ready")
        assert 1 == len(machine.calls)
        with machine.session(**hanging, **own) as again:
            assert again.read()["reasons"] == told["reasons"]
            assert 1 == len(machine.calls)
            assert again.ask("reload")["reasons"] == told["reasons"]
            assert 1 == len(machine.calls)
            assert again.ask("retry")["reasons"] == told["reasons"]
            assert 2 == len(machine.calls)
        assert machine.is_whole(machine.start(**own), **own)


def test_no_network_and_an_empty_cache(machine: Machine) -> None:
    """What needs nothing is installed; the rest goes in once the index is there."""
    machine.publish("acme", "1.0")
    machine.user_of("user", "acme", "acme")
    with machine.neighbours():
        machine.skill("plain")
        machine.user_of("needy", "other", "other")
        environ = {
            "PI_OFFLINE": "0",
            "UV_HTTP_RETRIES": "0",
            "UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple",
            "UV_CACHE_DIR": str(machine.folder / "cache"),
        }
        told = machine.start(**environ)
        assert {"plain": "plain", "user": "1.0"} == told["answers"]
        assert "no network to fetch it" in told["reasons"]["needy"]
        assert "go online once, then %reload_skills --retry" == told["fixes"]["needy"]
        machine.asked.unlink()
        assert (machine.start(**environ)["reasons"], machine.calls) == (
            told["reasons"],
            [],
        )
        machine.publish("other", "1.0")
        with machine.session(**environ) as session:
            session.read()
            assert "1.0" == session.ask("retry")["answers"]["needy"]
        assert machine.is_whole(machine.start())


def test_base_interpreter_is_gone(machine: Machine) -> None:
    """A kernel whose base was replaced gets a new environment; others keep theirs."""
    base = machine.folder / "base"
    real = Path(sys.base_prefix)
    (base / "bin").mkdir(parents=True)
    (base / "lib").symlink_to(real / "lib")
    program = Path("bin", f"python3.{sys.version_info.minor}")
    shutil.copy2(real / program, base / program)
    venv = machine.folder / "kernel"
    site = [path for path in sys.path if path.endswith("site-packages")]

    def make(interpreter: Path) -> Path:
        uv("venv", "--quiet", "--clear", "--python", interpreter, venv)
        packages = next((venv / "lib").glob("python3*/site-packages"))
        (packages / "ours.pth").write_text("\n".join(site) + "\n", encoding="utf-8")
        return venv / "bin" / "python"

    machine.publish("acme", "1.0")
    machine.user_of("user", "acme", "acme")
    with machine.neighbours():
        python = make(base / program)
        before = machine.start(python=python)
        assert {"user": "1.0"} == before["answers"]
        assert str(base) in (Path(before["generation"]) / "pyvenv.cfg").read_text()
        shutil.rmtree(base)
        python = make(real / program)
        told = machine.start(python=python)
        assert told["answers"] == before["answers"]
        assert told["generation"] != before["generation"]
        assert machine.is_whole(told, python=python)


def test_moved_environments_work_where_they_are(machine: Machine) -> None:
    """The agent directory moves, and nothing is installed anew."""
    machine.publish("acme", "1.0")
    machine.user_of("user", "acme", "acme")
    machine.skill("plain", scripts={"plain": "plain:run"})
    before = machine.start()
    known = records.read(record_of(before))
    moved = machine.folder / "moved"
    machine.agent.rename(moved)
    environ = {"PRIME_AGENT_CODING_AGENT_DIR": str(moved)}
    machine.asked.unlink()
    told = machine.start(**environ)
    assert (told["answers"], machine.calls) == (before["answers"], [])
    assert str(moved) in told["generation"]
    assert records.read(record_of(told)) == known
    machine.publish("other", "1.0")
    machine.user_of("later", "other", "other")
    assert machine.is_whole(machine.start(**environ), **environ)
