"""Which hooks of a header run here: the valid ones, exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.skill.check_header import header_bounds
from prime_skills_ext.skill.check_hooks import check_hooks
from prime_skills_ext.skill.finding import Sheet
from prime_skills_ext.skill.frontmatter import parse
from prime_skills_ext.skill.hooks import Hook, parse_hooks

HEAD = "---\nname: a\ndescription: D.\n"


def read(hooks: str) -> tuple[Hook, ...]:
    """Parse hooks as a kernel does: through the reader of headers."""
    front = parse(f"{HEAD}hooks: {hooks}\n---\nDo.")
    found: Any = front.fields.get("hooks")
    return parse_hooks(found)


def is_faulty(hooks: str) -> bool:
    """Whether ``check`` finds an error in them."""
    text = f"{HEAD}hooks: {hooks}\n---\nDo."
    sheet = Sheet.read(text.encode(), path=Path("/skills/a/SKILL.md"))
    found = check_hooks(sheet, parse(text), header=range(*header_bounds(sheet)))
    return any(item.severity == "error" for item in found)


def one(hook: str, *, matcher: str = "", event: str = "PreToolUse") -> str:
    return f"{{{event}: [{{{matcher}hooks: [{hook}]}}]}}"


def test_hooks_are_read_in_their_order_with_their_options() -> None:
    """Events of others, and hooks that are no commands, are a host's."""
    found = read(
        "{PreToolUse: [{matcher: 'a|b', hooks: [{type: command, command: ' one '},"
        " {type: prompt, prompt: Why?}, {type: command, command: two, timeout: 1.5,"
        " once: yes, other: x}]},"
        " {matcher: '*', hooks: [{type: command, command: x}]}],"
        " Stop: [{hooks: [{type: command, command: no}]}],"
        " PostToolUseFailure: [{hooks: [{type: command, command: last}]}]}"
    )
    assert found == (
        Hook(event="PreToolUse", command="one", matcher="a|b"),
        Hook(
            event="PreToolUse", command="two", matcher="a|b", timeout_s=1.5, once=True
        ),
        Hook(event="PreToolUse", command="x"),
        Hook(event="PostToolUseFailure", command="last"),
    )
    assert 60 == found[0].timeout_s


@pytest.mark.parametrize(
    "hooks",
    [
        one("{type: command, command: ls}"),
        one("{type: command, command: ls, timeout: 0.5, async: false}"),
        one("{type: command, command: ls}", matcher="matcher: '*', "),
        one("{type: command, command: ls}", matcher="matcher: , "),
        one("{type: command, command: ls}", matcher="matcher: 'a.*|b', "),
        one("{type: command, command: ls}", matcher="matcher: '(', "),
        one("{type: command, command: ls}", matcher="matcher: [a], "),
        one("{type: command, command: ' '}"),
        one("{type: command, command: [ls]}"),
        one("{type: command}"),
        one("{command: ls}"),
        one("ls"),
        one("{type: command, command: ls, timeout: 0}"),
        one("{type: command, command: ls, timeout: soon}"),
        one("{type: command, command: ls, timeout: nan}"),
        one("{type: command, command: ls, once: maybe}"),
        "{PreToolUse: x}",
        "{PreToolUse: []}",
        "{PreToolUse: [x]}",
        "{PreToolUse: [{hooks: x}]}",
        "{PreToolUse: [{matcher: a}]}",
    ],
)
def test_a_hook_runs_exactly_where_check_has_nothing_against_it(hooks: str) -> None:
    """Each of these has one hook at most: it is dropped, or it is in order."""
    assert (len(read(hooks)) == 1) is not is_faulty(hooks)


@pytest.mark.parametrize(
    ("matcher", "names", "expected"),
    [
        ("", ["a"], True),
        ("a|b", ["b"], True),
        ("a", ["ab"], False),
        ("word.count", ["word-count", "word_count", "Skill"], True),
        ("Skill", ["a", "Skill"], True),
        ("Bash", ["a", "Skill"], False),
    ],
)
def test_a_matcher_matches_a_whole_name(
    matcher: str,
    names: list[str],
    expected: bool,  # noqa: FBT001
) -> None:
    """Any of the names that the skill has."""
    hook = Hook(event="PreToolUse", command="ls", matcher=matcher)
    assert hook.concerns(names) is expected


def test_no_hooks_are_none() -> None:
    """A header without them, or with something else in their place."""
    assert parse_hooks(None) == ()
    assert parse_hooks({}) == ()
