"""A course of time as text: a bar for each stage and import, to one scale. Pure."""

from __future__ import annotations

from typing import Final

from prime_skills_ext.views.timeline import Course, Span, duration
from prime_skills_ext.views.wording import cell_width, clean, pad, shorten

__all__ = ["render"]

_MAX_NAME: Final = 32
_TIME: Final = 8
#: Parts of a column, an eighth more each.
_EIGHTHS: Final = "▏▎▍▌▋▊▉█"


def render(course: Course, *, width: int) -> list[str]:
    """Return the lines of a course; each bar begins where its work did.

    Args:
        course: What is drawn.
        width: Columns that a line takes at most.
    """
    labels = [_label(span) for span in course.drawn]
    name = max(map(cell_width, labels), default=0)
    room = width - name - _TIME - 6
    total = course.seconds or 1.0
    lines = [f"{course.title}: {duration(course.seconds)}"]
    for label, span in zip(labels, course.drawn, strict=True):
        took = f"{duration(span.seconds):>{_TIME}}"
        line = (
            f"  {pad(label, width=name)}  {took}  {_bar(span, total=total, room=room)}"
        )
        lines.append(line.rstrip())
    if course.rest:
        seconds = sum(span.seconds for span in course.rest)
        lines.append(f"    and {len(course.rest)} more, {duration(seconds)}")
    return lines


def _label(span: Span) -> str:
    if span.skill is None:
        return span.kind
    return f"  {shorten(clean(span.skill), width=_MAX_NAME)}"


def _bar(span: Span, *, total: float, room: int) -> str:
    """Return a bar of at least an eighth of a column, at its place."""
    start = min(room - 1, int(room * span.start_s / total))
    eighths = max(1, round(8 * room * span.seconds / total))
    eighths = min(eighths, 8 * (room - start))
    whole, part = divmod(eighths, 8)
    return " " * start + "█" * whole + (_EIGHTHS[part - 1] if part else "")
