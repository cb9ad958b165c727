"""The mapping ``skills``: keys, attributes, and running coroutines."""

from __future__ import annotations

import asyncio
import contextvars
import os
import signal
import threading
from typing import Any

import pytest

from prime_skills_ext.catalog.status import Problem
from prime_skills_ext.errors import UnknownSkillError
from prime_skills_ext.kernel.binding import Binder
from prime_skills_ext.kernel.placeholder import UnavailableSkill
from prime_skills_ext.kernel.skills import Lazy, Skills, run_sync

RUN = "def run():\n    return 1\n"


def test_keys_are_skill_names_and_import_names_are_accepted(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """Attributes are import names."""
    binder.bind([new_skill("word-count", RUN)], values={"how-to": "text"})
    skills = binder.skills
    module = user_ns["word_count"]
    assert list(skills) == ["how-to", "word-count"]
    assert len(skills) == 2
    assert skills["word-count"] is skills["word_count"] is module
    assert skills.word_count is module
    assert skills.how_to == "text"
    assert dict(skills) == {"how-to": "text", "word-count": module}


def test_qualified_names_are_answered_and_made_once(binder: Binder) -> None:
    """Each skill is listed once; a shadowed one is reached as ``name@source``."""
    made: list[int] = []

    def make() -> object:
        made.append(1)
        return "x"

    binder.bind([], values={"edit@builtin": Lazy(make=make)})
    assert list(binder.skills) == []
    assert "edit@builtin" in binder.skills
    assert (binder.skills["edit@builtin"], binder.skills["edit@builtin"]) == ("x", "x")
    assert made == [1]


def test_an_unknown_name_gets_a_suggestion(binder: Binder) -> None:
    """A ``LookupError`` for items, an ``AttributeError`` for attributes."""
    binder.bind([], values={"websearch": 1})
    with pytest.raises(UnknownSkillError, match='did you mean "websearch"') as caught:
        binder.skills["websarch"]
    assert isinstance(caught.value, LookupError)
    with pytest.raises(UnknownSkillError, match="%skill lists them all"):
        binder.skills["zzz"]
    with pytest.raises(AttributeError, match='did you mean "websearch"'):
        _ = binder.skills.websarch


def test_the_mapping_protocol_answers_quietly(binder: Binder) -> None:
    """``in``, ``get`` and ``hasattr`` never raise."""
    binder.bind([], values={"a": 1})
    found = [key in binder.skills for key in ("a", "b")]
    assert found == [True, False]
    assert (binder.skills.get("a"), binder.skills.get("b", 7)) == (1, 7)
    assert not hasattr(binder.skills, "_repr_html_")


def test_own_methods_win_over_attributes(binder: Binder) -> None:
    """Item access always reaches the skill."""
    binder.bind([], values={"get": "skill", "run-sync": "other"})
    assert callable(binder.skills.get)
    assert callable(binder.skills.run_sync)
    assert (binder.skills["get"], binder.skills["run_sync"]) == ("skill", "other")


def test_repr_names_every_skill_and_what_is_wrong() -> None:
    """One line, sorted."""
    skills = Skills()
    assert repr(skills) == "<skills: none>"
    broken = UnavailableSkill(
        "b", import_name="b", problem=Problem(state="stale", reason="r", fix="f")
    )
    text = Lazy(make=lambda: "text", state="disabled")
    skills._replace({"a": 1, "b": broken, "c": text}, aliases={})
    expected = "<skills: a, b (stale), c (disabled)>"
    assert repr(skills) == expected
    assert skills["c"] == "text"
    assert repr(skills) == expected


def test_completion_offers_keys_and_import_names(binder: Binder) -> None:
    """``skills["<tab>`` and ``skills.<tab>``."""
    binder.bind([], values={"word-count": 1, "edit@user": 2})
    assert binder.skills._ipython_key_completions_() == ["edit@user", "word-count"]
    assert "word_count" in dir(binder.skills)
    assert "word-count" not in dir(binder.skills)


async def test_run_sync_works_inside_a_running_loop() -> None:
    """On a loop of its own in a thread, the context copied."""
    variable: contextvars.ContextVar[int] = contextvars.ContextVar("variable")
    variable.set(5)

    async def work() -> tuple[int, bool]:
        await asyncio.sleep(0)
        return variable.get(), threading.current_thread() is threading.main_thread()

    assert Skills().run_sync(work()) == (5, False)


def test_run_sync_raises_what_the_coroutine_raises() -> None:
    """Also what is no ``Exception``."""

    async def work(error: BaseException) -> None:
        raise error

    with pytest.raises(ValueError, match="own"):
        run_sync(work(ValueError("own")))
    with pytest.raises(SystemExit):
        run_sync(work(SystemExit(3)))
    with pytest.raises(KeyboardInterrupt):
        run_sync(work(KeyboardInterrupt()))


async def test_run_sync_refuses_tasks_and_futures() -> None:
    """They belong to the loop that made them."""
    task = asyncio.ensure_future(asyncio.sleep(0))
    with pytest.raises(TypeError, match="await"):
        run_sync(task)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="coroutine"):
        run_sync(5)  # type: ignore[arg-type]
    await task


def test_an_interrupt_of_run_sync_cancels_the_coroutine() -> None:
    """And is raised in the caller when the coroutine has cleaned up."""
    seen: list[str] = []

    async def work() -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.Event().wait()
        finally:
            seen.append("cleaned up")

    with pytest.raises(KeyboardInterrupt):
        run_sync(work())
    assert seen == ["cleaned up"]
