"""Entries of a ``skills`` list, held against names and paths."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prime_skills_ext.catalog.patterns import (
    Pattern,
    Subject,
    find_disabling,
    is_selected,
    matches_glob,
    parse_entry,
)

FOO = Subject(
    names=frozenset({"foo"}),
    paths=frozenset(
        {"skills/foo", "skills/foo/SKILL.md", "/a/skills/foo", "/a/skills/foo/SKILL.md"}
    ),
    base_names=frozenset({"foo", "SKILL.md"}),
)


def patterns(*texts: str) -> list[Pattern]:
    return [found for text in texts if (found := parse_entry(text)) is not None]


def decided(*texts: str) -> str | None:
    found = find_disabling(patterns(*texts), FOO)
    return None if found is None else found.text


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("extra", "path", "extra"),
        (" ~/x/ ", "path", "~/x"),
        ("/", "path", "/"),
        ("!**/bad", "exclude", "**/bad"),
        ("+./skills/foo", "include", "skills/foo"),
        ("-edit", "disable", "edit"),
        ("--edit", "disable", "-edit"),
    ],
)
def test_entry_is_read_by_its_prefix(text: str, kind: str, value: str) -> None:
    """A leading ``./`` and a trailing slash mean nothing."""
    found = parse_entry(text)
    assert found is not None
    assert (kind, value) == (found.kind, found.value)


@pytest.mark.parametrize(
    "entry",
    ["-foo", "-skills/foo", "-./skills/foo/", "-skills/foo/SKILL.md", "-/a/skills/foo"],
)
def test_w50_exact_forms_match_names_and_paths(entry: str) -> None:
    """By plain name wherever it lies, by relative or absolute path."""
    assert entry == decided(entry)


@pytest.mark.parametrize("entry", ["-fo", "-bar/foo", "-foo/SKILL.md", "-SKILL.md"])
def test_exact_forms_match_nothing_else(entry: str) -> None:
    """Neither a part nor a base name."""
    assert decided(entry) is None


@pytest.mark.parametrize(
    "entry", ["!foo", "!f*", "!**/foo", "!skills/*", "!/a/**", "!**/*", "!{bar,foo}"]
)
def test_exclusions_match_names_paths_and_base_names(entry: str) -> None:
    """With globs."""
    assert entry == decided(entry)


def test_includes_bring_back_what_is_excluded() -> None:
    """Exactly, by name or path."""
    assert decided("!**/*", "+foo") is None
    assert decided("+skills/foo", "!foo") is None
    assert "!**/*" == decided("!**/*", "+bar")


def test_disabling_always_wins() -> None:
    """Whatever the order."""
    assert "-foo" == decided("-foo", "+foo")
    assert "-foo" == decided("+skills/foo", "-foo")


def test_plain_paths_decide_nothing_in_settings() -> None:
    """They are sources."""
    assert decided("other", "*") is None


def test_w52_filter_of_a_package_narrows_what_is_asked() -> None:
    """No filter lets all through, an empty one nothing, includes only theirs."""
    answers = [
        is_selected(None, FOO),
        is_selected([], FOO),
        is_selected(patterns("skills/foo"), FOO),
        is_selected(patterns("./skills/foo"), FOO),
        is_selected(patterns("skills/*", "!foo"), FOO),
        is_selected(patterns("other"), FOO),
        is_selected(patterns("!**/*", "+foo"), FOO),
        is_selected(patterns("other", "+foo"), FOO),
        is_selected(patterns("!bar"), FOO),
    ]
    assert [True, False, True, True, False, False, True, True, True] == answers


@pytest.mark.parametrize(
    ("glob", "text", "expected"),
    [
        ("*", "a", True),
        ("*", "a/b", False),
        ("*", ".a", False),
        (".*", ".a", True),
        ("**", "a/b/c", True),
        ("**/c", "c", True),
        ("**/c", "a/b/c", True),
        ("**/c", "a/.b/c", False),
        ("a/**", "a", True),
        ("a/**/c", "a/c", True),
        ("a?c", "abc", True),
        ("[ab]c", "bc", True),
        ("[!ab]c", "bc", False),
        ("{a,b}/{c,d}", "b/c", True),
        ("{a,{b,c}}", "c", True),
        ("{a", "{a", True),
        ("A", "a", False),
    ],
)
def test_globs_match_as_the_reference_does(
    glob: str, text: str, *, expected: bool
) -> None:
    """Stars stay inside a segment and leave dotted ones alone; two stars span."""
    assert expected == matches_glob(glob, text)


@pytest.mark.parametrize(
    "glob",
    ["*a" * 60 + "b", "**/" * 200 + "b", "{a,b}" * 40, "{" * 5000, "[" * 5000],
)
def test_hostile_globs_take_no_time(glob: str) -> None:
    """A repository's pattern cannot hang a kernel."""
    # what this process computes: others may keep it from doing so
    start = time.process_time()
    matches_glob(glob, "a" * 200)
    matches_glob(glob, "/".join("a" * 200))
    assert time.process_time() - start < 5


@given(
    glob=st.text("*?[]{}!,ab./\\^-\0", max_size=30), text=st.text("ab./", max_size=12)
)
def test_no_glob_raises(glob: str, text: str) -> None:
    """Whatever somebody types."""
    assert matches_glob(glob, text) in {True, False}


@given(text=st.text("ab", min_size=1).filter(lambda it: not re.search(r"[*?]", it)))
def test_text_without_signs_matches_itself_alone(text: str) -> None:
    """A glob of letters is a comparison."""
    assert (True, False) == (matches_glob(text, text), matches_glob(text, f"{text}a"))
