"""Values as HTML: well-formed, escaped, readable without colour."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from prime_skills_ext.catalog.status import Catalogue
from prime_skills_ext.kernel.reload_report import ReloadReport
from prime_skills_ext.views.card import SkillDetails
from prime_skills_ext.views.hypertext import render
from prime_skills_ext.views.report import Check, Doctor, Message
from tests.views import samples

_BODY = """# Title

<script>alert(1)</script> and <b>bold</b>

| a | b |
|---|---|
| 1 | 2 |

line  \nbreak [x](javascript:alert(1)) ![pixel](https://example.invalid/p.png)

---
"""


def _page(value: object) -> ET.Element:
    """Parse strictly: what is not well-formed fails here."""
    found = render(value)
    assert found is not None
    return ET.fromstring(found)


def _text(element: ET.Element) -> str:
    style = element.find("style")
    if style is not None:
        style.text = ""
    return " ".join("".join(element.itertext()).split())


@pytest.mark.parametrize(
    "value",
    [
        samples.CATALOGUE,
        Catalogue(),
        samples.BROKEN,
        SkillDetails(status=samples.EDIT, body="a\x00\x1b[1m\x0bb", doc="\x08"),
        SkillDetails(status=samples.EDIT, body=_BODY, doc="<x>", signature="(a='<b>')"),
        Doctor(checks=(Check(title="<t>", state="problem", detail="<d>", fix="<f>"),)),
        Check(title="t", state="note", detail=""),
        Message(text="<m>", fix="`<f>`"),
        ReloadReport(added=("a",)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_view_is_well_formed(value: object) -> None:
    """Each view parses as XML and carries its style."""
    page = _page(value)

    assert page.attrib["class"].startswith("prime-skills")
    assert page.find("style") is not None


def test_table_has_a_row_per_skill_and_tells_states_in_words() -> None:
    """Colour only repeats what the badge says."""
    page = _page(samples.CATALOGUE)
    rows = page.findall(".//tr/th[@scope='row']/..")
    badges = [row.findall("td")[0] for row in rows]

    expected = ["ready", "ready", "instructions", "import-failed", "untrusted"]
    assert [*expected, "shadowed"] == [_text(badge)[1:] for badge in badges]


def test_table_escapes_what_files_say() -> None:
    """Markup in a reason is text."""
    page = _page(samples.CATALOGUE)

    assert "SyntaxError: <b>bad</b> & worse" in _text(page)


def test_table_sets_commands_as_code() -> None:
    """What is to be typed can be told from what is said."""
    codes = [code.text for code in _page(samples.CATALOGUE).iter("code")]

    expected = ["await edit(…)", 'await skills["json"](…)', "%skill show skill-creator"]
    assert [
        *expected,
        "%reload_skills",
        "%skill trust",
        "%skill show edit@user",
    ] == codes


def test_table_has_no_absolute_path() -> None:
    """An export can be published."""
    assert "somebody" not in str(render(samples.CATALOGUE))


def test_instructions_are_markdown_without_markup_of_their_own() -> None:
    """A stranger's text brings no element, no script link and fetches no image."""
    page = _page(SkillDetails(status=samples.EDIT, body=_BODY))

    assert "<script>alert(1)</script> and <b>bold</b>" in _text(page)
    assert [] == [*page.iter("script"), *page.iter("img"), *page.iter("iframe")]
    links = [link.attrib["href"] for link in page.iter("a")]
    assert links == ["https://example.invalid/p.png"]
    assert page.find(".//h1") is not None


def test_what_has_no_view_has_no_html() -> None:
    """A front end falls back on the text."""
    assert render(object()) is None


def test_message_of_several_lines_keeps_them() -> None:
    """Help that is folded into one paragraph cannot be read."""
    (block,) = _page(Message(text="usage: %skill\n\n  list  <all>")).iter("pre")
    assert "usage: %skill\n\n  list  <all>\n" == "".join(block.itertext())


def test_message_of_several_lines_keeps_its_columns_where_it_is_narrow() -> None:
    """A line that is broken goes on below its last column."""
    page = _page(Message(text="usage: %skill\n  list  all skills"))
    columns = [line.attrib["style"] for line in page.iter("span")]
    assert ["--ps-at:0ch", "--ps-at:8ch"] == columns


def test_in06_lines_to_add_to_a_file_are_code() -> None:
    """Each stands on a line of its own, as it is pasted."""
    fix = "Add these two lines to pyproject.toml:\n[tool.x]\na = '<b>'"
    failed = samples.status("a", "install-failed", reason="it is odd", fix=fix)

    page = _page(Catalogue(skills=(failed,)))

    codes = [code.text or "" for code in page.iter("code")]
    assert ["[tool.x]", "a = '<b>'"] == [code for code in codes if code in fix][-2:]
