"""The wheel, alone in a bare environment: command, kernelspec, kernel."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from prime_skills_ext import process
from tests.integration.conftest import REPOSITORY, uv

pytestmark = [pytest.mark.integration, pytest.mark.network]


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts of an environment with the wheel and what it requires."""
    venv = tmp_path_factory.mktemp("bare") / "venv"
    uv("venv", "--quiet", "--python", sys.executable, venv)
    uv("pip", "install", "--quiet", "--python", venv, wheel)
    return venv / "bin"


def said_by(*words: str | Path, cwd: Path) -> str:
    """Run a command, which must succeed, and return its stdout."""
    argv = [os.fspath(word) for word in words]
    return process.run(argv, cwd=cwd, timeout_s=300).stdout


def test_jupyter_lists_the_kernel_that_the_wheel_brought(
    bare: Path, project: Path
) -> None:
    """Nothing had to be run after the installation."""
    found = said_by(bare / "jupyter", "kernelspec", "list", cwd=project)
    (line,) = [line for line in found.splitlines() if "prime-skills" in line]
    assert str(bare.parent / "share" / "jupyter" / "kernels") in line


def test_a_kernel_from_the_spec_is_loaded_and_in_an_environment_of_its_own(
    bare: Path, project: Path
) -> None:
    """What .ci/run asks is asked here too, in an empty home, twice."""
    script = REPOSITORY / ".ci" / "kernel_from_wheel.py"
    for _ in range(2):
        said = said_by(bare / "python", script, cwd=project)
        assert '{"loaded": true, "own": true, "edit": "CallableSkill"}' in said


def test_the_command_is_there_and_says_what_the_demo_needs(
    bare: Path, project: Path
) -> None:
    """The extra of the demo is missing: the way out is named."""
    assert "Ready to use" in said_by(bare / "prime-skills", cwd=project)
    done = process.run(
        [str(bare / "prime-skills"), "demo"], cwd=project, timeout_s=60, check=False
    )
    assert (1, "") == (done.returncode, done.stdout)
    assert "prime-skills-ext[demo]" in done.stderr
    assert "Traceback" not in done.stderr


def test_importing_the_package_imports_no_shell(bare: Path, project: Path) -> None:
    """Neither IPython nor traitlets, so that it costs programs nothing."""
    code = (
        "import sys, prime_skills_ext; print({'IPython', 'traitlets'} & {*sys.modules})"
    )
    assert "set()\n" == said_by(bare / "python", "-Ic", code, cwd=project)
