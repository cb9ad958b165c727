"""``asyncio.run`` inside cells: refused by default, an option that loses no cell."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import write_skill
from tests.integration.drivers import Driver, Kernel

pytestmark = pytest.mark.integration

NESTS = "import asyncio; asyncio.run(asyncio.sleep(0.2)); print('nested')"


@pytest.fixture(autouse=True)
def _skill(home: Path) -> None:
    code = (
        "import asyncio\nasync def run(x):\n    await asyncio.sleep(0)\n    return x\n"
    )
    write_skill(home / ".agents" / "skills", "echoes", python=code)


def queue(kernel: Kernel, cells: list[str]) -> list[str]:
    """Send all cells at once, as *Run All* does; return how each ended."""
    sent = [kernel.send(code) for code in cells]
    return [str(reply["status"]) for reply in kernel.replies(*sent)]


@pytest.mark.parametrize("first", ["", "import asyncio; await asyncio.sleep(0); "])
def test_as02_cells_queued_behind_one_that_nests_a_loop_all_run(
    first: str, any_kernel: Kernel
) -> None:
    """Five of them, skills awaited among them, with and without ``await`` in it."""
    any_kernel.run("%load_ext prime_skills_ext\n%config SkillManager.nest_asyncio=True")
    cells = [first + NESTS, *["ran = [*globals().get('ran', []), await echoes(1)]"] * 5]
    assert ["ok"] * 6 == queue(any_kernel, cells)
    assert "[1, 1, 1, 1, 1]\n" == any_kernel.run("print(ran)").stdout
    doctor = any_kernel.run("%skill doctor")
    assert "nest-asyncio" not in repr(doctor)


def test_as02_nothing_is_patched_by_default(shell: Driver) -> None:
    """Neither by the load nor by a call."""
    shell.run("%load_ext prime_skills_ext")
    code = "import asyncio; print(await echoes(1), hasattr(asyncio, '_nest_patched'))"
    assert "1 False" in shell.run(code).stdout


def test_as02_the_option_works_in_every_shell(shell: Driver) -> None:
    """A nested loop awaits skills; the outer one goes on."""
    shell.run("import os; os.environ['PRIME_SKILLS_NEST_ASYNCIO'] = '1'")
    loaded = shell.run("%load_ext prime_skills_ext")
    assert (None, "") == (loaded.error, loaded.stdout.strip())
    code = "import asyncio; print(await echoes(1), asyncio.run(echoes(2)))"
    assert "1 2" in shell.run(code).stdout
    assert "3" in shell.run("print(await echoes(3))").stdout


def test_as02_doctor_reports_a_patch_that_loses_cells(any_kernel: Kernel) -> None:
    """Only where it does, and it is not applied a second time."""
    any_kernel.run("import nest_asyncio; nest_asyncio.apply()")
    any_kernel.run("%load_ext prime_skills_ext\n%config SkillManager.nest_asyncio=True")
    loses = "import ipykernel; print(ipykernel.version_info[0] >= 7)"
    told = "nest-asyncio" in repr(any_kernel.run("%skill doctor"))
    assert f"{told}\n" == any_kernel.run(loses).stdout
