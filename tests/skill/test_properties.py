"""What holds for every input: nothing raises, and line ends do not matter."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from prime_skills_ext.skill import _yaml
from prime_skills_ext.skill._tolerant import quoted
from prime_skills_ext.skill.fields import KNOWN_FIELDS
from prime_skills_ext.skill.frontmatter import HEADER_BYTES, Frontmatter, parse
from prime_skills_ext.skill.pyproject import parse as parse_project
from prime_skills_ext.skill.validation import to_skill

PATH = Path("/skills/a/SKILL.md")
BOM = b"\xef\xbb\xbf"

#: Pieces that real headers are made of, so that random ones come near the rules.
TOKENS = [
    *("---", "...", "\n", "\n", "\n", "  ", "\t", "- ", ": ", ":", " #", "#", "'"),
    *('"', "[", "]", "{", "}", "|", ">-", "&a", "*a", "!x", "%", "@", "`", "? ", ","),
    *("name", "description", "metadata", "allowed-tools", "paths", "Name", "hooks"),
    *("argument-hint", "requires", "x", "text here", "é", "\x00", "\x85", "\u2028"),
    *("\r\n", "\r", "\\", "~", "true", "1.10", "<<", "👨‍👩‍👧", "\ufeff"),
]
near_text = st.lists(st.sampled_from(TOKENS), max_size=30).map("".join)
headers = st.one_of(near_text, st.text(max_size=80)).map(
    lambda text: f"---\n{text}\n---\n"
)
#: Text of one line without white space at its ends, as people write names.
plain = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=20
)
words = st.lists(plain, min_size=1, max_size=6).map(" ".join)


def check(found: Frontmatter) -> None:
    """Use what was read as everybody else does."""
    skill, diagnostics = to_skill(found, path=PATH)
    assert skill is not None or any(item.severity == "error" for item in diagnostics)
    assert [item for item in diagnostics if item.path != PATH or not item.fix] == []
    assert [item for item in diagnostics if not (item.line and item.line > 0)] == []
    json.dumps(dict(found.fields)).encode()
    str(diagnostics).encode()


@given(st.binary(max_size=200))
@example(b"\xff\xfe")
@example(b"\xfe\xff\xd8\x00")
@example(BOM)
def test_bytes_never_raise(data: bytes) -> None:
    """Whatever a file holds, there is an answer."""
    check(parse(data))


@given(st.one_of(st.text(), headers))
def test_text_never_raises(text: str) -> None:
    """Nor does any text."""
    check(parse(text))


@given(st.text(st.characters(), max_size=30))
def test_surrogates_never_raise(text: str) -> None:
    """Not even one that cannot be encoded, in a quoted value."""
    check(parse(f"---\ndescription: {json.dumps(text)}\n---\n{text}"))


@given(headers)
def test_both_parsers_survive_the_same_text(text: str) -> None:
    """The parser written in Python raises as little as the C one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_yaml, "_LOADERS", (_yaml._LOADERS[1],) * 2)
        check(parse(text))


@given(headers)
def test_line_ends_and_mark_do_not_matter(text: str) -> None:
    """LF, CRLF, CR, with or without a byte-order mark: one reading."""
    lf = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff").encode()
    expected = parse(lf)
    for data in (lf, lf.replace(b"\n", b"\r\n"), lf.replace(b"\n", b"\r")):
        assert parse(data) == expected
        assert parse(BOM + data) == expected


@given(headers)
def test_no_value_holds_a_carriage_return(text: str) -> None:
    """Unless somebody wrote one as an escape in double quotes."""
    found = parse(text.replace("\\", "/"))
    assert "\\r" not in json.dumps(dict(found.fields), ensure_ascii=False)
    assert "\r" not in found.body


@given(headers, st.integers(1, 200))
def test_partial_reading_sees_the_same_header(text: str, more: int) -> None:
    """The first 64 KiB say what the whole file says."""
    data = text.encode() + b"y" * (HEADER_BYTES - more)
    assert parse(data[:HEADER_BYTES]).fields == parse(data).fields


