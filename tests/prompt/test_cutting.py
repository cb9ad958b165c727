"""Where a text is cut: at a sentence, else a word, never inside a character."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prime_skills_ext.prompt.cutting import cut

#: What a reader takes for one character, each of several code points but the last.
CLUSTERS = [
    "e\u0301",  # letter and accent
    "👩\u200d👩\u200d👧",  # family
    "👍🏽",  # skin tone
    "🇩🇪",  # flag: two letters
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",  # flag: tags
    "❤\ufe0f",  # presentation
    "1\ufe0f\u20e3",  # keycap
    "\u1100\u1161\u11a8",  # Hangul by its letters
    "\u1100\u1100\u1161",  # two leading ones
    "\uac00\u11a8",  # a syllable and one more
    "\ua960\ud7b0\ud7cb",  # old letters
    "\u0b95\u0bcd\u0bb7",  # Tamil conjunct
    "\u0915\u093f",  # vowel sign that takes space
    "\u0e01\u0e33",  # Thai
    "技",
]
words = st.lists(st.sampled_from([*CLUSTERS, " ", "ab", ". "]), max_size=40)


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("short", 5, "short"),
        ("Reads PDF files. Never for images.", 30, "Reads PDF files. …"),
        ("Reads PDF files. Never for images.", 18, "Reads PDF files. …"),
        ("Reads PDF files. Never for images.", 17, "Reads PDF files…"),
        ("Reads files (e.g. PDF ones) for you.", 30, "Reads files (e.g. PDF ones)…"),
        ("Reads files, e.g. PDF files, for you.", 22, "Reads files, e.g. PDF…"),
        ("Is version 1.5 there? It may be so.", 30, "Is version 1.5 there? …"),
        ('He says "go!" Then one waits for it.', 26, 'He says "go!" …'),
        ('He says "go!" Then one waits for it.', 14, 'He says "go!"…'),
        ("A. Then a long sentence follows here.", 24, "A. Then a long sentence…"),
        ("读取文件。然后写入另一个文件。", 10, "读取文件。 …"),
        ("averyveryverylongword", 10, "averyvery…"),
        ("one, two, three", 10, "one, two…"),
        ("🇩🇪🇫🇷🇮🇹🇪🇸", 6, "🇩🇪🇫🇷…"),
        ("🇩🇪🇫🇷🇮🇹🇪🇸", 5, "🇩🇪🇫🇷…"),
        ("\uac00\u11a8" * 3, 4, "\uac00\u11a8…"),
        ("读取文件夹。然后", 7, "读取文件夹。…"),
        ("anything", 1, ""),
        ("anything", 0, ""),
        ("anything", -5, ""),
        ("", 0, ""),
    ],
)
def test_pb04_a_cut_falls_on_a_sentence_else_on_a_word(
    text: str, limit: int, shown: str
) -> None:
    """What is left out shows as an ellipsis, which counts."""
    assert shown == cut(text, limit=limit)


def test_pb04_a_negation_is_never_cut_in_half() -> None:
    """The last sentence is there as a whole or not at all."""
    sentence = "Turns spreadsheets into charts. "
    text = sentence * 30 + "Do not use it for slides."
    assert (sentence * 7).strip() + " …" == cut(text, limit=250)


@given(st.text(max_size=60), st.integers(-2, 70))
def test_a_cut_text_is_a_beginning_within_the_limit(text: str, limit: int) -> None:
    """Whatever the text is."""
    shown = cut(text, limit=limit)
    assert len(shown) <= max(0, limit)
    if len(text) <= limit:
        assert text == shown
    else:
        assert text.startswith(shown.removesuffix("…").removesuffix(" "))


@given(words, st.integers(2, 60))
def test_a_cut_never_falls_inside_a_character(parts: list[str], limit: int) -> None:
    """As a reader sees characters, not as code points."""
    text = "".join(parts)
    shown = cut(text, limit=limit)
    edges = {sum(map(len, parts[:count])) for count in range(len(parts) + 1)}
    edges |= {at for at in range(len(text)) if text[at] == " " or text[at - 1] == " "}
    edges |= {at + 1 for at in range(len(text)) if text[at : at + 2] == "ab"}
    edges |= {at for at in range(len(text)) if text[at] == "."}
    if shown != text:
        assert len(shown.removesuffix("…").removesuffix(" ")) in edges


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_each_kind_of_character_is_whole_or_gone(cluster: str) -> None:
    """At every limit, without the luck of a random text."""
    text = f"ab{cluster}cdefghijkl"
    for limit in range(3, len(text)):
        kept = cut(text, limit=limit).removesuffix("…")
        assert kept == "ab" or kept.startswith(f"ab{cluster}"), limit


def test_a_character_longer_than_the_limit_is_left_out() -> None:
    """Half of it would be another character."""
    assert "" == cut("e" + "\u0301" * 50, limit=10)
    assert "ab…" == cut("abe" + "\u0301" * 50, limit=10)
