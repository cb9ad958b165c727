"""A budget as text: a bar for each skill, to one scale. Pure."""

from __future__ import annotations

from typing import Final

from prime_skills_ext.prompt.listing import ListedItem
from prime_skills_ext.views.budget import CUTS, BudgetReport
from prime_skills_ext.views.wording import cell_width, clean, pad, shorten, wrap

__all__ = ["render"]

_MAX_NAME: Final = 32
_BAR: Final = 32
_WIDTH: Final = 100


def render(report: BudgetReport) -> str:
    """Return a budget as lines: what is shown is solid, what is cut is not."""
    if not report.listing.items:
        return f"Budget: nothing to list ({report.terms})"
    head = f"Budget: {report.used} ({report.terms})"
    lines = [*wrap(head, width=_WIDTH)]
    drawn = report.drawn
    names = [shorten(clean(item.name), width=_MAX_NAME) for item in drawn]
    width = max(map(cell_width, names))
    digits = max(len(f"{item.full:,}") for item in drawn)
    scale = max(1, *(item.full for item in drawn))
    lines += [
        f"  {pad(name, width=width)}  {item.shown:>{digits},}  {_bar(item, of=scale)}"
        for name, item in zip(names, drawn, strict=True)
    ]
    if report.rest:
        size = sum(item.shown for item in report.rest)
        lines.append(f"    and {len(report.rest):,} more, {size:,}")
    lines += [f"  {told}" for told in report.cuts]
    if report.fix:
        first, *others = report.fix.splitlines()
        lines += [f"  fix: {first}", *(f"       {other}" for other in others)]
    return "\n".join(lines)


def _bar(item: ListedItem, *, of: int) -> str:
    whole = max(1, round(_BAR * item.full / of))
    shown = min(whole, round(_BAR * item.shown / of))
    if item.cut == "whole":
        return "█" * whole
    # a cut is to be seen, however small it is
    shown = min(shown, whole - 1)
    told = f"of {item.full:,}, {CUTS[item.cut]}"
    return f"{'█' * shown}{'░' * (whole - shown)}  {told}"
