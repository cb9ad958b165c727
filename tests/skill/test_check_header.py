"""The strict reading of a header: each rule, its place and the corrected line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.skill.check_header import check_header
from prime_skills_ext.skill.finding import Finding
from prime_skills_ext.skill.frontmatter import parse

CORPUS = Path(__file__).parents[1] / "skills"
EXPECTED: dict[str, Any] = json.loads(
    (CORPUS / "expected.json").read_text(encoding="utf-8")
)
#: What the tolerant reader reports and a strict one does not take for an error.
FORGIVABLE = {"yaml-comment", "control-character", "invisible-unicode"}


def check(
    data: str | bytes, *, folder: str = "a", loose: bool = False
) -> tuple[Finding, ...]:
    raw = data.encode() if isinstance(data, str) else data
    file = f"{folder}.md" if loose else f"{folder}/SKILL.md"
    path = Path("/skills") / file
    return check_header(raw, parse(raw, path=path), path=path, loose=loose)


def check_fields(fields: str, *, folder: str = "a") -> tuple[Finding, ...]:
    """Check a header whose name and description are right."""
    return check(f"---\nname: {folder}\ndescription: D.\n{fields}---\n\nDo.\n")


def one(findings: tuple[Finding, ...]) -> Finding:
    assert len(findings) == 1, findings
    return findings[0]


def test_valid_header_gives_no_finding() -> None:
    """Every field of the standard, as the standard has it."""
    fields = (
        "license: MIT\ncompatibility: Needs git.\n"
        "allowed-tools: Read Bash(git add *)\nmetadata:\n  version: '1.0'\n"
    )
    assert check_fields(fields) == ()


@pytest.mark.parametrize("folder", sorted(EXPECTED))
def test_nothing_that_a_reader_forgives_passes(folder: str) -> None:
    """What the tolerant reader reports is an error to a strict one."""
    path = CORPUS / folder / "SKILL.md"
    data = path.read_bytes()
    strict = {
        item.code
        for item in check_header(data, parse(data, path=path), path=path)
        if item.severity == "error"
    }
    assert strict >= set(EXPECTED[folder]["codes"]) - FORGIVABLE


@pytest.mark.parametrize("folder", sorted(EXPECTED))
def test_every_finding_names_file_line_and_fix(folder: str) -> None:
    """A finding without a place or a way out helps nobody."""
    path = CORPUS / folder / "SKILL.md"
    data = path.read_bytes()
    for item in check_header(data, parse(data, path=path), path=path):
        assert item.path == path
        assert item.line
        assert item.fix
        assert item.reason.endswith((".", "…`."))


@pytest.mark.parametrize(
    ("name", "code", "column", "corrected"),
    [
        ("Web", "name-characters", 7, "name: web"),
        ('"we_b"', "name-characters", 10, "name: we-b"),
        ("web-", "name-edges", 10, "name: web"),
        ('"-web"', "name-edges", 8, "name: web"),
        ("w--eb", "name-doubles", 8, "name: w-eb"),
        ("x" * 65, "name-length", 71, f"name: {'x' * 64}"),
    ],
)
def test_name_fault_is_shown_at_its_column(
    name: str, code: str, column: int, corrected: str
) -> None:
    """The column is that of the character that is wrong."""
    bare = name.strip('"')
    found = check(f"---\nname: {name}\ndescription: D.\n---\nDo.", folder=bare)
    finding = next(item for item in found if item.code == code)
    assert (finding.line, finding.column) == (2, column)
    assert finding.severity == "error"
    assert finding.written == f"name: {name}"
    assert finding.corrected == corrected


def test_name_that_is_not_the_folders_is_shown_both_ways() -> None:
    """The folder's name is offered, because that is what can be written here."""
    found = check("---\nname: b\ndescription: D.\n---\nDo.", folder="a")
    assert one(found).code == "name-directory"
    assert one(found).corrected == "name: a"


@pytest.mark.parametrize("line", ["", "name:\n", "name: '  '\n"])
def test_missing_name_is_an_error_with_the_line_to_add(line: str) -> None:
    """The standard requires the name even where the folder has it."""
    found = one(check(f"---\n{line}description: D.\n---\nDo.", folder="a"))
    assert (found.code, found.severity) == ("name-missing", "error")
    assert found.corrected == "name: a"


