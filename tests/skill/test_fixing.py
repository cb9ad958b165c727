"""``--fix`` rewrites only what means the same afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prime_skills_ext.skill.check_header import check_header
from prime_skills_ext.skill.finding import Edit
from prime_skills_ext.skill.fixing import apply_edit, diff, repair
from prime_skills_ext.skill.frontmatter import parse
from prime_skills_ext.skill.validation import to_skill

PATH = Path("/skills/a/SKILL.md")
CORPUS = Path(__file__).parents[1] / "skills"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("name: a\ndescription: x: y", 'name: a\ndescription: "x: y"'),
        ("Name: a\ndescription: D.", "name: a\ndescription: D."),
        ("name: a\nDescription: x: y", 'name: a\ndescription: "x: y"'),
        ("description: D.", "name: a\ndescription: D."),
        ("name: a\ndescription:'D.'", "name: a\ndescription: 'D.'"),
    ],
)
def test_repair_corrects_what_is_certain(before: str, after: str) -> None:
    """Spelling of keys, quotes, a blank, and the name that the folder has."""
    data = f"---\n{before}\n---\n\nDo.\n".encode()
    assert f"---\n{after}\n---\n\nDo.\n".encode() == repair(data, path=PATH)


@pytest.mark.parametrize(
    "header",
    [
        "name: b\ndescription: D.",
        "name: A\ndescription: D.",
        "name: a\ndescription: Post to #ops",
        "name: a\ndescription: D.\nlicence: MIT",
        "name: a\ndescription: D.\ndescription: E.",
        "name: a\ndescription: Hid\u200bden",
        "name: a\ndescription: D.\nallowed-tools: Read, Bash",
        "name: a\ndescription: D.\n<<: x: y",
    ],
)
def test_repair_leaves_alone_what_only_its_author_knows(header: str) -> None:
    """Another name, a comment or a tool list may be meant."""
    data = f"---\n{header}\n---\n\nDo.\n".encode()
    assert data == repair(data, path=PATH)


def test_repair_keeps_the_line_ends() -> None:
    """A file that was saved on Windows stays one, the corrected line included."""
    data = b"\xef\xbb\xbf---\r\nname: a\r\ndescription: x: y\r\n---\r\nDo.\n"
    fixed = b'---\r\nname: a\r\ndescription: "x: y"\r\n---\r\nDo.\n'
    assert fixed == repair(data, path=PATH)


def test_repair_closes_the_header_with_hyphens() -> None:
    """Dots become hyphens where that ends the same header."""
    data = b"---\nname: a\ndescription: D.\n...\nDo.\n---\nMore."
    fixed = b"---\nname: a\ndescription: D.\n---\nDo.\n---\nMore."
    assert fixed == repair(data, path=PATH)


@pytest.mark.parametrize("data", [b"---\nName: \xff\n---\n", b"\xff\xfe-\x00"])
def test_repair_leaves_a_file_that_is_not_utf8(data: bytes) -> None:
    """Its bytes cannot be kept, so none is written."""
    assert data == repair(data, path=PATH)


@pytest.mark.parametrize(
    "folder", sorted(p.name for p in CORPUS.iterdir() if p.is_dir())
)
def test_repair_of_the_corpus_keeps_skill_and_body(folder: str) -> None:
    """Whatever is odd, the skill and its instructions stay what they are."""
    path = CORPUS / folder / "SKILL.md"
    before = path.read_bytes()
    after = repair(before, path=path)
    assert parse(before).body == parse(after).body
    skill, _ = to_skill(parse(before), path=path)
    assert skill == to_skill(parse(after), path=path)[0]
    assert after == repair(after, path=path)


@given(
    st.lists(
        st.sampled_from(
            ["name: a", "Name: a", "description: x: y", "Description: [z] b", "...",
             "description:", "  more: text", "- item", "---", "paths: *.py", "# c", ""]
        ),
        max_size=8,
    ).map("\n".join)
)  # fmt: skip
def test_repair_never_changes_what_a_file_means(header: str) -> None:
    """For any header: same skill, same body, never more findings, and a fixpoint."""
    before = f"---\n{header}\n---\nDo.\n".encode()
    after = repair(before, path=PATH)
    assert to_skill(parse(before), path=PATH)[0] == to_skill(parse(after), path=PATH)[0]
    assert parse(before).body == parse(after).body
    slips = [len(check_header(x, parse(x), path=PATH)) for x in (before, after)]
    assert slips[1] <= slips[0]
    assert after == repair(after, path=PATH)


def test_edit_inserts_and_deletes_lines() -> None:
    """An edit that ends before it starts inserts; one without lines deletes."""
    assert apply_edit(b"a\nb", Edit(first=2, last=1, lines=("x",))) == b"a\nx\nb"
    assert apply_edit(b"a\nb", Edit(first=1, last=1, lines=())) == b"b"
    assert apply_edit(b"a", Edit(first=1, last=1, lines=("b",))) == b"b"


def test_diff_shows_both_versions() -> None:
    """The unified form, named so that it says which is which."""
    lines = diff(b"a\nb\n", b"a\nc\n", name="a/SKILL.md").split("\n")
    assert lines[:2] == ["--- a/SKILL.md (now)", "+++ a/SKILL.md (fixed)"]
    assert "-b" in lines
    assert "+c" in lines
