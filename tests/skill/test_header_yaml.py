"""What YAML can do in a header, within bounds, with either of PyYAML's parsers."""

from __future__ import annotations

import json
import time

import pytest
import yaml

from prime_skills_ext.skill import _yaml
from prime_skills_ext.skill._document import Document, Problem
from prime_skills_ext.skill._yaml import read
from prime_skills_ext.skill.frontmatter import parse

BOTH = pytest.mark.parametrize("pure", [False, True])


def header(text: str) -> str:
    return f"---\n{text}\n---\n"


def codes(text: str) -> list[str]:
    return [item.code for item in parse(header(text)).diagnostics]


def value(text: str, *, pure: bool) -> object:
    document = read(text, pure=pure)
    assert isinstance(document, Document), document
    return document.value


def test_fast_parser_is_used_where_there_is_one() -> None:
    """The C parser is asked first; the other one serves without it."""
    assert _yaml._LOADERS == (
        getattr(yaml, "CBaseLoader", yaml.BaseLoader),
        yaml.BaseLoader,
    )


@BOTH
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1.10", {"a": "1.10"}),
        ("a: !!int 1", {"a": "1"}),
        ("a: !!str null", {"a": "null"}),
        ("a: 'null'", {"a": "null"}),
        ("a: ''", {"a": ""}),
        ("a: NULL", {"a": None}),
        ("~: x", {"~": "x"}),
        ("?\n: x", {"": "x"}),
        ("1: x", {"1": "x"}),
        ("? a\n: b", {"a": "b"}),
        ("a: &x [1]\nb: *x", {"a": ["1"], "b": ["1"]}),
        ("&k a: 1\nb: *k", {"a": "1", "b": "a"}),
        ("<<: {a: 1}", {"<<": {"a": "1"}}),
        ("{a: [1, {b: c}]}", {"a": ["1", {"b": "c"}]}),
        ("- a\n-", ["a", None]),
        ("text", "text"),
        ("", None),
        ("--- \na: b", {"a": "b"}),
    ],
)
def test_values_are_text_as_written(*, text: str, expected: object, pure: bool) -> None:
    """Scalars are text, null is None, tags and merge keys mean nothing."""
    assert value(text, pure=pure) == expected


@BOTH
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[a]: b", "a key is not plain text"),
        ("{{a}}", "a key is not plain text"),
        ("a: &x [*x]", "nothing is called &x"),
        ("a: *x", "nothing is called &x"),
        ("a: b\n--- \nc: d", "a second document starts here"),
        ("a: " + "[" * 70 + "]" * 70, "nested deeper than 64 levels"),
    ],
)
def test_refusals_say_why(*, text: str, reason: str, pure: bool) -> None:
    """What is valid YAML and no header is a problem with a reason."""
    problem = read(text, pure=pure)
    assert isinstance(problem, Problem)
    assert problem.reason == reason


@BOTH
@pytest.mark.parametrize(
    "text",
    [
        "a: [",
        "a: b: c",
        "\ta: b",
        'a: "\\UFFFFFFFF"',
        "%YAML " + "9" * 5000 + ".1\n---\na: b",
        "a: \x01",
        "a: %",
        "a: " + "[" * 60000,
        "- " * 30000,
    ],
)
def test_invalid_yaml_is_a_problem(*, text: str, pure: bool) -> None:
    """No parser's exception gets through, however deep or large."""
    assert isinstance(read(text, pure=pure), Problem)


LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)


def test_alias_bomb_does_not_grow() -> None:
    """Aliases of aliases are counted; the skill loads and can be written out."""
    found = parse(header(f"name: a\ndescription: d\n{LAUGHS}"))
    assert found.fields["description"] == "d"
    assert len(json.dumps(dict(found.fields))) < 1 << 20
    (item,) = found.diagnostics
    assert (item.code, item.severity) == ("yaml-invalid", "warning")
    assert "aliases make it too large" in item.message


def test_deep_nesting_costs_one_field() -> None:
    """The other fields are read."""
    found = parse(header("name: a\ndeep: " + "[" * 20000 + "\ndescription: d"))
    assert (found.fields["name"], found.fields["description"]) == ("a", "d")
    assert [item.code for item in found.diagnostics] == ["yaml-invalid"]


def test_duplicate_key_is_reported_and_the_last_counts() -> None:
    """As in most readers of YAML; the line of the later one is named."""
    found = parse(header("name: a\nlicense: x\nname: b"))
    (item,) = found.diagnostics
    assert found.fields["name"] == "b"
    assert (item.code, item.line) == ("yaml-duplicate-key", 4)


