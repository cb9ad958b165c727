"""Tracebacks of calls: the caller's frames, one of ours, the skill's."""

from __future__ import annotations

from collections.abc import Collection
from types import CodeType, TracebackType

__all__ = ["foreign", "reaches", "trim"]


def foreign(
    trace: TracebackType | None, *, ours: Collection[str]
) -> TracebackType | None:
    """Return a traceback without its leading frames that lie in files of ours."""
    while trace is not None and trace.tb_frame.f_code.co_filename in ours:
        trace = trace.tb_next
    return trace


def trim(error: BaseException, *, ours: Collection[str]) -> None:
    """Leave one frame of ours: the outermost, which caught the error."""
    first = error.__traceback__
    if first is not None:
        first.tb_next = foreign(first.tb_next, ours=ours)


def reaches(trace: TracebackType | None, code: CodeType | None) -> bool:
    """Say whether some function's own code was running when an error came up."""
    while trace is not None:
        if trace.tb_frame.f_code is code:
            return True
        trace = trace.tb_next
    return False
