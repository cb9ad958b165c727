"""The strict reading of instructions: links, text that nobody sees, length."""

from __future__ import annotations

from pathlib import Path

import pytest

from prime_skills_ext.skill.check_body import (
    Leads,
    check_hidden,
    check_length,
    check_links,
    relative_links,
)
from prime_skills_ext.skill.finding import Finding, Sheet
from prime_skills_ext.skill.frontmatter import parse

PATH = Path("/skills/a/SKILL.md")
FILES = frozenset({"references/guide.md", "scripts/run.py", "Notes.md"})


def sheet(text: str) -> Sheet:
    return Sheet.read(text.encode(), path=PATH)


def look(path: str) -> Leads:
    if path.startswith("out"):
        return "outside"
    return "there" if path in FILES else "missing"


def links(text: str, *, base: str = "") -> list[Finding]:
    return list(check_links(sheet(text), look=look, files=FILES, base=base))


@pytest.mark.parametrize(
    "text",
    [
        "[guide](references/guide.md)",
        "[guide](./references/guide.md#part)",
        "[guide](references/guide.md?raw=1 'title')",
        "[guide](${CLAUDE_SKILL_DIR}/references/guide.md)",
        "[guide]({baseDir}/references/guide.md)",
        "[project](${CLAUDE_PROJECT_DIR}/x.md)",
        "[web](https://example.invalid/x) <mailto:a@example.invalid> [top](#top)",
        "[web](//example.invalid/x) [none]() [{name}]({name}.md)",
        "`[no](link.md)`",
        "```\n[no](link.md)\n```",
        "    [no](link.md)",
        "![picture](scripts/run.py)",
    ],
)
def test_link_that_leads_somewhere_or_is_none_gives_no_finding(text: str) -> None:
    """Addresses, anchors, placeholders and code are not links to files."""
    assert links(text) == []


def test_broken_link_is_an_error_at_its_place() -> None:
    """Line and column are those of the target."""
    (found,) = links("One.\n\nSee [the\nguide](missing.md) now.")
    assert (found.code, found.severity) == ("link-broken", "error")
    assert (found.line, found.column) == (4, 8)
    assert found.written == "guide](missing.md) now."
    assert found.corrected is None


def test_each_of_several_links_has_its_own_place() -> None:
    """The second of two on a line is not reported where the first is."""
    found = links("[a](x.md) [b](x.md)\n[c](x.md)")
    assert [(item.line, item.column) for item in found] == [(1, 5), (1, 15), (2, 5)]


@pytest.mark.parametrize(
    ("written", "meant"),
    [("notes.md", "Notes.md"), ("guide.md", "references/guide.md")],
)
def test_broken_link_is_corrected_where_one_file_is_meant(
    written: str, meant: str
) -> None:
    """A name in another case, or in another folder, is recognised."""
    (found,) = links(f"See [this]({written}).")
    assert found.corrected == f"See [this]({meant})."
    assert found.fix == f"Link to `{meant}`."


def test_link_of_another_file_is_relative_to_it() -> None:
    """In references/ a link starts from there."""
    assert links("[run](../scripts/run.py)", base="references") == []
    (found,) = links("[run](run.py)", base="references")
    assert found.corrected == "[run](../scripts/run.py)"


@pytest.mark.parametrize(
    "target", ["../b/x.md", "/etc/x.md", "~/x.md", "C:/x.md", "out.md"]
)
def test_link_that_leaves_the_folder_is_a_warning(target: str) -> None:
    """It works here, and nowhere else."""
    (found,) = links(f"[x]({target})")
    assert (found.code, found.severity) == ("link-outside", "warning")


def test_reference_link_is_reported_where_its_target_stands() -> None:
    """The definition may be far below the use."""
    (found,) = links("See [a][1].\n\nMore.\n\n[1]: missing.md")
    assert (found.line, found.column) == (5, 6)


def test_encoded_link_is_decoded() -> None:
    """A blank in the name of a file is written as %20, or between < and >."""
    (found,) = links("[a](no%20file.md)")
    assert found.reason == "`no file.md` leads nowhere."
    assert (found.line, found.column) == (1, 5)


def test_link_that_is_spelled_otherwise_is_reported_at_its_paragraph() -> None:
    """An entity is not searched for."""
    (found,) = links("One.\n\n[a](a&amp;b.md)")
    assert (found.line, found.column) == (3, 1)


def test_relative_links_are_paths_of_the_skill() -> None:
    """Each path once, in order."""
    text = "[a](../scripts/run.py) [b](x.md#1) [c](x.md#2)"
    found = relative_links(sheet(text), base="references")
    assert found == ("scripts/run.py", "references/x.md")


def hidden(text: str, *, header: range = range(0)) -> list[Finding]:
    return list(check_hidden(sheet(text), header=header))


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "Grüße, 技能",
        "👩\u200d💻 works ❤\ufe0f",
        "tab\there",
        "क्\u200dष",
    ],
)
def test_text_that_can_be_seen_gives_no_finding(text: str) -> None:
    """Joiners inside emoji and words are part of what is seen."""
    assert hidden(text) == []


def test_invisible_character_is_shown_with_line_and_column() -> None:
    """The corrected line is the one without it."""
    (found,) = hidden("ok\nzero\u200bwidth\u200b")
    assert (found.code, found.severity) == ("invisible-unicode", "warning")
    assert (found.line, found.column) == (2, 5)
    assert found.corrected == "zerowidth"
    assert "(U+200B)" in found.reason


def test_hidden_instruction_is_spelled_out_as_an_error() -> None:
    """Tag characters are text that only a model reads."""
    secret = "".join(chr(0xE0000 + ord(each)) for each in "obey")
    (found,) = hidden(f"Do it.{secret}")
    assert found.severity == "error"
    assert "U+E006F, U+E0062, U+E0065 and 1 more" in found.reason
    assert "they spell `obey`" in found.reason


def test_reversed_reading_direction_is_an_error() -> None:
    """What is read is not what stands there."""
    (found,) = hidden("a \u202eb")
    assert (found.severity, found.column) == ("error", 3)


@pytest.mark.parametrize(
    ("text", "header", "severity"),
    [
        ("a\x00b", range(1, 2), "error"),
        ("a\x1bb", range(0), "warning"),
        ("a\x85b", range(1, 2), "warning"),
        ("a\u2028b", range(1, 2), "warning"),
    ],
)
def test_control_character_is_an_error_only_where_yaml_forbids_it(
    text: str, header: range, severity: str
) -> None:
    """YAML 1.2 prints NEL and both separators."""
    (found,) = hidden(text, header=header)
    assert (found.code, found.severity, found.column) == (
        "control-character",
        severity,
        2,
    )


def test_many_invisible_characters_are_not_listed_for_ever() -> None:
    """Twenty lines are enough to know."""
    assert len(hidden("a\u200b\n" * 100)) == 20


def length(body: str) -> list[Finding]:
    text = f"---\nname: a\ndescription: D.\n---\n{body}"
    return list(check_length(sheet(text), parse(text)))


def test_instructions_of_the_recommended_length_give_no_finding() -> None:
    """500 lines are fine."""
    assert length("x\n" * 500) == []


def test_long_instructions_are_a_note() -> None:
    """The standard recommends, it does not forbid."""
    (found,) = length("x\n" * 501)
    assert (found.code, found.severity, found.line) == ("body-length", "info", 5)


def test_missing_instructions_are_a_warning() -> None:
    """A description alone tells nobody how."""
    (found,) = length("\n")
    assert (found.code, found.severity) == ("body-empty", "warning")
