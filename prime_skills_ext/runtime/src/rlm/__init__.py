"""What a skill may import from the kernel that runs it.

``await rlm.host_request("model.info")`` asks the agent host; ``await rlm("do this")``
starts a sub-agent of it. Nothing is guessed and nothing waits for ever: where no host
listens, a request fails at once. The command line of skills is ``rlm.skill:cli``;
importing ``rlm`` needs nothing but the standard library.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from rlm._agents import (
    RLMModel,
    RLMSpawnHandle,
    RLMSubagent,
    delete_subagent,
    find_models,
    list_subagents,
    run,
)
from rlm._host import (
    DEFAULT_TIMEOUT_S,
    HostRequestError,
    HostTimeoutError,
    host_request,
)

__all__ = [
    "DEFAULT_TIMEOUT_S",
    "HostRequestError",
    "HostTimeoutError",
    "RLMModel",
    "RLMSpawnHandle",
    "RLMSubagent",
    "__version__",
    "delete_subagent",
    "find_models",
    "host_request",
    "list_subagents",
    "rlm",
    "run",
]

__version__ = "0.2.0"


class _Callable(ModuleType):
    """The module itself, which can be called: ``await rlm("do this")``."""

    async def __call__(self, prompt: str, /, **kwargs: Any) -> RLMSpawnHandle:
        """Start a sub-agent, as ``run`` does."""
        return await run(prompt, **kwargs)


#: ``from rlm import rlm`` gives what ``import rlm`` gives.
rlm = sys.modules[__name__]
rlm.__class__ = _Callable