def test_missing_name_in_an_unusable_folder_offers_no_line() -> None:
    """What is no valid name is not suggested as one."""
    found = check("---\ndescription: D.\n---\nDo.", folder="My Skill")
    missing = next(item for item in found if item.code == "name-missing")
    assert missing.corrected is None


def test_lone_file_is_named_after_itself() -> None:
    """A lone file has no folder to be compared with."""
    assert check("---\nname: a\ndescription: D.\n---\nDo.", loose=True) == ()


def test_fm05_colon_in_description_shows_column_and_corrected_line() -> None:
    """The column is that of the colon, the corrected line is quoted."""
    found = one(check("---\nname: a\ndescription: Use when: asked\n---\nDo."))
    assert (found.code, found.severity) == ("yaml-colon", "error")
    assert (found.line, found.column) == (3, 22)
    assert found.corrected == 'description: "Use when: asked"'
    assert found.fix == "Quote the value; write line 3 as shown."


def test_fm05_colon_in_a_later_line_is_shown_at_the_value() -> None:
    """Where the colon is not on the key's line, the value's start is."""
    found = one(check("---\nname: a\ndescription: Does.\n  Keys: b\n---\nDo."))
    assert (found.line, found.column) == (3, 14)
    assert found.written == "description: Does.\n  Keys: b"


def test_comment_in_description_is_a_warning() -> None:
    """It is valid YAML, so a strict reader reads it, and loses the rest."""
    found = one(check("---\nname: a\ndescription: Post to #ops now\n---\nDo."))
    assert (found.code, found.severity, found.column) == ("yaml-comment", "warning", 22)
    assert found.corrected == 'description: "Post to #ops now"'
    assert found.edit is None


def test_key_in_capitals_is_an_error() -> None:
    """Another reader does not find the field."""
    found = one(check("---\nname: a\nDescription: D.\n---\nDo."))
    assert (found.code, found.severity) == ("key-case", "error")
    assert found.corrected == "description: D."


def test_key_in_two_spellings_is_left_to_the_author() -> None:
    """Which of two lines is meant nobody can know."""
    found = one(check("---\nname: a\nDescription: D.\ndescription: E.\n---\nDo."))
    assert found.code == "key-case"
    assert found.edit is None


def test_fields_beyond_the_standard_are_one_note() -> None:
    """Ours and others' are named together, because neither is wrong here."""
    found = one(check_fields("version: 1\npaths: a\n"))
    assert (found.code, found.severity) == ("field-beyond", "info")
    assert "`version`, `paths` are beyond" in found.reason


def test_misspelled_field_is_a_warning_with_the_line() -> None:
    """A field that is nearly one of ours was meant to be one."""
    found = one(check_fields("licence: MIT\n"))
    assert (found.code, found.severity) == ("field-typo", "warning")
    assert found.corrected == "license: MIT"


def test_dots_do_not_close_a_header() -> None:
    """YAML's own end of a document is not the standard's."""
    found = one(check("---\nname: a\ndescription: D.\n...\nDo."))
    assert (found.code, found.line, found.corrected) == ("fence-dots", 4, "---")


def test_byte_order_mark_is_a_warning_that_shows_it() -> None:
    """It is not seen in an editor, so it is quoted."""
    found = one(check(b"\xef\xbb\xbf---\nname: a\ndescription: D.\n---\nDo."))
    assert (found.code, found.written) == ("byte-order-mark", "\ufeff---")


def test_blank_lines_before_the_header_are_an_error() -> None:
    """The header starts on line 1."""
    found = one(check("\n\n---\nname: a\ndescription: D.\n---\nDo."))
    assert (found.code, found.severity, found.corrected) == (
        "blank-before-fence",
        "error",
        "",
    )


def test_description_over_the_standards_limit_is_an_error() -> None:
    """1,024 characters are allowed, one more is not."""
    valid = check(f"---\nname: a\ndescription: {'x' * 1024}\n---\nDo.")
    assert [item.code for item in valid] == ["description-cut"]
    found = check(f"---\nname: a\ndescription: {'x' * 1025}\n---\nDo.")
    assert [item.code for item in found] == ["description-length", "description-cut"]
    assert found[0].fix.startswith("Shorten it by 1 character")


