"""The request that a skill makes to the agent host, and how its answer comes back.

Each request is a comm of its own. The host answers on the control channel: while a
cell waits for the answer, nothing else reaches the kernel. Nothing here waits for
ever, and where no host is, a request fails at once. It needs the standard library
alone; what belongs to the kernel is looked for when somebody asks.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

__all__ = [
    "DEFAULT_TIMEOUT_S",
    "HostRequestError",
    "HostTimeoutError",
    "host_request",
]

#: Longest wait for an answer where the caller says nothing else, in seconds.
DEFAULT_TIMEOUT_S = 300.0

#: Where requests go, and where a host announces itself.
_REQUESTS = "host.request"
_ANNOUNCEMENTS = "prime_skills.host"
#: Says that the comm of a request was closed.
_CLOSED = object()


class HostRequestError(RuntimeError):
    """An agent host could not answer, or answered with an error.

    Args:
        message: What the host said, or what went wrong on the way.
        request: The type of the request.
        code: The host's word for the kind of error, if it gave one.
        details: What else the host said about it, if anything.
    """

    def __init__(
        self,
        message: str,
        *,
        request: str | None = None,
        code: str | None = None,
        details: object = None,
    ) -> None:
        super().__init__(message)
        self.request = request
        self.code = code
        self.details = details


class HostTimeoutError(HostRequestError, TimeoutError):
    """An agent host did not answer in time."""


async def host_request(
    type: str,  # noqa: A002 - the word of the wire format, and skills pass it by name
    payload: dict[str, Any] | None = None,
    *,
    timeout_s: float | None = DEFAULT_TIMEOUT_S,
) -> dict[str, Any]:
    """Ask the agent host for something and wait for its answer.

    Args:
        type: What is asked for, such as ``"model.info"``.
        payload: The fields of the request; ``None`` for none.
        timeout_s: Longest wait for the answer, in seconds, five minutes unless said
            otherwise; ``None`` sets no limit.

    Returns:
        The fields of the answer.

    Raises:
        TypeError: ``type`` is not a string with content, ``payload`` is neither a
            dict nor ``None`` or holds what JSON cannot, or ``timeout_s`` is no number.
        ValueError: ``timeout_s`` is not positive.
        HostRequestError: A ``RuntimeError``: no agent host is there, it goes or
            closes the request, or it answered with an error, whose text this is.
        HostTimeoutError: Also a ``TimeoutError``: no answer came in time.
    """
    _check(type, payload, timeout_s)
    kernel = _kernel()
    if kernel is None or not _has_host(kernel):
        raise HostRequestError(_nobody(type, kernel), request=type)
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[object] = loop.create_future()

    def settle(reply: object) -> None:
        # on whichever thread reads the channel; a loop that is gone needs no answer
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(_settle, answer, reply)

    # written last: a field of that name must not turn one request into another
    channel = _open(kernel, {**(payload or {}), "type": type}, settle)
    try:
        reply = await asyncio.wait_for(answer, timeout_s)
    except asyncio.TimeoutError as error:  # noqa: UP041 - another class in Python 3.10
        message = (
            f"the agent host did not answer {type!r} within {timeout_s:g} s.\n"
            "Fix: ask again, or pass a longer timeout_s."
        )
        raise HostTimeoutError(message, request=type) from error
    finally:
        # the host may be closing it at this very moment
        with contextlib.suppress(KeyError):
            channel.close()
    return _read(type, reply)


def _check(type: object, payload: object, timeout_s: object) -> None:  # noqa: A002 - as above
    if not isinstance(type, str) or not type.strip():
        message = f"type must be a non-empty string, not {type!r}"
        raise TypeError(message)
    if payload is not None and not isinstance(payload, dict):
        found = payload.__class__.__name__
        message = f"payload must be a dict or None, not {found}"
        raise TypeError(message)
    if timeout_s is None:
        return
    if isinstance(timeout_s, bool) or not isinstance(timeout_s, (int, float)):
        message = f"timeout_s must be a number of seconds or None, not {timeout_s!r}"
        raise TypeError(message)
    if not timeout_s > 0:
        message = f"timeout_s must be positive, not {timeout_s!r}"
        raise ValueError(message)


def _kernel() -> Any:
    """Find the kernel that runs this code; ``None`` outside of one."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None)


