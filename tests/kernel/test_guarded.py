"""A guarded skill is a skill like others, but for who may call it."""

from __future__ import annotations

import asyncio
import copy
import inspect
import pickle
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from prime_skills_ext.kernel import terms
from prime_skills_ext.kernel.binding import Binder
from prime_skills_ext.kernel.callable_module import CallableSkill, not_started
from prime_skills_ext.kernel.terms import Guard
from prime_skills_ext.skill.model import Skill

RUN = '''
"""The module's text."""

async def run(query: str, limit: int = 5) -> str:
    """Search for a query."""
    if not query:
        raise ValueError("nothing asked")
    return query * limit
'''


class World:
    """A skill that is guarded, or not."""

    def __init__(self, binder: Binder, skill: Skill, names: dict[str, Any]) -> None:
        self._binder, self._skill, self._names = binder, skill, names

    def bind(self, *, guarded: bool, lazy: bool = False) -> Any:
        """Bind it anew and return it."""
        assert self._skill.python is not None
        guards = {self._skill.python.src: Guard(name="seek", is_for_people=True)}
        terms.provide(self, {}, guards=guards if guarded else {})
        self._binder.bind([self._skill], reload=True, lazy=lazy)
        return self._names["seek"]

    def end(self) -> None:
        terms.withdraw(self)


@pytest.fixture
def world(binder: Binder, user_ns: dict[str, Any], new_skill: Any) -> Iterator[World]:
    """A world whose terms are withdrawn at the end."""
    made = World(binder, new_skill("seek", RUN), user_ns)
    yield made
    made.end()


def test_only_a_guarded_skill_is_of_another_class(world: World) -> None:
    """What nobody guards pays nothing; one object stays through all changes."""
    plain = world.bind(guarded=False)
    assert type(plain) is CallableSkill
    guarded = world.bind(guarded=True)
    assert guarded is plain
    assert isinstance(guarded, CallableSkill)
    assert type(guarded) is not CallableSkill
    assert type(world.bind(guarded=False)) is CallableSkill


def test_people_call_a_guarded_skill_as_any_other(world: World) -> None:
    """Arguments, results, errors with the skill's own lines, wrong calls."""
    seek = world.bind(guarded=True)
    assert "aa" == asyncio.run(seek("a", limit=2))
    with pytest.raises(ValueError, match="nothing asked") as caught:
        asyncio.run(seek(""))
    files = [Path(frame.filename).name for frame in traceback.extract_tb(caught.tb)]
    assert files[-2:] == ["guarded.py", "__init__.py"]
    with pytest.raises(TypeError, match=r"did you mean 'limit'") as wrong:
        asyncio.run(seek("a", limt=2))
    assert "Signature: seek(query: str, limit: int = 5) -> str" in str(wrong.value)


def test_a_guarded_skill_looks_like_any_other(world: World) -> None:
    """To `inspect`, to frameworks that await, to help, to copies and pickles."""
    plain = world.bind(guarded=False)
    looks = [_looks(plain), _looks(world.bind(guarded=True))]
    assert looks[0] == looks[1]


def _looks(module: Any) -> dict[str, object]:
    call = module("a")
    try:
        said = not_started(call)
    finally:
        call.close()
    return {
        "signature": str(inspect.signature(module)),
        "doc": module.__doc__,
        "callable": callable(module),
        "coroutine function": inspect.iscoroutinefunction(module),
        "asyncio's": asyncio.iscoroutinefunction(module),
        "of its call": inspect.iscoroutinefunction(module.__call__),
        "call's doc": inspect.getdoc(module.__call__),
        "module": isinstance(module, ModuleType) and inspect.ismodule(module),
        "coroutine": inspect.iscoroutine(call),
        "called by class": asyncio.run(type(module).__call__(module, "a", limit=2)),
        "not started": said,
        "pickled": pickle.loads(pickle.dumps(module)) is module,
        "copied": copy.deepcopy(module) is module,
        "class doc": type(module).__doc__,
    }


def test_a_guarded_skill_of_an_author_s_own_class_keeps_it(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """The author's class is among its classes, guarded or not, and comes back."""
    code = (
        "import sys, types\nclass Own(types.ModuleType):\n    mark = 1\n"
        "sys.modules[__name__].__class__ = Own\ndef run(): return 2\n"
    )
    world = World(binder, new_skill("seek", code), user_ns)
    try:
        for guarded in (False, True, False):
            seek = world.bind(guarded=guarded)
            assert [1, 2] == [seek.mark, asyncio.run(seek())]
            assert isinstance(seek, CallableSkill)
        held = user_ns["seek"]
        binder.unbind()
        assert "Own" == type(held).__name__
    finally:
        world.end()


def test_a_lazy_skill_can_be_guarded_and_freed_before_its_first_use(
    world: World,
) -> None:
    """It stays the same object, empty until somebody may use it."""
    first = world.bind(guarded=True, lazy=True)
    assert "query" not in vars(first)
    assert world.bind(guarded=False, lazy=True) is first
    assert world.bind(guarded=True, lazy=True) is first
    assert "run" not in vars(first)
    assert "aa" == asyncio.run(first("a", 2))
    assert type(first) is type(world.bind(guarded=True))
