"""The schema of hooks: what is reported, and where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from prime_skills_ext.skill._positions import find_position
from prime_skills_ext.skill.check_header import header_bounds
from prime_skills_ext.skill.check_hooks import check_hooks
from prime_skills_ext.skill.finding import Finding, Sheet
from prime_skills_ext.skill.frontmatter import parse

RUNS = "      hooks:\n        - type: command\n          command: ls"
LONG = f"hooks:\n  PreToolUse:\n    - matcher: Bash|Edit\n{RUNS}"
HEAD = "---\nname: a\ndescription: D.\n"


def check(hooks: str) -> list[Finding]:
    """Check the hooks of a header; their first line is line 4."""
    text = f"{HEAD}{hooks}\n---\nDo."
    sheet = Sheet.read(text.encode(), path=Path("/skills/a/SKILL.md"))
    return list(check_hooks(sheet, parse(text), header=range(*header_bounds(sheet))))


def group(hook: str) -> str:
    return f"hooks:\n  Stop:\n    - hooks:\n        - {hook}"


@pytest.mark.parametrize(
    "hooks",
    [
        "license: MIT",
        "hooks:",
        "hooks: {Stop: [{hooks: [{type: command, command: ls}]}]}",
        group("{type: command, command: ls, timeout: 1.5, once: true, x: y}"),
        group("{type: prompt, prompt: Why?}"),
        group("{type: agent, prompt: Why?}"),
        group("{type: http, url: 'https://example.invalid'}"),
        LONG,
        "hooks: {Stop: [{matcher: '*', hooks: [{type: command, command: ls}]}]}",
        "hooks: {Stop: [{matcher: , hooks: [{type: command, command: ls}]}]}",
    ],
)
def test_valid_hooks_give_no_finding(hooks: str) -> None:
    """Events, groups, the four types and their options."""
    assert check(hooks) == []


@pytest.mark.parametrize(
    ("hooks", "code", "place"),
    [
        ("hooks:\n  Stop: x", "hooks-groups", (5, 3)),
        ("hooks:\n  Stop: []", "hooks-groups", (5, 3)),
        ("hooks:\n  Stop:\n    - x", "hooks-group", (6, 7)),
        ("hooks:\n  Stop:\n    - matcher: x", "hooks-list", (6, 7)),
        ("hooks:\n  Stop:\n    - hooks: {a: b}", "hooks-list", (6, 7)),
        (group("x"), "hooks-hook", (7, 11)),
        (group("command: ls"), "hooks-type", (7, 11)),
        (group("type: shell"), "hooks-type", (7, 11)),
        (group("type: [command]"), "hooks-type", (7, 11)),
        (group("type: command"), "hooks-missing", (7, 11)),
        (group("type: http\n          url:"), "hooks-missing", (8, 11)),
        (group("{type: prompt, prompt: p, timeout: soon}"), "hooks-timeout", (7, 37)),
        (group("{type: prompt, prompt: p, timeout: 0}"), "hooks-timeout", (7, 37)),
        (group("{type: prompt, prompt: p, timeout: []}"), "hooks-timeout", (7, 37)),
        (group("{type: prompt, prompt: p, once: [x]}"), "hooks-option", (7, 37)),
        (
            f"hooks:\n  Stop:\n    - matcher: '('\n{RUNS}",
            "hooks-matcher",
            (6, 7),
        ),
        (
            f"hooks:\n  Stop:\n    - matcher: [x]\n{RUNS}",
            "hooks-matcher",
            (6, 7),
        ),
    ],
)
def test_invalid_hooks_are_errors_at_their_place(
    hooks: str, code: str, place: tuple[int, int]
) -> None:
    """The place is that of the key, or of what should have it."""
    (found,) = check(hooks)
    assert found.code == code
    assert (found.line, found.column) == place
    assert found.severity == ("error")


@pytest.mark.parametrize(
    ("event", "fix"),
    [("preToolUse", "Write `PreToolUse:`."), ("zzz", "Use one of Notification")],
)
def test_unknown_event_is_a_warning_with_a_suggestion(event: str, fix: str) -> None:
    """A newer host may know more events than we do."""
    (found,) = check(f"hooks:\n  {event}: [{{hooks: [{{type: http, url: u}}]}}]")
    assert (found.code, found.severity) == ("hooks-event", "warning")
    assert found.fix.startswith(fix)


def test_option_beside_the_hooks_of_a_group_is_a_warning() -> None:
    """A timeout there does nothing."""
    (found,) = check(
        "hooks:\n  Stop:\n    - timeout: 3\n      hooks: [{type: http, url: u}]"
    )
    assert (found.code, found.severity, found.line) == ("hooks-option", "warning", 6)


def test_hooks_in_a_header_that_is_no_yaml_are_shown_at_their_key() -> None:
    """Where the header as a whole cannot be read, the key's line is known."""
    (found,) = check("hooks: {Stop: x}\nlicense: a: b")
    assert (found.line, found.column) == (4, None)


def test_hooks_in_capitals_are_found() -> None:
    """The reader finds fields in any case, and so does this."""
    (found,) = check("Hooks:\n  Stop: x")
    assert (found.line, found.column) == (5, 3)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (("a",), (0, 0)),
        (("a", "b"), (1, 2)),
        (("a", "b", 1), (1, 9)),
        (("a", "b", 9), (1, 2)),
        (("a", 0), (0, 0)),
        (("z",), None),
        (("a", "b", 0, "x"), (1, 6)),
    ],
)
def test_position_is_that_of_the_part_that_exists(
    path: tuple[str | int, ...], place: tuple[int, int] | None
) -> None:
    """The way is followed as far as it goes."""
    assert place == find_position("a:\n  b: [c, d]", path)


def test_position_in_what_is_nested_too_deeply_is_unknown() -> None:
    """The bound of the one reader holds here, too."""
    assert find_position("a: " + "[" * 60000, ("a",)) is None
