"""What skills are made of, and what users hold of it, over a reload."""

from __future__ import annotations

import asyncio
import copy
import pickle
from typing import Any

import pytest


def test_a_registry_of_the_module_is_filled_anew(live: Any) -> None:
    """A dict that a decorator fills holds the new functions, not the old ones."""
    code = (
        "TOOLS = {{}}\ndef tool(f):\n    TOOLS[f.__name__] = f\n    return f\n"
        "@tool\ndef one():\n    return {n}\ndef run():\n    return TOOLS['one']()\n"
    )
    a = live(code.format(n=1))
    held = a.module.TOOLS["one"]
    a.edit(init=code.format(n=2))
    assert (2, 2) == (a.module.run(), held())


def test_a_registry_of_an_unchanged_module_follows(live: Any) -> None:
    """It is not executed again, and yet what it holds is the new code."""
    code = (
        "from .registry import TOOLS\nclass Tool:\n    n = {n}\n"
        "def one():\n    return {n}\nTOOLS.setdefault('one', one)\n"
        "TOOLS.setdefault('kind', Tool)\nTOOLS.setdefault('tool', Tool())\n"
    )
    a = live("from . import tools\n", registry="TOOLS = {}\n", tools=code.format(n=1))
    tools = a.module.tools.TOOLS
    a.edit(tools=code.format(n=2))
    assert a.module.tools.TOOLS is tools
    assert (2, 2, 2) == (tools["one"](), tools["kind"].n, tools["tool"].n)


def test_caches_forget_what_the_old_code_computed(live: Any) -> None:
    """Of functions and of methods, also through what calls the cached one."""
    code = (
        "import functools\n@functools.cache\ndef slow(x):\n    return x * {n}\n"
        "class Thing:\n    @functools.lru_cache\n    def m(self):\n        return {n}\n"
        "thing = Thing()\ndef run():\n    return slow(1), thing.m()\n"
    )
    a = live(code.format(n=1))
    held, thing = a.module.slow, a.module.thing
    assert ((1, 1), 1, 1) == (a.module.run(), held(1), thing.m())
    a.edit(init=code.format(n=2))
    assert ((2, 2), 2, 2) == (a.module.run(), held(1), thing.m())


def test_enums_are_those_of_the_new_text(live: Any) -> None:
    """An enum keeps books of its own: its members are new ones, and equal by name."""
    code = "import enum\nclass Colour(enum.Enum):\n    RED = {n}\n    {more}\n"
    a = live(code.format(n=1, more=""))
    old = a.module.Colour.RED
    a.edit(init=code.format(n=2, more="BLUE = 3"))
    assert (2, 3) == (a.module.Colour.RED.value, a.module.Colour.BLUE.value)
    assert old.name == a.module.Colour.RED.name


@pytest.mark.parametrize("options", ["", "(frozen=True)", "(slots=True)"])
def test_dataclasses_keep_their_identity_where_python_lets_them(
    live: Any, options: str
) -> None:
    """Instances get the new methods; new fields are those of new instances."""
    code = (
        "from dataclasses import dataclass\n@dataclass{o}\nclass Point:\n"
        "    x: int\n    {more}\n    def total(self):\n        return self.x + {n}\n"
    )
    a = live(code.format(o=options, n=1, more=""))
    Point, point = a.module.Point, a.module.Point(1)  # noqa: N806
    a.edit(init=code.format(o=options, n=2, more=""))
    assert (3, 3) == (point.total(), a.module.Point(1).total())
    assert isinstance(point, a.module.Point)
    assert point == a.module.Point(1)
    if not options:
        a.edit(init=code.format(o=options, n=3, more="y: int = 7"))
        assert a.module.Point is Point
        assert (7, 4) == (Point(1).y, point.total())


def test_classes_of_a_metaclass_follow_by_their_instances(live: Any) -> None:
    """As models of pydantic are made: the class is a new one, instances move over."""
    code = (
        "class Meta(type):\n    def __new__(m, name, bases, space):\n"
        "        made = super().__new__(m, name, bases, space)\n"
        "        made.fields = [*space.get('__annotations__', ())]\n"
        "        return made\n"
        "class Model(metaclass=Meta):\n    x: int\n"
        "    def m(self):\n        return {n}\n"
    )
    a = live(code.format(n=1))
    held = a.module.Model()
    a.edit(init=code.format(n=2))
    assert (2, True) == (held.m(), isinstance(held, a.module.Model))
    assert ["x"] == a.module.Model.fields


