"""What fields mean, and that only a missing description keeps a skill out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.skill.frontmatter import Frontmatter, parse
from prime_skills_ext.skill.model import Requires
from prime_skills_ext.skill.names import import_name
from prime_skills_ext.skill.validation import to_skill

Load = Any


def test_plain_header_is_a_markdown_skill_without_findings(load: Load) -> None:
    """What is not said has its default."""
    loaded = load("name: a")
    skill = loaded.skill
    assert (skill.name, skill.description, skill.kind) == (
        "a",
        "Does a thing.",
        "markdown",
    )
    assert (skill.context, skill.shell, skill.user_invocable) == (
        "inline",
        "bash",
        True,
    )
    assert (skill.hooks, skill.background, skill.requires) == (None, None, Requires())
    assert loaded.codes == []


def test_paths_are_those_that_were_given() -> None:
    """The identity is the path unless somebody resolved it."""
    path, real = Path("/link/a/SKILL.md"), Path("/real/a/SKILL.md")
    found = parse("---\nname: a\ndescription: d\n---")
    skill, _ = to_skill(found, path=path, identity=real)
    assert skill is not None
    assert (skill.path, skill.directory, skill.identity) == (path, path.parent, real)
    alone, _ = to_skill(found, path=path)
    assert alone is not None
    assert alone.identity == path


def test_findings_of_the_reader_come_first_and_name_the_file() -> None:
    """Whoever parsed without a path still gets it named."""
    path = Path("/x/b/SKILL.md")
    found = parse("---\nname: a\ndescription: x: y\n---")
    _, diagnostics = to_skill(found, path=path)
    assert [item.code for item in diagnostics] == ["yaml-colon", "name-directory"]
    assert {item.path for item in diagnostics} == {path}


def test_refused_skill_has_no_warnings_about_its_name(load: Load) -> None:
    """One fault, one message."""
    loaded = load("name: Bad Name\ndescription:", folder="b")
    assert loaded.maybe is None
    assert loaded.codes == ["description-missing"]


def test_description_of_another_type_is_named() -> None:
    """A value that no reader of ours makes is refused in words, not by an error."""
    found = Frontmatter(found=True, fields={"description": ["a"]}, body="")
    skill, (item,) = to_skill(found, path=Path("/a/SKILL.md"))
    assert skill is None
    assert item.message == "The description is a list where text is expected."


def test_loose_file_is_named_after_itself(load: Load) -> None:
    """A lone markdown file has no folder of its own."""
    loaded = load("license: MIT", folder="skills", file="fix-it.md")
    assert (loaded.skill.name, loaded.skill.import_name) == ("fix-it", "fix_it")
    assert loaded.codes == []


def test_loose_file_may_have_another_name(load: Load) -> None:
    """Nothing is compared with the folder."""
    loaded = load("name: other", folder="skills", file="fix-it.md")
    assert (loaded.skill.name, loaded.codes) == ("other", [])


def test_loose_file_with_a_bad_name_says_rename_the_file(load: Load) -> None:
    """The fix names what the name was taken from."""
    loaded = load("license: MIT", folder="skills", file="My Notes.md")
    assert loaded.codes == ["name-characters"]
    assert loaded.diagnostics[0].fix == (
        "Rename the file, which it is taken from, to `my-notes`."
    )


@pytest.mark.parametrize(
    ("name", "fallback", "expected"),
    [
        ("word-count", "x", "word_count"),
        ("snake_case", "x", "snake_case"),
        ("class", "x", "class"),
        ("json", "x", "json"),
        ("café", "x", "café"),
        ("Web Search", "web-search", "web_search"),
        ("Web Search", "My Folder", "my_folder"),
        ("Web Search", "2nd", None),
        ("2048", "x", None),
        ("ce:x1", "x", None),
        ("", "x", None),
        ("a.b", "x", None),
    ],
)
def test_import_name_is_an_identifier_or_none(
    name: str, fallback: str, expected: str | None
) -> None:
    """Hyphens become underscores; a title falls back to the directory."""
    assert import_name(name, fallback=fallback) == expected


@pytest.mark.parametrize(
    ("name", "expected"), [("2048", "2048"), ("ce:x1", "ce_x1"), ('"::"', "a")]
)
def test_name_without_identifier_has_the_nearest_slug(
    load: Load, name: str, expected: str
) -> None:
    """Such a skill stays a markdown skill; the text is for display."""
    assert load(f"name: {name}", folder="a").skill.import_name == expected


def test_name_and_folder_without_any_letter_still_load(load: Load) -> None:
    """There is always a name and a suggestion."""
    loaded = load('name: "!!"', folder="??")
    assert (loaded.skill.name, loaded.skill.import_name) == ("!!", "skill")
    assert loaded.diagnostics[0].fix == "Write `name: a-name`."


@pytest.mark.parametrize("word", ["no", "Off", "FALSE", "0"])
def test_user_invocable_is_switched_off_by_words(load: Load, word: str) -> None:
    """The listed words in any case, quoted or not."""
    assert not load(f"user-invocable: {word}").skill.user_invocable
    assert not load(f"user-invocable: '{word}'").skill.user_invocable


@pytest.mark.parametrize("value", ["maybe", "2", "[true]", "{a: b}"])
def test_other_words_leave_the_default_with_a_warning(load: Load, value: str) -> None:
    """What is no boolean is not guessed."""
    loaded = load(
        f"disable-model-invocation: {value}\nuser-invocable: {value}\n"
        f"background: {value}"
    )
    skill = loaded.skill
    assert not skill.disable_model_invocation
    assert (skill.user_invocable, skill.background) == (True, None)
    assert loaded.codes == ["field-type"] * 3
    assert "true or false" in loaded.diagnostics[0].fix


def test_fields_for_the_host_are_text(load: Load) -> None:
    """They are passed on as written."""
    loaded = load(
        "when_to_use: >-\n  when\n  asked\nlicense: MIT\nagent: x\nmodel: opus\n"
        "effort: high\nbackground: yes\ncontext: Fork\nshell: powershell"
    )
    skill = loaded.skill
    assert (skill.when_to_use, skill.license) == ("when asked", "MIT")
    assert (skill.agent, skill.model, skill.effort) == ("x", "opus", "high")
    assert (skill.background, skill.context, skill.shell) == (
        True,
        "fork",
        "powershell",
    )
    assert loaded.codes == []


@pytest.mark.parametrize("field", ["context", "shell"])
@pytest.mark.parametrize("value", ["zsh", "[fork]"])
def test_unknown_choice_leaves_the_default(load: Load, field: str, value: str) -> None:
    """The choices are in the message."""
    loaded = load(f"{field}: {value}")
    assert (loaded.skill.context, loaded.skill.shell) == ("inline", "bash")
    assert loaded.codes == ["field-type"]
    assert (
        "`bash` or `powershell`" in loaded.diagnostics[0].message or field == "context"
    )


def test_compatibility_may_be_a_list(load: Load) -> None:
    """It is shown to people as one text."""
    assert load("compatibility: [linux, macos]").skill.compatibility == "linux, macos"


def test_long_compatibility_is_a_warning(load: Load) -> None:
    """The standard allows 500 characters."""
    loaded = load(f"compatibility: {'x' * 501}")
    assert loaded.codes == ["compatibility-length"]
    assert "501 of 500" in loaded.diagnostics[0].message


@pytest.mark.parametrize("field", ["metadata", "hooks"])
@pytest.mark.parametrize("value", ["text", "[a]"])
def test_map_that_is_none_is_dropped_with_a_warning(
    load: Load, field: str, value: str
) -> None:
    """Nothing else is made of it."""
    loaded = load(f"{field}: {value}")
    assert (loaded.skill.metadata, loaded.skill.hooks) == ({}, None)
    assert loaded.codes == ["field-type"]
    assert "where a map is expected" in loaded.diagnostics[0].message


@pytest.mark.parametrize("value", ["", "''", "~"])
def test_empty_fields_are_absent(load: Load, value: str) -> None:
    """A field without a value is no fault."""
    fields = ["metadata", "hooks", "allowed-tools", "paths", "license", "context"]
    loaded = load("\n".join(f"{field}: {value}" for field in fields))
    assert loaded.codes == []


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("file format", ("file", "format")),
        ("file, format", ("file", "format")),
        ("[file, format]", ("file", "format")),
        ("[[file], ~, format]", ("file", "format")),
    ],
)
def test_arguments_are_names(load: Load, written: str, expected: Any) -> None:
    """In any spelling."""
    assert load(f"arguments: {written}").skill.arguments == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("src/a b/*.py, docs/*.{md,txt}", ("src/a b/*.py", "docs/*.{md,txt}")),
        ("['*.py', 'a,b']", ("*.py", "a", "b")),
        ("\n  - '*.py'\n  - docs/x y.md", ("*.py", "docs/x y.md")),
        ("|\n  *.py\n  *.md", ("*.py", "*.md")),
    ],
)
def test_paths_are_globs(load: Load, written: str, expected: Any) -> None:
    """Commas outside of braces separate them, blanks do not."""
    assert load(f"paths: {written}").skill.paths == expected


def test_tool_with_a_colon_in_a_list_is_one_text(load: Load) -> None:
    """`- Bash(git: x)` is a map to YAML and a tool to its author."""
    loaded = load("allowed-tools:\n  - 'Read'\n  - Bash(git: x)\n  - {x: [y]}")
    assert loaded.skill.allowed_tools == ("Read", "Bash(git: x)", "x")


def test_list_field_that_is_a_map_is_dropped(load: Load) -> None:
    """A map is no list of tools."""
    loaded = load("allowed-tools: {a: b}")
    assert (loaded.skill.allowed_tools, loaded.codes) == ((), ["field-type"])


def test_unclosed_parenthesis_keeps_the_rest_together(load: Load) -> None:
    """Nothing is split that may belong together."""
    loaded = load("allowed-tools: Read) Bash(git add Write")
    assert loaded.skill.allowed_tools == ("Read)", "Bash(git add Write")


def test_requires_joins_top_level_and_metadata(load: Load) -> None:
    """What any host's metadata requires counts; each once, in order."""
    loaded = load(
        "requires: {env: [A, B], bins: git}\n"
        'metadata: {"x": {"requires": {"env": ["B", "C"]}}, "y": text,\n'
        '  "requires": {"bins": ["git", "jq"]}, "z": {"requires": [1]}}'
    )
    assert loaded.skill.requires == Requires(env=("A", "B", "C"), bins=("git", "jq"))
    assert loaded.codes == []


