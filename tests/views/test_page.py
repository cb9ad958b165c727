"""A skill's page as Markdown."""

from __future__ import annotations

from dataclasses import replace

from prime_skills_ext.views import hypertext, text
from prime_skills_ext.views.card import SkillDetails
from prime_skills_ext.views.page import render
from tests.views import samples

EDIT = replace(
    samples.EDIT, skill=replace(samples.EDIT.skill, argument_hint="[file] [text]")
)


def test_page_is_card_documentation_and_instructions() -> None:
    """In the order of the card; code is fenced, whatever is in it."""
    details = SkillDetails(
        status=EDIT, body="## Steps\n\n1. Go.\n", signature="(x=1)", doc="Do ```it```."
    )
    assert render(details) == (
        "# edit\n\n"
        "*python, ready*\n\n"
        "Replace text in files, byte for byte. Use when a file changes.\n\n"
        "```python\nawait edit(x=1)\n```\n\n"
        "- **Takes**: [file] [text]\n"
        "- **Where**: builtin: edit\n\n"
        "## Documentation\n\n"
        "````\nDo ```it```.\n````\n\n"
        "## Instructions\n\n"
        "## Steps\n\n1. Go.\n"
    )


def test_page_of_what_is_broken_has_the_fix() -> None:
    """As every view of it."""
    told = render(SkillDetails(status=samples.BROKEN, body="\x1b[2Jx"))
    assert "- **Fix**: correct src/broken/__init__.py" in told
    assert "\x1b" not in told


def test_card_shows_what_a_skill_takes() -> None:
    """The hint that its author wrote for people who type."""
    assert "  takes      [file] [text]" in text.render(EDIT).splitlines()
    assert "<dt>Takes</dt><dd><code>[file] [text]</code>" in str(hypertext.render(EDIT))
