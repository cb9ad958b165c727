"""Text of strangers, made fit to stand in XML that a model reads."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from prime_skills_ext.prompt.cleaning import (
    clean,
    escaped,
    escaped_attribute,
    legible_path,
)
from prime_skills_ext.skill.text import invisible_characters

#: Characters that make trouble, beside those that hypothesis finds.
NASTY = st.sampled_from(
    "\x00\x1b\x7f\x85\x9b\ud800\udfff\ufffe\uffff\u202e\u200b\u200d\ufe0f\u2028"
    "\u3000\u205f \n\t&<>\"']a👩❤"
)
texts = st.lists(st.one_of(NASTY, st.characters()), max_size=40).map("".join)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("plain text", "plain text"),
        (" two\n\n lines\tand  blanks ", "two lines and blanks"),
        ("nul\x00bell\x07escape\x1b[31mred", "nulbellescape[31mred"),
        ("next\x85line", "next line"),
        ("half a pair \ud83d ends", "half a pair ends"),
        ("no\ufffe\uffffcharacters", "nocharacters"),
        ("turned \u202earound\u202c", "turned around"),
        ("a \u200b b", "a b"),
        ("x\ufe0f\u200d👩", "x👩"),
        ("\u3000\ufe0f", ""),
        ("👨‍👩‍👧 ❤️ می‌خواهم", "👨‍👩‍👧 ❤️ می‌خواهم"),
        ("hidden\U000e0049\U000e0067order", "hiddenorder"),
    ],
)
def test_clean_text_is_one_line_of_visible_characters(text: str, cleaned: str) -> None:
    """Only white space becomes something else: what is not seen goes."""
    assert cleaned == clean(text)


@given(texts)
@example("x\ufe0f\u200d👩")
@example("\u205f\ufe0f")
def test_cleaning_leaves_nothing_to_clean(text: str) -> None:
    """For every text, also where taking one character away bares another."""
    cleaned = clean(text)
    assert cleaned == clean(cleaned)
    assert cleaned == " ".join(cleaned.split())
    assert () == invisible_characters(cleaned)
    cleaned.encode()


@given(texts)
def test_pb02_clean_text_survives_xml_as_it_is(text: str) -> None:
    """Escaping is undone by every reader of XML, in elements and in attributes."""
    cleaned = clean(text)
    element = ET.fromstring(f'<a b="{escaped_attribute(text)}">{escaped(cleaned)}</a>')
    assert cleaned == (element.text or "")
    assert cleaned == clean(element.get("b") or "")


def test_pb08_text_has_only_three_characters_escaped() -> None:
    """Quotes cost tokens and mean nothing between tags."""
    assert 'don\'t "quote" &lt;b&gt; &amp; ]]&gt;' == escaped(
        'don\'t "quote" <b> & ]]>'
    )


def test_pb08_attributes_have_their_quotes_escaped_too() -> None:
    """And what a reader of XML would make a blank of."""
    assert "&quot;a&apos;&#10;&#9;&lt;&amp;&gt;" == escaped_attribute("\"a'\n\t<&>")


@pytest.mark.parametrize(
    ("path", "legible"),
    [
        ("/home/a b/SKILL.md", "/home/a b/SKILL.md"),
        ("/two  blanks/ü/技能/SKILL.md", "/two  blanks/ü/技能/SKILL.md"),
        ("/new\nline/\x1b[31m/SKILL.md", "/new�line/�[31m/SKILL.md"),
        ("/not-utf8-\udcff/\u202egro.md", "/not-utf8-�/�gro.md"),
        ("/line\u2028separator", "/line�separator"),
        ("/heart-❤️/SKILL.md", "/heart-❤️/SKILL.md"),
    ],
)
def test_pb02_a_path_shows_where_it_cannot_be_shown(path: str, legible: str) -> None:
    """Taking characters away would name another file, so they are replaced."""
    assert legible == legible_path(path)