def test_cut_of_a_listing_is_shown() -> None:
    """Who writes a long description sees where it ends for who has to choose."""
    description = "word " * 60
    found = one(check(f"---\nname: a\ndescription: {description}\n---\nDo."))
    assert (found.code, found.severity) == ("description-cut", "warning")
    assert found.reason == (
        "A listing shows 250 of its 299 characters; it ends "
        "`…word word word word word…`."
    )


def test_trigger_text_shares_the_listings_room() -> None:
    """Description and triggers are listed together."""
    found = check_fields(f"when_to_use: {'x' * 250}\n")
    assert [item.code for item in found] == ["field-beyond", "description-cut"]


@pytest.mark.parametrize(
    ("fields", "code", "severity"),
    [
        ("license:\n  - MIT\n", "field-type", "error"),
        ("compatibility:\n  a: b\n", "field-type", "error"),
        ("compatibility:\n", "compatibility-empty", "error"),
        ("compatibility: ''\n", "compatibility-empty", "error"),
        (f"compatibility: {'x' * 501}\n", "compatibility-length", "error"),
        ("metadata: text\n", "field-type", "error"),
        ("metadata:\n  a:\n    b: c\n", "metadata-nested", "info"),
        ("metadata:\n  a: [b]\n  c: [d]\n", "metadata-nested", "info"),
        ("allowed-tools: [Read, Bash]\n", "tools-separator", "warning"),
        ("allowed-tools: Read, Bash\n", "tools-separator", "warning"),
        ("license: MIT\nlicense: BSD\n", "yaml-duplicate-key", "error"),
    ],
)
def test_value_of_the_wrong_shape(fields: str, code: str, severity: str) -> None:
    """Fields of the standard have the standard's types."""
    found = one(check_fields(fields))
    assert (found.code, found.severity) == (code, severity)


@pytest.mark.parametrize(
    "fields",
    [
        "metadata:\n  credential:\n    provider: p\n    variable: V\n",
        "metadata:\n  requires:\n    bins: [git]\n",
        "metadata:\n  host:\n    requires:\n      env: [A]\n",
        "allowed-tools: Bash(a, b) Read\n",
        "license:\n",
    ],
)
def test_value_that_is_read_here_or_harmless_gives_no_finding(fields: str) -> None:
    """What this package documents, it does not complain about."""
    assert check_fields(fields) == ()


def test_tools_are_rewritten_with_blanks() -> None:
    """A comma inside parentheses is part of a tool."""
    found = one(check_fields("allowed-tools: Read, Bash(a, b)\n"))
    assert found.corrected == "allowed-tools: Read Bash(a, b)"


def test_blank_behind_a_colon_is_shown() -> None:
    """Nothing but a blank is missing, and nothing else changes."""
    found = one(check("---\nname: a\ndescription:'D.'\n---\nDo."))
    assert found.corrected == "description: 'D.'"


def test_list_that_is_no_yaml_is_quoted_item_by_item() -> None:
    """A glob is an alias to YAML."""
    found = check_fields("paths:\n  - **/*.py\n  - b\n  # a comment\n")
    (glob,) = [item for item in found if item.code == "yaml-sign"]
    assert glob.corrected == 'paths: ["**/*.py", "b"]'
    assert glob.written == "paths:\n  - **/*.py\n  - b"


def test_earlier_of_two_broken_lines_is_not_corrected() -> None:
    """Its value is not known: the reader has the later one's."""
    found = check("---\nname: a\ndescription: b: c\ndescription: d: e\n---\nDo.")
    colons = [item for item in found if item.code == "yaml-colon"]
    assert [item.edit is not None for item in colons] == [False, True]


@pytest.mark.parametrize(
    "data", [b"", b"# Title\n", b"---\nname: a\n", b"---\n- a\n---\n", b"\xff\xfe"]
)
def test_file_without_a_readable_header_has_one_error(data: bytes) -> None:
    """One fault, one finding."""
    found = [item for item in check(data) if item.code != "encoding"]
    assert [item.severity for item in found] == ["error"]
