"""A course of time as a picture: one row for each stage and import, to one scale.

Pure: a value in, SVG out. It is as wide as its place, so lengths are shares of it and
the text keeps its size; colours are JupyterLab's where it has them.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from prime_skills_ext.views.timeline import Course, Kind, Span, duration
from prime_skills_ext.views.wording import clean, shorten

__all__ = ["render"]

_COLOURS: Final[dict[Kind, str]] = {
    "look": "var(--jp-brand-color1, #2f7fd6)",
    "discover": "var(--jp-brand-color1, #2f7fd6)",
    "select": "var(--jp-info-color1, #0aa2b5)",
    "install": "var(--jp-warn-color1, #e08a00)",
    "import": "var(--jp-success-color1, #2a9d5c)",
    "bind": "var(--md-purple-500, #8a5bc9)",
}
_STAGES: Final[dict[Kind, str]] = {
    "look": "look for changes",
    "discover": "discover",
    "select": "select",
    "install": "install",
    "import": "import",
    "bind": "bind",
}
_ROW: Final = 34
_BAR_AT: Final = 17
_BAR: Final = 8
_AXIS: Final = 20
_MAX_NAME: Final = 34
_MAX_TICKS: Final = 5
#: The least that can be seen, as a share of the whole.
_LEAST: Final = 0.4


def render(course: Course) -> str:
    """Return a course as SVG, well-formed and without anything to load."""
    total = course.seconds or 1.0
    rows = course.drawn
    height = len(rows) * _ROW + bool(course.rest) * _AXIS + _AXIS
    parts = [
        *_grid(total, height=height),
        *(
            part
            for number, span in enumerate(rows)
            for part in _row(span, top=number * _ROW, total=total)
        ),
    ]
    if course.rest:
        parts.append(_rest(course.rest, top=len(rows) * _ROW))
    told = ", ".join(f"{_label(span)} {duration(span.seconds)}" for span in rows)
    title = f"{course.title}, {duration(course.seconds)}: {told}"
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='100%' height='{height}' "
        f"role='img' style='display:block;overflow:visible;font-size:12px'>"
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def _row(span: Span, *, top: int, total: float) -> Iterator[str]:
    indent = 14 if span.skill is not None else 0
    weight = 400 if span.skill is not None else 600
    start = min(100 - _LEAST, 100 * span.start_s / total)
    share = min(100 - start, max(_LEAST, 100 * span.seconds / total))
    bar, low = top + _BAR_AT, "0.55" if span.skill is not None else "1"
    yield (
        f"<text x='{indent}' y='{top + 12}' font-weight='{weight}' "
        f"style='fill:currentColor'>{escape(_label(span))}</text>"
    )
    yield (
        f"<text x='100%' y='{top + 12}' text-anchor='end' "
        f"style='fill:currentColor;font-variant-numeric:tabular-nums'>"
        f"{duration(span.seconds)}</text>"
    )
    yield (
        f"<rect x='0' y='{bar}' width='100%' height='{_BAR}' rx='4' "
        f"style='fill:currentColor;opacity:0.07'/>"
    )
    yield (
        f"<rect x='{start:.2f}%' y='{bar}' width='{share:.2f}%' height='{_BAR}' "
        f"rx='3' style='fill:{_COLOURS[span.kind]};opacity:{low}'/>"
    )


def _rest(spans: tuple[Span, ...], *, top: int) -> str:
    seconds = sum(span.seconds for span in spans)
    return (
        f"<text x='14' y='{top + 12}' style='fill:currentColor'>"
        f"and {len(spans)} more, {duration(seconds)}</text>"
    )


def _grid(total: float, *, height: int) -> Iterator[str]:
    """Return thin lines at round times, with the times below."""
    for seconds in _ticks(total):
        at = f"{100 * seconds / total:.2f}%"
        yield (
            f"<line x1='{at}' x2='{at}' y1='0' y2='{height - _AXIS}' "
            f"style='stroke:currentColor;opacity:0.1'/>"
        )
        yield (
            f"<text x='{at}' y='{height - 4}' text-anchor='middle' font-size='11' "
            f"style='fill:currentColor'>{_round(seconds)}</text>"
        )


def _ticks(total: float) -> list[float]:
    """Return round times within a whole: steps of 1, 2 or 5, few of them."""
    power = 1e-6
    while True:
        for digit in (1, 2, 5):
            step = digit * power
            if total / step <= _MAX_TICKS:
                # one at the very end would stick out
                numbers = range(1, int(total / step) + 1)
                return [n * step for n in numbers if n * step < 0.97 * total]
        power *= 10


def _round(seconds: float) -> str:
    return f"{seconds:g} s" if seconds >= 1 else f"{seconds * 1000:g} ms"


def _label(span: Span) -> str:
    if span.skill is None:
        return _STAGES[span.kind]
    return shorten(clean(span.skill), width=_MAX_NAME)
