"""Where a header begins and ends, and what is left as the body."""

from __future__ import annotations

import pytest

from prime_skills_ext.skill.frontmatter import HEADER_BYTES, parse

HEADER = "name: a\ndescription: d\n"


def codes(data: bytes | str) -> list[str]:
    return [item.code for item in parse(data).diagnostics]


@pytest.mark.parametrize("fence", ["---", "--- ", "---\t \t"])
def test_fence_may_end_in_blanks(fence: str) -> None:
    """What nobody sees does not count."""
    found = parse(f"{fence}\n{HEADER}{fence}\nText")
    assert (found.found, found.body, found.diagnostics) == (True, "Text", ())


@pytest.mark.parametrize("line", ["----", "---x", " ---", "--- x", "- - -", "—"])
def test_other_lines_open_no_header(line: str) -> None:
    """A fence is exactly three hyphens at the margin."""
    assert not parse(f"{line}\n{HEADER}---\n").found


@pytest.mark.parametrize("line", ["----", "---x", " ---", "....", "... x"])
def test_other_lines_close_no_header(line: str) -> None:
    """A header goes on until a real fence."""
    assert codes(f"---\n{HEADER}{line}\n") == ["unclosed-frontmatter"]


def test_three_dots_close_a_header() -> None:
    """YAML's own end of a document is accepted."""
    found = parse(f"---\n{HEADER}...\nText")
    assert (found.fields["name"], found.body) == ("a", "Text")


def test_first_fence_closes() -> None:
    """A rule in the body belongs to the body."""
    assert parse(f"---\n{HEADER}---\none\n---\ntwo").body == "one\n---\ntwo"


def test_body_is_trimmed_and_knows_its_line() -> None:
    """Blank lines around it go, those inside stay."""
    found = parse(f"---\n{HEADER}---\n\n \n  one\n\ntwo \n\n")
    assert (found.body, found.body_line) == ("one\n\ntwo", 7)


def test_body_without_header_is_the_whole_text() -> None:
    """Nothing is lost when there is no header."""
    found = parse("\n# Title\r\n\r\nText\n")
    assert (found.found, found.body, found.body_line) == (False, "# Title\n\nText", 2)


def test_fields_know_their_lines() -> None:
    """Lines count from the top of the file."""
    assert parse(f"\n---\n{HEADER}---").lines == {"name": 3, "description": 4}


def test_empty_header_is_found_without_fields() -> None:
    """Nothing between fences is a header that says nothing."""
    found = parse("---\n---\nText")
    assert (found.found, dict(found.fields), found.body) == (True, {}, "Text")


def test_comment_only_header_is_found_without_fields() -> None:
    """So are comments."""
    assert (parse("---\n# x\n---").found, parse("---\n# x\n---").fields) == (True, {})


def test_header_beyond_the_limit_is_not_read() -> None:
    """Discovery reads no more than the limit, so nobody does."""
    text = f"---\n{HEADER}x: {'y' * HEADER_BYTES}\n---\nText"
    assert codes(text) == ["header-too-long"]
    assert codes(text.encode()[:HEADER_BYTES]) == ["header-too-long"]


def test_fence_cut_by_the_limit_is_no_fence() -> None:
    """A line that may go on behind the limit is not taken for a whole one."""
    start = f"---\n{HEADER}x: "
    fill = "y" * (HEADER_BYTES - len(start) - len("\n---"))
    data = f"{start}{fill}\n---".encode()
    assert len(data) == HEADER_BYTES
    assert codes(data) == codes(data + b"more\n") == ["header-too-long"]


def test_long_body_is_no_part_of_the_limit() -> None:
    """Only the header has to be short."""
    found = parse(f"---\n{HEADER}---\n" + "é" * HEADER_BYTES)
    assert (found.fields["name"], len(found.body)) == ("a", HEADER_BYTES)
    assert found.diagnostics == ()


def test_character_cut_by_a_partial_read_is_no_fault() -> None:
    """The end of the first 64 KiB may fall into a character."""
    data = f"---\n{HEADER}---\n{'x' * 10}é".encode()
    assert codes(data[:-1]) == []


def test_bytes_that_are_not_utf8_are_named() -> None:
    """They read as U+FFFD; byte and line are told."""
    found = parse(b"---\r\nname: a\r\ndescription: caf\xe9 x\r\n---")
    (item,) = found.diagnostics
    assert found.fields["description"] == "caf\ufffd x"
    assert (item.code, item.line) == ("encoding", 3)
    assert "0xE9" in item.message


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_is_read_with_a_warning(encoding: str) -> None:
    """A file written by a Windows shell is readable all the same."""
    found = parse(f"\ufeff---\n{HEADER}---\nText".encode(encoding))
    assert (found.fields["name"], found.body) == ("a", "Text")
    assert [item.code for item in found.diagnostics] == ["encoding"]


def test_text_with_lone_surrogates_is_read() -> None:
    """Text that no encoding can hold is no reason to fail."""
    assert parse("---\nname: a\ud800\n---").found


@pytest.mark.parametrize("opening", ["---\n", ""])
def test_header_up_to_the_end_is_closed_behind_it(opening: str) -> None:
    """Without a body the missing fence belongs behind the last line."""
    (item,) = parse(f"{opening}name: a\n  more").diagnostics
    last = 3 if opening else 2
    assert f"after line {last}." in item.fix
