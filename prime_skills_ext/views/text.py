"""Values as plain text: what a terminal, a log and ``text/plain`` show.

Pure. The same input gives the same bytes on every machine: no colour, no times,
no numbers of processes, no absolute paths, one fixed width.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Final

from prime_skills_ext.catalog.check_report import (
    CheckedSkill,
    CheckReport,
    FileChange,
)
from prime_skills_ext.catalog.status import Catalogue, SkillStatus
from prime_skills_ext.environment.inventory import (
    EnvironmentInfo,
    EnvironmentPath,
    Inventory,
    Pruned,
    Rebuilt,
)
from prime_skills_ext.kernel.reload_report import ReloadReport
from prime_skills_ext.progress import counted
from prime_skills_ext.prompt.listing import Listing
from prime_skills_ext.skill.finding import Finding
from prime_skills_ext.views import bars, budget_bars, uses
from prime_skills_ext.views.budget import BudgetReport
from prime_skills_ext.views.card import SkillDetails
from prime_skills_ext.views.report import Check, Doctor, Message
from prime_skills_ext.views.statistics import Statistics
from prime_skills_ext.views.timeline import Timeline
from prime_skills_ext.views.wording import (
    bytes_of,
    cell_width,
    check_summary,
    clean,
    clean_block,
    group_of,
    grouped,
    how_to_use,
    kept_for_a_while,
    leads_elsewhere,
    pad,
    place_in_skill,
    place_of,
    purpose_of,
    quoted_lines,
    roles_of,
    shorten,
    skills_of,
    summary,
    what_of,
    wrap,
)

__all__ = ["CHECK_EMPTY_FIX", "EMPTY_FIX", "NO_ENVIRONMENT_FIX", "WIDTH", "render"]

#: Columns that a table takes at most; a fix is never cut and may be longer.
WIDTH: Final = 100
EMPTY_FIX: Final = "run `%skill add PATH`, or make .prime/agent/skills/NAME/SKILL.md"

NO_ENVIRONMENT_FIX: Final = "none is needed until a skill needs something"
CHECK_EMPTY_FIX: Final = "name a skill, or a folder: `%skill check PATH`"

_MAX_NAME: Final = 24
_MAX_WHERE: Final = 32
_GAP: Final = "  "
_MARKS: Final = {"ok": "ok", "note": "note", "problem": "PROBLEM"}


@singledispatch
def render(value: object) -> str:
    """Return a value as the text that people read, without a final newline."""
    return str(value)


@render.register
def _(value: Catalogue) -> str:
    if not value.skills:
        lines = ["Skills: none", f"  fix: {EMPTY_FIX}"]
    else:
        lines = [f"Skills: {summary(value)}", *_table(value)]
    if value.diagnostics:
        lines += ["", "Notes on files"]
    for note in value.diagnostics:
        where = place_of(note, catalogue=value)
        message = f"{note.severity}: {clean(note.message)}"
        told = message if where is None else f"{message} ({where})"
        lines += [f"  {line}" for line in wrap(told, width=WIDTH - 2)]
        lines += _fix(note.fix, indent=4)
    return "\n".join(lines)


@render.register
def _(value: SkillStatus) -> str:
    return "\n".join(_head(value, signature=None))


@render.register
def _(value: SkillDetails) -> str:
    lines = _head(value.status, signature=value.signature, is_page=True)
    if value.doc:
        lines += ["", *clean_block(value.doc).splitlines()]
    if value.body:
        lines += [
            "",
            "Instructions",
            "------------",
            *clean_block(value.body).splitlines(),
        ]
    return "\n".join(lines)


@render.register
def _(value: Doctor) -> str:
    if not value.checks:
        return "Nothing to check."
    width = max(cell_width(check.title) for check in value.checks)
    lines: list[str] = []
    for check in value.checks:
        lines += _check(check, width=width)
    count = len(value.problems)
    lines += ["", f"{counted(count, 'problem')}." if count else "No problems."]
    return "\n".join(lines)


@render.register
def _(value: Check) -> str:
    return "\n".join(_check(value, width=cell_width(value.title)))


@render.register
def _(value: Message) -> str:
    return "\n".join([clean_block(value.text), *_fix(value.fix, indent=2)])


@render.register
def _(value: ReloadReport) -> str:
    lines = [repr(value)]
    for item in value.unsettled:
        told = f"{item.name}: {clean(item.reason)}"
        lines += [f"  {line}" for line in wrap(told, width=WIDTH - 2)]
        lines += _fix(item.fix, indent=4)
    return "\n".join(lines)


@render.register
def _(value: CheckReport) -> str:
    if not value.skills:
        return f"Check: no skills of yours\n  fix: {CHECK_EMPTY_FIX}"
    lines = [f"Check: {check_summary(value)}"]
    for skill in value.skills:
        lines += _checked(skill)
    for change in value.changes:
        lines += _change(change)
    if value.fix:
        lines += ["", *_fix(value.fix, indent=0)]
    return "\n".join(lines)


@render.register
def _(value: EnvironmentPath) -> str:
    return str(value.path)


@render.register
def _(value: Inventory) -> str:
    if not value.environments:
        return "Environments: none\n  fix: " + NO_ENVIRONMENT_FIX
    lines = [f"Environments: {len(value.environments)}"]
    for environment in value.environments:
        lines += ["", *_environment(environment)]
    return "\n".join(lines)


@render.register
def _(value: Pruned) -> str:
    verb = "Would free" if value.is_dry_run else "Freed"
    lines = [f"{verb} {bytes_of(value.size_bytes)}"]
    lines += [
        f"  {one.kind:<11}  {bytes_of(one.size_bytes):>8}  {clean(str(one.path))}"
        f"  ({clean(one.why)})"
        for one in value.removed
    ]
    lines += [f"  skipped      {clean(reason)}" for reason in value.skipped]
    kept = kept_for_a_while(value)
    if len(lines) == 1:
        return "; ".join(["Nothing to prune", *kept])
    return "\n".join([*lines, *(f"  {told}" for told in kept)])


@render.register
def _(value: Rebuilt) -> str:
    lines = [
        f"Rebuilt with {counted(value.skills, 'skill')}: {clean(str(value.directory))}"
    ]
    if value.failed:
        lines.append(f"  still failing: {clean(', '.join(value.failed))}")
    return "\n".join([*lines, *_fix(value.fix, indent=2)])


@render.register
def _(value: Timeline) -> str:
    lines: list[str] = []
    for course in value.courses:
        lines += [*([""] if lines else []), *bars.render(course, width=WIDTH)]
    return "\n".join([*lines, *([value.note] if value.note else [])])


@render.register
def _(value: Listing) -> str:
    return value.text  # to the letter: programs read it, too


render.register(BudgetReport, budget_bars.render)
render.register(Statistics, uses.as_text)


def _environment(value: EnvironmentInfo) -> list[str]:
    facts = (
        ("for", purpose_of(value)),
        ("python", None if value.base_prefix is None else str(value.base_prefix)),
        ("where", str(value.directory)),
        ("size", bytes_of(value.size_bytes)),
        ("gone", value.gone),
    )
    lines = [f"{value.key}{'  (used here)' if value.is_here else ''}"]
    lines += [f"  {label:<6}  {clean(text)}" for label, text in facts if text]
    rows = [("NUMBER", "STATE", "PYTHON", "SKILLS", "SIZE")]
    rows += [
        (
            one.directory.name,
            roles_of(one),
            one.python or "?",
            skills_of(one),
            bytes_of(one.size_bytes),
        )
        for one in value.generations
    ]
    widths = [max(map(cell_width, column)) for column in zip(*rows, strict=True)][:-1]
    lines.append(_row(rows[0], widths) if value.generations else "  no generation")
    for one, row in zip(value.generations, rows[1:], strict=True):
        lines.append(_row(row, widths))
        if one.problem:
            lines += [f"    {line}" for line in wrap(clean(one.problem), width=96)]
    return [*lines, *_fix(value.fix, indent=2)]


def _checked(skill: CheckedSkill) -> list[str]:
    # what has no finding is one line, and needs no heading
    if not skill.findings:
        return ["", f"{clean(skill.name)}  ({skill.location})  ok"]
    lines = ["", f"{clean(skill.name)}  ({skill.location})"]
    for finding in skill.findings:
        lines += _finding(finding, skill=skill)
    return lines


def _finding(finding: Finding, *, skill: CheckedSkill) -> list[str]:
    place = place_in_skill(finding, skill=skill)
    head = f"  {finding.severity:<7}  {place}  {finding.code}"
    lines = [head, *(f"    {x}" for x in wrap(clean(finding.reason), width=WIDTH - 4))]
    for label, text in (("is:  ", finding.written), ("want:", finding.corrected)):
        if text:
            lines += [f"    {label}  {line}" for line in quoted_lines(text)]
    return [*lines, *_fix(finding.fix, indent=4)]


def _change(change: FileChange) -> list[str]:
    title = "Written" if change.written else "Would be written"
    return ["", title, *(f"  {line}" for line in quoted_lines(change.diff))]


def _table(catalogue: Catalogue) -> list[str]:
    lines: list[str] = []
    name_width = _column(
        [each.skill.name for each in catalogue.skills], limit=_MAX_NAME
    )
    for key, title, members in grouped(catalogue.skills):
        widths = (
            name_width,
            len("markdown"),
            _column([each.state for each in members], limit=WIDTH),
            _column(
                [each.location for each in members],
                limit=_MAX_WHERE if key == "ready" else WIDTH,
            ),
        )
        # what is ready is told in one line; what is not has its reason below
        heads = ("NAME", "KIND", "STATE", "WHERE", "WHAT" if key == "ready" else "")
        lines += ["", title, _row(heads, widths)]
        for status in members:
            lines += _skill(status, widths=widths)
    return lines


def _column(texts: Sequence[str], *, limit: int) -> int:
    return min(limit, max(cell_width(text) for text in (*texts, "WHERE")))


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [
        pad(text, width=width) for text, width in zip(cells[:-1], widths, strict=True)
    ]
    return (_GAP + _GAP.join([*padded, cells[-1]])).rstrip()


def _skill(status: SkillStatus, *, widths: Sequence[int]) -> list[str]:
    name_width, _, _, where_width = widths
    name, kind = status.skill.name, status.skill.kind
    lines = []
    if cell_width(name) > name_width:
        # a name is there to be copied: it gets a line rather than an ellipsis
        lines.append(_GAP + name)
        name = ""
    ready = group_of(status) == "ready"
    room = WIDTH - sum(widths) - (len(widths) + 1) * len(_GAP)
    what = shorten(what_of(status), width=room) if ready else ""
    where = _tail(status.location, width=where_width)
    lines.append(_row((name, kind, status.state, where, what), widths))
    if not ready:
        reason = clean(status.reason or status.skill.description)
        lines += [f"    {line}" for line in wrap(reason, width=WIDTH - 4)]
        lines += _fix(status.fix, indent=4)
    return lines


def _tail(text: str, *, width: int) -> str:
    """Return a place cut at its beginning: its end tells more."""
    if cell_width(text) <= width:
        return text
    return "…" + text[len(text) - width + 1 :]


def _head(
    status: SkillStatus, *, signature: str | None, is_page: bool = False
) -> list[str]:
    skill = status.skill
    call = how_to_use(status, signature=signature or "(…)")
    ways = {"use": call, "fix": status.fix}
    if is_page:
        ways = {k: x for k, x in ways.items() if leads_elsewhere(x, status=status)}
    facts = [
        ("use", ways.get("use")),
        ("takes", skill.argument_hint),
        ("where", status.location),
        ("why", status.reason),
        ("fix", ways.get("fix")),
        ("overrides", ", ".join(status.overrides) or None),
        ("license", skill.license),
        ("needs", skill.compatibility),
    ]
    lines = [f"{skill.name}  ({skill.kind}, {status.state})"]
    lines += wrap(clean(skill.description), width=WIDTH)
    lines.append("")
    lines += [
        f"  {label:<9}  {clean(text)}" for label, text in facts if text is not None
    ]
    return lines


def _check(check: Check, *, width: int) -> list[str]:
    indent = len("PROBLEM") + len(_GAP) + width + len(_GAP)
    # a detail that has lines of its own (uv's words) keeps them
    parts = [
        line
        for paragraph in clean_block(check.detail).splitlines() or [""]
        for line in wrap(paragraph, width=max(40, WIDTH - indent))
    ]
    head = f"{_MARKS[check.state]:<7}  {pad(check.title, width=width)}  {parts[0]}"
    lines = [head.rstrip()]
    lines += [" " * indent + line for line in parts[1:]]
    return lines + _fix(check.fix, indent=indent)


def _fix(fix: str | None, *, indent: int) -> list[str]:
    if not fix:
        return []
    # what has to be added to a file is pasted line by line
    first, *added = clean_block(fix).splitlines() or [""]
    margin = " " * indent
    return [f"{margin}fix: {clean(first)}", *(f"{margin}  {line}" for line in added)]
