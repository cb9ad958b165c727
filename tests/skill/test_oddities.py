"""What real SKILL.md files look like (formats.md §2), row by row."""

from __future__ import annotations

from typing import Any

import pytest

Load = Any


def only(loaded: Any) -> Any:
    (found,) = loaded.diagnostics
    return found


def test_row01_no_frontmatter_is_one_error(load_whole: Load) -> None:
    """A file that starts with a heading is not loaded and says why once."""
    loaded = load_whole("# Title\n\nText\n")
    assert loaded.maybe is None
    assert (only(loaded).code, only(loaded).line) == ("no-frontmatter", 1)
    assert only(loaded).severity == "error"


def test_row01_empty_file_is_one_error(load_whole: Load) -> None:
    """So is a file with nothing but white space."""
    assert only(load_whole(" \n\n")).message == "The file is empty."


def test_row02_unclosed_header_names_the_line(load_whole: Load) -> None:
    """The opening line is named, and where the closing one belongs."""
    loaded = load_whole("\n---\nname: a\ndescription: d\n\n# Title\n")
    assert loaded.maybe is None
    assert (only(loaded).code, only(loaded).line) == ("unclosed-frontmatter", 2)
    assert only(loaded).fix == "Insert a line `---` after line 4."


def test_row03_bare_fields_say_where_fences_belong(load_whole: Load) -> None:
    """Fields without a fence around them are recognised."""
    loaded = load_whole("name: a\ndescription: d\n  more\n\n# Title\n")
    assert loaded.maybe is None
    assert only(loaded).code == "bare-frontmatter"
    assert only(loaded).fix == (
        "Insert a line `---` before line 1 and another one after line 3."
    )


def test_row04_blank_lines_before_the_fence_are_accepted(load_whole: Load) -> None:
    """They cost a warning."""
    loaded = load_whole("\n \n---\nname: a\ndescription: d\n---\nText")
    assert loaded.skill.description == "d"
    assert only(loaded).code == "blank-before-fence"
    assert "delete lines 1-2" in only(loaded).fix


def test_row04_html_comment_is_no_fence(load_whole: Load) -> None:
    """What stands below a comment is no header."""
    loaded = load_whole("<!-- x -->\n---\nname: a\ndescription: d\n---\n")
    assert loaded.maybe is None
    assert only(loaded).code == "comment-before-fence"


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("Use it when: asked", "yaml-colon"),
        ("Says: a: b", "yaml-colon"),
        ("[x] — y", "yaml-sign"),
        ('"a" b', "yaml-sign"),
        ("'a' or 'b'", "yaml-sign"),
        ("{placeholder}", "yaml-sign"),
        ("{{placeholder}}", "yaml-sign"),
        ("{a}: {b}", "yaml-sign"),
        ("@team does it", "yaml-sign"),
        ("`code` runs", "yaml-sign"),
        ("% of things", "yaml-sign"),
        ("*any* thing", "yaml-sign"),
        ("[a, b]", "yaml-sign"),
        ("- dash: x", "yaml-colon"),
    ],
)
def test_row05_06_08_unquoted_text_is_read_as_written(
    load: Load, written: str, code: str
) -> None:
    """What YAML cannot take for text is text all the same, with a warning."""
    loaded = load(f"name: a\ndescription: {written}\nlicense: MIT")
    assert loaded.skill.description == written
    assert loaded.skill.license == "MIT"
    assert (only(loaded).code, only(loaded).line) == (code, 3)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("'It's here'", "It's here"),
        ('"Say "hi" now"', 'Say "hi" now'),
        (r'"C:\path\dir"', r"C:\path\dir"),
        ('"unclosed', '"unclosed'),
    ],
)
def test_row06_broken_quotes_are_taken_off(
    load: Load, written: str, meant: str
) -> None:
    """Quotes around all of a text go even if YAML stumbles over those inside."""
    assert load(f"name: a\ndescription: {written}").skill.description == meant


@pytest.mark.parametrize("character", ["\x85", "\x80", "\x07", "\x00", "\x7f"])
def test_row07_control_character_is_stripped(load: Load, character: str) -> None:
    """It is left out and its line is named."""
    loaded = load(f"name: a\ndescription: one{character} two")
    assert loaded.skill.description == "one two"
    assert (only(loaded).code, only(loaded).line) == ("control-character", 3)


