"""The agent host of one kernel: whether there is one, what it answers, asking it.

The bridge hears hosts announce themselves, ``rlm`` asks them, ``prompt.fork`` knows
what is asked for a skill; here they are put together for the manager.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, final

from prime_skills_ext.catalog.hosts import find_handlers
from prime_skills_ext.errors import HostError
from prime_skills_ext.kernel.skills import run_sync
from prime_skills_ext.later import later
from prime_skills_ext.skill.model import Skill

if TYPE_CHECKING:
    from prime_skills_ext.host import bridge
    from prime_skills_ext.prompt import fork as forking
else:
    bridge = later("prime_skills_ext.host.bridge")  # a terminal has no kernel
    forking = later("prime_skills_ext.prompt.fork")

__all__ = ["AgentHost"]


@final
class AgentHost:
    """Whoever answers what skills ask of the agent around them.

    Args:
        kernel: The ipykernel that a host may announce itself to; ``None`` without one.
        environ: The environment variables to go by.
    """

    def __init__(self, kernel: object, *, environ: Mapping[str, str]) -> None:
        self._bridge = None if kernel is None else bridge.Bridge(kernel)
        self._environ = environ

    def open(self) -> None:
        """Listen to hosts from now on."""
        if self._bridge is not None:
            self._bridge.open()

    def close(self) -> None:
        """Leave the kernel as it was before ``open``."""
        if self._bridge is not None:
            self._bridge.close()

    def handlers(self) -> frozenset[str] | None:
        """Say what a host answers now; ``None`` when there is no host."""
        return find_handlers(self._environ, announced=self._announced)

    def ask(
        self,
        kind: str,
        payload: dict[str, Any] | None = None,
        *,
        timeout_s: float | None = None,
    ) -> dict[str, Any]:
        """Ask the host and wait for its answer, on whatever thread.

        Args:
            kind: The type of the request, such as ``"model.info"``.
            payload: Its fields.
            timeout_s: Longest wait, in seconds; ``None`` for as long as the host is
                there.

        Raises:
            HostError: There is no host, it does not answer such requests, or it
                answered with an error.
        """
        handlers = self.handlers()
        if handlers is None:
            raise HostError(
                "no agent host is connected to this kernel",
                fix="do this in a kernel that an agent host has started",
            )
        if kind not in handlers:
            raise HostError(
                f"the agent host does not answer {kind}",
                fix="do this in a kernel whose agent host does",
            )
        # what skills import, too; the kernel serves it
        host_request = import_module("rlm").host_request
        try:
            reply: dict[str, Any] = run_sync(
                host_request(kind, payload, timeout_s=timeout_s)
            )
        except RuntimeError as error:
            # those of rlm's own say the way out behind what is wrong
            message, _, fix = str(error).partition("\nFix: ")
            raise HostError(
                message,
                fix=fix or f"see what the agent host expects of {kind}, and ask again",
                code=getattr(error, "code", None),
                details=getattr(error, "details", None),
            ) from error
        return reply

    def fork(self, text: str, *, skill: Skill, timeout_s: float | None = None) -> str:
        """Hand an activated skill to a sub-agent of the host; return what it says.

        Args:
            text: What the sub-agent is to do: the activated body and arguments.
            skill: Whose text it is.
            timeout_s: Longest wait, in seconds; ``None`` for as long as the host is
                there.

        Raises:
            HostError: There is no host, or it did not run the skill.
        """
        protocol = None if self._announced is None else bridge.PROTOCOL
        ask = partial(self.ask, timeout_s=timeout_s)
        return forking.fork(text, skill=skill, ask=ask, protocol=protocol)

    @property
    def _announced(self) -> frozenset[str] | None:
        return None if self._bridge is None else self._bridge.handlers
