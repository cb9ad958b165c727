"""Calls on terms: off the loop, within a limit of time, lent to until they end."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
import traceback
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from prime_skills_ext.errors import CallTimeoutError
from prime_skills_ext.kernel import terms
from prime_skills_ext.kernel.binding import Binder
from prime_skills_ext.skill.model import Skill

OWNER = object()
PLACES = ("thread", "loop")
#: Longest that a test waits for what must come; tells a hang from an answer.
PATIENCE_S = 60
VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("variable")


@pytest.fixture(autouse=True)
def _no_terms_stay() -> Iterator[None]:
    yield
    terms.withdraw(OWNER)


@pytest.fixture
def call(binder: Binder, user_ns: dict[str, Any], new_skill: Any) -> Any:
    """Bind a skill with that code, threaded unless told otherwise."""

    def make(
        code: str, *, threaded: bool = True, lent: dict[str, str] | None = None
    ) -> Any:
        skill: Skill = new_skill("at-work", code)
        assert skill.python is not None
        src = skill.python.src
        terms.provide(
            OWNER,
            {} if lent is None else {src: lambda: lent},
            threaded=[src] if threaded else [],
        )
        binder.bind([skill])
        return user_ns["at_work"]

    return make


async def test_as03_a_threaded_run_leaves_the_loop_free(call: Any) -> None:
    """What it waits for is done by the loop meanwhile."""
    skill = call("def run(event, seconds):\n    return event.wait(seconds)\n")
    ticked = threading.Event()

    async def tick() -> None:
        for _ in range(3):
            await asyncio.sleep(0)
        ticked.set()

    skills = [skill(ticked, PATIENCE_S) for _ in range(2)]
    answers = await asyncio.gather(*skills, tick())
    assert [True, True, None] == answers


async def test_a_threaded_run_has_the_context_of_its_call(call: Any) -> None:
    """A copy: what it sets stays there, as in ``asyncio.to_thread``."""
    skill = call("def run(v):\n    seen = v.get()\n    v.set('x')\n    return seen\n")
    VARIABLE.set("of the caller")
    assert "of the caller" == await skill(VARIABLE)
    assert "of the caller" == VARIABLE.get()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("body", "kind", "said"),
    [
        ("raise ValueError('own')", ValueError, "own"),
        ("raise SystemExit(3)", SystemExit, "3"),
        ("raise StopIteration(1)", RuntimeError, "coroutine raised StopIteration"),
        ("1 + 'a'", TypeError, "unsupported operand type"),
    ],
)
async def test_errors_are_those_of_a_call_on_the_loop(
    body: str, kind: type[BaseException], said: str, place: str, call: Any
) -> None:
    """Type and words, and one frame of ours in the traceback."""
    skill = call(
        f"def run():\n    {body}\n", threaded=place == "thread", lent={"A_KEY": "x"}
    )
    with pytest.raises(kind, match=said) as caught:
        await skill()
    trace = traceback.extract_tb(caught.value.__traceback__)
    # Python makes the third of them when it leaves our frames
    shown = ["__call__"] if kind is RuntimeError else ["__call__", "run"]
    assert shown == [frame.name for frame in trace][1:]


@pytest.mark.parametrize("place", PLACES)
async def test_a_traceback_on_terms_has_one_frame_of_ours(
    place: str, call: Any
) -> None:
    """The caller's, one of ours, the skill's; with a limit, too."""
    code = "async def run():\n    inner()\ndef inner():\n    raise ValueError\n"
    for each in (code, code.replace("async ", "")):
        skill = call(each, threaded=place == "thread", lent={"A_KEY": "x"})
        terms.limit(OWNER, PATIENCE_S)
        with pytest.raises(ValueError, match=r"^$") as caught:
            await skill()
        trace = traceback.extract_tb(caught.value.__traceback__)
        assert ["__call__", "run", "inner"] == [frame.name for frame in trace][1:]
        del skill


async def test_a_wrong_call_is_explained_on_terms_too(call: Any) -> None:
    """The words are those of every call."""
    skill = call("def run(text):\n    return text\n")
    with pytest.raises(TypeError) as caught:
        await skill()
    assert (
        "at_work(): missing a required argument: 'text'\nSignature: at_work(text)"
        == str(caught.value)
    )


async def test_a_coroutine_function_stays_on_the_loop(call: Any) -> None:
    """There is nothing to take off it."""
    code = "import threading\nasync def run():\n    return threading.get_ident()\n"
    assert threading.get_ident() == await call(code)()


async def test_what_a_thread_returns_is_awaited_on_the_loop(call: Any) -> None:
    """As without a thread."""
    code = """
        import threading
        async def inner():
            return threading.get_ident()
        def run():
            return inner()
    """
    assert threading.get_ident() == await call(code)()


async def test_a_cancelled_call_comes_back_at_once_and_its_thread_finishes(
    call: Any,
) -> None:
    """What it was lent stays until then, and no longer."""
    code = """
        import os
        def run(began, go_on, ended, seconds):
            began()
            go_on.wait(seconds)
            ended(os.environ.get("A_KEY"))
    """
    skill = call(code, lent={"A_KEY": "of the loan"})
    loop = asyncio.get_running_loop()
    began, go_on = asyncio.Event(), threading.Event()
    ended: asyncio.Future[str] = loop.create_future()
    task = asyncio.create_task(
        skill(
            lambda: loop.call_soon_threadsafe(began.set),
            go_on,
            lambda key: loop.call_soon_threadsafe(ended.set_result, key),
            PATIENCE_S,
        )
    )
    await began.wait()
    (worker,) = [each for each in threading.enumerate() if "at_work" in each.name]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert "of the loan" == os.environ["A_KEY"]
    go_on.set()
    assert "of the loan" == await ended
    await asyncio.to_thread(worker.join)
    assert "A_KEY" not in os.environ


@pytest.mark.parametrize("place", PLACES)
async def test_a_call_that_takes_too_long_names_skill_limit_and_fix(
    place: str, call: Any
) -> None:
    """A coroutine is cancelled, a thread is left to itself."""
    code = """
        import asyncio
        stopped = []
        async def run(go_on):
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                stopped.append("cancelled")
                raise
    """
    if place == "thread":
        code = "def run(go_on):\n    go_on.wait(60)\n"
    skill, go_on = call(code, threaded=place == "thread"), threading.Event()
    terms.limit(OWNER, 0.05)
    with pytest.raises(TimeoutError) as caught:
        await skill(go_on)
    go_on.set()
    assert isinstance(caught.value, CallTimeoutError)
    assert (
        "at_work() did not end within 0.05 s\nFix: raise the limit with "
        "`%config SkillManager.call_timeout_s = SECONDS`, or set it to None"
    ) == str(caught.value)
    if place == "loop":
        assert ["cancelled"] == skill.stopped
        cause = caught.value.__cause__
        assert cause is not None
        assert "run" == traceback.extract_tb(cause.__traceback__)[0].name


async def test_a_timeout_of_the_skills_own_is_left_alone(call: Any) -> None:
    """Only the limit speaks of the limit."""
    skill = call("def run():\n    raise TimeoutError('own')\n", threaded=False)
    terms.limit(OWNER, PATIENCE_S)
    with pytest.raises(TimeoutError, match=r"^own$") as caught:
        await skill()
    assert type(caught.value) is TimeoutError


async def test_what_computes_on_the_loop_cannot_be_stopped(call: Any) -> None:
    """It gets its answer, however late."""
    skill = call("import time\ndef run():\n    time.sleep(0.05)\n    return 1\n")
    terms.provide(OWNER, {})
    terms.limit(OWNER, 0.001)
    assert 1 == await skill()


async def test_the_shortest_limit_counts_and_can_be_taken_back(call: Any) -> None:
    """Several shells may each have one."""
    skill, other = call("async def run():\n    return 1\n"), object()
    terms.limit(other, 0.01)
    terms.limit(OWNER, PATIENCE_S)
    found = terms.terms_of(skill)
    assert found is not None
    assert 0.01 == found.timeout_s
    terms.limit(other, None)
    terms.withdraw(OWNER)
    assert terms.terms_of(skill) is None


@pytest.mark.parametrize(
    ("declared", "answer"),
    [("true", "yes"), ("True", "yes"), ("false", "no"), ("maybe", "no"), ({}, "no")],
)
def test_threaded_is_declared_in_the_metadata(
    declared: object, answer: str, new_skill: Any
) -> None:
    """Scalars in there are text."""
    skill = replace(new_skill("declares", ""), metadata={"threaded": declared})
    assert answer == ("yes" if terms.is_threaded(skill) else "no")
