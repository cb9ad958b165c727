"""The report of a reload, as a value: a line for people, a note for a model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from prime_skills_ext.catalog.status import SkillStatus, State
from prime_skills_ext.kernel.reload_report import ReloadReport
from prime_skills_ext.views import hypertext, text
from prime_skills_ext.views.jsonable import to_json
from tests.views.samples import status


def skill(name: str, state: State = "ready", **more: Any) -> SkillStatus:
    more.setdefault("bound_as", name.replace("-", "_"))
    if state not in ("ready", "instructions"):
        more.setdefault("reason", f"{name} fell over")
        more.setdefault("fix", f"pick {name} up")
    return status(name, state, **more)


def named(*found: SkillStatus) -> dict[str, SkillStatus]:
    return {item.name: item for item in found}


def test_re03_a_report_is_one_line_with_names() -> None:
    """Added, changed, removed, failed and waiting, in a fixed order."""
    broken = skill("still-broken", "import-failed")
    report = ReloadReport.between(
        named(*map(skill, ("edit", "gone", "same", "was-fine", "web")), broken),
        named(
            *map(skill, ("b", "edit", "new", "same", "web")),
            skill("was-fine", "stale"),
            broken,
        ),
        changed=["edit"],
        waiting={"web": 2},
    )
    assert "+2 b, new ~1 edit -1 gone !1 was-fine later 1 web" == repr(report)
    assert bool(report)


def test_re03_nothing_changed_is_an_empty_report() -> None:
    """So that the magic can return ``None``; what was broken before is no news."""
    same = named(skill("a"), skill("b", "import-failed"))
    report = ReloadReport.between(same, same)
    assert not report
    assert ("", "") == (repr(report), report.note)


def test_re03_the_views_say_what_failed_and_the_fix() -> None:
    """Text, HTML and JSON; the line stays the first."""
    report = ReloadReport.between(
        named(skill("web")),
        named(skill("a", "stale"), skill("web")),
        waiting={"web": 2},
    )
    shown = text.render(report)
    assert shown.splitlines() == [
        "!1 a later 1 web",
        "  a: a fell over",
        "    fix: pick a up",
        "  web: it reloads when 2 calls in threads end",
        "    fix: Wait, or %reload_skills --now",
    ]
    html = hypertext.render(report)
    assert html is not None
    assert all(words in html for words in ("a fell over", "pick a up", "2 calls"))
    plain = to_json(report)
    assert plain["failures"] == [
        {"name": "a", "state": "stale", "reason": "a fell over", "fix": "pick a up"}
    ]
    assert [{"name": "web", "calls": 2}] == plain["waiting"]


@pytest.mark.parametrize(
    ("before", "after", "note"),
    [
        ([], [skill("word-count")], "New: word-count (import name word_count)."),
        ([skill("a")], [], "No longer available: a (import name a)."),
        (
            [skill("a")],
            [skill("a", "stale")],
            (
                "Failed: a (import name a); the version before it still answers: "
                "a fell over."
            ),
        ),
        (
            [],
            [skill("a", "import-failed", reason="Sy\u200bntax\n  Error\x07")],
            "Failed: a (import name a); it cannot be used: Syntax Error.",
        ),
        (
            [skill("a")],
            [skill("a", "needs-credential")],
            "No longer available: a (import name a).",
        ),
        ([skill("a", "needs-credential")], [skill("a")], "New: a (import name a)."),
        (
            [],
            [skill("notes", "instructions", is_python=False, bound_as=None)],
            "New: notes (instructions only).",
        ),
        (
            [],
            [skill("json", bound_as='skills["json"]')],
            'New: json (reached as skills["json"]).',
        ),
        # what a model never saw is none of its business
        ([], [skill("theirs", "untrusted")], ""),
        ([skill("theirs", "untrusted")], [], ""),
    ],
)
def test_the_note_tells_a_model_what_it_may_use(
    before: list[SkillStatus], after: list[SkillStatus], note: str
) -> None:
    """Names, import names and what follows from the change."""
    assert note == ReloadReport.between(named(*before), named(*after)).note


def test_the_note_says_when_an_edit_is_in_effect() -> None:
    """At once, or when the calls that run in threads have ended."""
    same = named(skill("a"), skill("web"))
    report = ReloadReport.between(same, same, changed=["a"], waiting={"web": 1})
    assert report.note == (
        "Changed, in effect now: a (import name a). "
        "Changed, in effect later: web (import name web)."
    )


def test_the_note_keeps_hidden_skills_hidden() -> None:
    """``disable-model-invocation``: the model may neither see nor call it."""
    item = skill("secret")
    hidden = replace(item, skill=replace(item.skill, disable_model_invocation=True))
    shown = [named(hidden), {}]
    for before, after in (shown, shown[::-1]):
        assert "" == ReloadReport.between(before, after, changed=[*after]).note


def test_re09_the_note_is_the_same_for_the_same_change() -> None:
    """Whatever the order in which skills were found."""
    names = ["c", "a", "b"]
    notes = {
        ReloadReport.between({}, named(*map(skill, order))).note
        for order in (names, sorted(names), names[::-1])
    }
    assert {"New: a (import name a), b (import name b), c (import name c)."} == notes
