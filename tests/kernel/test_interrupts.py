"""What an interrupt of an awaited skill goes by is put back exactly.

That it stops skills is shown in real kernels: ``integration/test_interrupts.py``.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from prime_skills_ext.kernel import terms
from prime_skills_ext.kernel.binding import Binder

CODE = """
    import asyncio, signal
    def state():
        descriptor = signal.set_wakeup_fd(-1)
        signal.set_wakeup_fd(descriptor, warn_on_full_buffer=False)
        return signal.getsignal(signal.SIGINT), descriptor
    async def run(turns=0):
        for _ in range(turns):
            await asyncio.sleep(0)
        return state()
"""


@pytest.fixture
def skill(binder: Binder, user_ns: dict[str, Any], new_skill: Any) -> Any:
    """A skill that says what is in place while it runs."""
    binder.bind([new_skill("looks", CODE)])
    return user_ns["looks"]


@pytest.fixture
def noted() -> Iterator[list[int]]:
    """Signals that somebody else's handler got: ipykernel has one for a cell."""
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: seen.append(number))
    yield seen
    signal.signal(signal.SIGINT, before)


async def test_nothing_is_in_place_before_and_after_a_call(
    skill: Any, noted: list[int]
) -> None:
    """Handler and wakeup descriptor; the latter only for a call that waits."""
    before = skill.state()
    handler, descriptor = await skill()
    assert handler is not before[0]
    assert (-1, before) == (descriptor, skill.state())
    handler, descriptor = await skill(2)
    assert handler is not before[0]
    assert descriptor != -1
    assert before == skill.state()


async def test_the_last_of_several_calls_puts_everything_back(
    skill: Any, noted: list[int]
) -> None:
    """They are counted."""
    before = skill.state()
    tasks = [asyncio.create_task(skill(turns)) for turns in (3, 9, 6)]
    await tasks[0]
    assert before[0] is not skill.state()[0]
    await asyncio.gather(*tasks)
    assert before == skill.state()


async def test_many_calls_in_one_turn_leave_it_to_the_next(
    skill: Any, noted: list[int]
) -> None:
    """Nothing waits between two of them that could be interrupted."""
    before = skill.state()
    for _ in range(100):
        await skill()
    await asyncio.sleep(0)
    assert before == skill.state()


async def test_errors_and_cancellation_put_everything_back(
    skill: Any, noted: list[int]
) -> None:
    """However a call ends."""
    before = skill.state()
    with pytest.raises(TypeError):
        await skill(1, 2)
    task = asyncio.create_task(skill(1000))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert before == skill.state()


async def test_a_signal_that_meets_no_skill_goes_to_the_handler_before(
    skill: Any, noted: list[int]
) -> None:
    """The user's own code beside an awaited skill is not stopped in its middle."""
    task = asyncio.create_task(skill(5))
    await asyncio.sleep(0)
    signal.raise_signal(signal.SIGINT)
    assert [signal.SIGINT] == noted
    await task


async def test_a_handler_and_a_descriptor_of_somebody_elses_stay(
    skill: Any, noted: list[int]
) -> None:
    """One that a skill installs, and one that a loop's signal handlers need."""
    ours, theirs = socket.socketpair()
    theirs.settimeout(0)
    signal.set_wakeup_fd(theirs.fileno())
    _, descriptor = await skill(2)
    assert theirs.fileno() == descriptor == signal.set_wakeup_fd(-1)
    ours.close()
    theirs.close()

    def own(*_: object) -> None: ...

    async def install(*_: object) -> None:
        signal.signal(signal.SIGINT, own)

    skill.run = install
    await skill()
    assert own is signal.getsignal(signal.SIGINT)


async def test_a_signal_while_a_key_is_lent_or_taken_back_upsets_nothing(
    skill: Any, noted: list[int]
) -> None:
    """It goes to the handler before, once the books are right."""

    class Key(dict[str, str]):
        def items(self) -> Any:
            signal.raise_signal(signal.SIGINT)
            return super().items()

    terms.provide(noted, {skill.__loader__.src: lambda: Key(A_KEY="secret")})
    try:
        await skill()
    finally:
        terms.withdraw(noted)
    assert [signal.SIGINT] * 2 == noted
    assert "A_KEY" not in os.environ


@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.default_int_handler])
async def test_a_handler_that_needs_no_help_is_left_in_place(
    handler: Any, skill: Any, noted: list[int]
) -> None:
    """A terminal raises anyhow; a kernel between two cells ignores."""
    signal.signal(signal.SIGINT, handler)
    assert (await skill(2))[0] == handler == skill.state()[0]


async def test_a_call_in_another_thread_changes_nothing(
    skill: Any, noted: list[int]
) -> None:
    """Signals are never handled there."""
    before, seen = skill.state(), []

    async def look(*_: object) -> None:
        seen.append(signal.getsignal(signal.SIGINT))

    skill.run = look
    thread = threading.Thread(target=lambda: asyncio.run(skill()))
    thread.start()
    await asyncio.to_thread(thread.join)
    assert ([before[0]], before) == (seen, skill.state())


def test_a_call_without_a_loop_of_asyncio_works(skill: Any, noted: list[int]) -> None:
    """Another framework's loop drives it."""
    before = skill.state()
    call = skill()
    with pytest.raises(StopIteration) as done:
        call.send(None)
    assert before[0] is not done.value.value[0]
    assert before == skill.state()
