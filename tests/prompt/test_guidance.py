"""What a model is told beside the list: the five points, and no more than needed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prime_skills_ext.prompt.budget import PRESETS, Budget
from prime_skills_ext.prompt.entry import Entry
from prime_skills_ext.prompt.listing import render_entries

PLAIN = Entry(
    name="cite", kind="markdown", description="Cites.", location="/cite/SKILL.md"
)
PYTHON = Entry(
    name="word-count",
    kind="python",
    description="Counts words.",
    location="/word-count/SKILL.md",
    python_import="word_count",
    command="word-count",
)

#: The points that the instructions must make, each by the words that make it.
POINTS = {
    "skills are instructions for kinds of task": "instructions for particular kinds",
    "read the file when a task fits": "When a task fits the description of one below,"
    " read its file",
    "imports are ready and callable by name": "A skill with a python_import is ready in"
    " the persistent kernel under that name",
    "relative paths resolve against the folder": "Relative paths in it start at the"
    " folder that holds it, the one of SKILL.md",
    "commands run in a shell": "A skill with a command can be run in a shell",
}


def instructions(*entries: Entry, tools: list[str] | None = None) -> str:
    listing = render_entries(entries, budget=PRESETS["none"], tools=tools)
    return listing.text.partition("\n\n<available_skills>")[0]


@pytest.mark.parametrize("point", POINTS.values(), ids=POINTS)
def test_the_instructions_make_each_of_five_points(point: str) -> None:
    """On one line of less than six hundred characters."""
    text = instructions(PLAIN, PYTHON)
    assert point in text
    assert "\n" not in text
    assert len(text) < 600


def test_the_instructions_say_how_a_skill_is_called() -> None:
    """And where that is explained."""
    text = instructions(PYTHON)
    assert "`help(NAME)` says what it offers, usually `await NAME(...)`" in text


def test_what_no_listed_skill_has_is_not_explained() -> None:
    """Words cost tokens."""
    assert "python_import" not in instructions(PLAIN)
    assert "command" not in instructions(PLAIN, replace(PYTHON, command=None))
    only_plain = render_entries([PLAIN, PYTHON], budget=Budget(chars=4))
    assert "python_import" not in only_plain.text


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        (None, "read its file before you begin"),
        ([], "read its file before you begin"),
        (["ipython", "bash"], "read its file with the ipython tool before"),
        (["bash", "Read"], "read its file with the Read tool before"),
        (["BASH"], "read its file with the BASH tool before"),
        (["send_mail"], "read its file before you begin"),
    ],
)
def test_the_tool_that_reads_is_named_as_the_host_spells_it(
    tools: list[str] | None, words: str
) -> None:
    """Where a model has several, the best one, whatever their order."""
    assert words in instructions(PLAIN, tools=tools)
    assert words in instructions(PLAIN, tools=tools and [*reversed(tools)])


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        (None, "and 2 more: use %skill list"),
        (["ipython", "bash"], "and 2 more: use %skill list"),
        (["read"], "and 2 more: use %skill list"),
        (["bash", "read"], "and 2 more: use prime-skills list"),
    ],
)
def test_pb01_the_rest_is_found_with_what_the_model_has(
    tools: list[str] | None, words: str
) -> None:
    """A shell knows no magics."""
    none = render_entries([PLAIN, PYTHON], budget=Budget(chars=0), tools=tools)
    assert f"<more>{words}</more>" in none.text
