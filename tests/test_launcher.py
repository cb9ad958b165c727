"""The launcher: which kernel it becomes, and that a kernel always comes up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager

from prime_skills_ext import kernelspec
from prime_skills_ext.environment.usage import IN_USE, is_in_use
from prime_skills_ext.launcher import choose
from prime_skills_ext.launching.custom import CUSTOM_PYTHON
from prime_skills_ext.launching.memo import Decision
from tests.integration.drivers import CELL_TIMEOUT_S
from tests.kernels import sockets

_ARGUMENTS = ("-f", "/run/kernel.json")
_TAIL = (
    "-Xfrozen_modules=off",
    "-m",
    "ipykernel_launcher",
    *_ARGUMENTS,
    "--ext",
    "prime_skills_ext",
)


_OWN: Decision = (
    "/venv/bin/python",
    {"PRIME_SKILLS_MODE": "own", "PRIME_SKILLS_GENERATION": "/venv"},
)


def _planned(
    arguments: Sequence[str],
    environ: Mapping[str, str],
) -> Decision:
    return _OWN


def _failing(
    arguments: Sequence[str],
    environ: Mapping[str, str],
) -> Decision:
    raise OSError("no space left")


def test_choose_becomes_the_environments_kernel_with_the_extension() -> None:
    """Own mode: the environment's interpreter, and the variables that say so."""
    launch = choose(_ARGUMENTS, environ={"A": "1"}, decide=_planned)

    assert ("/venv/bin/python", *_TAIL) == launch.argv
    expected = {
        "A": "1",
        "PRIME_SKILLS_MODE": "own",
        "PRIME_SKILLS_GENERATION": "/venv",
    }
    assert expected == launch.environ


def test_choose_forgets_what_an_outer_kernel_left_in_the_environment() -> None:
    """A Jupyter started from a cell does not take over that kernel's variables."""
    outer = {
        "PRIME_SKILLS_MODE": "overlay",
        "PRIME_SKILLS_GENERATION": "/old",
        "PRIME_SKILLS_LAUNCH_ERROR": "old news",
    }
    seen: list[Mapping[str, str]] = []

    def plan(
        arguments: Sequence[str],
        environ: Mapping[str, str],
    ) -> Decision:
        seen.append(environ)
        return _OWN

    launch = choose(_ARGUMENTS, environ=outer, decide=plan)

    assert seen == [{}]
    assert "PRIME_SKILLS_LAUNCH_ERROR" not in launch.environ


def test_choose_falls_back_to_this_python_when_planning_fails(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whatever fails, a kernel comes up; the reason goes to the log and to doctor."""
    launch = choose(_ARGUMENTS, environ={}, decide=_failing)

    assert (sys.executable, *_TAIL) == launch.argv
    expected = {
        "PRIME_SKILLS_MODE": "overlay",
        "PRIME_SKILLS_LAUNCH_ERROR": "OSError: no space left",
    }
    assert expected == launch.environ
    assert "prime-skills: OSError: no space left" in capsys.readouterr().err


_BECOME = """
import os, sys
from prime_skills_ext.launcher import Launch, become
environ = {**os.environ, "PRIME_SKILLS_GENERATION": sys.argv[1]}
become(Launch(argv=("/bin/sh", "-c", "echo ready; read line"), environ=environ))
"""


def test_generation_is_in_use_before_the_kernel_can_say_so(tmp_path: Path) -> None:
    """Whoever prunes while a kernel starts leaves it what it starts in."""
    (tmp_path / IN_USE).touch()
    with subprocess.Popen(
        [sys.executable, "-c", _BECOME, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as kernel:
        assert kernel.stdout is not None
        assert kernel.stdout.readline() == "ready\n"
        assert is_in_use(tmp_path)
        kernel.communicate("end\n", timeout=60)
    assert not is_in_use(tmp_path)


def test_choose_falls_back_when_the_preparation_is_interrupted() -> None:
    """The interrupt button ends a long installation, and a kernel comes up."""

    def interrupted(
        arguments: Sequence[str],
        environ: Mapping[str, str],
    ) -> Decision:
        raise KeyboardInterrupt

    launch = choose(_ARGUMENTS, environ={}, decide=interrupted)

    assert (sys.executable, *_TAIL) == launch.argv
    assert "interrupted" in launch.environ["PRIME_SKILLS_LAUNCH_ERROR"]


def test_missing_environment_is_told_with_what_helps_before_a_start(
    tmp_path: Path, home: Path
) -> None:
    """No kernel runs yet in which a magic could be typed."""
    environ = {
        "HOME": str(home),
        "PATH": "",
        "PI_OFFLINE": "1",
        "UV_CACHE_DIR": str(tmp_path / "cache"),
        "PRIME_AGENT_CODING_AGENT_DIR": str(tmp_path / "agent"),
    }

    launch = choose(_ARGUMENTS, environ=environ)

    told = launch.environ["PRIME_SKILLS_LAUNCH_ERROR"]
    reason, _, fix = told.partition("\nFix: ")
    assert "PI_OFFLINE forbids to fetch it" in reason
    assert "unset PI_OFFLINE, then restart the kernel" == fix


def test_host_follows_the_launcher_on_stderr(
    tmp_path: Path, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each step is a line of JSON; what fails is told in words, as ever."""
    environ = {
        "HOME": str(home),
        "PATH": "",
        "PI_OFFLINE": "1",
        "PRIME_SKILLS_PROGRESS": "json",
        "UV_CACHE_DIR": str(tmp_path / "cache"),
        "PRIME_AGENT_CODING_AGENT_DIR": str(tmp_path / "agent"),
    }

    choose(_ARGUMENTS, environ=environ)

    lines = capfd.readouterr().err.splitlines()
    events = [json.loads(line) for line in lines if line.startswith("{")]
    assert ["environment", "resolving"] == [event["stage"] for event in events][:2]
    words = [line for line in lines if not line.startswith("{")]
    assert all(line.startswith("prime-skills: ") for line in words)


@contextmanager
def _started(prefix: Path, *, folder: Path, **environ: str) -> Iterator[Any]:
    """Start the kernel that is installed below ``prefix`` in ``folder``."""
    specs = KernelSpecManager(
        kernel_dirs=[str(prefix / "share" / "jupyter" / "kernels")],
        ensure_native_kernel=False,
    )
    manager = KernelManager(
        kernel_name="prime-skills", kernel_spec_manager=specs, config=sockets()
    )
    manager.start_kernel(cwd=str(folder), env={**os.environ, **environ})
    client = manager.client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=CELL_TIMEOUT_S)
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()


