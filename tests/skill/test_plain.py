"""The short way through a header agrees with YAML, or does not answer."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from prime_skills_ext.skill import _plain, _yaml
from prime_skills_ext.skill._document import Document

KEYS = ["name", "description", "metadata", "license", "null", "a_b", "x-y", "_"]
PIECES = [
    *("a", "word", "it's", "1.10", "007", "null", "~", "true", "https://x.y/z?a=b#c"),
    *(
        " ",
        " ",
        "  ",
        ": ",
        ":",
        " #",
        "#",
        "- ",
        "? ",
        "&a",
        "*a",
        "!t",
        "|",
        ">",
        "%",
    ),
    *('"', "'", "[", "]", "{", "}", ",", ", ", "\\", "é", "—", "\U0001f600", "\u00a0"),
    *("\t", "\u2028", "\ufeff", "@", "`", "<<", "...", "---", "="),
]
texts = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)
lines = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "", "", "", "  ", "  ", " ", "    "]),
    st.sampled_from(KEYS),
    st.sampled_from([": ", ": ", ": ", ":", " : ", ":  "]),
    st.one_of(texts, texts.map('"{}"'.format), texts.map("'{}'".format), st.just("")),
)
blocks = st.builds(
    "{}{}: {}{}".format,
    st.sampled_from(["", "", "", "  "]),
    st.sampled_from(KEYS),
    st.sampled_from([">", ">-", "|", "|-", ">+", "|2", "> "]),
    st.lists(texts.map("\n  {}".format), max_size=3).map("".join),
)
near_headers = st.lists(
    st.one_of(lines, lines, blocks, texts), min_size=1, max_size=6
).map("\n".join)


@given(near_headers)
@example('name: a\nmetadata:\n  version: "1.0"\nlicense: MIT')
@example("metadata:\n  a: b")
@example("a: b\n  c: d")
@example("metadata:\nlicense: MIT")
@example("metadata:")
@example("a:")
@example("a: 1 #x")
@example("a: null\nb: Null\nnull: x")
@example('a: "~"')
@example("a: 'b: c'\nb: \"it's #1\"")
@example("a: b\n\nc: d")
@example("a: >-\n  x: y\n  # z\nb: c")
@example("a: |\n  x\n  y\nb: >\n  x\n  yy")
@example("a: |\n  x\n   y")
@example("a: >\n  x\n\n  y")
@example("m:\n  a: |\n  x: y")
@example("m:\nb: |-\n  - x\n  '\"")
def test_what_it_reads_it_reads_as_yaml_does(text: str) -> None:
    """Values, places and duplicates are the parser's, to the column."""
    found = _plain.read(text)
    if found is not None:
        assert _yaml.read(text) == found
        assert list(found.entries) == list(found.value)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "text",
    [
        "name: a\ndescription: Counts words. Use it when somebody asks, or not.",
        'name: a\nmetadata:\n  author: b\n  version: "1.0"\nlicense: MIT',
        "description: Sees https://example.org#top — and it's 10:30",
        "name: a\ndescription: >-\n  One: two\n  three.\nlicense: MIT",
        "description: |\n  - One\n  - two # three",
    ],
)
def test_usual_headers_are_read(text: str) -> None:
    """What most skills look like never reaches the parser."""
    assert isinstance(_plain.read(text), Document)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "a: b: c",
            "a: b #c",
            "a: b ",
            "a: 'b''c'",
            "a: [b]",
            "a:",
            "- a",
            "a: -b",
        ),
        *("a: b\na: c", "m:\n  a: b\n  a: c", "m:\n    a: b", 'a: "\\n"', "a: b:", "a"),
        *("a: b\tc", "a: b\u00a0c", "m:\n  n:\n    o: p", "a: b\n\nc: d", "'a': b"),
    ],
)
def test_unusual_headers_are_left_to_the_parser(text: str) -> None:
    """Whatever could mean more than it says is not decided here."""
    assert _plain.read(text) is None


def test_usual_headers_do_not_need_the_parsers_import() -> None:
    """The 20 ms of PyYAML are not paid for a header of plain lines."""
    code = (
        "import sys; from prime_skills_ext.skill.frontmatter import parse; "
        "parse('---\\ndescription: b c\\n---\\n'); print('yaml' in sys.modules)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "False\n" == answer.stdout
