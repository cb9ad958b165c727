"""Placeholders are filled in once, and only what is one is touched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prime_skills_ext.prompt.arguments import Values, split
from prime_skills_ext.prompt.substitution import Command, Substituted, substitute

#: What none of the texts that stand for something contains.
MARKS = "ABCDEFG"


def fill(body: str, arguments: str = "", *names: str) -> Substituted:
    values = Values.of(
        split(arguments, names=names),
        directory="/s/fix",
        project="/work",
        session="s-1",
    )
    return substitute(body, values=values)


def text(body: str, arguments: str = "", *names: str) -> str:
    """The finished text of instructions without commands."""
    parts = fill(body, arguments, *names).parts
    return "".join(
        part if isinstance(part, str) else f"«{part.script}»" for part in parts
    )


@pytest.mark.parametrize(
    ("body", "arguments", "expected"),
    [
        ("Fix $ARGUMENTS now", "12  'a b'", "Fix 12  'a b' now"),
        ("Fix [$ARGUMENTS]", "", "Fix []"),
        ("$ARGUMENTS[0]+$ARGUMENTS[1]", "a 'b c'", "a+b c"),
        ("$0+$1+$0", "a 'b c'", "a+b c+a"),
        ("$10", "0 1 2 3 4 5 6 7 8 9 ten", "ten"),
        ("costs $5, $ARGUMENTS[5]", "a", "costs $5, $ARGUMENTS[5]"),
        ("$99999999999999999999", "a", "$99999999999999999999"),
        ("$0 of don't", "don't stop", "don't of don't"),
        ("$0th $ARGUMENTS_X $ARGUMENTSX", "a", "$0th $ARGUMENTS_X $ARGUMENTSX"),
        ("$ARGUMENTSを見る $0個", "a", "aを見る a個"),
        ("$ARGUMENTS[x]", "a", "a[x]"),
        ("$HOME ${HOME} $arguments", "a", "$HOME ${HOME} $arguments"),
        ("$0", '""', ""),
    ],
)
def test_arguments_are_filled_in(body: str, arguments: str, expected: str) -> None:
    """All of them verbatim, one by its position from 0; a missing one stays."""
    assert expected == text(body, arguments)


@pytest.mark.parametrize(
    ("body", "arguments", "expected"),
    [
        ("$issue on $branch", "12 main", "12 on main"),
        ("$issue on [$branch]", "12", "12 on []"),
        ("$issues $issue_x $other", "12 main", "$issues $issue_x $other"),
        ("$issue-number", "12 main 7", "12-number"),
    ],
)
def test_names_are_positions(body: str, arguments: str, expected: str) -> None:
    """A missing one is empty; a longer word is another word."""
    assert expected == text(body, arguments, "issue", "branch")


def test_longest_name_is_meant() -> None:
    """Of two names that begin alike."""
    assert "7" == text("$issue-number", "12 7", "issue", "issue-number")


def test_places_are_filled_in() -> None:
    """The skill's folder, the project and the session; a template's own is left."""
    body = "${CLAUDE_SKILL_DIR} {baseDir} ${CLAUDE_PROJECT_DIR} ${CLAUDE_SESSION_ID}"
    assert "/s/fix /s/fix /work s-1" == text(body)
    assert "${baseDir} $CLAUDE_SKILL_DIR ${CLAUDE_X}" == text(
        "${baseDir} $CLAUDE_SKILL_DIR ${CLAUDE_X}"
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (r"\$ARGUMENTS \$0 \$9 \$ARGUMENTS[0]", "$ARGUMENTS $0 $9 $ARGUMENTS[0]"),
        (r"\${CLAUDE_SKILL_DIR} \$issue", "${CLAUDE_SKILL_DIR} $issue"),
        (r"\$HOME \n \$other \\", r"\$HOME \n \$other \\"),
        (r"\{baseDir}", "\\/s/fix"),
    ],
)
def test_backslash_escapes_placeholders_alone(body: str, expected: str) -> None:
    """Regular expressions and shell text in instructions stay as they are."""
    assert expected == text(body, "a", "issue")


@pytest.mark.parametrize(
    ("body", "used"),
    [
        ("nothing", set()),
        ("$ARGUMENTS", {0, 1}),
        ("$1 and $0", {0, 1}),
        ("$issue", {0}),
        (r"\$ARGUMENTS \$0", set()),
        ("$7", set()),
    ],
)
def test_it_is_known_which_words_the_text_shows(body: str, used: set[int]) -> None:
    """What nobody shows follows the block."""
    assert used == fill(body, "a b", "issue").used


placeholders = st.sampled_from(
    [
        *(
            "$ARGUMENTS",
            "$ARGUMENTS[0]",
            "$ARGUMENTS[1]",
            "$0",
            "$1",
            "$x",
            "{baseDir}",
        ),
        *("${CLAUDE_SKILL_DIR}", "${CLAUDE_PROJECT_DIR}", "${CLAUDE_SESSION_ID}"),
    ]
)
#: What stands for something looks like placeholders and commands itself.
hostile = st.lists(
    st.one_of(
        placeholders, st.sampled_from(["!`rm x`", "\n```!\nls\n```\n", "\\", " "])
    ),
    max_size=6,
).map("".join)


@given(
    body=st.lists(st.one_of(placeholders, st.sampled_from(MARKS)), max_size=12),
    first=hostile,
    second=hostile,
    places=st.tuples(hostile, hostile, hostile),
)
def test_result_is_never_filled_in_again(
    body: list[str], first: str, second: str, places: tuple[str, str, str]
) -> None:
    """Whatever the values look like, they stand in the text as they are, once."""
    directory, project, session = places
    arguments = split("", names=["x"])._replace(text=first, words=(first, second))
    values = Values.of(arguments, directory=directory, project=project, session=session)
    meant = {
        "$ARGUMENTS": first,
        "$ARGUMENTS[0]": first,
        "$ARGUMENTS[1]": second,
        "$0": first,
        "$1": second,
        "$x": first,
        "{baseDir}": directory,
        "${CLAUDE_SKILL_DIR}": directory,
        "${CLAUDE_PROJECT_DIR}": project,
        "${CLAUDE_SESSION_ID}": session,
    }
    # a mark between the pieces, so that none of them ends within its neighbour
    expected = "|".join(meant.get(piece, piece) for piece in body)
    filled = substitute("|".join(body), values=values)
    assert expected == "".join(str(part) for part in filled.parts)


@given(st.text(), st.text(), st.lists(st.text(min_size=1), max_size=3))
def test_no_input_raises(body: str, arguments: str, names: list[str]) -> None:
    """And without placeholders and commands the text is the body."""
    filled = fill(body, arguments, *names)
    if not set("$`{~") & set(body):
        assert body == "".join(str(part) for part in filled.parts)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("!`git log`", "«git log»"),
        ("Log: !`git log`, diff:\t!`git diff`", "Log: «git log», diff:\t«git diff»"),
        ("a\n!`x | y`\nb", "a\n«x | y»\nb"),
        ("see`!`ls`", "see`!`ls`"),
        ("wow!`ls` (!`ls`)", "wow!`ls` (!`ls`)"),
        ("!`` !` ` !`a\nb`", "!`` !` ` !`a\nb`"),
        ("`` `!`ls`` ", "`` `!`ls`` "),
        ("```\n!`ls`\n```", "```\n«ls»\n```"),
    ],
)
def test_commands_are_found(body: str, expected: str) -> None:
    """At the start of a line or after white space, on one line, not blank."""
    assert expected == text(body)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("```!\nls\n```", "«ls»"),
        ("a\n```!\nls -l\ncd x\n```\nb", "a\n«ls -l\ncd x»\nb"),
        ("~~~ !\nls\n~~~~", "«ls»"),
        ("1. do\n   ```!\n   ls\n     x\n   ```", "1. do\n«ls\n  x»"),
        ("```!\necho `date` !`x`\n```", "«echo `date` !`x`»"),
        ("```!\n\n```", "```!\n\n```"),
        ("```!\nls", "```!\nls"),
        ("````md\n```!\nls\n```\n````", "````md\n```!\nls\n```\n````"),
        ("```!x\nls\n```", "```!x\nls\n```"),
        ("```a`b\n```!\nls\n```", "```a`b\n«ls»"),
        ("```!\nls\n~~~\n```", "«ls\n~~~»"),
        ("```!\na\n```\n```!\nb\n```", "«a»\n«b»"),
    ],
)
def test_fenced_commands_are_found(body: str, expected: str) -> None:
    """A closed block of its own; an example inside of another block is none."""
    assert expected == text(body)


def test_command_keeps_its_placeholders() -> None:
    """Its values must not become shell syntax: another module hands them over."""
    assert (Command("echo $ARGUMENTS"),) == fill("!`echo $ARGUMENTS`", "; rm x").parts
    assert frozenset() == fill("!`echo $ARGUMENTS`", "; rm x").used
