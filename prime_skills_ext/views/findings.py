"""What a check of skills found, as HTML. Pure."""

from __future__ import annotations

from html import escape
from typing import Final

from prime_skills_ext.catalog.check_report import (
    CheckedSkill,
    CheckReport,
    FileChange,
)
from prime_skills_ext.skill.finding import Finding
from prime_skills_ext.skill.model import Severity
from prime_skills_ext.views import markup
from prime_skills_ext.views.text import CHECK_EMPTY_FIX
from prime_skills_ext.views.wording import (
    Tone,
    check_summary,
    place_in_skill,
    quoted_lines,
)

__all__ = ["SEVERITY_TONES", "render"]

SEVERITY_TONES: Final[dict[Severity, Tone]] = {
    "error": "bad",
    "warning": "todo",
    "info": "plain",
}


def render(value: CheckReport) -> str:
    """Return a report as HTML."""
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
        "<tbody><tr class='ps-group ps-named'>"
        f"<th colspan='2' scope='rowgroup'>{heading}</th></tr>{rows}</tbody>"
    )


def _finding(finding: Finding, *, skill: CheckedSkill) -> str:
    pill = markup.pill(SEVERITY_TONES[finding.severity], finding.severity)
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
    return markup.fold(title, f"<pre>{lines}</pre>")


def _signed(line: str) -> str:
    # the sign says it already; the tone is for those who skim
    sort = {"-": "del", "+": "ins"}.get(line[:1])
    return f"<{sort}>{escape(line)}</{sort}>" if sort else escape(line)


def _quoted(text: str) -> str:
    return escape("\n".join(quoted_lines(text)))
