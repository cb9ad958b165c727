"""Sub-agents of the agent host: start one, find models for it, list and delete.

The host does all of it. Arguments are looked at before anything is sent; an answer
that is not what it has to be is a ``RuntimeError``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from rlm._host import HostRequestError, host_request

__all__ = [
    "RLMModel",
    "RLMSpawnHandle",
    "RLMSubagent",
    "delete_subagent",
    "find_models",
    "list_subagents",
    "run",
]

_MAX_MODELS = 20
_TEXTS = ("name", "model", "thinking")

T = TypeVar("T")


@dataclass(frozen=True)
class RLMSpawnHandle:
    """A sub-agent that was started; its answer comes as a message of the host's.

    Attributes:
        rlm_child_id: Names it for the host.
        name: Names it for people and models.
        session_dir: Where it keeps its session.
        model: Which model it runs.
    """

    rlm_child_id: str
    name: str
    session_dir: Path
    model: str


@dataclass(frozen=True)
class RLMModel:
    """A model that sub-agents can run.

    Attributes:
        provider: Who serves it.
        id: The provider's name for it.
        name: Its name for people.
        selector: What ``run(model=…)`` takes.
    """

    provider: str
    id: str
    name: str
    selector: str


@dataclass(frozen=True)
class RLMSubagent:
    """A sub-agent that the host knows.

    Attributes:
        rlm_child_id: Names it for the host.
        active_session_id: Its session while it runs.
        session_id: Its session as it is stored.
        session_name: Names it for people and models.
        session_dir: Where it keeps its session.
        status: ``"running"``, ``"completed"`` or ``"error"``.
    """

    rlm_child_id: str
    active_session_id: str | None
    session_id: str | None
    session_name: str
    session_dir: Path
    status: str


async def run(prompt: str, **kwargs: Any) -> RLMSpawnHandle:
    """Start a sub-agent, and return as soon as the host has taken it on.

    Args:
        prompt: What it is to do.
        **kwargs: ``name`` (at most 64 characters), ``model`` (as ``find_models``
            names it) and ``thinking`` (``"off"`` to ``"max"``), all optional. Any
            other is for the host to refuse.

    Returns:
        What the host calls it. The answer is not waited for.

    Raises:
        TypeError: An argument is no text.
        RuntimeError: No host, or one that refuses: too deep, unknown model.
    """
    _text("prompt", prompt)
    for key in _TEXTS:
        if kwargs.get(key) is not None:
            _text(key, kwargs[key])
    given = {key: value for key, value in kwargs.items() if value is not None}
    kind = "rlm.run"
    reply = await host_request(kind, {"prompt": prompt, "kwargs": given})
    return _made(kind, lambda: _handle(reply))


async def find_models(query: str, limit: int = 8) -> list[RLMModel]:
    """Find models by a part of their names.

    Args:
        query: What to look for.
        limit: Most models to return, from 1 to 20.

    Raises:
        TypeError: ``query`` is no text, or ``limit`` no whole number.
        ValueError: ``limit`` is not between 1 and 20.
        RuntimeError: No host, or one that cannot tell.
    """
    _text("query", query)
    if isinstance(limit, bool) or not isinstance(limit, int):
        message = f"limit must be a whole number, not {limit!r}"
        raise TypeError(message)
    if not 1 <= limit <= _MAX_MODELS:
        message = f"limit must be between 1 and {_MAX_MODELS}, not {limit}"
        raise ValueError(message)
    kind = "rlm.find_models"
    reply = await host_request(kind, {"query": query, "limit": limit})
    return _made(kind, lambda: [_model(item) for item in _list(reply, "models")])


async def list_subagents() -> list[RLMSubagent]:
    """List the sub-agents of this session.

    Raises:
        RuntimeError: No host, or one that cannot tell.
    """
    kind = "rlm.list_subagents"
    reply = await host_request(kind)
    return _made(kind, lambda: [_subagent(it) for it in _list(reply, "subagents")])


async def delete_subagent(target: str | RLMSubagent) -> RLMSubagent:
    """Delete a sub-agent.

    Args:
        target: One that ``list_subagents`` returned, or its name or id.

    Returns:
        What was deleted.

    Raises:
        TypeError: ``target`` is neither.
        ValueError: It is an empty text.
        RuntimeError: No host, or one that does not know it.
    """
    if isinstance(target, RLMSubagent):
        target = target.rlm_child_id
    elif not isinstance(target, str):
        message = f"target must be a string or an RLMSubagent, not {target!r}"
        raise TypeError(message)
    if not target.strip():
        message = "target must name a sub-agent; it is empty"
        raise ValueError(message)
    kind = "rlm.delete_subagent"
    reply = await host_request(kind, {"target": target.strip()})
    return _made(kind, lambda: _subagent(reply["subagent"]))


def _text(name: str, value: object) -> None:
    if not isinstance(value, str):
        message = f"{name} must be a string, not {value!r}"
        raise TypeError(message)


def _made(kind: str, make: Callable[[], T]) -> T:
    """Make a value of an answer; one that does not fit is the host's mistake."""
    try:
        return make()
    except (KeyError, TypeError, ValueError) as error:
        message = f"the agent host's answer to {kind!r} cannot be read: {error!r}"
        raise HostRequestError(message, request=kind) from error


def _handle(data: Mapping[str, Any]) -> RLMSpawnHandle:
    return RLMSpawnHandle(
        rlm_child_id=_string(data, "rlm_child_id"),
        name=_string(data, "name"),
        session_dir=Path(_string(data, "session_dir")),
        model=_string(data, "model"),
    )


def _model(data: Mapping[str, Any]) -> RLMModel:
    provider, name = _string(data, "provider"), _string(data, "name")
    return RLMModel(provider, _string(data, "id"), name, _string(data, "selector"))


def _subagent(data: Mapping[str, Any]) -> RLMSubagent:
    return RLMSubagent(
        rlm_child_id=_string(data, "rlm_child_id"),
        active_session_id=_string_or_none(data, "active_session_id"),
        session_id=_string_or_none(data, "session_id"),
        session_name=_string(data, "session_name"),
        session_dir=Path(_string(data, "session_dir")),
        status=_string(data, "status"),
    )


def _list(data: Mapping[str, Any], key: str) -> list[Any]:
    value = data[key]
    if not isinstance(value, list):
        message = f"{key} is no list"
        raise TypeError(message)
    return value


def _string(data: Mapping[str, Any], key: str) -> str:
    value = data[key]
    if not isinstance(value, str):
        message = f"{key} is no string"
        raise TypeError(message)
    return value


def _string_or_none(data: Mapping[str, Any], key: str) -> str | None:
    return None if data.get(key) is None else _string(data, key)
