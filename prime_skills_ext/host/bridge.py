"""Which agent host this kernel has, as the host says it of itself.

A host opens a comm to the target ``prime_skills.host`` with ``{"protocol": 1,
"handlers": [...]}`` and is answered ``{"protocol": 1}``. It says it again on the same
comm when its handlers change, and closes it when it goes. What cannot be read is
closed with ``{"error": …}``. All of that is heard on the control channel, too, so a
cell that runs does not keep it waiting. Nothing happens here but that it is noted: what
follows from it is the manager's, between two cells.

It knows no ipykernel: what it needs of a kernel is asked of the one that it is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, final

__all__ = ["PROTOCOL", "TARGET", "Bridge"]

TARGET: Final = "prime_skills.host"
#: Of what host and kernel say to each other. Under protocol 1 a host that answers
#: ``rlm.run`` takes ``agent`` and ``background`` in its ``kwargs``; one that finds
#: ``background`` false there answers when its sub-agent is done, with ``result``.
PROTOCOL: Final = 1

#: The target of what skills ask, each on a comm of its own: see ``rlm``.
_REQUESTS: Final = "host.request"
_COMMS: Final = ("comm_open", "comm_msg", "comm_close")


@final
class Bridge:
    """Hears hosts announce themselves, while it is open.

    Args:
        kernel: The ipykernel of the shell.
    """

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        #: Comm and handlers of each host that is there; who came last is the last.
        self._hosts: dict[str, tuple[Any, frozenset[str]]] = {}
        self._control: dict[str, Any] = {}
        self._is_open = False

    @property
    def handlers(self) -> frozenset[str] | None:
        """What the host answers that came last; ``None`` when none is there."""
        # hosts come and go on other threads
        hosts = list(self._hosts.values())
        return hosts[-1][1] if hosts else None

    def open(self) -> None:
        """Listen from now on; does nothing when it is open."""
        if self._is_open:
            return
        self._is_open = True
        comms, handlers = self._kernel.comm_manager, self._kernel.control_handlers
        comms.register_target(TARGET, self._opened)
        for name in _COMMS:
            handler = getattr(comms, name)
            if name not in handlers:
                handlers[name] = self._control[name] = handler

    def close(self) -> None:
        """Leave the kernel as it was; hosts that are there hear of it."""
        if not self._is_open:
            return
        self._is_open = False
        for channel, _ in list(self._hosts.values()):
            channel.close()
        self._hosts.clear()
        self._end_requests()
        comms, handlers = self._kernel.comm_manager, self._kernel.control_handlers
        if comms.targets.get(TARGET) == self._opened:
            comms.unregister_target(TARGET, self._opened)
        for name, handler in self._control.items():
            if handlers.get(name) == handler:
                del handlers[name]
        self._control.clear()

    def _opened(self, channel: Any, message: Mapping[str, Any]) -> None:
        def said(message: Mapping[str, Any]) -> None:
            self._note(channel, message["content"]["data"])

        # not on_msg: around its callbacks a comm announces the end of a cell
        channel.handle_msg = said
        channel.on_close(lambda _message: self._gone(channel))
        said(message)

    def _gone(self, channel: Any) -> None:
        was_there = self._hosts.pop(channel.comm_id, None) is not None
        if was_there and not self._hosts:
            self._end_requests()

    def _end_requests(self) -> None:
        """Have no request wait for an answer that nobody gives or hears any more."""
        for channel in list(self._kernel.comm_manager.comms.values()):
            if channel.target_name == _REQUESTS:
                channel.handle_close({})

    def _note(self, channel: Any, data: object) -> None:
        problem = _problem(data)
        if problem is not None:
            channel.close({"error": problem, "protocol": PROTOCOL})
            self._gone(channel)
            return
        self._hosts[channel.comm_id] = channel, frozenset(data["handlers"])  # type: ignore[index]  # no problem
        channel.send({"protocol": PROTOCOL})


def _problem(data: object) -> str | None:
    """Say why an announcement cannot be read."""
    if not isinstance(data, Mapping):
        return "an announcement is an object"
    protocol, handlers = data.get("protocol"), data.get("handlers")
    if isinstance(protocol, bool) or protocol != PROTOCOL:
        return f"this kernel speaks protocol {PROTOCOL}, not {protocol!r}"
    if not isinstance(handlers, (list, tuple)) or not all(
        isinstance(name, str) for name in handlers
    ):
        return "handlers is a list of request types"
    return None
