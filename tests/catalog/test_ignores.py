"""Ignore files: git's semantics, and every hidden skill is named."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from prime_skills_ext.catalog.discovery import Discovery, discover
from tests.catalog.conftest import MakeSource, codes, names
from tests.conftest import MakeSkill

Find = Callable[..., Discovery]


def test_di08_star_hides_everything_and_says_so(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """File, line and pattern of every hidden skill are named."""
    make_skill(tmp_path, "a")
    make_skill(tmp_path / "group", "b")
    (tmp_path / ".gitignore").write_text("# all\n*\n")
    discovery = found(tmp_path)
    assert [] == names(discovery)
    assert [
        "The skill `a` (user: a) is hidden by line 2 of `.gitignore`: `*`.",
        "The skill `b` (user: group/b) is hidden by line 2 of `.gitignore`: `*`.",
    ] == [item.message for item in discovery.diagnostics]
    assert {("ignored", "info")} == {
        (item.code, item.severity) for item in discovery.diagnostics
    }


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ("/foo", ["keep", "sub-foo"]),
        ("foo", ["keep"]),
        ("FOO", ["foo", "keep", "sub-foo"]),
        ("foo/", ["keep"]),
        ("sub/foo", ["foo", "keep"]),
        ("sub/*", ["foo", "keep"]),
        ("sub/**", ["foo", "keep"]),
        ("**/foo", ["keep"]),
        ("*", []),
        ("*\n!keep", []),
        ("/*\n!keep", ["keep"]),
        ("/*\n!/keep/", ["keep"]),
        ("foo\n!sub/foo", ["keep", "sub-foo"]),
        ("sub\n!sub/foo", ["foo", "keep"]),
        ("!foo\nfoo", ["keep"]),
        ("skill.md", ["foo", "keep", "sub-foo"]),
        ("SKILL.md", []),
        ("keep/SKILL.md", ["foo", "sub-foo"]),
        ("foo   ", ["keep"]),
        ("# foo\n\n \n", ["foo", "keep", "sub-foo"]),
        ("f[o]o", ["keep"]),
        ("!\n/\n\\", ["foo", "keep", "sub-foo"]),
    ],
)
def test_w38_patterns_mean_what_git_says(
    tmp_path: Path,
    make_skill: MakeSkill,
    found: Find,
    patterns: str,
    expected: list[str],
) -> None:
    """Anchors anchor, bare names match at any depth, letters have case."""
    make_skill(tmp_path, "keep")
    make_skill(tmp_path, "foo")
    make_skill(tmp_path / "sub", "foo", frontmatter="name: sub-foo\ndescription: d\n")
    (tmp_path / ".gitignore").write_text(patterns)
    assert expected == sorted(names(found(tmp_path)))


@pytest.mark.parametrize(
    ("pattern", "folder"), [("a\\ ", "a "), ("\\#a", "#a"), ("\\!a", "!a")]
)
def test_w38_backslash_takes_a_character_literally(
    tmp_path: Path, make_skill: MakeSkill, found: Find, pattern: str, folder: str
) -> None:
    """A trailing space, a hash and an exclamation mark can be part of a name."""
    make_skill(tmp_path, folder, frontmatter="name: odd\ndescription: d\n")
    (tmp_path / ".gitignore").write_text(f"{pattern}\n")
    assert [] == names(found(tmp_path))


def test_w38_nested_file_speaks_of_its_own_folder(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """It overrides the one above it, and reaches no further than its folder."""
    for group in ("one", "two"):
        for name in ("a", "b"):
            make_skill(
                tmp_path / group,
                name,
                frontmatter=f"name: {group}-{name}\ndescription: d\n",
            )
    (tmp_path / ".gitignore").write_text("a\n")
    (tmp_path / "one/.gitignore").write_text("!a\n/b\n")
    assert ["one-a", "two-b"] == names(found(tmp_path))


def test_folder_with_glob_characters_is_taken_literally(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """W38: a folder's own name is never a pattern."""
    make_skill(tmp_path / "[x]*", "a")
    make_skill(tmp_path / "[x]*", "b")
    (tmp_path / "[x]*" / ".ignore").write_text("/b\n")
    assert ["a"] == names(found(tmp_path))