@pytest.mark.parametrize("character", ["\u2028", "\u2029"])
def test_row07_unicode_line_ends_are_blanks(load: Load, character: str) -> None:
    """YAML alone takes them for line ends, which would break the header."""
    loaded = load(f"name: a\ndescription: one{character}two")
    assert loaded.skill.description == "one two"
    assert only(loaded).code == "control-character"


def test_row07_escapes_cannot_bring_control_characters_back(load: Load) -> None:
    r"""`\0` in double quotes means nothing that a file or terminal can hold."""
    loaded = load('name: a\ndescription: "on\\0e\\x1b two\\e"')
    assert loaded.skill.description == "one two"


def test_row09_json_metadata_is_plain_yaml(load: Load) -> None:
    """A one-line JSON object with emoji and nesting needs no warning."""
    loaded = load('metadata: {"bot": {"emoji": "🤖", "install": [{"id": "x"}]}}')
    assert loaded.skill.metadata == {"bot": {"emoji": "🤖", "install": [{"id": "x"}]}}
    assert loaded.codes == []


def test_row10_metadata_scalars_are_text(load: Load) -> None:
    """Numbers, booleans and dates stay as written, null is nothing."""
    loaded = load("metadata: {a: 1, b: true, c: 2024-01-01, d: ~, e: [1.0, null]}")
    expected = {"a": "1", "b": "true", "c": "2024-01-01", "d": None, "e": ["1.0", None]}
    assert loaded.skill.metadata == expected


def test_row11_version_is_text(load: Load) -> None:
    """`1.10` is not `1.1`."""
    assert load("version: 1.10").skill.extra == {"version": "1.10"}


@pytest.mark.parametrize("title", ["Web Search", "WebSearch", "Web search!"])
def test_row12_title_is_bound_under_the_directorys_slug(load: Load, title: str) -> None:
    """A title loads under its own name with one warning."""
    loaded = load(f"name: {title}", folder="web-search")
    assert (loaded.skill.name, loaded.skill.import_name) == (title, "web_search")
    assert loaded.codes[0] == "name-characters"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("snake_case", "name-characters"),
        ("edge-", "name-edges"),
        ("a--b", "name-doubles"),
        ("x" * 65, "name-length"),
    ],
)
def test_row13_each_name_rule_is_one_warning(load: Load, name: str, code: str) -> None:
    """A name that breaks a rule loads."""
    loaded = load(f"name: {name}", folder=name)
    assert loaded.skill.name == name
    assert (only(loaded).code, only(loaded).severity) == (code, "warning")


def test_row14_other_name_than_the_directory_loads(load: Load) -> None:
    """The declared name counts and both are shown."""
    loaded = load("name: declared", folder="folder")
    assert loaded.skill.name == "declared"
    assert only(loaded).message == (
        "The name `declared` does not match the directory `folder`."
    )
    assert only(loaded).fix == (
        "Rename the directory to `declared`, or write `name: folder`."
    )


@pytest.mark.parametrize("header", ["license: MIT", "name:", "name: ''", "name: ~"])
def test_row15_missing_name_is_the_directorys(load: Load, header: str) -> None:
    """Missing, null and blank names are the same, and silent."""
    loaded = load(header, folder="folder")
    assert loaded.skill.name == "folder"
    assert loaded.codes == []


def test_row16_capitalised_keys_are_read(load: Load) -> None:
    """Each costs a warning with the right spelling."""
    loaded = load("Name: a\nDESCRIPTION: d\nAllowed-Tools: Read")
    assert (loaded.skill.name, loaded.skill.description) == ("a", "d")
    assert loaded.skill.allowed_tools == ("Read",)
    assert loaded.codes == ["key-case"] * 3
    assert loaded.diagnostics[0].fix == "Write `name:` on line 2."


def test_row16_exact_spelling_wins(load: Load) -> None:
    """Of two spellings the exact one counts, wherever it stands."""
    loaded = load("name: a\nName: b")
    assert loaded.skill.name == "a"
    assert only(loaded).fix == "Delete line 3."


def test_row17_dotted_key_is_extra(load: Load) -> None:
    """It means nothing to us and is kept."""
    loaded = load("a.b.c: x")
    assert loaded.skill.extra == {"a.b.c": "x"}
    assert loaded.codes == []