def _has_host(kernel: Any) -> bool:
    if os.environ.get("RLM_SESSION_DIR", "").strip():
        return True
    channels = list(kernel.comm_manager.comms.values())  # other threads add to it
    return any(channel.target_name == _ANNOUNCEMENTS for channel in channels)


def _nobody(type: str, kernel: object) -> str:  # noqa: A002 - as above
    if kernel is None and os.environ.get("RLM_SESSION_DIR", "").strip():
        return (
            f"the agent host answers its kernel only, and {type!r} was asked outside "
            "of it.\n"
            "Fix: call this skill in a cell, not as a command."
        )
    return (
        f"no agent host is connected to this kernel, so nobody can answer {type!r}.\n"
        "Fix: call this skill in a kernel that an agent host has started; skills that "
        "ask nothing of a host work in every kernel."
    )


def _open(kernel: Any, data: dict[str, Any], settle: Callable[[object], None]) -> Any:
    """Send a request; ``settle`` is told the answer, or that there is none."""
    try:
        from comm import create_comm  # noqa: PLC0415 - a kernel has it
    except ImportError as error:
        message = f"this kernel cannot send messages to a host: {error}"
        raise HostRequestError(message, request=data["type"]) from error
    _listen_on_control(kernel)
    channel = create_comm(target_name=_REQUESTS, primary=False)
    # not on_msg: around its callbacks a comm announces the end of a cell, on whichever
    # thread the answer came, and plots of the cell that waits would be shown too early
    channel.handle_msg = lambda message: settle(message["content"].get("data"))
    channel.on_close(lambda _message: settle(_CLOSED))
    try:
        channel.open(data=data)
    except (TypeError, ValueError, RecursionError) as error:
        message = f"the payload of {data['type']!r} cannot be sent as JSON: {error}"
        raise TypeError(message) from error
    return channel


def _listen_on_control(kernel: Any) -> None:
    """Have the control channel hear comms, which a kernel hears on the shell's only."""
    for name in ("comm_msg", "comm_close"):
        kernel.control_handlers.setdefault(name, getattr(kernel.comm_manager, name))


def _settle(answer: asyncio.Future[object], reply: object) -> None:
    if not answer.done():  # the first one counts
        answer.set_result(reply)


def _read(type: str, reply: object) -> dict[str, Any]:  # noqa: A002 - as above
    if reply is _CLOSED:
        message = (
            f"the request {type!r} was closed without an answer: the agent host "
            "refused it or is gone.\n"
            "Fix: call this skill in a kernel that an agent host has started."
        )
        raise HostRequestError(message, request=type)
    if not isinstance(reply, Mapping):
        message = f"the answer to {type!r} is no object: {reply!r}"
        raise HostRequestError(message, request=type)
    status = reply.get("status")
    if status == "error":
        raise _error(type, reply)
    if status != "ok":
        message = f"{type!r} returned unexpected status: {status!r}"
        raise HostRequestError(message, request=type)
    return {key: value for key, value in reply.items() if key != "status"}


def _error(type: str, reply: Mapping[str, Any]) -> HostRequestError:  # noqa: A002 - as above
    said = reply.get("error")
    more: Mapping[str, Any] = said if isinstance(said, Mapping) else reply
    text = more.get("message") if isinstance(said, Mapping) else said
    if not isinstance(text, str) or not text.strip():
        text = f"{type!r} failed, and the agent host does not say why"
    # no kernel can send half a sign, and would leave its cell unanswered
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    code = more.get("code")
    return HostRequestError(
        text,
        request=type,
        code=code if isinstance(code, str) else None,
        details=more.get("details"),
    )
