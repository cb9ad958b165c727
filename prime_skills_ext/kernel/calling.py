"""Calling a skill on terms: lent to, off the loop, within a limit of time.

A skill without terms is called by its module alone and never gets here.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from prime_skills_ext.errors import CallTimeoutError
from prime_skills_ext.kernel.lending import Loan
from prime_skills_ext.kernel.terms import Terms
from prime_skills_ext.kernel.tracebacks import foreign

__all__ = ["MACHINERY", "call_on_terms"]

#: Files whose frames do our work in a traceback.
MACHINERY = frozenset({__file__, asyncio.timeouts.__file__})


async def call_on_terms(
    terms: Terms,
    run: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    *,
    name: str,
) -> Any:
    """Call ``run`` and await what it returns if that can be awaited.

    Args:
        terms: On what terms.
        run: The skill's function.
        args: Its arguments.
        kwargs: Its named arguments.
        name: The skill's, for the message of a call that took too long.

    Raises:
        CallTimeoutError: It took longer than its limit. A coroutine is cancelled, a
            thread left to itself; what computes on the loop cannot be stopped.
    """
    call = partial(run, *args, **kwargs)
    loan = Loan(terms.variables)
    if terms.threaded and not inspect.iscoroutinefunction(run):
        work = _in_thread(call, loan, name=name)
    else:
        work = _on_loop(call, loan)
    if terms.timeout_s is None:
        return loan.around(await work)
    scope = asyncio.timeout(terms.timeout_s)
    try:
        async with scope:
            return loan.around(await work)
    except TimeoutError as error:
        if not scope.expired():
            raise  # the skill's own
        raise CallTimeoutError(
            f"{name}() did not end within {terms.timeout_s:g} s",
            fix="raise the limit with `%config SkillManager.call_timeout_s = SECONDS`, "
            "or set it to None",
        ) from _what_was_cancelled(error)


def _what_was_cancelled(error: TimeoutError) -> BaseException | None:
    """The cancellation behind a limit: it shows where the skill was waiting."""
    # asyncio names it as the cause since 3.11.3; before it is only the context
    cause = error.__cause__ or error.__context__
    return cause and cause.with_traceback(foreign(cause.__traceback__, ours=MACHINERY))


async def _on_loop(call: Callable[[], Any], loan: Loan) -> Any:
    with loan:
        result = call()
        return await result if inspect.isawaitable(result) else result


async def _in_thread(call: Callable[[], Any], loan: Loan, *, name: str) -> Any:
    """Run in a thread of its own, which a caller that is cancelled leaves behind.

    A pool would be full of those that were left, and wait for them at the end.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    results: list[Any] = []
    errors: list[BaseException] = []
    context = contextvars.copy_context()

    def work() -> None:
        # lent until the thread ends, whoever still waits for it
        try:
            with loan:
                results.append(context.run(call))
        except BaseException as error:  # noqa: BLE001  # raised where it is awaited
            errors.append(error)
        with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
            loop.call_soon_threadsafe(finish)

    def finish() -> None:
        if not done.done():
            done.set_result(None)

    threading.Thread(target=work, name=f"skill {name}", daemon=True).start()
    await done
    if errors:
        raise errors.pop()  # popped: the frame that it keeps must not keep it
    result = results.pop()
    if not inspect.isawaitable(result):
        return result
    with loan:
        return await result
