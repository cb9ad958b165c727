"""Folding, invisible characters, splitting outside of brackets."""

from __future__ import annotations

import pytest

from prime_skills_ext.skill.text import (
    cut_at_word,
    few,
    folded,
    invisible_characters,
    split_outside,
    without_invisible,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a", "a"), (" a \n\n b\tc ", "a b c"), ("", ""), ("a\u00a0b", "a b")],
)
def test_folded_text_has_single_blanks(text: str, expected: str) -> None:
    """Every run of white space is one blank."""
    assert folded(text) == expected


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("plain", ()),
        ("café 技能", ()),
        ("a\u200bb\u200bc", ("U+200B",)),
        ("a\u202eb", ("U+202E",)),
        ("a\u200db", ("U+200D",)),
        ("\U000e0041\ufe0f", ("U+E0041", "U+FE0F")),
        ("\U0001f3f4\U000e0041", ("U+E0041",)),
    ],
)
def test_invisible_characters_are_named_once(text: str, names: tuple[str, ...]) -> None:
    """In order of appearance."""
    assert invisible_characters(text) == names


@pytest.mark.parametrize("text", ["👨‍👩‍👧", "❤️", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "می‌خواهم", "א\u200f", "\u200eא"])
def test_what_emoji_and_scripts_need_is_kept(text: str) -> None:
    """Neither named nor taken away."""
    assert invisible_characters(text) == ()
    assert without_invisible(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [("plain", "plain"), ("a\u200bb ❤️\u200b c\u00ad", "ab ❤️ c"), ("\U000e0041", "")],
)
def test_text_without_invisible_characters(text: str, expected: str) -> None:
    """Only what nobody sees is taken away."""
    assert without_invisible(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b", ("a", "b")),
        ("a(b,c),{d,e},[f,g]", ("a(b,c)", "{d,e}", "[f,g]")),
        (" , a ,, ", ("a",)),
        ("a),b", ("a)", "b")),
    ],
)
def test_split_keeps_brackets_together(text: str, expected: tuple[str, ...]) -> None:
    """Separators inside of brackets separate nothing."""
    assert split_outside(text, separators=",") == expected


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("short", "short"),
        ("twelve chars", "twelve…"),
        ("a verylongwordthatdoesnotend", "a verylon…"),
        ("技能技能技能技能技能技能", "技能技能技能技能技…"),
    ],
)
def test_cut_falls_on_a_word_where_there_is_one(text: str, cut: str) -> None:
    """A text is cut to ten characters, the ellipsis included."""
    assert cut == cut_at_word(text, limit=10)


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        (("a",), "a"),
        (("a", "b", "c"), "a, b, c"),
        (("a", "b", "c", "d", "e"), "a, b, c and 2 more"),
    ],
)
def test_few_names_three_and_counts_the_rest(
    items: tuple[str, ...], expected: str
) -> None:
    """A message stays short, however long the list is."""
    assert expected == few(items)
