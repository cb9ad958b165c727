"""A kernel and its comms as values, as far as the bridge looks at them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any, Protocol

__all__ = ["Channel", "PlayedKernel"]

_NUMBERS = itertools.count()


class Opened(Protocol):
    """What a target is called with."""

    def __call__(self, channel: Any, message: Mapping[str, Any], /) -> None: ...


class Channel:
    """The kernel's end of one comm."""

    handle_msg: Callable[[Mapping[str, Any]], None]

    def __init__(self, target: str = "prime_skills.host") -> None:
        self.target_name = target
        self.comm_id = str(next(_NUMBERS))
        self.sent: list[Any] = []
        self.ended: Callable[[object], object] = lambda _: None

    def on_close(self, callback: Callable[[object], object]) -> None:
        self.ended = callback

    def handle_close(self, message: object) -> None:
        self.ended(message)

    def send(self, data: object) -> None:
        self.sent.append(data)

    def close(self, data: object = None) -> None:
        self.sent.append(("closed", data))


class _Comms:
    def __init__(self) -> None:
        self.targets: dict[str, Opened] = {}
        self.comms: dict[str, Channel] = {}

    def register_target(self, name: str, function: Opened) -> None:
        self.targets[name] = function

    def unregister_target(self, name: str, _function: Opened) -> None:
        del self.targets[name]

    def comm_open(self, *_words: object) -> None: ...

    def comm_msg(self, *_words: object) -> None: ...

    def comm_close(self, *_words: object) -> None: ...


class PlayedKernel:
    """Has comms, and hears none of them on its control channel."""

    def __init__(self) -> None:
        self.comm_manager = _Comms()
        self.control_handlers: dict[str, object] = {"interrupt_request": self}

    def announce(self, *handlers: str) -> Channel:
        """Let a host come."""
        channel = Channel()
        opened = self.comm_manager.targets["prime_skills.host"]
        opened(channel, said(*handlers))
        return channel


def said(*handlers: str) -> dict[str, object]:
    """The message of a host that answers these."""
    return {"content": {"data": {"protocol": 1, "handlers": list(handlers)}}}
