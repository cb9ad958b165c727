"""Values as HTML: what a notebook shows and an export keeps.

Pure. Everything that comes from a file is escaped, the markup is well-formed, states
are told in words beside their colour, and the text is what ``text`` says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import singledispatch
from html import escape
from typing import Final

from prime_skills_ext.catalog.check_report import CheckReport
from prime_skills_ext.catalog.status import Catalogue, SkillStatus, State
from prime_skills_ext.environment.inventory import (
    EnvironmentPath,
    Inventory,
    Pruned,
    Rebuilt,
)
from prime_skills_ext.kernel.reload_report import ReloadReport
from prime_skills_ext.progress import counted
from prime_skills_ext.prompt.activation import Activation
from prime_skills_ext.prompt.listing import Listing
from prime_skills_ext.skill.model import Diagnostic
from prime_skills_ext.views import (
    budget_chart,
    chart,
    findings,
    housing,
    markdown,
    markup,
    prompting,
    uses,
)
from prime_skills_ext.views.budget import BudgetReport
from prime_skills_ext.views.card import SkillDetails
from prime_skills_ext.views.report import Check, CheckState, Doctor, Message
from prime_skills_ext.views.statistics import Statistics
from prime_skills_ext.views.text import EMPTY_FIX
from prime_skills_ext.views.timeline import Timeline, duration
from prime_skills_ext.views.wording import (
    Group,
    Tone,
    clean_block,
    counts,
    first_sentence,
    group_of,
    grouped,
    how_to_use,
    leads_elsewhere,
    place_of,
    tone_of,
)

__all__ = ["render"]

_CHECK_TONES: Final[dict[str, Tone]] = {"ok": "good", "note": "plain", "problem": "bad"}
_GROUP_TONES: Final[dict[Group, Tone]] = {
    "ready": "good",
    "waiting": "todo",
    "resting": "quiet",
}
#: Checks in the order in which somebody wants to read them.
_CHECK_GROUPS: Final[tuple[tuple[CheckState, str], ...]] = (
    ("problem", "Problems"),
    ("note", "Worth knowing"),
    ("ok", "In order"),
)
_GAPS: Final = re.compile("  +")
_COLUMNS: Final = ("Skill", "State", "What it does, or what it needs", "Where")


@singledispatch
def render(value: object) -> str | None:
    """Return a value as HTML; ``None`` for what has no HTML of its own."""
    del value
    return None


@render.register
def _(value: Catalogue) -> str:
    told = "".join(
        markup.pill(_GROUP_TONES[key], words) for key, words in counts(value)
    )
    head = f"<b>Skills</b>{told}"
    if not value.skills:
        start = f"<p class='ps-lead'>No skills here.{markup.fix_line(EMPTY_FIX)}</p>"
        return markup.card(f"<header>{head}</header>", start, _notes(value))
    columns = "".join(f"<th scope='col'>{title}</th>" for title in _COLUMNS)
    groups = "".join(
        _group(title, members) for _, title, members in grouped(value.skills)
    )
    table = (
        f"<table aria-label='Skills'><thead><tr>{columns}</tr></thead>{groups}</table>"
    )
    return markup.card(f"<header>{head}</header>", table, _notes(value))


@render.register
def _(value: SkillStatus) -> str:
    return markup.card(*_head(value, signature=None))


@render.register
def _(value: SkillDetails) -> str:
    parts = list(_head(value.status, signature=value.signature, is_page=True))
    if value.doc:
        text = f"<pre>{escape(clean_block(value.doc))}</pre>"
        parts.append(markup.fold("Documentation", text))
    if value.body:
        parts.append(
            markup.fold("Instructions", markdown.render(clean_block(value.body)))
        )
    return markup.card(*parts)


@render.register
def _(value: Doctor) -> str:
    count = len(value.problems)
    told = (
        markup.pill("bad", counted(count, "problem"))
        if count
        else markup.pill("good", "no problems")
    )
    groups = "".join(
        _checks(title, [each for each in value.checks if each.state == state])
        for state, title in _CHECK_GROUPS
    )
    table = f"<table aria-label='Checks'>{groups}</table>"
    return markup.card(f"<header><b>Doctor</b>{told}</header>", table)


@render.register
def _(value: Check) -> str:
    return markup.card(
        f"<table aria-label='Check'><tbody>{_check(value)}</tbody></table>"
    )


@render.register
def _(value: Message) -> str:
    # lines are laid out on purpose: help, a report and what follows from it
    is_block = "\n" in value.text.strip("\n")
    said = _block(clean_block(value.text)) if is_block else markup.prose(value.text)
    return markup.card(f"{said}{markup.fix_line(value.fix)}", small=True)


@render.register
def _(value: ReloadReport) -> str:
    head = f"<code>{markup.escaped(repr(value))}</code>"
    told = "".join(
        f"<li><b>{markup.escaped(item.name)}</b> {markup.prose(item.reason)}"
        f"{markup.fix_line(item.fix)}</li>"
        for item in value.unsettled
    )
    return markup.card(head, told and f"<ul class='ps-notes'>{told}</ul>", small=True)


render.register(CheckReport, findings.render)
render.register(EnvironmentPath, housing.path)
render.register(Inventory, housing.inventory)
render.register(Pruned, housing.pruned)
render.register(Rebuilt, housing.rebuilt)
render.register(Activation, prompting.activation)
render.register(Listing, prompting.listing)
render.register(BudgetReport, budget_chart.render)
render.register(Statistics, uses.as_html)


@render.register
def _(value: Timeline) -> str:
    parts = "".join(
        f"<section><h4>{course.title}"
        f"<span class='ps-muted'>{duration(course.seconds)}</span></h4>"
        f"{chart.render(course)}</section>"
        for course in value.courses
    )
    note = f"<p class='ps-lead'>{markup.prose(value.note)}</p>" if value.note else ""
    return markup.card("<header><b>Timeline</b></header>", parts, note)


def _block(text: str) -> str:
    """Return laid-out lines; where one has no room its column goes on below."""
    lines = "".join(
        f"<span class='ps-hang' style='--ps-at:{_column(line)}ch'>"
        f"{escape(line)}\n</span>"
        for line in text.split("\n")
    )
    return f"<pre>{lines}</pre>"


def _column(line: str) -> int:
    """Where the last column of a line begins: after two spaces or more."""
    return len(line) - len(_GAPS.split(line)[-1])


def _group(title: str, members: tuple[SkillStatus, ...]) -> str:
    rows = "".join(_row(status) for status in members)
    heading = f"{title} · {len(members)}"
    return (
        "<tbody><tr class='ps-group'>"
        f"<th colspan='{len(_COLUMNS)}' scope='rowgroup'>{heading}</th></tr>"
        f"{rows}</tbody>"
    )


def _row(status: SkillStatus) -> str:
    skill = status.skill
    return (
        f"<tr{_edge(tone_of(status.state))}>"
        f"<th scope='row'>{markup.escaped(skill.name)}"
        f"<span class='ps-line ps-muted' style='margin-top:0'>{skill.kind}</span></th>"
        f"<td>{_badge(status.state)}</td><td class='ps-what'>{_what(status)}</td>"
        f"<td class='ps-where'>{markup.escaped(status.location)}</td></tr>"
    )


def _what(status: SkillStatus) -> str:
    if group_of(status) == "ready":
        call = how_to_use(status)
        code = "" if call is None else _code(call)
        what = markup.escaped(first_sentence(status.skill.description))
        return f"{what}<span class='ps-line'>{code}</span>"
    told = (
        markup.escaped(status.skill.description)
        if status.reason is None
        else markup.prose(status.reason)
    )
    return told + markup.fix_line(status.fix)


def _head(
    status: SkillStatus, *, signature: str | None, is_page: bool = False
) -> tuple[str, str, str]:
    skill = status.skill
    call, fix = how_to_use(status, signature=signature or "(…)"), status.fix
    if is_page:
        call, fix = (
            x if leads_elsewhere(x, status=status) else None for x in (call, fix)
        )
    facts = (
        ("Use", call and _code(call)),
        ("Takes", skill.argument_hint and _code(skill.argument_hint)),
        ("Where", markup.escaped(status.location)),
        ("Why", status.reason and markup.prose(status.reason)),
        ("Fix", fix and markup.command(fix)),
        ("Overrides", markup.escaped(", ".join(status.overrides))),
        ("License", skill.license and markup.escaped(skill.license)),
        ("Needs", skill.compatibility and markup.escaped(skill.compatibility)),
    )
    rows = "".join(f"<dt>{term}</dt><dd>{told}</dd>" for term, told in facts if told)
    kind = f"<span class='ps-muted'>{skill.kind}</span>"
    return (
        f"<header><b>{markup.escaped(skill.name)}</b>{_badge(status.state)}{kind}</header>",
        f"<p class='ps-lead'>{escape(clean_block(skill.description))}</p>",
        f"<dl>{rows}</dl>",
    )


def _checks(title: str, checks: Sequence[Check]) -> str:
    if not checks:
        return ""
    rows = "".join(_check(check) for check in checks)
    return (
        "<tbody><tr class='ps-group'>"
        f"<th colspan='3' scope='rowgroup'>{title} · {len(checks)}</th></tr>"
        f"{rows}</tbody>"
    )


def _check(check: Check) -> str:
    tone = _CHECK_TONES[check.state]
    detail = _lines(markup.prose(line) for line in check.detail.splitlines())
    return (
        f"<tr{_edge(tone)}><th scope='row'>{markup.escaped(check.title)}</th>"
        f"<td>{markup.pill(tone, check.state)}</td>"
        f"<td>{detail}{markup.fix_line(check.fix)}</td></tr>"
    )


def _notes(catalogue: Catalogue) -> str:
    if not catalogue.diagnostics:
        return ""
    items = "".join(
        f"<li>{_note(each, catalogue=catalogue)}</li>" for each in catalogue.diagnostics
    )
    count = len(catalogue.diagnostics)
    title = f"Notes on files · {count}"
    notes = f"<ul class='ps-notes'>{items}</ul>"
    return f"<details><summary>{title}</summary>{notes}</details>"


def _note(note: Diagnostic, *, catalogue: Catalogue) -> str:
    where = place_of(note, catalogue=catalogue)
    place = (
        ""
        if where is None
        else f" <span class='ps-where'>{markup.escaped(where)}</span>"
    )
    badge = markup.pill(findings.SEVERITY_TONES[note.severity], note.severity)
    return f"{badge} {markup.prose(note.message)}{place}{markup.fix_line(note.fix)}"


def _edge(tone: Tone) -> str:
    """Return the class of a row that somebody should look at: it gets an edge."""
    return f" class='ps-edge ps-{tone}'" if tone in ("todo", "bad") else ""


def _code(text: str) -> str:
    return f"<code>{markup.escaped(text)}</code>"


def _badge(state: State) -> str:
    return markup.pill(tone_of(state), state)


def _lines(lines: Iterable[str]) -> str:
    return "<br/>".join(lines)
