"""The object ``skills`` of a kernel: a mapping to every skill.

It answers with what it was given; it discovers and imports nothing itself.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import functools
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar, final

from prime_skills_ext.catalog.status import suggestion
from prime_skills_ext.errors import UnknownSkillError
from prime_skills_ext.kernel.interrupts import (
    begin,
    end,
    leave_task,
    stoppable,
)
from prime_skills_ext.kernel.placeholder import UnavailableSkill

__all__ = ["Lazy", "Skills", "run_sync"]

T = TypeVar("T")

#: How long an interrupt may go unnoticed that struck where nothing could notice it.
_LOOK_UP_S = 0.5


@final
class Lazy(NamedTuple):
    """A value that is made when somebody asks for it, once.

    Attributes:
        make: Makes it.
        state: What the list of skills says of it; ``None`` when all is well.
    """

    make: Callable[[], object]
    state: str | None = None


class Skills(Mapping[str, object]):
    """Every skill of this kernel by name.

    ``skills["word-count"]``, ``skills["word_count"]`` and ``skills.word_count`` are
    the same; ``skills["edit@builtin"]`` reaches one that lost its name to another.
    Unknown keys raise ``UnknownSkillError``, a ``LookupError``.
    """

    def __init__(self) -> None:
        self._values: dict[str, object] = {}
        self._aliases: dict[str, str] = {}
        self._states: dict[str, str] = {}

    def __getitem__(self, key: str) -> object:
        name = self._resolve(key)
        if name is None:
            raise self._unknown(key)
        value = self._values[name]
        if isinstance(value, Lazy):
            self._values[name] = value = value.make()
        return value

    def __iter__(self) -> Iterator[str]:
        # qualified names are answered for, but each skill is listed once
        return (name for name in self._values if "@" not in name)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._resolve(key) is not None

    def get(self, key: str, default: Any = None) -> Any:
        """The skill of that name, else ``default``."""
        return default if self._resolve(key) is None else self[key]

    def __getattr__(self, attribute: str) -> object:
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        if self._resolve(attribute) is None:
            raise AttributeError(str(self._unknown(attribute)))
        return self[attribute]

    def __dir__(self) -> list[str]:
        names = {*self._aliases, *self._values}
        return [*super().__dir__(), *(name for name in names if name.isidentifier())]

    def __repr__(self) -> str:
        names = [self._describe(name) for name in self]
        return f"<skills: {', '.join(names)}>" if names else "<skills: none>"

    def _ipython_key_completions_(self) -> list[str]:
        return [*self._values]

    def run_sync(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on a loop of its own in a thread and wait for it."""
        return run_sync(coroutine)

    def _replace(
        self, values: Mapping[str, object], *, aliases: Mapping[str, str]
    ) -> None:
        """Answer with these values from now on."""
        self._values = dict(values)
        self._aliases = dict(aliases)
        self._states = {
            name: value.state
            for name, value in self._values.items()
            if isinstance(value, Lazy) and value.state is not None
        }

    def _peek(self, key: str) -> object:
        """Return a value as far as it is made: nothing is imported for it."""
        value = self._values.get(self._resolve(key) or "")
        return None if isinstance(value, Lazy) else value

    def _resolve(self, key: str) -> str | None:
        return key if key in self._values else self._aliases.get(key)

    def _describe(self, name: str) -> str:
        value = self._values[name]
        if isinstance(value, UnavailableSkill):
            return f"{name} ({value._problem.state})"  # noqa: SLF001  # its public names raise
        return f"{name} ({self._states[name]})" if name in self._states else name

    def _unknown(self, key: str) -> UnknownSkillError:
        return UnknownSkillError(
            f"No skill is called {key!r}",
            fix=suggestion(str(key), {*self._values, *self._aliases}),
        )


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a loop of its own in a thread and wait for it.

    The context is copied. An interrupt cancels the coroutine.

    Raises:
        TypeError: It is no coroutine, or a Task or Future: those belong to the
            loop that made them and can only be awaited there.
    """
    if asyncio.isfuture(coroutine):
        raise TypeError("a Task or Future belongs to its own loop: `await` it")
    if not asyncio.iscoroutine(coroutine):
        raise TypeError(f"run_sync takes a coroutine, not {coroutine!r}")
    started: concurrent.futures.Future[Callable[[], object]] = (
        concurrent.futures.Future()
    )
    done: concurrent.futures.Future[T] = concurrent.futures.Future()

    async def main() -> T:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        if task is not None:  # a runner always runs a task
            started.set_result(
                functools.partial(loop.call_soon_threadsafe, task.cancel)
            )
        return await coroutine

    context = contextvars.copy_context()

    def work() -> None:
        try:
            with asyncio.Runner() as runner:
                done.set_result(runner.run(main(), context=context))
        except BaseException as error:  # noqa: BLE001  # raised again by the one who waits
            done.set_exception(error)

    thread = threading.Thread(target=work, name="skills.run_sync", daemon=True)
    # in a cell with `await` in it nothing would interrupt the wait
    is_counted = begin()
    try:
        thread.start()
        return _result(done)
    except KeyboardInterrupt as error:
        either: list[concurrent.futures.Future[Any]] = [started, done]
        concurrent.futures.wait(either, return_when=concurrent.futures.FIRST_COMPLETED)
        if not done.done():
            started.result()()
        thread.join()
        leave_task(error)
        raise
    finally:
        if is_counted:
            end()


def _result(done: concurrent.futures.Future[T]) -> T:
    while not done.done():
        # an interrupt just before a wait begins does not end that wait
        concurrent.futures.wait([done], timeout=_LOOK_UP_S)
    return done.result()


stoppable(run_sync)
