"""Environments that the integration tests start kernels from."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path

import pytest
from uv import find_uv_bin

from prime_skills_ext import process
from tests.integration.drivers import Driver, Kernel, Terminal
from tests.integration.machines import Machine

REPOSITORY = Path(__file__).resolve().parents[2]
#: The kernel beside these tests: ``.ci/matrix`` runs them beside several.
OWN_KERNEL = f"ipykernel {version('ipykernel').split('.', 1)[0]}"
OLD_KERNEL = "ipykernel 6"
#: A row of the matrix is about its own: the others are other rows.
KERNELS = (
    (OWN_KERNEL,)
    if os.environ.get("PRIME_SKILLS_MATRIX")
    else tuple(dict.fromkeys((OWN_KERNEL, OLD_KERNEL)))
)


def uv(*words: str | os.PathLike[str]) -> None:
    """Run uv where no project's settings reach it."""
    argv = [find_uv_bin(), *(os.fspath(word) for word in words)]
    process.run(argv, cwd=Path(tempfile.gettempdir()), timeout_s=600)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this package."""
    out = tmp_path_factory.mktemp("wheel")
    uv("build", "--quiet", "--wheel", "--out-dir", out, REPOSITORY)
    return next(out.glob("*.whl"))


@pytest.fixture(scope="session")
def old_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with this package and ipykernel 6."""
    venv = tmp_path_factory.mktemp("ipykernel6") / "venv"
    uv("venv", "--quiet", "--python", sys.executable, venv)
    uv(
        "pip",
        "install",
        "--quiet",
        "--python",
        venv,
        wheel,
        "ipykernel<7",
        "cloudpickle",
    )
    return venv / "bin" / "python"


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Path:
    """A working directory that is a project of its own."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / ".git").mkdir()
    return folder


@pytest.fixture
def kernel(project: Path) -> Iterator[Kernel]:
    """A kernel of this Python in the project."""
    with Kernel(project) as started:
        yield started


@pytest.fixture(params=KERNELS)
def any_kernel(request: pytest.FixtureRequest, project: Path) -> Iterator[Kernel]:
    """Each of the kernels, for what only a frontend can ask."""
    python: str | Path = sys.executable
    if request.param != OWN_KERNEL:
        python = request.getfixturevalue("old_python")
    with Kernel(project, python=python) as started:
        yield started


@pytest.fixture(params=[*KERNELS, "terminal"])
def shell(request: pytest.FixtureRequest, project: Path) -> Iterator[Driver]:
    """Each of the shells that the extension must work in."""
    with ExitStack() as stack:
        if request.param == "terminal":
            yield stack.enter_context(Terminal(project))
        elif request.param == OWN_KERNEL:
            yield stack.enter_context(Kernel(project))
        else:
            python = request.getfixturevalue("old_python")
            yield stack.enter_context(Kernel(project, python=python))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine of one's own, without a network."""
    return Machine(folder=tmp_path / "machine")
