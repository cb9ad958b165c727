"""``asyncio.run`` inside cells: an option that patches asyncio for good.

It owns which library does it where, and what is wrong with the one that is found.
"""

from __future__ import annotations

import asyncio
import sys
from importlib import import_module

from prime_skills_ext.skill.model import Diagnostic

__all__ = ["allow", "find_problem"]

#: ipykernel 7 runs all cells in one context, which ``nest_asyncio`` enters a second
#: time: the cells that are queued behind one that nests a loop are then dropped.
_FIRST_SHARED_CONTEXT = 7


def allow() -> Diagnostic | None:
    """Let loops run inside a running loop, from now on and for good.

    Returns:
        What kept it from that; ``None`` when it is allowed.
    """
    if find_problem() is not None:
        return None  # it is allowed already, by the wrong library
    library = "nest_asyncio2" if _shares_context() else "nest_asyncio"
    try:
        import_module(library).apply(_loop())
    except (ImportError, ValueError) as error:  # a loop that is not asyncio's own
        return Diagnostic(
            code="nest-asyncio",
            message=f"loops cannot be nested here: {library}: {error}",
            fix="set SkillManager.nest_asyncio to False and use skills.run_sync",
        )
    return None


def find_problem() -> Diagnostic | None:
    """Say what is wrong with the way in which asyncio was patched, by whomever."""
    is_patched = hasattr(asyncio, "_nest_patched")
    if not is_patched or hasattr(asyncio, "_nest_asyncio2") or not _shares_context():
        return None
    return Diagnostic(
        code="nest-asyncio",
        message="asyncio is patched by nest_asyncio: in this ipykernel, cells that are "
        "queued behind one that nests a loop are dropped in silence",
        fix="do not apply nest_asyncio, restart the kernel, and set "
        "SkillManager.nest_asyncio to True or use skills.run_sync",
    )


def _shares_context() -> bool:
    """Whether the cells run in an ipykernel that has one context for all."""
    application = sys.modules.get("ipykernel.kernelapp")
    if application is None or not application.IPKernelApp.initialized():
        return False
    version: tuple[int, ...] = sys.modules["ipykernel"].version_info
    return version[0] >= _FIRST_SHARED_CONTEXT


def _loop() -> asyncio.AbstractEventLoop:
    """The loop of the cells, or one of its class: the class is what is patched."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        # the loop in which a terminal runs cells, which none runs between them
        from IPython.core.async_helpers import get_asyncio_loop  # noqa: PLC0415

        loop: asyncio.AbstractEventLoop = get_asyncio_loop()  # type: ignore[no-untyped-call]
        return loop
