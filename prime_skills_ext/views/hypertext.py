"""Values as HTML: what a notebook shows and an export keeps.

Pure. Everything that comes from a file is escaped, the markup is well-formed, states
are told in words beside their colour, and the text is what ``text`` says.
"""

from __future__ import annotations

import re
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
from prime_skills_ext.kernel.reload_report import ReloadReport
from prime_skills_ext.skill.finding import Finding
from prime_skills_ext.skill.model import Diagnostic, Severity
from prime_skills_ext.views import markdown
from prime_skills_ext.views.card import SkillDetails
from prime_skills_ext.views.report import Check, Doctor, Message
from prime_skills_ext.views.text import CHECK_EMPTY_FIX, EMPTY_FIX
from prime_skills_ext.views.theme import CLASS, STYLE
from prime_skills_ext.views.wording import (
    Tone,
    check_summary,
    clean,
    clean_block,
    first_sentence,
    group_of,
    grouped,
    how_to_use,
    leads_elsewhere,
    place_in_skill,
    place_of,
    quoted_lines,
    summary,
    tone_of,
)

__all__ = ["render"]

_SIGNS: Final[dict[Tone, str]] = {
    "good": "●",
    "plain": "◆",
    "todo": "▲",
    "bad": "✕",
    "quiet": "○",
}
_CHECK_TONES: Final[dict[str, Tone]] = {"ok": "good", "note": "plain", "problem": "bad"}
_SEVERITY_TONES: Final[dict[Severity, Tone]] = {
    "error": "bad",
    "warning": "todo",
    "info": "plain",
}
_MAGIC: Final = re.compile(r"(?<!\S)%{1,2}[a-z_]+(?: --[a-z-]+)*")
_COLUMNS: Final = ("Skill", "State", "What it does, or what it needs", "Where")


@singledispatch
def render(value: object) -> str | None:
    """Return a value as HTML; ``None`` for what has no HTML of its own."""
    del value
    return None


@render.register
def _(value: Catalogue) -> str:
    head = f"<b>Skills</b><span class='ps-muted'>{_text(summary(value))}</span>"
    if not value.skills:
        start = f"<p class='ps-lead'>No skills here.{_fix(EMPTY_FIX)}</p>"
        return _card(f"<header>{head}</header>", start, _notes(value))
    columns = "".join(f"<th scope='col'>{title}</th>" for title in _COLUMNS)
    groups = "".join(
        _group(title, members) for _, title, members in grouped(value.skills)
    )
    table = (
        f"<table aria-label='Skills'><thead><tr>{columns}</tr></thead>{groups}</table>"
    )
    return _card(f"<header>{head}</header>", table, _notes(value))


@render.register
def _(value: SkillStatus) -> str:
    return _card(*_head(value, signature=None))


@render.register
def _(value: SkillDetails) -> str:
    parts = list(_head(value.status, signature=value.signature, is_page=True))
    if value.doc:
        text = f"<pre>{escape(clean_block(value.doc))}</pre>"
        parts.append(_fold("Documentation", text))
    if value.body:
        parts.append(_fold("Instructions", markdown.render(clean_block(value.body))))
    return _card(*parts)


@render.register
def _(value: Doctor) -> str:
    count = len(value.problems)
    told = f"{count} problem{'' if count == 1 else 's'}" if count else "no problems"
    head = f"<header><b>Doctor</b><span class='ps-muted'>{told}</span></header>"
    rows = "".join(_check(check) for check in value.checks)
    return _card(head, f"<table aria-label='Checks'><tbody>{rows}</tbody></table>")


@render.register
def _(value: Check) -> str:
    return _card(f"<table aria-label='Check'><tbody>{_check(value)}</tbody></table>")


@render.register
def _(value: Message) -> str:
    # lines are laid out on purpose: help, a report and what follows from it
    is_block = "\n" in value.text.strip("\n")
    text = f"<pre>{escape(clean_block(value.text))}</pre>"
    said = text if is_block else _prose(value.text)
    return _card(f"{said}{_fix(value.fix)}", small=True)


@render.register
def _(value: ReloadReport) -> str:
    head = f"<code>{_text(repr(value))}</code>"
    told = "".join(
        f"<li><b>{_text(item.name)}</b> {_prose(item.reason)}{_fix(item.fix)}</li>"
        for item in value.unsettled
    )
    return _card(head, told and f"<ul class='ps-notes'>{told}</ul>", small=True)


@render.register
def _(value: CheckReport) -> str:
    if not value.skills:
        head = "<header><b>Check</b></header>"
        told = f"No skills of yours here.{_fix(CHECK_EMPTY_FIX)}"
        return _card(head, f"<p class='ps-lead'>{told}</p>")
    told = f"<span class='ps-muted'>{_text(check_summary(value))}</span>"
    head = f"<header><b>Check</b>{told}</header>"
    groups = "".join(_checked(skill) for skill in value.skills)
    table = f"<table aria-label='Findings'>{groups}</table>"
    changes = "".join(_change(change) for change in value.changes)
    next_step = f"<p class='ps-lead'>{_fix(value.fix)}</p>" if value.fix else ""
    return _card(head, table, changes, next_step)


