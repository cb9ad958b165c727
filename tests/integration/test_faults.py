"""Faults between packages: what skills and kernels want of each other.

After every one: no other kernel is harmed, nothing is lost, and the next start repairs
what is left.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.integration.conftest import uv
from tests.integration.drivers import Kernel, Outcome
from tests.integration.machines import Machine, tree_hash
from tests.wheels import publish

pytestmark = pytest.mark.integration


def relax(skill: Path, old: str, new: str) -> None:
    path = skill / "pyproject.toml"
    path.write_text(path.read_text("utf-8").replace(old, new), encoding="utf-8")


def test_second_skill_that_contradicts_the_first_fails_alone(machine: Machine) -> None:
    """The first goes on, the reason names both sides, and uv is asked once."""
    machine.publish("acme", "1.0")
    machine.publish("acme", "2.0")
    machine.user_of("first", "acme", "acme<2")
    with machine.neighbours():
        second = machine.user_of("second", "acme", "acme>=2")
        told = machine.start()
        assert {"first": "ready", "second": "install-failed"} == told["states"]
        assert {"first": "1.0"} == told["answers"]
        said = "second needs acme>=2, and first needs acme<2"
        assert told["reasons"]["second"] == said
        machine.asked.unlink()
        again = machine.start()
        assert (again, machine.calls) == (told, [])
        relax(second, "acme>=2", "acme>=1")
        healed = machine.start()
        assert {"first": "1.0", "second": "1.0"} == healed["answers"]
        assert machine.is_whole(healed)


def test_in04_replaced_while_loaded_says_restart_and_keeps_saying_it(
    machine: Machine,
) -> None:
    """What this process imported stays what it is: the report says so, once."""
    machine.publish("acme", "1.0")
    machine.publish("acme", "2.0")
    skill = machine.user_of("first", "acme", "acme<2")
    with machine.session() as session:
        assert {"first": "1.0"} == session.read()["answers"]
        relax(skill, "acme<2", "acme>=2")
        changed = session.ask("reload")
        assert "restart 1 acme" == changed["report"]
        again = session.ask("reload")
        assert (None, ["acme"]) == (again["report"], again["restart"])
    assert {"first": "2.0"} == machine.start()["answers"]


@pytest.fixture
def lab(machine: Machine) -> Path:
    """A kernel's Python with a local version and an in-house editable package."""
    venv = machine.folder / "lab"
    uv("venv", "--quiet", "--python", sys.executable, venv)
    site = next((venv / "lib").glob("python3*/site-packages"))
    ours = [path for path in sys.path if path.endswith("site-packages")]
    (site / "ours.pth").write_text("\n".join(ours) + "\n", encoding="utf-8")
    torch = publish(machine.folder / "elsewhere", "torchlike", "2.0+cu121")
    house = machine.folder / "inhouse"
    (house / "src" / "inhouse").mkdir(parents=True)
    (house / "src" / "inhouse" / "__init__.py").write_text("version = 'dev'\n", "utf-8")
    (house / "pyproject.toml").write_text(
        '[project]\nname = "inhouse"\nversion = "0.1.dev0"\n[build-system]\n'
        'requires = ["uv_build"]\nbuild-backend = "uv_build"\n',
        encoding="utf-8",
    )
    uv("pip", "install", "-q", "--offline", "--python", venv, torch, "-e", house)
    return venv / "bin" / "python"


def test_kernel_with_a_local_version_and_an_editable_is_left_as_it_is(
    machine: Machine, lab: Path
) -> None:
    """Neither is on any index; both count as what they are, and nothing is replaced."""
    before = tree_hash(lab.parents[1])
    machine.publish("acme", "1.0", "torchlike>=2", "inhouse")
    machine.user_of("plain", "torchlike", "torchlike>=2,<3", "inhouse")
    machine.user_of("deep", "acme", "acme")
    with machine.neighbours():
        machine.user_of("newer", "torchlike", "torchlike>=3")
        told = machine.start(python=lab)
        assert {
            "deep": "ready",
            "newer": "install-failed",
            "plain": "ready",
        } == told["states"]
        assert {"deep": "1.0", "plain": "2.0+cu121"} == told["answers"]
        reason = told["reasons"]["newer"]
        assert "needs torchlike>=3, the kernel has torchlike 2.0+cu121 at" in reason
        installed = {
            path.name for path in Path(told["generation"]).rglob("*.dist-info")
        }
        assert "acme-1.0.dist-info" in installed
        assert not [name for name in installed if name.startswith(("torch", "inhouse"))]
    assert tree_hash(lab.parents[1]) == before


@pytest.fixture
def bare(machine: Machine) -> Path:
    """A kernel's Python that has everything but httpx."""
    venv = machine.folder / "bare"
    uv("venv", "--quiet", "--python", sys.executable, venv)
    site = next((venv / "lib").glob("python3*/site-packages"))
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if path.name.partition("-")[0] != "httpx" and not (site / path.name).exists():
            (site / path.name).symlink_to(path)
    return venv / "bin" / "python"


def test_undeclared_httpx_is_added_once_and_kept(machine: Machine, bare: Path) -> None:
    """The import fails once, the requirement is added, recorded and told."""
    machine.publish("httpx", "99.0")
    machine.skill("good")
    with machine.neighbours():
        machine.user_of("fetch", "httpx")
        told = machine.start(python=bare)
        assert {"fetch": "99.0", "good": "good"} == told["answers"]
        assert "undeclared-requirement" in told["codes"], told["codes"]
        assert machine.is_whole(told, python=bare)


def _load(kernel: Kernel, name: str) -> Outcome:
    return kernel.run(f"%load_ext prime_skills_ext\nprint(await {name}())")


def test_in03_four_kernels_start_at_once_on_an_empty_environment(
    machine: Machine,
) -> None:
    """Each gets its own skills and the third-party package that they need."""
    roots = []
    for number in range(4):
        machine.publish(f"acme-{number}", "1.0")
        root = machine.folder / f"set-{number}"
        machine.user_of(f"s{number}", f"acme_{number}", f"acme-{number}", root=root)
        machine.skill(f"also{number}", root=root)
        roots.append(root)
    with ExitStack() as stack:
        kernels = [
            stack.enter_context(
                Kernel(
                    machine.project,
                    environ=machine.environ | {"PRIME_SKILLS_PATH": str(root)},
                )
            )
            for root in roots
        ]
        with ThreadPoolExecutor(4) as pool:
            names = [f"s{number}" for number in range(4)]
            outcomes = list(pool.map(_load, kernels, names))
        assert [("1.0\n", "", None)] * 4 == [
            (one.stdout, one.stderr, one.error) for one in outcomes
        ]
        # whoever came first still has what it uses
        assert (
            "1.0 also0\n" == kernels[0].run("print(await s0(), await also0())").stdout
        )
    told = machine.start(PRIME_SKILLS_PATH=os.pathsep.join(map(str, roots)))
    assert set(told["states"].values()) == {"ready"}
    assert "1" == Path(told["generation"]).name
