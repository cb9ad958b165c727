"""What a skill may import from the kernel that runs it.

This module owns the request that a skill makes to the agent host. Nothing is
guessed and nothing waits here: where no host listens, a request fails at once. The
command line of skills is ``rlm.skill:cli``; importing ``rlm`` needs nothing but the
standard library.
"""

from __future__ import annotations

from typing import Any

__all__ = ["__version__", "host_request"]

__version__ = "0.1.0"


async def host_request(
    type: str,  # noqa: A002 - the word of the wire format, and skills pass it by name
    payload: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Ask the agent host for something and wait for its answer.

    Args:
        type: What is asked for, such as ``"model.info"``.
        payload: The fields of the request; ``None`` for none.

    Returns:
        The fields of the answer.

    Raises:
        TypeError: ``type`` is not a string with content, or ``payload`` is neither
            a dict nor ``None``.
        RuntimeError: No agent host is there to answer.
    """
    if not isinstance(type, str) or not type.strip():
        message = f"type must be a non-empty string, not {type!r}"
        raise TypeError(message)
    if payload is not None and not isinstance(payload, dict):
        found = payload.__class__.__name__
        message = f"payload must be a dict or None, not {found}"
        raise TypeError(message)
    message = (
        f"no agent host is connected to this kernel, so nobody can answer {type!r}.\n"
        "Fix: call this skill in a kernel that an agent host has started; skills that "
        "ask nothing of a host work in every kernel."
    )
    raise RuntimeError(message)
