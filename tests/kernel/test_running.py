"""A skill with calls in threads reloads when they end; until then nothing moves."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.kernel.conftest import Live

SYNC = """
def helper():
    return {n}
def run(started, go):
    started.set()
    go.wait(60)
    return {n}, helper()
"""
ASYNC = """
import asyncio
async def steps(started, go):
    started.set()
    await asyncio.to_thread(go.wait, 60)
    yield {n}
async def run(started, go):
    async for step in steps(started, go):
        return step, {n}
"""


class Call:
    """One call in a thread: it has started, and ends when it is told to."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.started, self._go = threading.Event(), threading.Event()
        self._result: list[Any] = []
        self._thread = threading.Thread(
            target=lambda: self._result.append(function(self.started, self._go))
        )
        self._thread.start()
        assert self.started.wait(60)

    def end(self) -> Any:
        self._go.set()
        self._thread.join(60)
        return self._result[0]


@contextmanager
def calling(function: Callable[..., Any]) -> Iterator[Call]:
    call = Call(function)
    try:
        yield call
    finally:
        call.end()


def test_a_call_in_a_thread_keeps_its_code_until_it_ends(live: Any) -> None:
    """Also what it calls later is of one version; then the edit takes effect."""
    a: Live = live(SYNC.format(n=1))
    with calling(a.module.run) as call:
        bindings = a.edit(init=SYNC.format(n=2))
        assert (None, ()) == (a.state(bindings), bindings.changed)
        assert dict(bindings.waiting) == {a.skill.identity: 1}
        assert "reload-waits" in [item.code for item in bindings.diagnostics]
        assert 1 == a.module.helper()
        assert (1, 1) == call.end()
    bindings = a.reload()
    assert (bindings.changed, dict(bindings.waiting)) == ((a.skill.identity,), {})
    assert 2 == a.module.helper()


def test_calls_of_several_threads_are_counted(live: Any) -> None:
    """The last one to end lets the edit in."""
    a = live(SYNC.format(n=1))
    with calling(a.module.run) as first, calling(a.module.run) as second:
        waiting = a.edit(init=SYNC.format(n=2)).waiting
        assert [2] == [*waiting.values()]
        first.end()
        assert [1] == [*a.reload().waiting.values()]
        assert (1, 1) == second.end()
    assert a.reload().changed == (a.skill.identity,)


def test_a_helper_of_a_submodule_counts(live: Any) -> None:
    """The whole tree is one: a frame of any of its modules holds it."""
    a = live("from . import core\n", core=SYNC.format(n=1))
    with calling(a.module.core.run):
        assert [1] == [*a.edit(init="from . import core\nx = 2\n").waiting.values()]
        assert not hasattr(a.module, "x")
    a.reload()
    assert 2 == a.module.x


def test_a_skill_that_calls_another_one_holds_both(
    live: Any, binder: Any, new_skill: Any
) -> None:
    """And nobody else: an unrelated skill reloads at once."""
    a = live(SYNC.format(n=1))
    caller = new_skill("b", "import a\ndef run(*words):\n    return a.run(*words)\n")
    other = new_skill("c", "x = 1\n")
    skills = [a.skill, caller, other]
    binder.bind(skills)
    with calling(binder.skills["b"].run):
        for skill in skills:
            source = skill.python.src / skill.name / "__init__.py"
            source.write_text(source.read_text() + "x = 2\n")
        bindings = binder.bind(skills, reload=True)
        assert set(bindings.waiting) == {a.skill.identity, caller.identity}
        assert bindings.changed == (other.identity,)


@pytest.mark.parametrize(
    "call",
    [
        lambda skill: lambda *words: asyncio.run(skill(*words)),
        lambda skill: lambda *words: asyncio.run(asyncio.wait_for(skill(*words), 60)),
    ],
    ids=["task", "task of a task"],
)
def test_a_coroutine_that_waits_in_the_loop_of_a_thread_counts(
    live: Any, call: Any
) -> None:
    """No frame of it is executed at the moment; it may go on at any time."""
    a = live(ASYNC.format(n=1))
    with calling(call(a.module)) as running:
        assert [1] == [*a.edit(init=ASYNC.format(n=2)).waiting.values()]
        assert (1, 1) == running.end()
    assert a.reload().changed == (a.skill.identity,)


def test_a_generator_that_nobody_steps_holds_nothing(live: Any) -> None:
    """Made in a thread that has ended, it finishes its own body later."""
    code = (
        "def run():\n    yield {n}\n    yield helper()\ndef helper():\n    return {n}\n"
    )
    a = live(code.format(n=1))
    made: list[Any] = []
    thread = threading.Thread(target=lambda: made.append(a.module.run()))
    thread.start()
    thread.join()
    assert 1 == next(made[0])
    assert a.edit(init=code.format(n=2)).changed == (a.skill.identity,)
    assert 2 == next(made[0])


def test_now_does_not_wait(live: Any) -> None:
    """A thread that never ends must not keep a skill old for ever."""
    a = live(SYNC.format(n=1))
    with calling(a.module.run) as call:
        a.edit(init=SYNC.format(n=2))
        bindings = a.binder.bind([a.skill], reload=True, mode="now")
        assert bindings.changed == (a.skill.identity,)
        assert (1, 2) == call.end()


def test_a_broken_edit_is_not_executed_again_before_it_changes(live: Any) -> None:
    """Polling tries each text once; asking tries again."""
    code = "import builtins\nbuiltins.TRIED += 1\n"
    import builtins

    builtins.TRIED = 0  # type: ignore[attr-defined]
    a = live(code)
    a.edit(init=code + "1/0\n")
    for expected, mode in ((2, "changed"), (3, "again"), (3, "changed")):
        bindings = a.binder.bind([a.skill], reload=True, mode=mode)
        assert "stale" == a.state(bindings)
        assert builtins.TRIED == expected  # type: ignore[attr-defined]
    del builtins.TRIED  # type: ignore[attr-defined]


def test_a_failed_import_is_polled_when_its_files_change(
    live: Any, user_ns: dict[str, Any]
) -> None:
    """Not before; then it is there."""
    a = live("import os\nassert os.environ.get('NOT_YET')\n")
    bindings = a.binder.bind([a.skill], reload=True, mode="changed")
    assert "import-failed" == a.state(bindings)
    (a.package / "__init__.py").write_text("def run():\n    return 1\n")
    a.binder.bind([a.skill], reload=True, mode="changed")
    assert 1 == user_ns["a"].run()