def _leaves(value: object) -> list[object]:
    if isinstance(value, Mapping):
        return [leaf for item in value.values() for leaf in _leaves(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]


@given(headers)
def test_every_scalar_is_text_or_none(text: str) -> None:
    """No number, date or boolean ever comes out."""
    leaves = _leaves(parse(text).fields)
    assert [leaf for leaf in leaves if not isinstance(leaf, (str, type(None)))] == []


@given(words, words, st.dictionaries(plain, words, max_size=3))
def test_quoted_values_come_back(
    name: str, description: str, metadata: dict[str, str]
) -> None:
    """What is written in quotes is read as it was, without a finding."""
    pairs = ", ".join(
        f"{quoted(key)}: {quoted(text)}" for key, text in metadata.items()
    )
    found = parse(
        f"---\nname: {quoted(name)}\ndescription: {quoted(description)}\n"
        f"metadata: {{{pairs}}}\n---\n"
    )
    assert found.diagnostics == ()
    expected = {"name": name, "description": description, "metadata": metadata}
    assert dict(found.fields) == expected


@given(st.lists(st.sampled_from([*TOKENS, "a", "b c"]), max_size=8).map("".join))
@settings(max_examples=200)
def test_corrected_line_gives_the_same_value(text: str) -> None:
    """Whoever follows the fix gets what was recovered, and no finding."""
    text = " ".join(text.split())
    found = parse(f"---\ndescription: {text}\n---\n")
    for item in found.diagnostics:
        if item.code in {"yaml-colon", "yaml-sign", "yaml-text"}:
            corrected = item.fix.partition(" as: ")[2]
            again = parse(f"---\n{corrected}\n---\n")
            assert again.diagnostics == ()
            assert again.fields == found.fields


@given(
    st.dictionaries(
        st.sampled_from(sorted(KNOWN_FIELDS)),
        st.recursive(
            st.one_of(st.none(), st.text(max_size=10)),
            lambda inner: st.one_of(
                st.lists(inner, max_size=3),
                st.dictionaries(st.text(max_size=5), inner, max_size=3),
            ),
            max_leaves=6,
        ),
    )
)
def test_any_shape_of_known_fields_is_validated(fields: dict[str, object]) -> None:
    """A field of any shape gives its type or a warning."""
    check(Frontmatter(found=True, fields=fields, body=""))


PROJECT_TOKENS = [
    *("[project]\n", "[build-system]\n", "[tool.hatch.build]\n", "[tool.uv]\n", "name"),
    *("version", "dependencies", "requires", "build-backend", "scripts", "dynamic"),
    *(" = ", '"a"', "1", "true", "[", "]", "{", "}", ",", "\n", '"a>=1; x"', "sources"),
]


@given(
    st.one_of(
        st.text(), st.lists(st.sampled_from(PROJECT_TOKENS), max_size=20).map("".join)
    )
)
def test_project_text_never_raises(text: str) -> None:
    """No pyproject.toml raises; none that is refused is without a fix."""
    project, diagnostics = parse_project(text, import_name="a", path=PATH)
    assert project is not None or diagnostics != ()
    assert [item for item in diagnostics if not item.fix] == []


TOML_VALUES = st.sampled_from(
    [
        "1",
        "true",
        '"a"',
        '""',
        "[]",
        "[1]",
        '["a"]',
        "{}",
        "{ a = 1 }",
        "{ a = [1] }",
        "1979-05-27",
        '"a b"',
        '[["a"]]',
        '{ a = { b = "c" } }',
    ]
)
KEYS = [
    "project", "project.name", "project.version", "project.dependencies",
    "project.requires-python", "project.scripts", "project.gui-scripts",
    "project.entry-points", "project.optional-dependencies", "project.dynamic",
    "project.readme", "project.license", "project.license-files", "build-system",
    "build-system.requires", "build-system.build-backend", "build-system.backend-path",
    "tool", "tool.uv", "tool.uv.sources", "tool.uv.build-backend", "tool.hatch",
    "tool.hatch.build", "tool.hatch.build.targets", "tool.hatch.build.hooks",
    "tool.setuptools", "tool.setuptools.dynamic", "tool.setuptools.packages",
    "tool.flit", "tool.pdm.build",
]  # fmt: skip


@given(
    st.sampled_from(KEYS),
    TOML_VALUES,
    st.sampled_from(
        ["hatchling.build", "uv_build", "flit_core.buildapi", "pdm.backend"]
    ),
)
def test_wrong_types_at_any_level_never_raise(
    key: str, value: str, backend: str
) -> None:
    """Whatever stands where something else is expected is a diagnostic at most."""
    lines = [f"{key} = {value}"]
    if not key.startswith("build-system"):
        lines.append(f'build-system.build-backend = "{backend}"')
    if not key.startswith("project"):
        lines += ['project.name = "a"', 'project.version = "1"']
    project, diagnostics = parse_project("\n".join(lines), import_name="a", path=PATH)
    assert project is not None
    assert [item for item in diagnostics if not item.fix] == []