def test_a_subclass_in_the_notebook_inherits_the_new_code(live: Any) -> None:
    """And its instances are still those of the skill's class."""
    code = "class Base:\n    def m(self):\n        return {n}\n"
    a = live(code.format(n=1))

    class Mine(a.module.Base):  # type: ignore[misc,name-defined]
        def twice(self) -> Any:
            return 2 * super().m()

    mine = Mine()
    a.edit(init=code.format(n=2))
    assert (2, 4, True) == (mine.m(), mine.twice(), isinstance(mine, a.module.Base))


def test_an_exception_class_that_was_imported_before_still_catches(live: Any) -> None:
    """``except Failure``, also for one that was raised before."""
    code = (
        "class Failure(Exception):\n    n = {n}\n"
        "def run():\n    raise Failure('no {n}')\n"
    )
    a = live(code.format(n=1))
    Failure, run = a.module.Failure, a.module.run  # noqa: N806
    with pytest.raises(Failure, match="no 1") as before:
        run()
    a.edit(init=code.format(n=2))
    with pytest.raises(Failure, match="no 2"):
        a.module.run()
    with pytest.raises(a.module.Failure, match="no 2"):
        run()
    assert (2, True) == (before.value.n, isinstance(before.value, a.module.Failure))


def test_a_generator_in_flight_finishes_its_own_body(live: Any) -> None:
    """What it calls later is new; the next one is new altogether."""
    code = (
        "def helper():\n    return {n}\n"
        "def run():\n    yield {n}\n    yield {n}, helper()\n"
    )
    a = live(code.format(n=1))
    running = a.module.run()
    assert 1 == next(running)
    a.edit(init=code.format(n=2))
    assert (1, 2) == next(running)
    assert [2, (2, 2)] == list(a.module.run())


async def test_an_async_generator_in_flight_finishes_its_own_body(live: Any) -> None:
    """Also one that is being stepped by another task just now."""
    code = (
        "import asyncio\ndef helper():\n    return {n}\n"
        "async def run(go):\n    yield {n}\n    await go.wait()\n"
        "    yield {n}, helper()\n"
    )
    a = live(code.format(n=1))
    go = asyncio.Event()
    running = await a.module(go)
    assert 1 == await anext(running)
    step = asyncio.create_task(anext(running))
    await asyncio.sleep(0)
    a.edit(init=code.format(n=2))
    go.set()
    assert (1, 2) == await step
    assert [2, (2, 2)] == [item async for item in await a.module(go)]


async def test_calls_of_other_tasks_finish_while_new_ones_begin(live: Any) -> None:
    """A reload during an ``await`` of the same skill: each has the body it began."""
    code = (
        "import asyncio\nasync def inner(go):\n    await go.wait()\n    return {n}\n"
        "async def run(go):\n    return {n}, await inner(go)\n"
    )
    a = live(code.format(n=1))
    go = asyncio.Event()
    calls = []
    for number in (2, 3):
        calls.append(asyncio.create_task(a.module(go)))
        await asyncio.sleep(0)
        a.edit(init=code.format(n=number))
    calls.append(asyncio.create_task(a.module(go)))
    go.set()
    assert [(1, 1), (2, 2), (3, 3)] == await asyncio.gather(*calls)


def test_instances_that_were_stored_come_back_as_the_new_class(live: Any) -> None:
    """Pickled before and loaded after a reload; and so are copies."""
    code = "class Thing:\n    def __init__(self):\n        self.x = 1\n    n = {n}\n"
    a = live(code.format(n=1))
    thing = a.module.Thing()
    stored = pickle.dumps(thing)
    a.edit(init=code.format(n=2))
    for other in (pickle.loads(stored), copy.deepcopy(thing)):
        assert (1, 2, True) == (other.x, other.n, type(other) is a.module.Thing)


def test_kb11_a_module_created_a_moment_ago_is_imported(live: Any) -> None:
    """Fifty in a row, each at once, in a folder whose time hardly moves."""
    a = live(
        "import importlib\ndef run(name):\n"
        "    return importlib.import_module(f'a.{name}').x\n"
    )
    for number in range(50):
        (a.package / f"extra_{number}.py").write_text(f"x = {number}\n")
        assert a.module.run(f"extra_{number}") == number


def test_re01_a_held_submodule_is_the_one_that_is_reloaded(live: Any) -> None:
    """``import a.core as core`` and ``from a.core import *`` alike."""
    a = live("from . import core\n", core="x = 1\ndef f():\n    return x\n")
    core = a.module.core
    taken = {key: value for key, value in vars(core).items() if key[0] != "_"}
    a.edit(core="x = 2\ndef f():\n    return x\n")
    assert (2, 2) == (core.x, taken["f"]())
