"""The launcher in real processes: signals, exit codes, and whatever can fail."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext import kernelspec
from prime_skills_ext.__main__ import main
from prime_skills_ext.launching.custom import CUSTOM_PYTHON
from prime_skills_ext.launching.memo import remember
from tests.conftest import write_skill
from tests.integration.conftest import uv
from tests.integration.drivers import CELL_TIMEOUT_S, Kernel

pytestmark = pytest.mark.integration

LAUNCHER = [
    sys.executable,
    "-m",
    "prime_skills_ext.launcher",
    "-f",
    "{connection_file}",
]
BARE = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
#: The quickest way through the launcher: this Python as it is.
CUSTOM = {CUSTOM_PYTHON: sys.executable}
REASON = "import os; print(os.environ.get('PRIME_SKILLS_LAUNCH_ERROR'))"


def _process(kernel: Kernel) -> Any:
    provisioner: Any = kernel._manager.provisioner
    return provisioner.process


def _wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + CELL_TIMEOUT_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_interrupt_reaches_the_cell(project: Path, tmp_path: Path) -> None:
    """The process that Jupyter signals is the kernel, and it lives on."""
    note = tmp_path / "running"
    cell = f"import pathlib, time; pathlib.Path({str(note)!r}).touch(); time.sleep(600)"
    with Kernel(project, argv=LAUNCHER, environ=CUSTOM) as kernel:
        asked = kernel.send(cell)
        _wait_for(note.exists)
        kernel.interrupt()
        (reply,) = kernel.replies(asked)
        assert "KeyboardInterrupt" == reply["ename"]
        assert "2" == kernel.run("1+1").result


@pytest.mark.parametrize("argv", [LAUNCHER, BARE], ids=["ours", "bare"])
@pytest.mark.parametrize(
    ("ending", "status"),
    [
        ("import os; os._exit(7)", 7),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
    ],
)
def test_exit_code_is_the_kernels(
    project: Path, argv: list[str], ending: str, status: int
) -> None:
    """Ours ends as a bare kernel does, however that is."""
    with Kernel(project, argv=argv, environ=CUSTOM) as kernel:
        kernel.send(ending)
        assert status == _process(kernel).wait(CELL_TIMEOUT_S)


@pytest.mark.parametrize("argv", [LAUNCHER, BARE], ids=["ours", "bare"])
def test_termination_ends_the_kernel(project: Path, argv: list[str]) -> None:
    """SIGTERM takes effect, as on a bare kernel."""
    with Kernel(project, argv=argv, environ=CUSTOM) as kernel:
        _process(kernel).send_signal(signal.SIGTERM)
        assert -signal.SIGTERM == _process(kernel).wait(CELL_TIMEOUT_S)


def test_interrupt_while_the_environment_is_made_leaves_a_kernel(
    project: Path, home: Path, tmp_path: Path
) -> None:
    """Nobody has to wait for an installation that takes too long."""
    started = tmp_path / "started"
    slow = tmp_path / "uv"
    # the kernel that comes up then asks it once more, for its overlay
    script = (
        f"#!/bin/sh\n[ -e '{started}' ] && exit 1\n: > '{started}'\nexec sleep 600\n"
    )
    slow.write_text(script, encoding="utf-8")
    slow.chmod(0o755)
    kernel = Kernel(project, argv=LAUNCHER, environ={"PRIME_SKILLS_UV": str(slow)})
    kernel._manager.start_kernel(cwd=str(project), env=kernel._environ)
    try:
        _wait_for(started.exists)
        kernel.interrupt()
        kernel.client = kernel._manager.blocking_client()
        kernel.client.start_channels()
        kernel.client.wait_for_ready(timeout=CELL_TIMEOUT_S)
        assert "was interrupted" in kernel.run(REASON).stdout
        assert sys.executable in kernel.run("import sys; print(sys.executable)").stdout
    finally:
        kernel.client.stop_channels()
        kernel._manager.shutdown_kernel(now=True)


def _lose_uv(_home: Path, environ: dict[str, str]) -> str:
    environ |= {"PRIME_SKILLS_UV": "/nowhere/uv"}
    return "/nowhere/uv"


def _lose_network(home: Path, environ: dict[str, str]) -> str:
    environ |= {"PI_OFFLINE": "1", "UV_CACHE_DIR": str(home / "empty")}
    return "PI_OFFLINE forbids"


def _lose_agent_directory(home: Path, environ: dict[str, str]) -> str:
    for name in ("agent", "data"):
        (home / name).write_text("", encoding="utf-8")
    environ |= {
        "PRIME_AGENT_CODING_AGENT_DIR": str(home / "agent"),
        "XDG_DATA_HOME": str(home / "data"),
    }
    return "make it writable"


def _name_no_python(_home: Path, environ: dict[str, str]) -> str:
    environ |= {CUSTOM_PYTHON: "/nowhere/python"}
    return "names no program: /nowhere/python"


def _name_what_no_system_runs(home: Path, environ: dict[str, str]) -> str:
    program = home / "program"
    program.write_text("no program", encoding="utf-8")
    program.chmod(0o755)
    # it was one when it was remembered, and nothing tells that it is not any more
    arguments = ("-f", "x")
    remember(arguments, (str(program), {}), environ=environ, names=(), stamps={})
    return f"{program} cannot be started: Exec format error"


@pytest.mark.parametrize(
    "fail",
    [
        _lose_uv,
        _lose_network,
        _lose_agent_directory,
        _name_no_python,
        _name_what_no_system_runs,
    ],
    ids=lambda it: it.__name__.strip("_"),
)
def test_kernel_works_whatever_fails(
    project: Path,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    fail: Callable[[Path, dict[str, str]], str],
) -> None:
    """It comes up in the launcher's Python, with skills, and doctor tells why."""
    monkeypatch.chdir(project)
    write_skill(home / ".agents" / "skills", "first", python="def run(): return 'one'")
    environ = {"HOME": str(home)}
    told = fail(home, environ)
    with Kernel(project, argv=LAUNCHER, environ=environ) as kernel:
        assert "2" == kernel.run("1+1").result
        assert sys.executable in kernel.run("import sys; print(sys.executable)").stdout
        assert told in kernel.run(REASON).stdout
        assert "one\n" == kernel.run("print(await first())").stdout
        doctor = kernel.run("%skill doctor").result or ""
        assert told.partition(": Exec")[0] in " ".join(doctor.split())


