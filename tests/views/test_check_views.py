"""How a check looks: the same facts as text and as HTML."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

from prime_skills_ext.catalog.check_report import (
    CheckedSkill,
    CheckReport,
    FileChange,
)
from prime_skills_ext.skill.finding import Finding
from prime_skills_ext.views import hypertext, text
from prime_skills_ext.views.wording import quoted_lines
from tests.views.samples import ROOT

FILE = ROOT / "word-count" / "SKILL.md"


def finding(**changes: object) -> Finding:
    given: dict[str, object] = {
        "code": "yaml-colon",
        "reason": "YAML does not take `description` for text.",
        "fix": "Quote the value.",
        "severity": "error",
        "path": FILE,
        "line": 3,
        "column": 15,
        "written": "description: <b>: x",
        "corrected": 'description: "<b>: x"',
    }
    return Finding(**{**given, **changes})  # type: ignore[arg-type]


def report(*findings: Finding, **more: object) -> CheckReport:
    skills = (
        CheckedSkill(
            name="word-count",
            path=FILE,
            location="user: word-count",
            findings=findings,
        ),
        CheckedSkill(
            name="edit", path=ROOT / "edit" / "SKILL.md", location="user: edit"
        ),
    )
    return CheckReport(skills=skills, **more)  # type: ignore[arg-type]


CHANGE = FileChange(path=FILE, diff="--- a\n+++ b\n-x: <b>\n+x: y", written=False)
FULL = report(
    finding(),
    finding(
        code="import-undeclared",
        severity="warning",
        path=ROOT / "word-count/src/word_count/__init__.py",
        line=1,
        column=None,
        corrected=None,
    ),
    finding(
        code="body-length", severity="info", line=None, written=None, corrected=None
    ),
    changes=(CHANGE,),
    fix="%skill check word-count --fix --write",
)


def test_text_shows_place_line_and_corrected_line() -> None:
    """Everything that is needed to correct it, and nothing of this machine."""
    assert text.render(FULL) == (
        "Check: 2 skills, 1 error, 1 warning, 1 note\n"
        "\n"
        "word-count  (user: word-count)\n"
        "  error    SKILL.md:3:15  yaml-colon\n"
        "    YAML does not take `description` for text.\n"
        "    is:    description: <b>: x\n"
        '    want:  description: "<b>: x"\n'
        "    fix: Quote the value.\n"
        "  warning  src/word_count/__init__.py:1  import-undeclared\n"
        "    YAML does not take `description` for text.\n"
        "    is:    description: <b>: x\n"
        "    fix: Quote the value.\n"
        "  info     SKILL.md  body-length\n"
        "    YAML does not take `description` for text.\n"
        "    fix: Quote the value.\n"
        "\n"
        "edit  (user: edit)  ok\n"
        "\n"
        "Would be written\n"
        "  --- a\n"
        "  +++ b\n"
        "  -x: <b>\n"
        "  +x: y\n"
        "\n"
        "fix: %skill check word-count --fix --write"
    )


def test_text_of_skills_without_findings_is_short() -> None:
    """All is well in as many lines as there are skills."""
    assert text.render(report()).splitlines() == [
        "Check: 2 skills, no findings",
        "",
        "word-count  (user: word-count)  ok",
        "",
        "edit  (user: edit)  ok",
    ]


def test_text_of_nothing_to_check_says_what_to_type() -> None:
    """Who has no skills yet checks a folder."""
    assert "%skill check PATH" in text.render(CheckReport())


def test_html_is_well_formed_and_says_what_the_text_says() -> None:
    """Strangers' text is escaped; severities are words."""
    html = hypertext.render(FULL)
    assert html is not None
    root = ET.fromstring(html)
    told = " ".join("".join(root.itertext()).split())
    for words in (
        "2 skills, 1 error, 1 warning, 1 note",
        "SKILL.md:3:15 · yaml-colon",
        'description: "<b>: x"',
        "No findings.",
        "Would be written",
        "%skill check word-count --fix --write",
    ):
        assert words in told
    assert str(ROOT) not in html
    assert ["-x: <b>"] == [line.text for line in root.iter("del")]
    assert ["+x: y"] == [line.text for line in root.iter("ins")]


def test_html_of_what_was_written_and_of_nothing() -> None:
    """The same card for every outcome."""
    written = FileChange(path=FILE, diff="-a\n+b", written=True)
    html = hypertext.render(report(changes=(written,)))
    assert html is not None
    assert "Written" in html
    assert "<del>" not in html  # names of files come before what changed
    nothing = hypertext.render(CheckReport())
    assert nothing is not None
    assert "No skills of yours" in nothing


def test_file_outside_the_skills_folder_is_named_without_its_path() -> None:
    """What is displayed is the same on every machine."""
    shown = text.render(report(finding(path=Path("/elsewhere/x.md"))))
    assert "  error    x.md:3:15  yaml-colon" in shown


def test_quoted_text_shows_what_cannot_be_seen() -> None:
    """An escape sequence does not reach the terminal, a joiner of an emoji does."""
    assert quoted_lines("a\u200b\x1b[0m\u2028b\n\tc👩\u200d💻") == (
        "a<U+200B><U+001B>[0m<U+2028>b",
        "\tc👩\u200d💻",
    )


def test_long_quoted_line_is_cut() -> None:
    """A line of a thousand brackets is known by its beginning."""
    (line,) = quoted_lines("[" * 1000)
    assert len(line) == 401
    assert line.endswith("…")
