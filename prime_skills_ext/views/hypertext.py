"""Values as HTML: what a notebook shows and an export keeps.

Pure. Everything that comes from a file is escaped, the markup is well-formed, states
are told in words beside their colour, and the text is what ``text`` says.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch
from html import escape
from typing import Final

from prime_skills_ext.catalog.check_report import (
    CheckedSkill,
    CheckReport,
    FileChange,
)
from prime_skills_ext.catalog.status import Catalogue, SkillStatus, State
from prime_skills_ext.environment.inventory import (
    EnvironmentInfo,
    EnvironmentPath,
    GenerationInfo,
    Inventory,
    Pruned,
    Rebuilt,
)
from prime_skills_ext.kernel.reload_report import ReloadReport
from prime_skills_ext.progress import counted
from prime_skills_ext.skill.finding import Finding
from prime_skills_ext.skill.model import Diagnostic, Severity
from prime_skills_ext.views import markdown, markup
from prime_skills_ext.views.card import SkillDetails
from prime_skills_ext.views.report import Check, Doctor, Message
from prime_skills_ext.views.text import CHECK_EMPTY_FIX, EMPTY_FIX, NO_ENVIRONMENT_FIX
from prime_skills_ext.views.wording import (
    Tone,
    bytes_of,
    check_summary,
    clean_block,
    first_sentence,
    group_of,
    grouped,
    how_to_use,
    kept_for_a_while,
    leads_elsewhere,
    place_in_skill,
    place_of,
    purpose_of,
    quoted_lines,
    roles_of,
    skills_of,
    summary,
    tone_of,
)

__all__ = ["render"]

_CHECK_TONES: Final[dict[str, Tone]] = {"ok": "good", "note": "plain", "problem": "bad"}
_SEVERITY_TONES: Final[dict[Severity, Tone]] = {
    "error": "bad",
    "warning": "todo",
    "info": "plain",
}
_COLUMNS: Final = ("Skill", "State", "What it does, or what it needs", "Where")


@singledispatch
def render(value: object) -> str | None:
    """Return a value as HTML; ``None`` for what has no HTML of its own."""
    del value
    return None


@render.register
def _(value: Catalogue) -> str:
    head = (
        f"<b>Skills</b><span class='ps-muted'>{markup.escaped(summary(value))}</span>"
    )
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
        parts.append(_fold("Documentation", text))
    if value.body:
        parts.append(_fold("Instructions", markdown.render(clean_block(value.body))))
    return markup.card(*parts)


@render.register
def _(value: Doctor) -> str:
    count = len(value.problems)
    told = counted(count, "problem") if count else "no problems"
    head = f"<header><b>Doctor</b><span class='ps-muted'>{told}</span></header>"
    rows = "".join(_check(check) for check in value.checks)
    return markup.card(
        head, f"<table aria-label='Checks'><tbody>{rows}</tbody></table>"
    )


@render.register
def _(value: Check) -> str:
    return markup.card(
        f"<table aria-label='Check'><tbody>{_check(value)}</tbody></table>"
    )


@render.register
def _(value: Message) -> str:
    # lines are laid out on purpose: help, a report and what follows from it
    is_block = "\n" in value.text.strip("\n")
    text = f"<pre>{escape(clean_block(value.text))}</pre>"
    said = text if is_block else markup.prose(value.text)
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


@render.register
def _(value: CheckReport) -> str:
    if not value.skills:
        head = "<header><b>Check</b></header>"
        told = f"No skills of yours here.{markup.fix_line(CHECK_EMPTY_FIX)}"
        return markup.card(head, f"<p class='ps-lead'>{told}</p>")
    told = f"<span class='ps-muted'>{markup.escaped(check_summary(value))}</span>"
    head = f"<header><b>Check</b>{told}</header>"
    groups = "".join(_checked(skill) for skill in value.skills)
    table = f"<table aria-label='Findings'>{groups}</table>"
    changes = "".join(_change(change) for change in value.changes)
    next_step = (
        f"<p class='ps-lead'>{markup.fix_line(value.fix)}</p>" if value.fix else ""
    )
    return markup.card(head, table, changes, next_step)


@render.register
def _(value: EnvironmentPath) -> str:
    return markup.card(f"<code>{markup.escaped(str(value.path))}</code>", small=True)


@render.register
def _(value: Inventory) -> str:
    head = "<header><b>Environments</b></header>"
    if not value.environments:
        return markup.card(head, f"<p class='ps-lead'>None: {NO_ENVIRONMENT_FIX}.</p>")
    groups = "".join(_environment(each) for each in value.environments)
    return markup.card(head, f"<table aria-label='Environments'>{groups}</table>")


@render.register
def _(value: Pruned) -> str:
    verb = "Would free" if value.is_dry_run else "Freed"
    told = f"<span class='ps-muted'>{verb} {bytes_of(value.size_bytes)}</span>"
    rows = "".join(
        f"<tr><th scope='row'>{one.kind}</th><td>{bytes_of(one.size_bytes)}</td>"
        f"<td>{markup.escaped(one.why)}{_below(str(one.path))}</td></tr>"
        for one in value.removed
    )
    rows += "".join(
        f"<tr><th scope='row'>skipped</th><td></td><td>{markup.escaped(why)}</td></tr>"
        for why in value.skipped
    )
    table = f"<table aria-label='Pruned'><tbody>{rows}</tbody></table>" if rows else ""
    kept = "".join(f"<p>{told}</p>" for told in kept_for_a_while(value))
    return markup.card(f"<header><b>Prune</b>{told}</header>", table, kept)


@render.register
def _(value: Rebuilt) -> str:
    told = f"Rebuilt with {counted(value.skills, 'skill')}: "
    failed = f"; still failing: {', '.join(value.failed)}" if value.failed else ""
    code = f"<code>{markup.escaped(str(value.directory))}</code>"
    return markup.card(
        f"{told}{code}{markup.escaped(failed)}{markup.fix_line(value.fix)}", small=True
    )


def _environment(value: EnvironmentInfo) -> str:
    here = markup.pill("good", "used here") if value.is_here else ""
    gone = (
        markup.pill("bad", "gone") + f" {markup.prose(value.gone)}"
        if value.gone
        else ""
    )
    facts = f"{purpose_of(value)} · {bytes_of(value.size_bytes)}"
    rows = "".join(_generation(one) for one in value.generations)
    return (
        "<tbody><tr class='ps-group'><th colspan='3' scope='rowgroup'>"
        f"<span class='ps-asis'>{markup.escaped(value.key)} {here}{gone}"
        f"{_below(facts)}{_below(str(value.directory))}</span>"
        f"{markup.fix_line(value.fix)}</th></tr>{rows}</tbody>"
    )


def _below(text: str) -> str:
    return f"<span class='ps-line ps-muted'>{markup.escaped(text)}</span>"


def _generation(value: GenerationInfo) -> str:
    tone: Tone = "good" if value.is_current else "quiet"
    pill = markup.pill("bad" if value.problem else tone, roles_of(value))
    problem = ""
    if value.problem:
        problem = f"<span class='ps-line'>{markup.prose(value.problem)}</span>"
    told = f"Python {value.python or '?'} · skills: {skills_of(value)} · "
    return (
        f"<tr><th scope='row'>{value.directory.name}</th><td>{pill}</td>"
        f"<td>{markup.escaped(told + bytes_of(value.size_bytes))}"
        f"{problem}</td></tr>"
    )


def _checked(skill: CheckedSkill) -> str:
    heading = (
        f"<span class='ps-asis'>{markup.escaped(skill.name)} "
        f"<span class='ps-muted'>{markup.escaped(skill.location)}</span></span>"
    )
    rows = "".join(_finding(item, skill=skill) for item in skill.findings)
    if not rows:
        ok = f"<td class='ps-severity'>{markup.pill('good', 'ok')}</td>"
        rows = f"<tr>{ok}<td>No findings.</td></tr>"
    return (
        "<tbody><tr class='ps-group'>"
        f"<th colspan='2' scope='rowgroup'>{heading}</th></tr>{rows}</tbody>"
    )


def _finding(finding: Finding, *, skill: CheckedSkill) -> str:
    pill = markup.pill(_SEVERITY_TONES[finding.severity], finding.severity)
    place = markup.escaped(place_in_skill(finding, skill=skill))
    quoted = "".join(
        f"<dt>{label}</dt><dd><code>{_quoted(text)}</code></dd>"
        for label, text in (("is", finding.written), ("want", finding.corrected))
        if text
    )
    lines = f"<dl class='ps-quote'>{quoted}</dl>" if quoted else ""
    return (
        f"<tr><td class='ps-severity'>{pill}</td><td>{markup.prose(finding.reason)}"
        f"<span class='ps-line ps-muted'>{place} · {finding.code}</span>"
        f"{lines}{markup.fix_line(finding.fix)}</td></tr>"
    )


def _change(change: FileChange) -> str:
    title = "Written" if change.written else "Would be written"
    names, signed = quoted_lines(change.diff)[:2], quoted_lines(change.diff)[2:]
    lines = "\n".join([*(escape(line) for line in names), *map(_signed, signed)])
    return _fold(title, f"<pre>{lines}</pre>")


def _signed(line: str) -> str:
    # the sign says it already; the tone is for those who skim
    sort = {"-": "del", "+": "ins"}.get(line[:1])
    return f"<{sort}>{escape(line)}</{sort}>" if sort else escape(line)


def _quoted(text: str) -> str:
    return escape("\n".join(quoted_lines(text)))


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
        f"<tr><th scope='row'>{markup.escaped(skill.name)}"
        f"<span class='ps-line ps-muted' style='margin-top:0'>{skill.kind}</span></th>"
        f"<td>{_badge(status.state)}</td><td class='ps-what'>{_what(status)}</td>"
        f"<td class='ps-where'>{markup.escaped(status.location)}</td></tr>"
    )


def _what(status: SkillStatus) -> str:
    if group_of(status) == "ready":
        call = how_to_use(status)
        code = "" if call is None else f"<code>{markup.escaped(call)}</code>"
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
        ("Use", call and f"<code>{markup.escaped(call)}</code>"),
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


def _check(check: Check) -> str:
    detail = _lines(markup.prose(line) for line in check.detail.splitlines())
    return (
        f"<tr><th scope='row'>{markup.escaped(check.title)}</th>"
        f"<td>{markup.pill(_CHECK_TONES[check.state], check.state)}</td>"
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
    badge = markup.pill(_SEVERITY_TONES[note.severity], note.severity)
    return f"{badge} {markup.prose(note.message)}{place}{markup.fix_line(note.fix)}"


def _fold(title: str, content: str) -> str:
    # open: an export and a print show what is in it, and the reader asked for it
    return (
        f"<details open='open'><summary>{title}</summary>"
        f"<div class='ps-body'>{content}</div></details>"
    )


def _badge(state: State) -> str:
    return markup.pill(tone_of(state), state)


def _lines(lines: Iterable[str]) -> str:
    return "<br/>".join(lines)
