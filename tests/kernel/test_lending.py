"""Variables that are lent for the time of a call: counted, restored, never quoted."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import threading
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import CalledProcessError
from types import ModuleType
from typing import Any

import pytest

from prime_skills_ext.kernel.callable_module import make_callable
from prime_skills_ext.kernel.lending import OwnEnviron
from prime_skills_ext.kernel.terms import provide, withdraw

NAME = "A_SECRET_KEY"
KEY = "sk-5e7c-very-secret"

MakeModule = Callable[..., Any]


class Owner:
    """Who says what is lent."""

    def __init__(self) -> None:
        self.value: str = KEY
        self.name = NAME

    def variables(self) -> Mapping[str, str]:
        return {} if self.name in OwnEnviron() else {self.name: self.value}


@pytest.fixture
def owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Owner]:
    """Lends ``KEY`` to the module in ``tmp_path / "a" / "src"``."""
    monkeypatch.delenv(NAME, raising=False)
    made = Owner()
    provide(made, {tmp_path / "a" / "src": made.variables})
    yield made
    withdraw(made)
    assert NAME not in os.environ


@pytest.fixture
def make_module(tmp_path: Path) -> MakeModule:
    """``make_module(run)``: a callable module of the skill ``a``."""

    def make(run: Callable[..., Any], *, skill: str = "a") -> Any:
        module = ModuleType(skill)
        module.__file__ = str(tmp_path / skill / "src" / skill / "__init__.py")
        module.run = run  # type: ignore[attr-defined]
        make_callable(module)
        return module

    return make


def seen() -> str | None:
    return os.environ.get(NAME)


async def test_skill_sees_its_variable_during_the_call_alone(
    owner: Owner, make_module: MakeModule
) -> None:
    """Before and after there is none."""

    async def run() -> tuple[str | None, str | None]:
        first = seen()
        await asyncio.sleep(0)
        return first, seen()

    skill = make_module(run)
    call = skill()
    assert seen() is None
    assert (KEY, KEY) == await call
    assert seen() is None


async def test_other_skills_are_lent_nothing(
    owner: Owner, make_module: MakeModule
) -> None:
    """A skill that declares no key has none."""
    assert await make_module(seen, skill="b")() is None


async def test_call_that_fails_gives_back(
    owner: Owner, make_module: MakeModule
) -> None:
    """Also when it is cancelled, never awaited or closed half-way."""

    async def run(how: str) -> None:
        if how == "raise":
            raise LookupError(how)
        await asyncio.sleep(60)

    skill = make_module(run)
    with pytest.raises(LookupError):
        await skill("raise")
    with pytest.raises(TypeError):
        await skill()
    task = asyncio.create_task(skill("wait"))
    await asyncio.sleep(0)
    assert KEY == seen()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    half = skill("wait")
    half.send(None)
    half.close()
    assert seen() is None


async def test_calls_at_once_share_and_the_last_one_gives_back(
    owner: Owner, make_module: MakeModule
) -> None:
    """The first to end takes nothing from the others."""
    gates = [asyncio.Event() for _ in range(3)]

    async def run(number: int) -> str | None:
        await gates[number].wait()
        return seen()

    skill = make_module(run)
    tasks = [asyncio.create_task(skill(number)) for number in range(3)]
    await asyncio.sleep(0)
    for number in (1, 0, 2):
        gates[number].set()
        assert KEY == await tasks[number]
        assert (KEY if number != 2 else None) == seen()


async def test_second_call_does_not_take_the_loan_for_the_users(
    owner: Owner, make_module: MakeModule
) -> None:
    """It counts too: the user's environment has no such variable."""
    gate = asyncio.Event()

    async def run() -> str | None:
        assert NAME not in OwnEnviron()
        assert NAME not in [*OwnEnviron()]
        await gate.wait()
        return seen()

    skill = make_module(run)
    first = asyncio.create_task(skill())
    await asyncio.sleep(0)
    second = asyncio.create_task(skill())
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    gate.set()
    assert KEY == await second


