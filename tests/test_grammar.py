"""How words become arguments: where the grammar ends and a skill's text begins."""

from __future__ import annotations

import pytest

from prime_skills_ext.commands import COMMANDS
from prime_skills_ext.grammar import cut_text


@pytest.mark.parametrize(
    ("typed", "head", "text"),
    [
        ("use pdf", "use pdf", ""),
        ("use pdf merge  a.pdf 'b c' {x} $y", "use pdf", "merge  a.pdf 'b c' {x} $y"),
        ("use --json pdf --json", "use --json pdf", "--json"),
        ("use 'My Skill' it's", "use 'My Skill'", "it's"),
        ('use "My Skill"\nline\n  more\n', 'use "My Skill"', "line\n  more"),
        ("  use\tpdf\nfirst\n\nlast", "use\tpdf", "first\n\nlast"),
        ("use pdf 'unclosed", "use pdf", "'unclosed"),
        ("use\npdf", "use", ""),
        ("use", "use", ""),
        ("use --help", "use --help", ""),
        ("show pdf more", "show pdf more", ""),
        ("", "", ""),
    ],
)
def test_mx01_text_behind_the_name_is_taken_as_it_is_typed(
    typed: str, head: str, text: str
) -> None:
    """Nothing is split, expanded or read as an option; a name stands on its line."""
    assert (head, text) == cut_text(typed, commands=COMMANDS)


@pytest.mark.parametrize(
    ("words", "head", "text"),
    [
        (["use", "pdf"], ["use", "pdf"], ""),
        (["use", "pdf", " it's all "], ["use", "pdf"], "it's all"),
        (["use", "pdf", "merge all", "b"], ["use", "pdf"], "'merge all' b"),
        (["use", "pdf", "what?", "", "-x"], ["use", "pdf"], "what? '' -x"),
        (["use", "--json", "pdf", "--json"], ["use", "--json", "pdf"], "--json"),
        (["use"], ["use"], ""),
        (["show", "pdf", "x"], ["show", "pdf", "x"], ""),
    ],
)
def test_words_of_a_terminal_stay_the_words_that_they_are(
    words: list[str], head: list[str], text: str
) -> None:
    """A shell has split them; where the skill splits again it finds the same."""
    assert (head, text) == cut_text(words, commands=COMMANDS)
