"""A budget as HTML with a picture: one row for each skill, to one scale.

Pure: a value in, markup out. The picture is as wide as its place; what is cut has the
colour of a warning and a pattern, and is told in words beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from prime_skills_ext.prompt.listing import ListedItem
from prime_skills_ext.views import markup
from prime_skills_ext.views.budget import CUTS, BudgetReport
from prime_skills_ext.views.wording import clean, shorten

__all__ = ["render"]

_ROW: Final = 34
_BAR_AT: Final = 17
_BAR: Final = 8
_TOTAL: Final = 10
_MAX_NAME: Final = 34
_SHOWN: Final = "var(--jp-brand-color1, #2f7fd6)"
_MISSING: Final = "var(--jp-warn-color1, #e08a00)"
_TRACK: Final = "fill:currentColor;opacity:0.07"


def render(report: BudgetReport) -> str:
    """Return a budget as a card."""
    pills = "".join(markup.pill("todo", told.split(":")[0]) for told in report.cuts)
    verdict = pills or markup.pill("good", "nothing is cut")
    head = f"<header><b>Budget</b>{verdict}</header>"
    if not report.listing.items:
        note = f"<p class='ps-lead'>Nothing to list: {markup.prose(report.terms)}.</p>"
        return markup.card("<header><b>Budget</b></header>", note)
    terms = f"<span class='ps-muted'>{markup.escaped(report.terms)}</span>"
    title = f"<h4>{escape(report.used)}{terms}</h4>"
    parts = [
        f"<section>{title}{_total(report)}</section>",
        f"<section>{_rows(report)}</section>",
    ]
    if report.cuts:
        told = [*map(markup.prose, report.cuts), markup.fix_line(report.fix)]
        cuts = "".join(f"<li>{line}</li>" for line in told if line)
        parts.append(f"<ul class='ps-notes'>{cuts}</ul>")
    return markup.card(head, *parts)


def _total(report: BudgetReport) -> str:
    """Return how full the budget is; without one, a full bar says nothing."""
    limit = report.listing.limit
    if limit is None:
        return ""
    share = min(100.0, 100 * report.listing.counted / max(1, limit))
    bar = (
        f"<rect width='100%' height='{_TOTAL}' rx='5' style='{_TRACK}'/>"
        f"<rect width='{share:.2f}%' height='{_TOTAL}' rx='5' style='fill:{_SHOWN}'/>"
    )
    return _picture(bar, height=_TOTAL, title=report.used)


def _rows(report: BudgetReport) -> str:
    drawn = report.drawn
    scale = max(1, *(item.full for item in drawn))
    parts = [_stripes()]
    for number, item in enumerate(drawn):
        parts += _row(item, top=number * _ROW, scale=scale)
    height = len(drawn) * _ROW
    if report.rest:
        size = sum(item.shown for item in report.rest)
        parts.append(
            f"<text x='0' y='{height + 12}' style='fill:currentColor'>"
            f"and {len(report.rest):,} more, {size:,}</text>"
        )
        height += 20
    title = ", ".join(f"{clean(item.name)} {_told(item)}" for item in drawn)
    return _picture("".join(parts), height=height, title=title)


def _row(item: ListedItem, *, top: int, scale: int) -> Iterator[str]:
    whole = 100 * item.full / scale
    shown = min(whole, 100 * item.shown / scale)
    bar = top + _BAR_AT
    name = escape(shorten(clean(item.name), width=_MAX_NAME))
    yield (
        f"<text x='0' y='{top + 12}' font-weight='600' "
        f"style='fill:currentColor'>{name}</text>"
        f"<text x='100%' y='{top + 12}' text-anchor='end' "
        f"style='fill:currentColor;font-variant-numeric:tabular-nums'>"
        f"{_told(item)}</text>"
        f"<rect y='{bar}' width='100%' height='{_BAR}' rx='4' style='{_TRACK}'/>"
    )
    if item.cut != "whole":
        yield (
            f"<rect y='{bar}' width='{whole:.2f}%' height='{_BAR}' rx='3' "
            f"style='fill:{_MISSING};opacity:0.35'/>"
            f"<rect y='{bar}' width='{whole:.2f}%' height='{_BAR}' rx='3' "
            f"style='fill:url(#ps-cut)'/>"
        )
    if shown:
        yield (
            f"<rect y='{bar}' width='{shown:.2f}%' height='{_BAR}' rx='3' "
            f"style='fill:{_SHOWN}'/>"
        )


def _told(item: ListedItem) -> str:
    if item.cut == "whole":
        return f"{item.shown:,}"
    return f"{item.shown:,} of {item.full:,}, {CUTS[item.cut]}"


def _stripes() -> str:
    """Return the pattern of what is cut: not told by colour alone."""
    return (
        "<defs><pattern id='ps-cut' width='5' height='5' "
        "patternUnits='userSpaceOnUse' patternTransform='rotate(45)'>"
        f"<rect width='2' height='5' style='fill:{_MISSING}'/></pattern></defs>"
    )


def _picture(content: str, *, height: int, title: str) -> str:
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='100%' height='{height}' "
        f"role='img' style='display:block;overflow:visible;font-size:12px'>"
        f"<title>{escape(title)}</title>{content}</svg>"
    )
