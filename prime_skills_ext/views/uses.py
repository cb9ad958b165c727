"""How often skills were used, as text and as HTML. Pure."""

from __future__ import annotations

from typing import Final

from prime_skills_ext.progress import counted
from prime_skills_ext.views import markup
from prime_skills_ext.views.statistics import SkillUses, Statistics
from prime_skills_ext.views.wording import cell_width, clean, pad

__all__ = ["as_html", "as_text"]

_HEADS: Final = ("NAME", "CALLS", "ACTIVATIONS")
_OFF: Final = "Uses in this kernel do not count"
_GONE: Final = "not here"


def as_text(value: Statistics) -> str:
    """Return a table, the most used first."""
    off = [] if value.is_counting else [_OFF]
    if not value.skills:
        return "\n".join(["Uses: none", *off])
    rows = [(clean(x.name), f"{x.calls:,}", f"{x.activations:,}") for x in value.skills]
    width = max(cell_width(row[0]) for row in (_HEADS, *rows))
    calls = max(len(row[1]) for row in (_HEADS, *rows))
    lines = [_line(_HEADS, width=width, calls=calls)]
    for each, row in zip(value.skills, rows, strict=True):
        mark = "" if each.is_here else f"  ({_GONE})"
        lines.append(_line(row, width=width, calls=calls) + mark)
    head = f"Uses: {counted(len(value.skills), 'skill')}, counted on this machine"
    return "\n".join([head, *lines, *off])


def as_html(value: Statistics) -> str:
    """Return a table with a bar for each skill."""
    pill = "" if value.is_counting else markup.pill("quiet", "not counting")
    head = f"<header><b>Uses</b>{pill}</header>"
    if not value.skills:
        start = "<p class='ps-lead'>No skill was used on this machine so far.</p>"
        return markup.card(head, start)
    most = max(each.total for each in value.skills) or 1
    rows = "".join(_row(each, most=most) for each in value.skills)
    columns = "".join(
        f"<th scope='col'>{title}</th>" for title in ("Skill", "", "Uses")
    )
    return markup.card(
        head,
        f"<table aria-label='Uses'><thead><tr>{columns}</tr></thead>"
        f"<tbody>{rows}</tbody></table>",
    )


def _line(row: tuple[str, str, str], *, width: int, calls: int) -> str:
    return (
        f"  {pad(row[0], width=width)}  {row[1]:>{calls}}  {row[2]:>{len(_HEADS[2])}}"
    )


def _row(each: SkillUses, *, most: int) -> str:
    gone = (
        ""
        if each.is_here
        else f"<span class='ps-line ps-muted' style='margin-top:0'>{_GONE}</span>"
    )
    return (
        f"<tr><th scope='row'>{markup.escaped(each.name)}{gone}</th>"
        f"<td class='ps-what'>{_bar(100 * each.total / most)}</td>"
        f"<td class='ps-muted'>{_told(each)}</td></tr>"
    )


def _told(each: SkillUses) -> str:
    told = ((each.calls, "call"), (each.activations, "activation"))
    return ", ".join(
        f"{number:,} {word}{'' if number == 1 else 's'}"
        for number, word in told
        if number
    )


def _bar(share: float) -> str:
    return (
        "<svg xmlns='http://www.w3.org/2000/svg' width='100%' height='8' "
        "aria-hidden='true' style='display:block;margin-top:6px'>"
        "<rect width='100%' height='8' rx='4' style='fill:currentColor;opacity:0.07'/>"
        f"<rect width='{share:.2f}%' height='8' rx='4' "
        "style='fill:var(--jp-brand-color1, #2f7fd6)'/></svg>"
    )
