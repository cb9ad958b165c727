"""Lends environment variables to a skill for the time of a call.

``os.environ`` is one for the whole process, so loans are counted: calls that run at
once share a variable, the last one to end takes it away, and what the user sets
meanwhile stays. Where the values come from is told to it; it keeps none afterwards.
"""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping
from contextlib import suppress
from inspect import isasyncgen, isgenerator
from types import AsyncGeneratorType, GeneratorType, TracebackType
from typing import Any, Final, final

from prime_skills_ext.kernel.interrupts import shield

__all__ = ["Loan", "OwnEnviron", "Variables"]

#: Makes what one call is lent: names and values of variables.
Variables = Callable[[], Mapping[str, str]]

#: Shorter texts are part of too many words to be taken out of a message.
_MIN_SECRET_CHARS: Final = 6
_MAX_ERRORS: Final = 50
#: Where errors of Python keep words besides their arguments and dictionary.
_WORDS: Final = ("filename", "filename2", "strerror", "msg", "text", "object", "reason")


@final
class _Lent:
    """One variable that is lent now.

    Attributes:
        before: What it was, if anything; blank, since a set one is not lent.
        values: One per call that has it, the newest last.
    """

    def __init__(self, *, before: str | None) -> None:
        self.before = before
        self.values: list[str] = []


# a collected call may give back while another takes, in the same thread
_LOCK = threading.RLock()
_LENT: dict[str, _Lent] = {}


@final
class Loan:
    """The variables of one call; they are set while its context is open.

    An error that leaves the context no longer quotes what was lent.

    Args:
        variables: Makes names and values, anew for each time; ``None`` lends
            nothing.
    """

    # nothing here shows a value: tracebacks can show the locals of frames
    __slots__ = ("_taken", "_variables")

    def __init__(self, variables: Variables | None) -> None:
        self._variables = variables
        self._taken: list[Mapping[str, str]] = []

    def __enter__(self) -> None:
        if self._variables is not None:
            self._taken.append(_take(self._variables()))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._variables is None:
            return
        taken = self._taken.pop()
        _give_back(taken)
        if error is not None:
            _redact(error, secrets=taken.values())

    def around(self, result: Any) -> Any:
        """Return the result of a call; a generator is lent to while it runs."""
        if self._variables is None:
            return result
        if isasyncgen(result):
            return _step_async(result, self._variables)
        if isgenerator(result):
            return _step(result, self._variables)
        return result


@final
class OwnEnviron(Mapping[str, str]):
    """The environment as the user has it: without what is lent now."""

    def __getitem__(self, name: str) -> str:
        with _LOCK:
            try:
                value = os.environ[name]
            except UnicodeEncodeError:
                # the mark of a broken text, which no variable has in its name
                raise KeyError(name) from None
            lent = _LENT.get(name)
            if lent is None or value not in lent.values:
                return value
            if lent.before is None:
                raise KeyError(name)
            return lent.before

    def __iter__(self) -> Iterator[str]:
        return (name for name in [*os.environ] if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def copy(self) -> dict[str, str]:
        """Return it as it is now; this takes less than asking for each variable."""
        with _LOCK:
            found = dict(os.environ)
            for name in _LENT:
                if name not in self:
                    found.pop(name, None)
                elif name in found:
                    found[name] = self[name]
            return found

    def __repr__(self) -> str:
        return f"<environment of {len(self)} variables>"


def _take(variables: Mapping[str, str]) -> Mapping[str, str]:
    with _LOCK:
        for name, value in variables.items():
            first = _Lent(before=os.environ.get(name))
            # first of all: what the system refuses is not lent
            os.environ[name] = value
            _LENT.setdefault(name, first).values.append(value)
    return variables


def _give_back(variables: Mapping[str, str]) -> None:
    with _LOCK:
        for name, value in variables.items():
            lent = _LENT[name]
            # one that somebody set meanwhile is theirs
            is_ours = os.environ.get(name) in lent.values
            lent.values.remove(value)
            if is_ours and lent.values:
                os.environ[name] = lent.values[-1]
            elif is_ours and lent.before is not None:
                os.environ[name] = lent.before
            elif is_ours:
                os.environ.pop(name, None)
            if not lent.values:
                del _LENT[name]


# what is set and not noted would never be taken back
shield(_take)
shield(_give_back)


def _step(
    generator: GeneratorType[Any, Any, Any], variables: Variables
) -> Generator[Any, Any, Any]:
    """Run a generator; its consumer's code between two steps is lent nothing."""
    sent: Any = None
    try:
        while True:
            try:
                with Loan(variables):
                    item = generator.send(sent)
            except StopIteration as end:
                return end.value
            sent = yield item
    finally:
        generator.close()


async def _step_async(
    generator: AsyncGeneratorType[Any, Any], variables: Variables
) -> AsyncGenerator[Any, Any]:
    sent: Any = None
    try:
        while True:
            try:
                with Loan(variables):
                    item = await generator.asend(sent)
            except StopAsyncIteration:
                return
            sent = yield item
    finally:
        await generator.aclose()


def _redact(error: BaseException, *, secrets: Any) -> None:
    """Take secrets out of the words of an error and of those behind it."""
    texts = [text for text in secrets if len(text) >= _MIN_SECRET_CHARS]
    pending: list[BaseException | None] = [error]
    seen: set[int] = set()
    while texts and pending and len(seen) < _MAX_ERRORS:
        current = pending.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        # a stranger's class may have made these read-only, or something else
        with suppress(Exception):
            current.args = tuple(_clean(item, texts) for item in current.args)
        for name in (*_WORDS, *getattr(current, "__dict__", ())):
            with suppress(Exception):
                value = getattr(current, name)
                cleaned = _clean(value, texts)
                if cleaned != value:
                    setattr(current, name, cleaned)
        pending += [current.__cause__, current.__context__]
        if isinstance(current, BaseExceptionGroup):
            pending += current.exceptions


def _clean(item: Any, secrets: list[str]) -> Any:
    """Return texts without secrets, and so lists and tuples of texts: commands."""
    if isinstance(item, str):
        for secret in secrets:
            item = item.replace(secret, "<key>")
    elif isinstance(item, bytes):
        for secret in secrets:
            item = item.replace(os.fsencode(secret), b"<key>")
    elif type(item) in {list, tuple}:
        return type(item)(_clean(each, secrets) for each in item)
    return item