@pytest.mark.network
def test_nb03_first_start_tells_what_it_does_and_a_warm_one_nothing(
    project: Path, home: Path, tmp_path: Path
) -> None:
    """On stderr, which is the server's log; the kernel's own words are left out."""
    write_skill(home / ".agents" / "skills", "first", python="def run(): return 'one'")
    said = []
    for number in range(2):
        log = tmp_path / f"log-{number}"
        kernel = Kernel(project, argv=LAUNCHER)
        with log.open("wb") as stderr:
            start = kernel._manager.start_kernel
            start(cwd=str(project), env=kernel._environ, stderr=stderr)
        try:
            kernel.client = kernel._manager.blocking_client()
            kernel.client.start_channels()
            kernel.client.wait_for_ready(timeout=CELL_TIMEOUT_S)
            assert "one\n" == kernel.run("print(await first())").stdout
        finally:
            kernel.client.stop_channels()
            kernel._manager.shutdown_kernel(now=True)
        lines = log.read_text(encoding="utf-8").splitlines()
        said.append([line for line in lines if line.startswith("prime-skills: ")])
    cold, warm = said
    assert "prime-skills: Making an environment for skills" == cold[0]
    assert "prime-skills: 2 skills ready" == cold[-1]
    assert [] == warm


@pytest.mark.network
def test_damaged_files_of_the_user_do_not_keep_the_kernel_from_its_environment(
    project: Path, home: Path
) -> None:
    """What is broken is told where it is; the kernel is the wanted one."""
    agent = home / ".prime" / "agent"
    profile = home / ".ipython" / "profile_default"
    for folder in (agent, profile):
        folder.mkdir(parents=True)
    for name in ("settings.json", "trust.json", "auth.json"):
        (agent / name).write_text("{", encoding="utf-8")
    (profile / "ipython_config.py").write_text("1/0", encoding="utf-8")
    broken = home / ".agents" / "skills" / "broken"
    broken.mkdir(parents=True)
    (broken / "SKILL.md").write_text("---\n: [\n", encoding="utf-8")
    environ = {"IPYTHONDIR": str(profile.parent)}
    for _ in range(2):
        with Kernel(project, argv=LAUNCHER, environ=environ) as kernel:
            assert "None\n" == kernel.run(REASON).stdout
            prefix = kernel.run("import sys; print(sys.prefix)").stdout
            assert prefix.startswith(str(agent / "prime-skills" / "venvs"))


def test_nb02_spec_of_an_environment_that_sees_the_systems_packages_starts_it(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The interpreter is the one that installed the spec, not the one it stems from."""
    venv = tmp_path / "venv"
    uv("venv", "--quiet", "--system-site-packages", "--python", sys.executable, venv)
    python = venv / "bin" / "python"
    (site,) = venv.glob("lib/python*/site-packages")
    (ours,) = Path(sys.prefix).glob("lib/python*/site-packages")
    root = Path(__file__).parents[2]
    (site / "ours.pth").write_text(f"{ours}\n{root}\n", encoding="utf-8")
    monkeypatch.setenv(CUSTOM_PYTHON, str(python))
    monkeypatch.setattr(sys, "executable", str(python))

    # started once before it takes its place
    assert 0 == main(["kernelspec", "install", "--prefix", str(tmp_path / "prefix")])

    folder = tmp_path / "prefix" / "share" / "jupyter" / "kernels" / "prime-skills"
    argv = json.loads((folder / "kernel.json").read_text(encoding="utf-8"))["argv"]
    assert str(python) == argv[0]
    environ = {**os.environ, CUSTOM_PYTHON: str(python)}
    with Kernel(project, argv=argv, environ=environ) as kernel:
        told = kernel.run("import sys; print(sys.executable, sys.prefix)").stdout
    assert f"{python} {venv}\n" == told


def test_nb01_spec_in_the_wheel_starts_the_servers_own_python(project: Path) -> None:
    """Jupyter reads ``python`` as the interpreter that it runs in itself."""
    argv = kernelspec.build_spec()["argv"]
    assert isinstance(argv, list)
    assert "python" == argv[0]
    with Kernel(project, argv=argv, environ=CUSTOM) as kernel:
        told = kernel.run("import sys; print(sys.executable)").stdout
    assert f"{sys.executable}\n" == told
