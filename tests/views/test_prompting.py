"""Listings, activations, budgets and uses: as text, as HTML, as data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from prime_skills_ext.prompt.activation import Activation
from prime_skills_ext.prompt.budget import Budget
from prime_skills_ext.prompt.entry import Entry
from prime_skills_ext.prompt.listing import Listing, render_entries
from prime_skills_ext.views import hypertext, text
from prime_skills_ext.views.budget import SHOWN, BudgetReport
from prime_skills_ext.views.jsonable import to_json
from prime_skills_ext.views.statistics import SkillUses, Statistics

SVG = "{http://www.w3.org/2000/svg}"
BODY = "# Merge\n\n<script>alert(1)</script> **well**\n"
DIRECTORY = Path("/home/somebody/tmp1234/pdf")


def _entry(name: str, chars: int, trigger: str | None = None) -> Entry:
    return Entry(
        name=name,
        kind="markdown",
        description="d" * chars,
        when_to_use=trigger,
        location=f"/somewhere/{name}/SKILL.md",
    )


def _report(*entries: Entry, **budget: Any) -> BudgetReport:
    chosen = Budget(**budget)
    listing = render_entries(entries, budget=chosen)
    return BudgetReport.of(listing, budget=chosen, preset="claude")


def _activation(**more: Any) -> Activation:
    return Activation(
        name="p<d>f",
        source="user",
        location=DIRECTORY / "SKILL.md",
        directory=DIRECTORY,
        body=BODY,
        **more,
    )


CUT = _report(_entry("big & <odd>", 300), _entry("small", 10, "t" * 40), chars=100)
WHOLE = _report(_entry("small", 10), _entry("big", 100))
LISTING = WHOLE.listing
FORK = _activation(context="fork", result="**Done** <b>", arguments="<go>")
SAID = _activation(
    arguments="merge <a>\n  and b",
    message="merge <a>\n  and b",
    allowed_tools=("Read", "Bash(git add *)"),
    disallowed_tools=("Write",),
    model="big",
    background=False,
)
USES = Statistics(
    skills=(
        SkillUses(name="e<d>it", calls=1200, activations=3),
        SkillUses(name="old", activations=1, is_here=False),
    )
)
VALUES = {
    "cut": CUT,
    "whole": WHOLE,
    "no budget": _report(_entry("a", 3), strategy="none", entry_chars=None),
    "nothing": _report(),
    "listing": LISTING,
    "empty listing": Listing(),
    "activation": SAID,
    "fork": FORK,
    "bare": _activation(),
    "uses": USES,
    "no uses": Statistics(is_counting=False),
}


def _page(value: object) -> ET.Element:
    found = hypertext.render(value)
    assert found is not None
    page = ET.fromstring(found)
    style = page.find("style")
    assert style is not None
    style.text = ""
    return page


def _words(element: ET.Element) -> str:
    return " ".join("".join(element.itertext()).split())


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_every_form_is_well_formed(value: object) -> None:
    """HTML parses strictly, data is plain, text is a text."""
    assert _page(value).attrib["class"].startswith("prime-skills")
    assert json.loads(json.dumps(to_json(value))) == to_json(value)
    assert isinstance(text.render(value), str)


@pytest.mark.parametrize("value", [CUT, WHOLE, SAID, USES], ids=["c", "w", "s", "u"])
def test_no_card_tells_where_things_lie_on_this_machine(value: object) -> None:
    """A path would differ from one reader to the next."""
    assert "tmp1234" not in _words(_page(value))


def test_activation_is_folded_with_the_users_text_apart() -> None:
    """W12.17: the skill's own text is drawn as Markdown, without its markup."""
    page = _page(SAID)
    (details,) = page.iter("details")
    assert "open" not in details.attrib
    summary = details.find("summary")
    assert summary is not None
    assert "p<d>f" in _words(summary)
    assert "user" in _words(summary)
    folded = _words(details)
    assert "Merge <script>alert(1)</script> well" in folded
    for told in ("AllowsRead Bash(git add *)", "WithholdsWrite", "Backgroundfalse"):
        assert told in folded
    assert [] == list(page.iter("script"))
    (section,) = page.iter("section")
    (said,) = section.iter("pre")
    assert ("merge <a>\n  and b", False) == (said.text, "merge" in folded)


def test_activation_as_text_is_what_a_model_reads() -> None:
    """To the letter; that of a sub-agent is its answer."""
    assert SAID.text == text.render(SAID)
    assert text.render(SAID).endswith("\n\nUser: merge <a>\n  and b")
    assert "**Done** <b>" == text.render(FORK)
    assert to_json(SAID)["text"] == SAID.text
    page = _page(FORK)
    assert ["You<go>", "AnswerDone <b>"] == [_words(x) for x in page.iter("section")]


