"""SE-01 for real: a project's skills in a kernel, with uv and their backends."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import write_skill
from tests.integration.drivers import Kernel

pytestmark = [pytest.mark.integration, pytest.mark.network]

HATCH = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "by-hook"
version = "0.1.0"

[tool.hatch.build.targets.wheel]
packages = ["src/by_hook"]

[tool.hatch.build.hooks.custom]
path = "hatch_build.py"
"""
HOOK = """\
from pathlib import Path
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

class CustomBuildHook(BuildHookInterface):
    def initialize(self, version, build_data):
        Path({marker!r}).touch()
"""


@pytest.fixture
def markers(project: Path, tmp_path: Path) -> Path:
    """Two project skills whose build and whose module each leave a file."""
    folder = tmp_path / "markers"
    folder.mkdir()
    root = project / ".agents" / "skills"

    def touch(name: str) -> str:
        return f"from pathlib import Path\nPath({str(folder / name)!r}).touch()\n"

    write_skill(
        root,
        "by-hook",
        python=touch("hook-imported") + "def run(): return 'hook'\n",
        pyproject=HATCH,
        files={"hatch_build.py": HOOK.format(marker=str(folder / "hook-built"))},
    )
    write_skill(
        root,
        "by-setup",
        python=touch("setup-imported") + "def run(): return 'setup'\n",
        backend="setuptools",
        files={
            "setup.py": touch("setup-built") + "from setuptools import setup\nsetup()\n"
        },
    )
    return folder


def left(folder: Path) -> list[str]:
    """The files that were left."""
    return sorted(path.name for path in folder.iterdir())


def test_se01_nothing_of_a_project_runs_before_trust_and_all_of_it_after(
    project: Path, markers: Path
) -> None:
    """Neither built nor imported, whatever is asked; then it works."""
    with Kernel(project) as kernel:
        loaded = kernel.run("%load_ext prime_skills_ext")
        assert "2 project skills not trusted" in loaded.stdout
        for code in (
            "%skill",
            "%skill list --all --json",
            "%skill show by-hook",
            "%skill doctor --all",
            "%reload_skills --retry",
            "by_hook?",
            "by_hook",
            "import by_hook",
            "from by_setup import run",
            "skills['by-setup']",
            "!by_hook",
        ):
            kernel.run(code)
        kernel.complete("by_hook.")
        kernel.inspect("by_setup")
        refused = kernel.run("await by_hook()")
        assert "%skill trust" in (refused.error or "")
        assert [] == left(markers)
        trusted = kernel.run("%skill trust")
        assert "~2 by-hook, by-setup" == trusted.result
        said = kernel.run("print(await by_hook(), await by_setup())").stdout
        assert "hook setup\n" == said
        everything = ["hook-built", "hook-imported", "setup-built", "setup-imported"]
        assert everything == left(markers)
        kernel.run("%skill untrust")
        again = kernel.run("await by_hook()")
        assert "%skill trust" in (again.error or "")


def test_se01_what_a_project_installed_does_not_reach_other_kernels(
    project: Path, markers: Path, tmp_path: Path
) -> None:
    """A kernel elsewhere neither lists nor imports it."""
    with Kernel(project) as kernel:
        kernel.run("%load_ext prime_skills_ext")
        kernel.run("%skill trust")
        assert "hook\n" == kernel.run("print(await by_hook())").stdout
    for path in markers.iterdir():
        path.unlink()
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / ".git").mkdir(parents=True)
    with Kernel(elsewhere) as kernel:
        kernel.run("%load_ext prime_skills_ext")
        listed = kernel.run("%skill list --all").result or ""
        assert "by-hook" not in listed
        assert "NameError" in (kernel.run("by_hook").error or "")
        assert "ModuleNotFoundError" in (kernel.run("import by_hook").error or "")
        assert [] == left(markers)


@pytest.mark.parametrize("override", ["all", "none"])
def test_trust_can_be_overridden_for_ci(
    override: str, project: Path, markers: Path
) -> None:
    """``PRIME_SKILLS_TRUST`` decides without the store."""
    with Kernel(project, environ={"PRIME_SKILLS_TRUST": override}) as kernel:
        kernel.run("%load_ext prime_skills_ext")
        if override == "none":
            kernel.run("%skill trust")
        expected = 4 if override == "all" else 0
        assert expected == len(left(markers))