def _checked(skill: CheckedSkill) -> str:
    heading = (
        f"<span class='ps-asis'>{_text(skill.name)} "
        f"<span class='ps-muted'>{_text(skill.location)}</span></span>"
    )
    rows = "".join(_finding(item, skill=skill) for item in skill.findings)
    if not rows:
        ok = f"<td class='ps-severity'>{_pill('good', 'ok')}</td>"
        rows = f"<tr>{ok}<td>No findings.</td></tr>"
    return (
        "<tbody><tr class='ps-group'>"
        f"<th colspan='2' scope='rowgroup'>{heading}</th></tr>{rows}</tbody>"
    )


def _finding(finding: Finding, *, skill: CheckedSkill) -> str:
    pill = _pill(_SEVERITY_TONES[finding.severity], finding.severity)
    place = _text(place_in_skill(finding, skill=skill))
    quoted = "".join(
        f"<dt>{label}</dt><dd><code>{_quoted(text)}</code></dd>"
        for label, text in (("is", finding.written), ("want", finding.corrected))
        if text
    )
    lines = f"<dl class='ps-quote'>{quoted}</dl>" if quoted else ""
    return (
        f"<tr><td class='ps-severity'>{pill}</td><td>{_prose(finding.reason)}"
        f"<span class='ps-line ps-muted'>{place} · {finding.code}</span>"
        f"{lines}{_fix(finding.fix)}</td></tr>"
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


def _card(*parts: str, small: bool = False) -> str:
    extra = " ps-one" if small else ""
    return f"<div class='{CLASS}{extra}'>{STYLE}{''.join(parts)}</div>"


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
        f"<tr><th scope='row'>{_text(skill.name)}"
        f"<span class='ps-line ps-muted' style='margin-top:0'>{skill.kind}</span></th>"
        f"<td>{_badge(status.state)}</td><td class='ps-what'>{_what(status)}</td>"
        f"<td class='ps-where'>{_text(status.location)}</td></tr>"
    )


def _what(status: SkillStatus) -> str:
    if group_of(status) == "ready":
        call = how_to_use(status)
        code = "" if call is None else f"<code>{_text(call)}</code>"
        what = _text(first_sentence(status.skill.description))
        return f"{what}<span class='ps-line'>{code}</span>"
    told = (
        _text(status.skill.description)
        if status.reason is None
        else _prose(status.reason)
    )
    return told + _fix(status.fix)


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
        ("Use", call and f"<code>{_text(call)}</code>"),
        ("Where", _text(status.location)),
        ("Why", status.reason and _prose(status.reason)),
        ("Fix", fix and _command(fix)),
        ("Overrides", _text(", ".join(status.overrides))),
        ("License", skill.license and _text(skill.license)),
        ("Needs", skill.compatibility and _text(skill.compatibility)),
    )
    rows = "".join(f"<dt>{term}</dt><dd>{told}</dd>" for term, told in facts if told)
    kind = f"<span class='ps-muted'>{skill.kind}</span>"
    return (
        f"<header><b>{_text(skill.name)}</b>{_badge(status.state)}{kind}</header>",
        f"<p class='ps-lead'>{escape(clean_block(skill.description))}</p>",
        f"<dl>{rows}</dl>",
    )


def _check(check: Check) -> str:
    detail = _lines(_prose(line) for line in check.detail.splitlines())
    return (
        f"<tr><th scope='row'>{_text(check.title)}</th>"
        f"<td>{_pill(_CHECK_TONES[check.state], check.state)}</td>"
        f"<td>{detail}{_fix(check.fix)}</td></tr>"
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
    place = "" if where is None else f" <span class='ps-where'>{_text(where)}</span>"
    badge = _pill(_SEVERITY_TONES[note.severity], note.severity)
    return f"{badge} {_prose(note.message)}{place}{_fix(note.fix)}"


def _fold(title: str, content: str) -> str:
    # open: an export and a print show what is in it, and the reader asked for it
    return (
        f"<details open='open'><summary>{title}</summary>"
        f"<div class='ps-body'>{content}</div></details>"
    )


def _badge(state: State) -> str:
    return _pill(tone_of(state), state)


def _pill(tone: Tone, word: str) -> str:
    sign = f"<i aria-hidden='true'>{_SIGNS[tone]}</i>"
    return f"<span class='ps-badge ps-{tone}'>{sign}{word}</span>"


def _fix(fix: str | None) -> str:
    if not fix:
        return ""
    return f"<span class='ps-line ps-fix'><b>Fix</b>{_command(fix)}</span>"


def _command(fix: str) -> str:
    """Return a fix with what is to be typed set as code."""
    text = clean(fix)
    if text.startswith(("%", "!")) and ", " not in text:
        return f"<code>{escape(text)}</code>"
    return _prose(text)


def _prose(text: str) -> str:
    """Return a sentence whose backquoted parts and magics are set as code."""
    parts = clean(text).split("`")
    if len(parts) % 2 == 0:  # an odd backquote is only a character
        return _plain(clean(text))
    return "".join(
        f"<code>{escape(part)}</code>" if index % 2 else _plain(part)
        for index, part in enumerate(parts)
    )


def _plain(text: str) -> str:
    return _MAGIC.sub(r"<code>\g<0></code>", escape(text))


def _lines(lines: Iterable[str]) -> str:
    return "<br/>".join(lines)


def _text(text: str) -> str:
    return escape(clean(text))
