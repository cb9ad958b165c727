"""The agent host, played from outside the kernel with ``jupyter_client``."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal

from tests.integration.drivers import CELL_TIMEOUT_S, Kernel, Outcome

__all__ = ["CLOSES", "MUTE", "SILENT", "Answer", "PlayedHost"]

#: What a host does that does not answer.
CLOSES = "closes"
SILENT = "silent"
#: What a host does that sends a message without an answer in it.
MUTE = "mute"

Answer = Mapping[str, object] | str
Channel = Literal["control", "shell"]


class PlayedHost:
    """Runs cells and meanwhile answers what they ask.

    Args:
        kernel: Whose host it is.
        answer: Says what is sent back for the data of a request.
    """

    def __init__(
        self,
        kernel: Kernel,
        answer: Callable[[dict[str, Any]], Answer] = lambda _: SILENT,
    ) -> None:
        self.client = kernel.client
        self.answer = answer
        #: The data of every request, in the order in which they came.
        self.requests: list[dict[str, Any]] = []
        #: Requests that the kernel closed, by comm.
        self.closed: list[str] = []
        #: What the kernel sent on comms that this host opened.
        self.heard: list[tuple[str, dict[str, Any]]] = []
        self._comm = ""

    def announce(
        self,
        handlers: Collection[str],
        *,
        on: Channel = "control",
        data: dict[str, object] | None = None,
    ) -> dict[str, Any]:
        """Say what is answered, for the first time or again; return the reply.

        Args:
            handlers: What is answered.
            on: The channel to say it on.
            data: What is said instead.
        """
        content: dict[str, object] = {
            "data": data or {"protocol": 1, "handlers": list(handlers)}
        }
        kind = "comm_msg" if self._comm else "comm_open"
        if not self._comm:
            self._comm = uuid.uuid4().hex
            content["target_name"] = "prime_skills.host"
        self._send(kind, {**content, "comm_id": self._comm}, on=on)
        before = len(self.heard)
        self.serve(lambda: len(self.heard) > before)
        how, said = self.heard[-1]
        if how == "comm_close":
            self._comm = ""
        return said

    def leave(self, *, on: Channel = "shell") -> None:
        """Close the announcement."""
        self._send("comm_close", {"comm_id": self._comm, "data": {}}, on=on)
        self._comm = ""

    def run(self, code: str, *, silent: bool = False) -> Outcome:
        """Run a cell and answer until it is done, whoever asks."""
        outcome = Outcome()
        sent = self.client.execute(
            code, silent=silent, store_history=False, stop_on_error=False
        )

        def is_done(message: dict[str, Any]) -> bool:
            if message["parent_header"].get("msg_id") != sent:
                return False
            content = message["content"]
            kind = message["header"]["msg_type"]
            if kind == "stream":
                if content["name"] == "stdout":
                    outcome.stdout += content["text"]
                else:
                    outcome.stderr += content["text"]
            elif kind == "execute_result":
                outcome.result = content["data"].get("text/plain")
            elif kind == "error":
                outcome.error = f"{content['ename']}: {content['evalue']}"
            return bool(kind == "status" and content["execution_state"] == "idle")

        self._read(is_done)
        self.client.get_shell_msg(timeout=CELL_TIMEOUT_S)
        return outcome

    def serve(self, until: Callable[[], bool]) -> None:
        """Answer until something holds, no cell running."""
        if not until():
            self._read(lambda _message: until())

    def _read(self, is_enough: Callable[[dict[str, Any]], bool]) -> None:
        while True:
            message = self.client.get_iopub_msg(timeout=CELL_TIMEOUT_S)
            self._hear(message)
            if is_enough(message):
                return

    def _hear(self, message: dict[str, Any]) -> None:
        kind, content = message["header"]["msg_type"], message["content"]
        if kind == "comm_open" and content["target_name"] == "host.request":
            self.requests.append(content["data"])
            self._reply(content["comm_id"], self.answer(content["data"]))
        elif kind in {"comm_msg", "comm_close"} and content["comm_id"] == self._comm:
            self.heard.append((kind, content["data"]))
        elif kind == "comm_close":
            self.closed.append(content["comm_id"])

    def _reply(self, comm: str, answer: Answer) -> None:
        if answer == SILENT:
            return
        if answer == CLOSES:
            self._send("comm_close", {"comm_id": comm, "data": {}})
            return
        said = {} if answer == MUTE else {"data": answer}
        self._send("comm_msg", {"comm_id": comm, **said})

    def _send(
        self, kind: str, content: dict[str, object], *, on: Channel = "control"
    ) -> None:
        channel = getattr(self.client, f"{on}_channel")
        channel.send(self.client.session.msg(kind, content))