def _ask(client: Any, expression: str) -> object:
    """Return the value of an expression in the kernel."""
    texts: list[str] = []

    def collect(message: Any) -> None:
        if message["msg_type"] == "stream":
            texts.append(message["content"]["text"])

    client.execute_interactive(
        f"import json; print(json.dumps({expression}))",
        output_hook=collect,
        timeout=CELL_TIMEOUT_S,
    )
    return json.loads("".join(texts))


@pytest.mark.integration
def test_launcher_starts_the_custom_python_from_an_installed_spec(
    tmp_path: Path,
) -> None:
    """A real start: the process that Jupyter started is the kernel itself."""
    kernelspec.install(prefix=tmp_path, start=False)
    # a module beside the notebook must not stop the launcher
    (tmp_path / "random.py").write_text("raise RuntimeError", encoding="utf-8")

    environ = {CUSTOM_PYTHON: sys.executable}
    with _started(tmp_path, folder=tmp_path, **environ) as (manager, client):
        answer = _ask(
            client,
            "[__import__('sys').executable, __import__('os').getpid(), "
            "__import__('os').environ['PRIME_SKILLS_MODE']]",
        )

    assert [sys.executable, manager.provisioner.pid, "custom"] == answer


@pytest.mark.integration
def test_launcher_starts_a_kernel_when_the_wanted_one_cannot_be(tmp_path: Path) -> None:
    """A real start: a wrong setting leaves a working kernel that knows why."""
    kernelspec.install(prefix=tmp_path, start=False)

    environ = {CUSTOM_PYTHON: str(tmp_path / "none")}
    with _started(tmp_path, folder=tmp_path, **environ) as (_, client):
        answer = _ask(
            client,
            "[__import__('sys').executable, "
            "__import__('os').environ['PRIME_SKILLS_LAUNCH_ERROR']]",
        )

    assert isinstance(answer, list)
    assert sys.executable == answer[0]
    assert "names no program" in answer[1]


@pytest.mark.integration
@pytest.mark.network
def test_launcher_starts_the_kernel_in_an_environment_of_its_own(
    tmp_path: Path,
) -> None:
    """A real start: own mode, the extension loaded, another prefix than ours."""
    kernelspec.install(prefix=tmp_path, start=False)
    agent = tmp_path / "agent"

    environ = {"PRIME_AGENT_CODING_AGENT_DIR": str(agent)}
    with _started(tmp_path, folder=tmp_path, **environ) as (_, client):
        answer = _ask(
            client,
            "[__import__('sys').prefix, "
            "__import__('os').environ.get('PRIME_SKILLS_LAUNCH_ERROR'), "
            "__import__('os').environ.get('PRIME_SKILLS_GENERATION'), "
            "'prime_skills_ext' in get_ipython().extension_manager.loaded]",
        )

    assert isinstance(answer, list)
    prefix, error, generation, is_loaded = answer
    assert error is None
    assert Path(prefix).is_relative_to(agent)
    assert Path(generation).resolve() == Path(prefix).resolve()
    assert is_loaded