def test_requires_that_is_no_map_gates_nothing(load: Load) -> None:
    """It is reported: a gate that does not close should not look like one."""
    loaded = load("requires: [git]")
    assert (loaded.skill.requires, loaded.codes) == (Requires(), ["field-type"])


def test_argument_hint_of_another_type_is_dropped() -> None:
    """A map that no reader of ours makes is refused."""
    fields = {"description": "d", "argument-hint": {"a": "b"}}
    found = Frontmatter(found=True, fields=fields, body="")
    skill, diagnostics = to_skill(found, path=Path("/skills/a/SKILL.md"))
    assert skill is not None
    assert skill.argument_hint is None
    assert [item.code for item in diagnostics] == ["field-type"]


def test_text_field_that_is_a_map_is_dropped(load: Load) -> None:
    """No text is made of a map."""
    loaded = load("license: {name: MIT}")
    assert (loaded.skill.license, loaded.codes) == (None, ["field-type"])


def test_description_is_measured_as_it_is_shown(load: Load) -> None:
    """Line breaks and runs of blanks are folded before anything is counted."""
    text = "\n".join(["  " + "x" * 40 + " " * 10] * 24)
    loaded = load(f"name: a\ndescription: |\n{text}")
    assert (True, []) == (len(loaded.skill.description) > 1024, loaded.codes)
