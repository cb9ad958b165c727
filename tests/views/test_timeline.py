"""A course of time: as a value, as a picture, as bars of text."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

import pytest

from prime_skills_ext.views import chart, hypertext, text
from prime_skills_ext.views.jsonable import to_json
from prime_skills_ext.views.timeline import Course, Timeline, duration

LOAD = Course.of(
    "Load",
    stages=[("discover", 0.01), ("select", 0.01), ("install", 0.02), ("bind", 0.06)],
    imports=[("slow & <odd>", 0.04), ("quick", 0.01)],
)
SVG = "{http://www.w3.org/2000/svg}"


def test_stages_follow_each_other_and_imports_are_parts_of_one() -> None:
    """What binding took beside the imports stands behind them."""
    told = [
        (s.kind, s.skill, round(s.start_s, 3), round(s.seconds, 3)) for s in LOAD.spans
    ]
    assert [
        ("discover", None, 0.0, 0.01),
        ("select", None, 0.01, 0.01),
        ("install", None, 0.02, 0.02),
        ("import", None, 0.04, 0.05),
        ("import", "slow & <odd>", 0.04, 0.04),
        ("import", "quick", 0.08, 0.01),
        ("bind", None, 0.09, 0.01),
    ] == told
    assert 0.1 == pytest.approx(LOAD.seconds)
    assert ["slow & <odd>", "quick"] == [span.skill for span in LOAD.slowest]


def test_a_run_without_imports_has_no_import_stage() -> None:
    """As in a terminal, which binds nothing."""
    look = Course.of("Look", stages=[("discover", 0.01), ("bind", 0.0)])
    assert ["discover", "bind"] == [span.kind for span in look.spans]


def test_of_many_imports_the_slowest_are_drawn() -> None:
    """Two hundred rows would be read by nobody; the others are counted."""
    many = Course.of(
        "Load",
        stages=[("bind", 3.0)],
        imports=[(f"skill-{n}", 0.001 * n) for n in range(40)],
    )
    drawn = [span.skill for span in many.drawn if span.skill]
    assert [f"skill-{n}" for n in range(28, 40)] == drawn
    assert "and 28 more, 378 ms" in text.render(Timeline(courses=(many,)))
    assert "and 28 more, 378 ms" in chart.render(many)


def test_picture_is_well_formed_and_to_scale() -> None:
    """Bars are shares of the whole width; the title tells it without seeing."""
    picture = ET.fromstring(chart.render(LOAD))
    bars = [
        (bar.attrib["x"], bar.attrib["width"])
        for bar in picture.iter(f"{SVG}rect")
        if "var(" in bar.attrib["style"]
    ]
    assert [
        ("0.00%", "10.00%"),
        ("10.00%", "10.00%"),
        ("20.00%", "20.00%"),
        ("40.00%", "50.00%"),
        ("40.00%", "40.00%"),
        ("80.00%", "10.00%"),
        ("90.00%", "10.00%"),
    ] == bars
    title = picture.findtext(f"{SVG}title") or ""
    assert title.startswith("Load, 100 ms: discover 10.0 ms, select 10.0 ms")
    assert "slow & <odd>" in [each.text for each in picture.iter(f"{SVG}text")]


def test_picture_loads_nothing() -> None:
    """An export stays whole, and nobody is told that it was looked at."""
    page = ET.fromstring(str(hypertext.render(Timeline(courses=(LOAD,)))))
    names = {name for each in page.iter() for name in each.attrib}
    assert set() == names & {"href", "src", "{http://www.w3.org/1999/xlink}href"}
    assert "url(" not in chart.render(LOAD)


def test_text_has_bars_to_scale() -> None:
    """Each begins where its work did; no line is longer than a table's."""
    lines = text.render(Timeline(courses=(LOAD,))).splitlines()
    assert "Load: 100 ms" == lines[0]
    assert lines[1].startswith("  discover         10.0 ms  ███")
    assert lines[5].startswith("    slow & <odd>   40.0 ms  ")
    assert max(map(len, lines)) <= text.WIDTH


def test_json_has_every_span() -> None:
    """A program counts for itself."""
    data: Any = to_json(Timeline(courses=(LOAD,)))
    (course,) = data["courses"]
    assert "Load" == course["title"]
    assert {"kind": "discover", "skill": None, "start_s": 0.0, "seconds": 0.01} == (
        course["spans"][0]
    )


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.0, "0.0 ms"), (0.00042, "0.4 ms"), (0.0999, "99.9 ms"), (0.12, "120 ms")],
)
def test_times_read_well(seconds: float, told: str) -> None:
    """Two or three digits are enough."""
    assert told == duration(seconds)
    assert "3.25 s" == duration(3.25)
