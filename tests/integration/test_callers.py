"""Whose cell it is: told by the host, known wherever code of the cell runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.drivers import Kernel, Terminal

pytestmark = pytest.mark.integration

ASK = "from prime_skills_ext.kernel.callers import caller"


@pytest.fixture
def told(any_kernel: Kernel) -> Kernel:
    """A kernel with the extension; what asks was imported."""
    any_kernel.run(f"%load_ext prime_skills_ext\n{ASK}\nimport asyncio")
    return any_kernel


@pytest.mark.parametrize(
    ("mark", "expected"),
    [("model", "model"), ("user", "user"), ("robot", "user"), (None, "user")],
)
def test_the_caller_is_whom_the_host_names(
    told: Kernel, mark: str | None, expected: str
) -> None:
    """In cells with and without `await`; everything but `model` is a person."""
    assert repr(expected) == told.run("caller()", caller=mark).result
    code = "await asyncio.sleep(0, caller())"
    assert repr(expected) == told.run(code, caller=mark).result


def test_each_cell_has_its_own_caller(told: Kernel) -> None:
    """No cell inherits from the one before it, whichever kind either is."""
    code = {"sync": "caller()", "async": "await asyncio.sleep(0, caller())"}
    for first in code.values():
        for second in code.values():
            told.run(first, caller="model")
            assert "'user'" == told.run(second).result
            assert "'model'" == told.run(first, caller="model").result


def test_silent_cells_are_marked_as_well(told: Kernel) -> None:
    """They report nothing, but they run."""
    told.run("seen = caller()", caller="model", silent=True)
    told.run("later = await asyncio.sleep(0, caller())", caller="model", silent=True)
    assert "('model', 'model')" == told.run("seen, later").result


@pytest.mark.parametrize("cell", ["None", "await asyncio.sleep(0)"])
def test_an_expression_has_the_caller_of_its_request(told: Kernel, cell: str) -> None:
    """It is evaluated when the cell has ended."""
    told.run("caller()")
    asked = told.run(cell, caller="model", expression="caller()")
    assert "'model'" == asked.result
    assert "'user'" == told.run(cell, expression="caller()").result


def test_what_a_cell_left_running_stays_its_own(told: Kernel) -> None:
    """The model's task is the model's while a person's cell runs, and vice versa."""
    start = (
        "async def wait(event, seen):\n"
        "    await event.wait()\n"
        "    seen.append(caller())\n"
        "def start():\n"
        "    event, seen = asyncio.Event(), []\n"
        "    return event, seen, asyncio.create_task(wait(event, seen))"
    )
    told.run(start)
    for kind in ("", "await asyncio.sleep(0)\n"):
        told.run(f"{kind}theirs = start()", caller="model")
        told.run(f"{kind}mine = start()")
        end = "{0}[0].set(); await {0}[2]; {0}[1]"
        assert "['model']" == told.run(end.format("theirs")).result
        assert "['user']" == told.run(end.format("mine"), caller="model").result


def test_a_cell_inside_of_code_is_of_whose_code_it_is(told: Kernel) -> None:
    """`run_cell` in a task that outlives its cell, and around other code."""
    told.run(
        "async def late(gate):\n"
        "    await gate.wait()\n"
        "    get_ipython().run_cell('')\n"
        "    get_ipython().run_cell('inner = caller()')\n"
        "    after = caller()\n"
        "    return inner, after, await asyncio.create_task(ask())\n"
        "async def ask(): return caller()"
    )
    start = "gate = asyncio.Event(); task = asyncio.create_task(late(gate))"
    for kind in ("", "await asyncio.sleep(0)\n"):
        for first, then in (("model", "user"), ("user", "model")):
            told.run(kind + start, caller=first)
            found = told.run("gate.set()\nawait task, caller()", caller=then).result
            assert f"({(first,) * 3!r}, {then!r})" == found
            nested = "get_ipython().run_cell('inner = caller()'); "
            assert (
                repr((first, first))
                == told.run(f"{nested}inner, caller()", caller=first).result
            )
            # what the cell leaves behind once one inside of it has ended
            told.run(f"{kind}{nested}task = asyncio.create_task(ask())", caller=first)
            assert repr(first) == told.run("await task", caller=then).result


def test_a_cell_whose_end_nobody_heard_of_decides_nothing(told: Kernel) -> None:
    """A callback of somebody else's may fail between beginning and end."""
    for first, then in (("model", "user"), ("user", "model")):
        told.run("get_ipython().events.trigger('pre_execute')", caller=first)
        assert repr(then) == told.run("caller()", caller=then).result


def test_run_sync_and_threads_with_their_context_keep_the_caller(told: Kernel) -> None:
    """Both copy the context of who calls them."""
    told.run("async def ask(): return caller()")
    asked = (
        "task = asyncio.create_task(asyncio.to_thread(caller))\n"
        "skills.run_sync(ask()), await task"
    )
    assert "('model', 'model')" == told.run(asked, caller="model").result
    assert "('user', 'user')" == told.run(asked).result


def test_the_cell_that_loads_is_marked_already(any_kernel: Kernel) -> None:
    """What it does after the load counts."""
    code = f"%load_ext prime_skills_ext\n{ASK}\ncaller()"
    assert "'model'" == any_kernel.run(code, caller="model").result


def test_a_terminal_is_a_person(project: Path) -> None:
    """Nobody else types there."""
    with Terminal(project) as terminal:
        terminal.run("%load_ext prime_skills_ext")
        terminal.run(ASK)
        assert "'user'" in terminal.run("caller()").stdout
