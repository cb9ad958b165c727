"""Values as text: exact, aligned, the same everywhere."""

from __future__ import annotations

import textwrap
from dataclasses import replace

from prime_skills_ext.catalog.status import Catalogue
from prime_skills_ext.kernel.reload_report import ReloadReport
from prime_skills_ext.views.card import SkillDetails
from prime_skills_ext.views.report import Check, Doctor, Message
from prime_skills_ext.views.text import WIDTH, render
from tests.views import samples

_TABLE = """\
Skills: 3 ready to use, 2 need something, 1 not in use

Ready to use
  NAME           KIND      STATE         WHERE                   WHAT
  edit           python    ready         builtin: edit           Replace text in files, byte for…
  json           python    ready         explicit: json          call it skills["json"]. Does a…
  skill-creator  markdown  instructions  builtin: skill-creator  Write a new skill

Need something
  NAME           KIND      STATE          WHERE
  broken         python    import-failed  explicit: broken
    SyntaxError: <b>bad</b> & worse (src/broken/__init__.py, line 3), which is told here at such a
    length that the line has to be broken
    fix: correct src/broken/__init__.py, then run `%reload_skills`
  deploy         python    untrusted      project:.agents/skills: deploy
    this project is not trusted
    fix: %skill trust

Not in use
  NAME           KIND      STATE     WHERE
  edit           python    shadowed  user: edit
    builtin: edit has its name
    fix: %skill show edit@user

Notes on files
  warning: the description holds a colon (user: edit/SKILL.md:3)
    fix: put it in quotes"""  # noqa: E501 - the table is wider than code


def test_mx08_table_shows_name_kind_state_place_and_fix() -> None:
    """The whole table, to the byte: usable first, then what needs something."""
    assert _TABLE == render(samples.CATALOGUE)


def test_nb06_table_does_not_depend_on_the_order_of_the_skills() -> None:
    """Whoever found what first does not show."""
    skills = tuple(reversed(samples.CATALOGUE.skills))

    assert _TABLE == render(replace(samples.CATALOGUE, skills=skills))


def test_nb06_table_has_no_absolute_path_and_no_colour() -> None:
    """Nothing of this machine and no escape sequence is displayed."""
    text = render(samples.CATALOGUE)

    assert "somebody" not in text
    assert "\x1b" not in text


def test_table_fits_its_width() -> None:
    """Only a fix may be longer: it is there to be copied."""
    lines = render(samples.CATALOGUE).splitlines()

    assert [] == [line for line in lines if len(line) > WIDTH and "fix:" not in line]


def test_table_keeps_a_long_name_whole() -> None:
    """A name is there to be copied; it gets a line of its own."""
    name = "a-skill-with-a-name-of-many-words"
    lines = render(Catalogue(skills=(samples.status(name, "ready"),))).splitlines()

    assert f"  {name}" in lines


def test_table_aligns_wide_characters() -> None:
    """A name in a script of wide characters takes two columns for each."""
    wide = samples.status("日本語", "ready", source="explicit")
    rows = render(Catalogue(skills=(wide, samples.EDIT))).splitlines()

    assert "  edit    python    ready  builtin: edit     " in rows[4]
    assert "  日本語  python    ready  explicit: 日本語  " in rows[5]


def test_table_drops_control_characters() -> None:
    """A description cannot move the cursor or colour the terminal."""
    evil = samples.status("evil", "ready", description="a\x1b[31mb\x07\u202ec")

    assert "a[31mbc" in render(Catalogue(skills=(evil,)))


def test_table_says_how_to_begin_when_there_is_nothing() -> None:
    """An empty table is not a dead end."""
    expected = "Skills: none\n  fix: run `%skill add PATH`, or make .prime/agent/skills"

    assert render(Catalogue()).startswith(expected)