def test_listing_shows_every_word_of_it() -> None:
    """And how much of the budget it takes."""
    assert LISTING.text == text.render(LISTING)
    page = _page(LISTING)
    (shown,) = page.iter("pre")
    assert LISTING.text == shown.text
    assert "2 skills" in _words(page)
    assert f"{LISTING.counted} of 8,000 characters" in _words(page)
    assert "%skill budget" not in _words(page)
    assert "%skill budget" in _words(_page(CUT.listing))


def test_pb01_budget_tells_what_is_cut_and_why() -> None:
    """Each skill by its size, the cut in words, and the settings that keep all."""
    lines = text.render(CUT).splitlines()
    assert lines[0].startswith("Budget: ")
    head = f"{CUT.listing.counted} of 100 characters (a number that is set; 250"
    assert head in " ".join(lines[:2])
    rows = {line.split()[0]: line for line in lines if "█" in line or "░" in line}
    assert ["big", "small"] == list(rows)
    assert "of 311, " in rows["big"]
    assert "all entries together may have 100 characters" in text.render(CUT)
    assert CUT.fix == (
        "%config SkillManager.listing_entry_chars = 311\n"
        "%config SkillManager.listing_chars = 369"
    )
    said = _words(_page(CUT))
    for line in (*CUT.cuts, *CUT.fix.splitlines()):
        assert line in said
    kept = _report(
        _entry("big & <odd>", 300),
        _entry("small", 10, "t" * 40),
        chars=369,
        entry_chars=311,
    )
    assert (False, None) == (kept.listing.is_cut, kept.fix)


def test_budget_is_drawn_to_scale() -> None:
    """Lengths are shares of the widest; what is cut has a pattern as well."""
    _, picture = _page(CUT).iter(f"{SVG}svg")
    solid = [
        float(each.attrib["width"].rstrip("%"))
        for each in picture.iter(f"{SVG}rect")
        if "brand" in each.attrib["style"]
    ]
    items = CUT.drawn
    assert [
        pytest.approx(100 * item.shown / items[0].full, abs=0.01) for item in items
    ] == solid
    striped = [
        each for each in picture.iter(f"{SVG}rect") if "url(" in each.attrib["style"]
    ]
    assert len([item for item in items if item.cut != "whole"]) == len(striped)
    title = picture.find(f"{SVG}title")
    assert title is not None
    assert "big & <odd>" in _words(title)
    plain = [x.attrib["style"] for x in _page(WHOLE).iter(f"{SVG}rect")]
    assert [] == [style for style in plain if "url(" in style]


def test_of_many_skills_the_largest_are_drawn() -> None:
    """The others are counted with what they take."""
    report = _report(*(_entry(f"skill-{n:03}", n) for n in range(1, SHOWN + 21)))
    rest = sum(item.shown for item in report.rest)
    assert [f"skill-{n:03}" for n in range(SHOWN + 20, 20, -1)] == [
        item.name for item in report.drawn
    ]
    assert f"and 20 more, {rest:,}" in text.render(report)
    assert f"and 20 more, {rest:,}" in _words(_page(report))
    data: Any = to_json(report)
    assert SHOWN + 20 == len(data["skills"])


def test_share_of_a_window_is_told_and_raised() -> None:
    """In tokens the setting is the share; the listing fits with it."""
    entries = [_entry("a", 400), _entry("b", 400)]
    codex: dict[str, Any] = {"strategy": "codex", "entry_chars": None, "unit": "tokens"}
    report = _report(*entries, share=0.02, context_tokens=5_000, **codex)
    assert "2 % of a context window of 5,000 tokens" == report.terms
    assert report.fix is not None
    name, _, share = report.fix.rpartition(" = ")
    assert "%config SkillManager.listing_share" == name
    kept = _report(*entries, share=float(share), context_tokens=5_000, **codex)
    assert not kept.listing.is_cut


def test_uses_stand_in_columns() -> None:
    """The most used first, and whose skill is gone."""
    assert text.render(USES).splitlines() == [
        "Uses: 2 skills, counted on this machine",
        "  NAME    CALLS  ACTIVATIONS",
        "  e<d>it  1,200            3",
        "  old         0            1  (not here)",
    ]
    assert "1,200 calls, 3 activations" in _words(_page(USES))
    assert "Uses in this kernel do not count" in text.render(VALUES["no uses"])