def test_skills_own_ignore_file_can_hide_it(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """What lies inside still belongs to the hidden skill."""
    folder = make_skill(tmp_path, "a", files={".gitignore": "/SKILL.md\n"})
    make_skill(folder / "references", "inner")
    discovery = found(tmp_path)
    assert ([], ["ignored"]) == (names(discovery), codes(discovery))
    assert "`a/.gitignore`" in discovery.diagnostics[0].message


@pytest.mark.parametrize("name", [".gitignore", ".ignore", ".fdignore"])
def test_each_kind_of_ignore_file_is_honoured(
    tmp_path: Path, make_skill: MakeSkill, found: Find, name: str
) -> None:
    """All three have one syntax."""
    make_skill(tmp_path, "a")
    (tmp_path / name).write_text("a\n")
    assert [] == names(found(tmp_path))


def test_more_special_ignore_file_wins(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """``.ignore`` over ``.gitignore``, as the tools that read them do."""
    make_skill(tmp_path, "a")
    (tmp_path / ".gitignore").write_text("a\n")
    (tmp_path / ".ignore").write_text("!a\n")
    assert ["a"] == names(found(tmp_path))


def test_ignore_file_above_the_start_is_never_read(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """A repository that ignores its ``.agents`` does not hide the skills there."""
    make_skill(tmp_path / ".agents/skills", "a")
    (tmp_path / ".gitignore").write_text(".agents\n*\n")
    assert ["a"] == names(found(tmp_path / ".agents/skills"))


def test_unreadable_ignore_file_is_one_diagnostic(
    unprivileged_folder: Path, make_skill: MakeSkill, found: Find
) -> None:
    """It hides nothing."""
    make_skill(unprivileged_folder, "a")
    (unprivileged_folder / ".gitignore").write_text("*\n")
    (unprivileged_folder / ".gitignore").chmod(0)
    discovery = found(unprivileged_folder)
    assert (["a"], ["unreadable"]) == (names(discovery), codes(discovery))


def test_ignore_file_that_is_a_fifo_does_not_block(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """It is one diagnostic like any other file that is none."""
    make_skill(tmp_path, "a")
    os.mkfifo(tmp_path / ".gitignore")
    discovery = found(tmp_path)
    assert (["a"], ["unreadable"]) == (names(discovery), codes(discovery))
    assert "not a regular file" in discovery.diagnostics[0].message


def test_ignore_file_of_any_encoding_is_read(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """A byte-order mark, CRLF and bytes that are no text do no harm."""
    make_skill(tmp_path, "a")
    make_skill(tmp_path, "b")
    (tmp_path / ".gitignore").write_bytes(b"\xef\xbb\xbfa\r\n\xff\xfe\r\n")
    assert ["b"] == names(found(tmp_path))


def test_hidden_lone_file_is_named_only_if_it_is_a_skill(
    tmp_path: Path, found: Find
) -> None:
    """A hidden README is nobody's loss."""
    (tmp_path / ".gitignore").write_text("*.md\n")
    (tmp_path / "README.md").write_text("# x\n")
    (tmp_path / "quick.md").write_text("---\ndescription: d\n---\n")
    discovery = found(tmp_path, loose_files=True)
    assert [
        (
            "The skill `quick` (user: quick.md) is hidden by line 1 of "
            "`.gitignore`: `*.md`."
        )
    ] == [item.message for item in discovery.diagnostics]


def test_what_is_broken_in_a_hidden_folder_is_not_reported(
    tmp_path: Path, found: Find
) -> None:
    """Build products are full of dangling links."""
    (tmp_path / "build/skill").mkdir(parents=True)
    (tmp_path / "build/link").symlink_to("nowhere")
    (tmp_path / "build/skill/SKILL.md").write_text("# no skill\n")
    (tmp_path / ".gitignore").write_text("build\n")
    assert [] == codes(found(tmp_path))


def test_skill_that_another_source_shows_is_not_hidden(
    tmp_path: Path, make_skill: MakeSkill, make_source: MakeSource
) -> None:
    """The fix that the message names works, and then there is no message."""
    folder = make_skill(tmp_path, "a")
    (tmp_path / ".gitignore").write_text("*\n")
    hiding = make_source(tmp_path, "project")
    showing = make_source(folder, "registered")
    discovery = discover([hiding, showing])
    assert (["a"], []) == (names(discovery), codes(discovery))


def test_hidden_folders_do_not_use_up_the_bound(
    tmp_path: Path,
    make_skill: MakeSkill,
    found: Find,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are searched last, and when the bound is reached there, in silence."""
    monkeypatch.setattr("prime_skills_ext.catalog.walking.MAX_DIRECTORIES", 4)
    for number in range(9):
        (tmp_path / f"build/d{number}").mkdir(parents=True)
    make_skill(tmp_path / "group", "z")
    (tmp_path / ".gitignore").write_text("build\n")
    discovery = found(tmp_path)
    assert (["z"], []) == (names(discovery), codes(discovery))


def test_hidden_folders_too_deep_are_not_reported(tmp_path: Path, found: Find) -> None:
    """The bound on depth is silent there, too."""
    (tmp_path / "build/1/2/3/4/5/6/7").mkdir(parents=True)
    (tmp_path / ".gitignore").write_text("build\n")
    assert [] == codes(found(tmp_path))