def test_duplicate_key_in_a_broken_header_is_the_same() -> None:
    """The second reader decides no differently."""
    found = parse(header("name: a\nname: b\ndescription: x: y"))
    assert found.fields["name"] == "b"
    assert [item.code for item in found.diagnostics] == [
        "yaml-colon",
        "yaml-duplicate-key",
    ]


def test_nested_duplicate_key_is_reported() -> None:
    """Inside of maps too."""
    assert codes("metadata:\n  a: 1\n  a: 2") == ["yaml-duplicate-key"]


@pytest.mark.parametrize("text", ["just text", "- a\n- b", "[a, b]", "{{x}}"])
def test_header_that_is_no_map_is_an_error(text: str) -> None:
    """Nothing can be had from it, and that is said with line and column."""
    (item,) = parse(header(text)).diagnostics
    assert (item.code, item.severity, item.line) == ("yaml-invalid", "error", 2)
    assert "at line 2, column" in item.message


def test_stray_line_is_left_out_and_named() -> None:
    """A line that belongs to no field costs only itself."""
    found = parse(header("stray\nname: a\nlost\n  lost too\ndescription: d"))
    assert dict(found.fields) == {"name": "a", "description": "d"}
    (item,) = found.diagnostics
    assert (item.code, item.line) == ("yaml-stray", 2)


def test_broken_map_is_left_out_and_named() -> None:
    """A map that cannot be read is nothing, not a text."""
    found = parse(header("name: a\nmetadata: {a: [}\ndescription: d"))
    assert dict(found.fields) == {"name": "a", "metadata": None, "description": "d"}
    (item,) = found.diagnostics
    assert (item.code, item.line) == ("yaml-invalid", 3)


def test_broken_unknown_field_is_kept_as_text() -> None:
    """Others' fields are never lost."""
    found = parse(header("name: a\ntags: [a] [b]\ndescription: d"))
    assert found.fields["tags"] == "[a] [b]"
    assert [item.code for item in found.diagnostics] == ["yaml-invalid"]


def test_problem_between_fields_is_reported_in_yamls_words() -> None:
    """What no single field explains is still reported."""
    found = parse(header("%TAG x\nname: a\n  \ndescription: d"))
    assert found.fields["name"] == "a"
    assert found.diagnostics != ()


def test_second_document_is_reported() -> None:
    """`--- x` is no fence, and starts nothing for us."""
    found = parse(header("name: a\n--- x\ndescription: d"))
    assert dict(found.fields) == {"name": "a", "description": "d"}
    assert [item.code for item in found.diagnostics] == ["yaml-stray"]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("*.py", "*.py"),
        ("[*.py, {a,b}.md]", ["*.py", "{a,b}.md"]),
        ("\n  - *.py\n  - 'b.md'", ["*.py", "b.md"]),
        ("\n  - *.py\n  text", "- *.py text"),
    ],
)
def test_globs_that_yaml_takes_for_aliases_are_read(
    written: str, expected: object
) -> None:
    """`*.py` needs quotes in YAML; authors forget them."""
    found = parse(header(f"name: a\npaths: {written}"))
    assert found.fields["paths"] == expected
    assert [item.code for item in found.diagnostics] == ["yaml-sign"]


def test_literal_block_that_yaml_refuses_keeps_its_lines() -> None:
    """The second reader knows blocks."""
    found = parse(header("name: a\ndescription: |\n\tone\n\ttwo"))
    assert found.fields["description"] == "one\ntwo"


def test_comment_lines_are_no_part_of_recovered_text() -> None:
    """Comments at the margin stay comments."""
    found = parse(header("description: one: two\n# aside\n  three\nname: a"))
    assert found.fields["description"] == "one: two three"


def test_explicit_key_is_left_as_yaml_reads_it() -> None:
    """A description that no line holds cannot be read from its line."""
    found = parse(header("? description\n: [a]\n"))
    assert found.fields["description"] == ["a"]


def test_reports_have_an_end() -> None:
    """A header of nothing but faults is not a thousand messages."""
    assert len(codes("description: [x] y\n" * 2000)) < 50


@pytest.mark.parametrize(
    "text",
    ["a:\n" * 20000, "a: b: c\n" * 7000, "description: '" + "'a " * 20000],
)
def test_hostile_headers_end_soon(text: str) -> None:
    """Two seconds tell a hang from an answer."""
    # what this process computes: others may keep it from doing so
    start = time.process_time()
    parse(header(text))
    assert time.process_time() - start < 2
