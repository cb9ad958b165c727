"""What users of neighbouring tools reported about frontmatter (cases.md, FM)."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest

from prime_skills_ext.skill.frontmatter import parse

Load = Any


@pytest.mark.parametrize("indicator", [">-", ">", ">+"])
def test_fm01_folded_block_description_is_one_line(load: Load, indicator: str) -> None:
    """A folded block is read as its text, never as its indicator."""
    header = f"name: a\ndescription: {indicator}\n  First line\n  second line"
    loaded = load(header)
    assert loaded.skill.description == "First line second line"
    assert loaded.codes == []


@pytest.mark.parametrize("indicator", ["|", "|-", "|+"])
def test_fm01_literal_block_description_keeps_lines(load: Load, indicator: str) -> None:
    """A literal block keeps its line ends."""
    header = f"name: a\ndescription: {indicator}\n  First line\n  second line"
    loaded = load(header)
    assert loaded.skill.description == "First line\nsecond line"
    assert loaded.codes == []


def test_fm01_block_with_tabs_loses_its_indicator(load: Load) -> None:
    """A block that YAML refuses because of tabs is still no bare indicator."""
    loaded = load("name: a\ndescription: >-\n\tFirst line\n\tsecond line")
    assert loaded.skill.description == "First line second line"
    assert loaded.codes == ["yaml-sign"]


def test_fm02_colon_space_in_description_loads_with_the_line(load: Load) -> None:
    """The text is kept whole; the warning names file, line and corrected line."""
    loaded = load("name: a\ndescription: Deploys apps. Use when: user says ship")
    assert loaded.skill.description == "Deploys apps. Use when: user says ship"
    (found,) = loaded.diagnostics
    assert (found.code, found.severity, found.line) == ("yaml-colon", "warning", 3)
    assert found.path == loaded.skill.path
    assert found.fix == (
        "Quote the value; write line 3 as: "
        'description: "Deploys apps. Use when: user says ship"'
    )


def test_fm02_keywords_paragraph_stays_in_the_description(load: Load) -> None:
    """A blank line and an indented `Keywords:` belong to the description."""
    header = "description: Deploys apps.\n\n  Keywords: x, y\nname: a\nlicense: MIT"
    loaded = load(header)
    assert loaded.skill.description == "Deploys apps.\nKeywords: x, y"
    assert loaded.skill.license == "MIT"
    assert [(item.code, item.line) for item in loaded.diagnostics] == [
        ("yaml-colon", 2)
    ]
    assert "write lines 2-4 as:" in loaded.diagnostics[0].fix


def test_fm02_other_fields_survive_one_broken_one(load: Load) -> None:
    """Only the broken field is read as text; maps and lists stay what they are."""
    loaded = load(
        "name: a\ndescription: Use when: asked\nmetadata:\n  a: {b: [1, 2]}\n"
        "allowed-tools:\n- Read\n- Write"
    )
    assert loaded.skill.metadata == {"a": {"b": ["1", "2"]}}
    assert loaded.skill.allowed_tools == ("Read", "Write")
    assert loaded.codes == ["yaml-colon"]


def test_fm02_nested_description_is_text(load: Load) -> None:
    """A description below its key that YAML takes for a map is text."""
    loaded = load("name: a\ndescription:\n  Deploys. Use when: asked")
    assert loaded.skill.description == "Deploys. Use when: asked"
    assert loaded.codes == ["yaml-colon"]


def test_fm03_comment_in_description_is_reported(load: Load) -> None:
    """The value follows YAML, but what is lost is shown with the fix."""
    loaded = load("name: a\ndescription: Post to the #deploys channel when merging")
    assert loaded.skill.description == "Post to the"
    (found,) = loaded.diagnostics
    assert (found.code, found.severity, found.line) == ("yaml-comment", "warning", 3)
    assert "Text after ` #` is a YAML comment" in found.message
    assert found.fix == (
        "Quote it; write line 3 as: "
        'description: "Post to the #deploys channel when merging"'
    )


def test_fm03_comment_on_a_continuation_line_is_reported(load: Load) -> None:
    """Text lost from a later line of the value counts too."""
    loaded = load("description: Fix\n  the issue\n  #12 now\nname: a")
    assert loaded.skill.description == "Fix the issue"
    (found,) = loaded.diagnostics
    assert (found.code, found.line) == ("yaml-comment", 3)
    assert 'write lines 2-3 as: description: "Fix the issue #12 now"' in found.fix


def test_fm03_description_that_is_all_comment_is_explained(load: Load) -> None:
    """`description: #x` has no value; both facts are said."""
    loaded = load("name: a\ndescription: #deploys channel")
    assert loaded.maybe is None
    assert loaded.codes == ["yaml-comment", "description-missing"]


@pytest.mark.parametrize(
    "header",
    [
        "name: a  # the name\ndescription: d",
        "name: a\n# about it\ndescription: d",
        'name: a\ndescription: "d"  # quoted, so meant',
        "name: a\ndescription: issue#12",
        "name: a\ndescription: d\n\n# the end",
        "name: a\ndescription: >-  # folded\n  d",
    ],
)
def test_fm03_meant_comments_are_no_warning(load: Load, header: str) -> None:
    """Comments that take nothing from free text are innocent."""
    assert load(header).codes == []


def test_fm04_windows_file_without_final_newline_is_the_same(
    load_whole: Load,
) -> None:
    """Byte-order mark, CRLF and a fence at the end of the file change nothing."""
    windows = load_whole(b"\xef\xbb\xbf---\r\nname: a\r\ndescription: d\r\n---")
    assert windows == load_whole("---\nname: a\ndescription: d\n---\n")
    assert windows.codes == []


def test_fm04_lone_cr_is_a_line_end() -> None:
    """Old Macintosh files read like any other."""
    data = b"---\rname: a\rdescription: d\r---\rOne\rtwo\r"
    assert parse(data) == parse("---\nname: a\ndescription: d\n---\nOne\ntwo\n")
    assert parse(data).body == "One\ntwo"


def test_fm04_body_of_a_fence_at_the_end_is_empty() -> None:
    """No part of a fence reaches the body."""
    assert parse(b"---\r\nname: a\r\n---").body == ""


@pytest.mark.parametrize(
    "text",
    ["on", "NO", "yes", "123", "1.10", "007", "12:30:45", "2024-01-01", "0x1F", "1e3"],
)
def test_fm05_scalars_stay_as_written(load: Load, text: str) -> None:
    """Nothing turns a name, a description or metadata into another type."""
    loaded = load(
        f"name: {text}\ndescription: {text}\nmetadata: {{v: {text}}}\nversion: {text}"
    )
    assert loaded.skill.name == text
    assert loaded.skill.description == text
    assert loaded.skill.metadata == {"v": text}
    assert loaded.skill.extra == {"version": text}


@pytest.mark.parametrize("empty", ["", "~", "null", "''", '"  "', "|"])
def test_fm05_null_or_blank_description_is_missing(load: Load, empty: str) -> None:
    """Null and blank count as missing: one error with file, line and fix."""
    loaded = load(f"name: a\ndescription: {empty}")
    assert loaded.maybe is None
    (found,) = loaded.diagnostics
    assert (found.code, found.severity) == ("description-missing", "error")
    assert found.line == 3
    assert "description" in found.fix


@pytest.mark.parametrize("word", ["yes", "Yes", "ON", "true", "TRUE", "1"])
def test_fm05_documented_booleans_are_read_from_words(load: Load, word: str) -> None:
    """Booleans come from an explicit list of words in any case."""
    assert load(
        f"name: a\ndisable-model-invocation: {word}"
    ).skill.disable_model_invocation


def test_fm07_missing_space_after_the_colon_is_recovered(load: Load) -> None:
    """The value is found and the line is shown as it should be."""
    loaded = load("name: a\ndescription:'x'")
    assert loaded.skill.description == "x"
    (found,) = loaded.diagnostics
    assert (found.code, found.line) == ("yaml-no-space", 3)
    assert found.fix == "Write line 3 as: description: 'x'"


def test_fm07_all_fields_without_a_space_are_recovered(load: Load) -> None:
    """YAML takes such a header for one long text; we do not."""
    loaded = load("name:a\ndescription:does things")
    assert (loaded.skill.name, loaded.skill.description) == ("a", "does things")
    assert loaded.codes == ["yaml-no-space", "yaml-no-space"]


def test_fm07_glued_key_is_not_an_unknown_field(load: Load) -> None:
    """`description:Use when: x` is valid YAML for a field nobody meant."""
    loaded = load("name: a\ndescription:Use when: asked")
    assert loaded.skill.description == "Use when: asked"
    assert loaded.codes == ["yaml-colon"]


@pytest.mark.parametrize("tools", ["Read Write", "Read, Write", "[Read, Write]"])
def test_fm09_allowed_tools_in_any_spelling_are_one_tuple(
    load: Load, tools: str
) -> None:
    """Blanks, commas and lists mean the same."""
    loaded = load(f"name: a\nallowed-tools: {tools}")
    assert loaded.skill.allowed_tools == ("Read", "Write")
    assert loaded.codes == []


@pytest.mark.parametrize("character", ["a", "語", "e\u0301"])
@pytest.mark.parametrize(("length", "codes"), [(1023, 0), (1024, 0), (1025, 1)])
def test_fm10_description_is_measured_in_characters_after_folding(
    load: Load, character: str, length: int, codes: int
) -> None:
    """Code points of the folded text count, not bytes; a long one still loads."""
    words = (character * 2000)[: length - 4] + " x y"
    loaded = load("name: a\ndescription: >-\n  " + words.replace(" ", "\n  "))
    assert len(loaded.skill.description) == length
    assert len(loaded.diagnostics) == codes


def test_fm10_long_description_says_how_long(load: Load) -> None:
    """The message carries the number and the limit."""
    loaded = load(f"name: a\ndescription: {'x' * 1025}")
    (found,) = loaded.diagnostics
    assert (found.code, found.severity) == ("description-length", "warning")
    assert "1025 of 1024 characters after folding" in found.message


def test_fm11_name_that_differs_from_the_folder_loads(load: Load) -> None:
    """The declared name counts; the warning shows both."""
    loaded = load("name: vercel-react", folder="react")
    assert loaded.skill.name == "vercel-react"
    (found,) = loaded.diagnostics
    assert found.code == "name-directory"
    assert "`vercel-react`" in found.message
    assert "`react`" in found.message


def test_fm11_missing_name_is_the_folders(load: Load) -> None:
    """A skill without a name is called like its folder."""
    assert load("license: MIT", folder="react").skill.name == "react"


def test_fm11_folder_that_is_no_valid_name_loads(load: Load) -> None:
    """A folder with capitals and blanks gives the name and one warning."""
    loaded = load("license: MIT", folder="My Skill")
    assert loaded.skill.name == "My Skill"
    assert loaded.skill.import_name == "my_skill"
    assert loaded.codes == ["name-characters"]
    assert loaded.diagnostics[0].fix.startswith("Rename the directory")


def test_fm12_colon_name_is_one_kind_of_warning(load: Load) -> None:
    """The name is kept as written and the same rule has the same code each time."""
    codes = [load(f"name: ce:x{n}", folder=f"ce:x{n}").codes for n in range(30)]
    assert codes == [["name-characters"]] * 30


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_fm13_unicode_names_compare_in_one_form(load: Load, form: Any) -> None:
    """A folder written in another normal form is the same folder."""
    loaded = load("name: café", folder=unicodedata.normalize(form, "café"))
    assert loaded.skill.name == unicodedata.normalize("NFC", "café")
    assert loaded.codes == []


@pytest.mark.parametrize(
    ("name", "identifier"),
    [("技能", "技能"), ("мой-навык", "мой_навык"), ("ﬁle-x", "file_x")],
)
def test_fm13_unicode_names_are_identifiers_in_nfkc(
    load: Load, name: str, identifier: str
) -> None:
    """Letters of any script are accepted; Python's own form is the import name."""
    loaded = load(f"name: {name}", folder=name)
    assert loaded.skill.import_name == identifier
    assert loaded.codes == []


def test_fm14_unknown_fields_are_kept_silently(load: Load) -> None:
    """Fields of other hosts are no conflict."""
    loaded = load("name: a\ndisplayName: X\nhooks: {Stop: [x]}\nmodel: opus")
    assert loaded.skill.extra == {"displayName": "X"}
    assert loaded.skill.hooks == {"Stop": ["x"]}
    assert loaded.skill.model == "opus"
    assert loaded.codes == []