@pytest.mark.parametrize(
    "written",
    [
        "Read Bash(git add *) Write",
        "Read, Bash(git add *), Write",
        "[Read, Bash(git add *), Write]",
        "\n  - Read\n  - Bash(git add *)\n  - Write",
        "\n- Read\n- Bash(git add *), Write",
        "Read,Bash(git add *),Write,Read",
    ],
)
def test_row18_tools_are_one_normalised_tuple(load: Load, written: str) -> None:
    """Parentheses hold their blanks together; nothing is listed twice."""
    loaded = load(f"allowed-tools: {written}\ndisallowed-tools: {written}")
    assert loaded.skill.allowed_tools == ("Read", "Bash(git add *)", "Write")
    assert loaded.skill.disallowed_tools == ("Read", "Bash(git add *)", "Write")
    assert loaded.codes == []


@pytest.mark.parametrize(
    ("written", "shown", "codes"),
    [
        ("[file, format]", "[file] [format]", []),
        ("[file]", "[file]", []),
        ("[file] [format]", "[file] [format]", ["yaml-sign"]),
        ("'[file] [format]'", "[file] [format]", []),
        ("<file>", "<file>", []),
        ("{file}", "{file}", ["yaml-sign"]),
    ],
)
def test_row19_argument_hint_is_shown_as_meant(
    load: Load, written: str, shown: str, codes: list[str]
) -> None:
    """A list is shown as the brackets that were written."""
    loaded = load(f"argument-hint: {written}")
    assert loaded.skill.argument_hint == shown
    assert loaded.codes == codes


def test_row20_multi_line_description_is_kept_for_folding(load: Load) -> None:
    """A plain value over several lines is joined as YAML says."""
    loaded = load("description: one\n  two\n\n  three")
    assert loaded.skill.description == "one two\nthree"
    assert loaded.codes == []


def test_row21_long_description_loads_in_full(load: Load) -> None:
    """It is cut in the listing only."""
    loaded = load(f"description: {'word ' * 400}")
    assert len(loaded.skill.description) == 1999
    assert only(loaded).code == "description-length"


def test_row22_angle_brackets_are_kept(load: Load) -> None:
    """They are escaped where text is shown, not where it is read."""
    loaded = load("description: Turns <b> into </skill> & more")
    assert loaded.skill.description == "Turns <b> into </skill> & more"
    assert loaded.codes == []


def test_row24_byte_order_mark_changes_nothing(load_whole: Load) -> None:
    """It is no part of the text."""
    data = b"---\nname: a\ndescription: d\n---\nText"
    assert load_whole(b"\xef\xbb\xbf" + data) == load_whole(data)


def test_row25_crlf_changes_nothing(load_whole: Load) -> None:
    """Line ends of Windows are line ends."""
    data = b"---\nname: a\ndescription: |\n  d\n  e\n---\nText\n"
    assert load_whole(data.replace(b"\n", b"\r\n")) == load_whole(data)


def test_row27_hyphens_inside_a_value_are_no_fence(load: Load) -> None:
    """Only a whole line at the margin is one."""
    loaded = load("description: |\n  a --- b\n  ---\n  ---c")
    assert loaded.skill.description == "a --- b\n---\n---c"


TAGS = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")


def test_row28_tag_characters_are_reported(load: Load) -> None:
    """Text that only a model sees is named by code point."""
    loaded = load(f"name: a\ndescription: Helps.{TAGS}")
    assert (only(loaded).code, only(loaded).line) == ("invisible-unicode", 3)
    assert "U+E006F, U+E0062, U+E0065 and 1 more" in only(loaded).message


def test_row28_tag_characters_in_the_body_are_reported(load_whole: Load) -> None:
    """The body's line is named too."""
    text = f"---\nname: a\ndescription: d\n---\n\nOne\nTwo {TAGS}\n"
    assert (only(load_whole(text)).code, only(load_whole(text)).line) == (
        "invisible-unicode",
        7,
    )


@pytest.mark.parametrize("text", ["👨‍👩‍👧", "❤️‍🔥 ✔️ 1️⃣", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "می‌خواهم", "क्‍ष"])
def test_row28_joiners_where_they_belong_are_innocent(load: Load, text: str) -> None:
    """Emoji, flags and scripts that need joiners are what they look like."""
    assert load(f"description: Likes {text} much.").codes == []