def test_note_outside_every_source_is_told_by_its_last_two_parts() -> None:
    """A path that no source holds still reads the same on every machine."""
    note = replace(samples.NOTE, path=samples.ROOT / "agent" / "trust.json", line=None)
    text = render(Catalogue(skills=(samples.EDIT,), diagnostics=(note,)))

    assert "(agent/trust.json)" in text


def test_show_has_the_call_the_doc_and_the_instructions() -> None:
    """``%skill show``: what to type comes before what to read."""
    details = SkillDetails(
        status=samples.EDIT,
        body="# Edit\n\nDo it.",
        signature="(path: str) -> str",
        doc="Edit a file.\n",
    )
    expected = """\
        edit  (python, ready)
        Replace text in files, byte for byte. Use when a file changes.

          use        await edit(path: str) -> str
          where      builtin: edit
          overrides  edit@user

        Edit a file.

        Instructions
        ------------
        # Edit

        Do it."""

    assert textwrap.dedent(expected) == render(details)


def test_show_of_a_broken_skill_tells_why_and_the_fix() -> None:
    """What cannot be called shows no call."""
    text = render(samples.DEPLOY)

    assert "  use " not in text
    assert "  why        this project is not trusted\n  fix        %skill" in text


def test_page_of_a_skill_does_not_send_to_itself() -> None:
    """Whoever reads the page has typed that already."""
    for status in (samples.CREATOR, samples.SHADOWED):
        text = render(SkillDetails(status=status))
        assert "%skill show" in render(status)
        assert "%skill show" not in text
        assert f"where      {status.location}" in text


def test_note_that_names_its_place_does_not_name_it_twice() -> None:
    """``overrides user: edit. (user: edit/SKILL.md)`` says it once too often."""
    note = replace(samples.NOTE, message="edit overrides user: edit.")
    text = render(Catalogue(skills=(samples.SHADOWED,), diagnostics=(note,)))
    assert "  warning: edit overrides user: edit.\n" in text


def test_show_keeps_indents_and_drops_control_characters() -> None:
    """Instructions of a stranger cannot write to the terminal what they like."""
    body = "\n    code\x1b]0;title\x07\n\n\u202eb\n"
    text = render(SkillDetails(status=samples.EDIT, body=body))

    assert text.endswith("------------\n    code]0;title\n\nb")


def test_doctor_lists_checks_with_their_fixes() -> None:
    """Each check is a line, a fix stands below what it mends."""
    doctor = Doctor(
        checks=(
            Check(title="uv", state="ok", detail="found"),
            Check(title="trust", state="problem", detail="a\nb", fix="%skill trust"),
        )
    )
    expected = """\
        ok       uv     found
        PROBLEM  trust  a
                        b
                        fix: %skill trust

        1 problem."""

    assert textwrap.dedent(expected) == render(doctor)


def test_doctor_keeps_a_long_path_in_one_piece() -> None:
    """What somebody copies is not broken over lines."""
    path = "/" + "directory/" * 12
    check = Check(title="uv", state="ok", detail=f"found at {path} here")

    assert f" {path}" in render(check).splitlines()[1]


def test_message_has_its_fix_on_a_second_line() -> None:
    """A message says what happened, then what to do."""
    message = Message(text="Trusted.", fix="%reload_skills")

    assert render(message) == "Trusted.\n  fix: %reload_skills"


def test_reload_report_is_its_one_line() -> None:
    """The report reads as its repr."""
    report = ReloadReport(added=("edit",))

    assert repr(report) == render(report)


def test_in06_lines_to_add_to_a_file_stay_lines() -> None:
    """They are pasted as they stand; the table's indent is all that is added."""
    fix = 'Add these two lines to pyproject.toml:\n[tool.x]\npackages = ["src/a"]'
    failed = samples.status("a", "install-failed", reason="it is odd", fix=fix)

    lines = render(Catalogue(skills=(failed,))).splitlines()

    expected = ["    fix: Add these two lines to pyproject.toml:", "      [tool.x]"]
    assert [*expected, '      packages = ["src/a"]'] == lines[-3:]