async def test_new_key_reaches_the_next_call_and_both_give_back(
    owner: Owner, make_module: MakeModule
) -> None:
    """A login while a call runs."""
    gates = {"old": asyncio.Event(), "new": asyncio.Event()}

    async def run(which: str) -> str | None:
        await gates[which].wait()
        return seen()

    skill = make_module(run)
    old = asyncio.create_task(skill("old"))
    await asyncio.sleep(0)
    owner.value = "another-key"
    new = asyncio.create_task(skill("new"))
    await asyncio.sleep(0)
    gates["new"].set()
    assert "another-key" == await new
    gates["old"].set()
    assert KEY == await old


def test_threads_share_it_as_well(owner: Owner, make_module: MakeModule) -> None:
    """Many short calls on loops of their own."""
    barrier = threading.Barrier(4)

    async def run() -> bool:
        return all(seen() == KEY for _ in range(200))

    skill = make_module(run)

    def work(_: int) -> bool:
        barrier.wait()
        return all(asyncio.run(skill()) for _ in range(20))

    with ThreadPoolExecutor(4) as pool:
        assert [True] * 4 == [*pool.map(work, range(4))]
    assert seen() is None


async def test_what_the_user_sets_meanwhile_stays(
    owner: Owner, make_module: MakeModule, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is theirs, and the next call is lent nothing."""

    async def run() -> str | None:
        return seen()

    async def sets() -> None:
        os.environ[NAME] = "mine"

    assert KEY == await make_module(run)()
    await make_module(sets)()
    assert "mine" == seen() == OwnEnviron()[NAME]
    assert "mine" == await make_module(run)()
    del os.environ[NAME]


async def test_blank_variable_is_put_back(
    owner: Owner, make_module: MakeModule
) -> None:
    """As it was."""
    src = Path(make_module(seen).__file__).parents[1]
    provide(owner, {src: lambda: {NAME: KEY}})
    os.environ[NAME] = " "
    try:
        assert KEY == await make_module(seen)()
        assert " " == seen()
    finally:
        del os.environ[NAME]


async def test_generator_has_it_while_it_runs_and_its_consumer_not(
    owner: Owner, make_module: MakeModule
) -> None:
    """It is returned as it is: what it was sent and returns goes through."""

    def run() -> Generator[Any, Any, str]:
        got = yield seen()
        yield got, seen()
        return "end"

    steps = await make_module(run)()
    found = [next(steps), seen(), steps.send("x"), seen()]
    assert [KEY, None, ("x", KEY), None] == found
    with pytest.raises(StopIteration, match="end"):
        next(steps)


async def test_async_generator_likewise(owner: Owner, make_module: MakeModule) -> None:
    """``async for item in await skill(q)``; one that is left early is closed."""
    closed: list[str | None] = []

    async def run() -> Any:
        try:
            got = yield seen()
            yield got, seen()
        finally:
            closed.append(seen())

    steps = await make_module(run)()
    assert [KEY, None] == [await anext(steps), seen()]
    assert [("x", KEY), None] == [await steps.asend("x"), seen()]
    await steps.aclose()
    assert 1 == len(closed)
    assert [KEY, (None, KEY)] == [item async for item in await make_module(run)()]


async def test_error_of_a_skill_does_not_quote_the_key(
    owner: Owner, make_module: MakeModule
) -> None:
    """SE-08: type, object and traceback stay, the words lose the secret."""

    async def run() -> None:
        try:
            raise ValueError(f"bad header {os.environ[NAME]!r}")  # noqa: TRY301
        except ValueError as error:
            failure = RuntimeError(f"GET /?key={os.environ[NAME]}", 404)
            failure.add_note(f"with {os.environ[NAME]}")
            raise ExceptionGroup("two", [failure, OSError(2, "no")]) from error

    with pytest.raises(ExceptionGroup) as caught:
        await make_module(run)()
    said = "".join(traceback.format_exception(caught.value))
    assert KEY not in said
    assert "GET /?key=<key>" in said
    assert "bad header" in said


@pytest.mark.parametrize(
    "make",
    [
        lambda key: OSError(5, "no", f"/tmp/{key}", None, key),
        lambda key: CalledProcessError(
            1, ["curl", key], output=key, stderr=key.encode()
        ),
        lambda key: SyntaxError(key, (key, 1, 1, key)),
        lambda key: UnicodeDecodeError("ascii", key.encode(), 0, 1, key),
        lambda key: json.JSONDecodeError("no", key, 0),
        lambda key: KeyError((key, [key])),
    ],
)
async def test_error_that_keeps_words_elsewhere_does_not_quote_the_key(
    owner: Owner, make_module: MakeModule, make: Callable[[str], Exception]
) -> None:
    """Names of files, commands, what they printed, and the text that was read."""

    async def run() -> None:
        raise make(os.environ[NAME])

    with pytest.raises(type(make("x"))) as caught:
        await make_module(run)()
    error = caught.value
    told = [getattr(error, name, None) for name in dir(error) if name[:2] != "__"]
    assert KEY not in repr((str(error), repr(error), told))


async def test_wrong_call_names_the_signature(
    owner: Owner, make_module: MakeModule
) -> None:
    """As without a key."""

    async def run(text: str) -> str:
        return text

    with pytest.raises(TypeError, match=r"Signature: a\(text"):
        await make_module(run)()


async def test_errors_that_fight_back_pass_unchanged(
    owner: Owner, make_module: MakeModule
) -> None:
    """Their arguments cannot be set; a loop of causes ends."""

    class StubbornError(Exception):
        args = property(lambda _: 1 / 0)

    async def run() -> None:
        first, second = StubbornError(), ValueError(KEY)
        first.__cause__, second.__cause__ = second, first
        raise first

    with pytest.raises(StubbornError) as caught:
        await make_module(run)()
    assert "<key>" == str(caught.value.__cause__)


async def test_no_frame_of_ours_shows_the_key(
    owner: Owner, make_module: MakeModule
) -> None:
    """A traceback with local variables is safe as far as we go."""

    async def run() -> None:
        raise LookupError("no")

    with pytest.raises(LookupError) as caught:
        await make_module(run)()
    trace = caught.value.__traceback__
    while trace is not None:
        if trace.tb_frame.f_globals.get("__name__", "").startswith("prime_skills_ext"):
            assert KEY not in repr(trace.tb_frame.f_locals)
        trace = trace.tb_next


async def test_problem_with_the_key_is_the_error_of_the_call(
    owner: Owner, make_module: MakeModule
) -> None:
    """The skill does not even start."""

    def fail() -> Mapping[str, str]:
        raise KeyError("no key")

    provide(owner, {Path(make_module(seen).__file__).parents[1]: fail})
    with pytest.raises(KeyError, match="no key"):
        await make_module(seen)()


async def test_nothing_is_lent_after_the_owner_left(
    owner: Owner, make_module: MakeModule
) -> None:
    """Unloading ends it."""
    withdraw(owner)
    assert await make_module(seen)() is None


async def test_what_the_system_refuses_is_not_lent(
    owner: Owner, make_module: MakeModule
) -> None:
    """The next call, with a key that fits, finds nothing left behind."""

    async def run() -> str | None:
        return seen()

    skill = make_module(run)
    owner.value = "a\0b-very-secret"
    with pytest.raises(ValueError, match="null"):
        await skill()
    owner.value = KEY
    assert KEY == await skill()
    assert seen() is None


def test_own_environment_has_no_name_that_cannot_be_one() -> None:
    """A lone surrogate is a name like any other that is not set."""
    assert OwnEnviron().get("k\ud800") is None
    assert "k\0" not in OwnEnviron()


def test_own_environment_is_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Alive, and without values in its repr."""
    own = OwnEnviron()
    monkeypatch.setenv(NAME, KEY)
    assert dict(own) == dict(os.environ)
    assert len(own) == len(os.environ)
    assert KEY not in repr(own)
    with pytest.raises(KeyError):
        own["NO_SUCH_NAME"]


def test_call_that_is_collected_gives_back(
    owner: Owner, make_module: MakeModule
) -> None:
    """Nobody may wait for it any more."""

    async def run() -> None:
        await asyncio.sleep(0)

    call = make_module(run)()
    call.send(None)
    assert KEY == seen()
    del call
    gc.collect()
    assert seen() is None
