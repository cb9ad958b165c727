"""Where a walk goes, where it stops, and what it says about it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from prime_skills_ext.catalog import walking
from prime_skills_ext.catalog.discovery import Discovery, discover
from tests.catalog.conftest import MakeSource, codes, names, only
from tests.conftest import MakeSkill

Find = Callable[..., Discovery]


def tree(root: Path, depth: int) -> Path:
    """A folder so many levels below ``root``."""
    return root.joinpath(*(f"d{level}" for level in range(1, depth + 1)))


# DI-03 and DI-04: where a walk goes


def test_row29_di03_walk_stops_at_a_skill(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """Formats row 29: what lies inside a skill belongs to it."""
    folder = make_skill(tmp_path, "a")
    for inside in ("node_modules", ".venv/lib", "references", "sub/deep"):
        make_skill(folder / inside, "inner")
    assert ["a"] == names(found(tmp_path))


@pytest.mark.parametrize(
    "pruned", ["node_modules", ".git", ".venv", "venv", "__pycache__", ".hidden"]
)
def test_di03_pruned_folders_are_not_entered(
    tmp_path: Path, make_skill: MakeSkill, found: Find, pruned: str
) -> None:
    """They hold other people's files, whatever these are called."""
    make_skill(tmp_path / pruned, "inner")
    make_skill(tmp_path / "group" / pruned, "inner")
    discovery = found(tmp_path)
    assert ([], []) == (names(discovery), codes(discovery))


def test_di03_many_files_beside_a_skill_are_harmless(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """Files are neither opened nor counted."""
    make_skill(tmp_path, "a")
    pile = tmp_path / "pile"
    pile.mkdir()
    for number in range(3000):
        (pile / f"{number}.txt").touch()
    discovery = found(tmp_path)
    assert (["a"], []) == (names(discovery), codes(discovery))


@pytest.mark.parametrize("depth", [1, 2, 4, 6])
def test_di04_grouped_skills_are_found(
    tmp_path: Path, make_skill: MakeSkill, found: Find, depth: int
) -> None:
    """A skill counts down to six folders deep; its own folder names it."""
    make_skill(tree(tmp_path, depth - 1), "leaf", frontmatter="description: d\n")
    candidate = only(found(tmp_path))
    assert "leaf" == candidate.skill.name
    inside = [f"d{level}" for level in range(1, depth)]
    assert "/".join([*inside, "leaf"]) == candidate.inside


def test_di03_depth_bound_is_one_diagnostic(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """The first folder that was too deep is named, with the way out."""
    for name in ("x", "y"):
        make_skill(tree(tmp_path, walking.MAX_DEPTH), name)
    discovery = found(tmp_path)
    (diagnostic,) = discovery.diagnostics
    assert [] == names(discovery)
    assert (
        "user: d1/d2/d3/d4/d5/d6/x was not searched: "
        "skills are looked for at most 6 folders deep." == diagnostic.message
    )
    assert "%skill add" in diagnostic.fix


def test_di03_width_bound_is_one_diagnostic(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """What was found before the bound counts; the rest is named as not searched."""
    make_skill(tmp_path, "a")
    for number in range(walking.MAX_DIRECTORIES + 10):
        (tmp_path / f"d{number:04}").mkdir()
    discovery = found(tmp_path)
    assert (["a"], ["walk-too-wide"]) == (names(discovery), codes(discovery))
    assert "2000 folders" in discovery.diagnostics[0].message


def test_skills_do_not_count_against_the_width_bound(
    tmp_path: Path,
    make_skill: MakeSkill,
    found: Find,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A folder that is a skill is found, not searched."""
    monkeypatch.setattr(walking, "MAX_DIRECTORIES", 3)
    for number in range(10):
        make_skill(tmp_path, f"s{number}")
    discovery = found(tmp_path)
    assert (10, []) == (len(names(discovery)), codes(discovery))


def test_w36_loops_are_searched_once(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """Two links to the start, one to itself, one to another: four ways, one skill."""
    make_skill(tmp_path / "group", "a")
    (tmp_path / "one").symlink_to(tmp_path)
    (tmp_path / "group/two").symlink_to("..")
    (tmp_path / "group/three").symlink_to("../one")
    discovery = found(tmp_path)
    assert tmp_path / "group/a/SKILL.md" == only(discovery).skill.path
    assert [("link-loop", "info")] == [
        (item.code, item.severity) for item in discovery.diagnostics
    ]


def test_w36_link_to_itself_is_one_diagnostic(tmp_path: Path, found: Find) -> None:
    """It leads nowhere."""
    (tmp_path / "self").symlink_to("self")
    assert ["dangling-link"] == codes(found(tmp_path))


# DI-11: what cannot be read


def test_row26_di11_dangling_skill_file_is_one_diagnostic(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """Formats row 26: 213 of 301 linked ones were dangling; the others load."""
    make_skill(tmp_path, "a")
    (tmp_path / "b").mkdir()
    (tmp_path / "b/SKILL.md").symlink_to("nowhere")
    discovery = found(tmp_path)
    assert (["a"], ["dangling-link"]) == (names(discovery), codes(discovery))


def test_di11_dangling_folder_is_one_diagnostic(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """A link that may have been a skill's folder is worth a word."""
    make_skill(tmp_path, "a")
    (tmp_path / "b").symlink_to("nowhere")
    discovery = found(tmp_path)
    assert (["a"], ["dangling-link"]) == (names(discovery), codes(discovery))
    assert (
        "user: b is left out: this link points to nothing that can be read."
        == discovery.diagnostics[0].message
    )


@pytest.mark.parametrize("kind", ["folder", "fifo"])
def test_di11_skill_file_that_is_no_file_is_one_diagnostic(
    tmp_path: Path, make_skill: MakeSkill, found: Find, kind: str
) -> None:
    """It is not opened, and what lies below it is not searched."""
    make_skill(tmp_path, "a")
    odd = tmp_path / "b"
    make_skill(odd, "inner")
    if kind == "folder":
        (odd / "SKILL.md").mkdir()
    else:
        os.mkfifo(odd / "SKILL.md")
    discovery = found(tmp_path)
    assert (["a"], ["skill-file-not-regular"]) == (names(discovery), codes(discovery))


def test_di11_linked_fifo_does_not_block(tmp_path: Path, found: Find) -> None:
    """A link changes nothing."""
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "b").mkdir()
    (tmp_path / "b/SKILL.md").symlink_to("../pipe.txt")
    assert 1 == len(found(tmp_path).diagnostics)


def test_di11_unreadable_folder_is_one_diagnostic(
    unprivileged_folder: Path, make_skill: MakeSkill, found: Find
) -> None:
    """The others load."""
    make_skill(unprivileged_folder, "a")
    make_skill(unprivileged_folder, "b").chmod(0)
    discovery = found(unprivileged_folder)
    assert (["a"], ["unreadable"]) == (names(discovery), codes(discovery))
    assert "user: b is left out: permission denied." == discovery.diagnostics[0].message


def test_di11_folder_that_may_not_be_entered_is_told_apart_from_none(
    unprivileged_folder: Path, make_skill: MakeSkill, found: Find
) -> None:
    """Names can be listed there but nothing can be looked at."""
    folder = make_skill(unprivileged_folder, "b")
    folder.chmod(0o444)
    assert 1 == len(found(unprivileged_folder).diagnostics)


def test_di11_unreadable_skill_file_is_one_diagnostic(
    unprivileged_folder: Path, make_skill: MakeSkill, found: Find
) -> None:
    """The message names the skill and the reason."""
    make_skill(unprivileged_folder, "a")
    (make_skill(unprivileged_folder, "b") / "SKILL.md").chmod(0)
    discovery = found(unprivileged_folder)
    assert (["a"], ["unreadable"]) == (names(discovery), codes(discovery))
    assert (
        "The skill in `b` is left out: permission denied."
        == discovery.diagnostics[0].message
    )


def test_di11_unreadable_start_is_one_diagnostic(
    unprivileged_folder: Path, make_skill: MakeSkill, found: Find
) -> None:
    """It is there, so silence would be wrong."""
    root = unprivileged_folder / "root"
    make_skill(root, "a")
    root.chmod(0)
    assert ["unreadable"] == codes(found(root))


def test_di11_start_that_is_a_file_is_one_diagnostic(
    tmp_path: Path, found: Find
) -> None:
    """A file is no place for skills."""
    (tmp_path / "skills").touch()
    assert ["not-a-folder"] == codes(found(tmp_path / "skills"))


def test_di11_dangling_start_is_one_diagnostic(tmp_path: Path, found: Find) -> None:
    """Somebody meant it to lead somewhere."""
    (tmp_path / "skills").symlink_to("nowhere")
    (diagnostic,) = found(tmp_path / "skills").diagnostics
    assert "user: skills is left out: it points to nothing." == diagnostic.message


def test_di11_one_bad_file_of_each_kind_leaves_the_rest(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """One diagnostic each."""
    make_skill(tmp_path, "good")
    make_skill(tmp_path, "blank", frontmatter="name: blank\ndescription:\n")
    (make_skill(tmp_path, "bare") / "SKILL.md").write_text("# Bare\n")
    (make_skill(tmp_path, "torn") / "SKILL.md").write_text("---\nname: torn\n")
    (make_skill(tmp_path, "bytes") / "SKILL.md").write_bytes(b"\xff\x00\x80" * 3000)
    discovery = found(tmp_path)
    assert ["good"] == names(discovery)
    assert {"bare", "blank", "bytes", "torn"} == {
        item.path.parent.name for item in discovery.diagnostics if item.path
    }


def test_name_that_is_not_utf8_can_be_shown(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """The location of such a folder is text that any terminal takes."""
    try:
        make_skill(tmp_path, os.fsdecode(b"caf\xe9"), frontmatter="description: d\n")
    except OSError:
        # this file system takes no such names, so none can be met on it
        return
    assert "user: caf\ufffd" == only(found(tmp_path)).location.encode().decode()


# W44: a skill in the place of skills


def test_w44_skill_file_in_a_location_counts_alone_and_says_so(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """The folders that it hides are named."""
    root = tmp_path / "skills"
    for name in ("a", "b", "c", "d", "e"):
        make_skill(root, name)
    (root / "SKILL.md").write_text("---\ndescription: d\n---\n")
    discovery = found(root)
    assert "skills" == only(discovery).skill.name
    (diagnostic,) = discovery.diagnostics
    assert ("skill-hides-others", "warning") == (diagnostic.code, diagnostic.severity)
    assert "so a, b, c and 2 more are not looked at" in diagnostic.message


def test_w44_is_only_a_remark_on_a_skill_that_the_user_named(
    tmp_path: Path, make_skill: MakeSkill, make_source: MakeSource
) -> None:
    """Formats row 29: a skill may hold others; they belong to it."""
    make_skill(make_skill(tmp_path, "outer"), "inner")
    discovery = discover([make_source(tmp_path / "outer", "explicit")])
    assert [("skill-hides-others", "info")] == [
        (item.code, item.severity) for item in discovery.diagnostics
    ]
    assert "so inner is not looked at" in discovery.diagnostics[0].message
    assert "explicit: outer" == only(discovery).location


def test_skill_that_the_user_named_has_nothing_to_say(
    tmp_path: Path, make_skill: MakeSkill, make_source: MakeSource
) -> None:
    """An ordinary folder beside it is no skill."""
    folder = make_skill(tmp_path, "a", files={"references/more.md": "More.\n"})
    assert [] == codes(discover([make_source(folder, "explicit")]))


def test_w44_broken_skill_file_in_a_location_hides_nothing(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """One broken thing never stops the rest."""
    make_skill(tmp_path, "a")
    (tmp_path / "SKILL.md").write_text("# Skills\n")
    discovery = found(tmp_path)
    assert (["a"], ["no-frontmatter"]) == (names(discovery), codes(discovery))


def test_row26_linked_skill_file_settles_its_folder_too(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """What lies deeper belongs to it, as with a real file."""
    real = make_skill(tmp_path / "dotfiles", "a")
    folder = tmp_path / "skills" / "a"
    make_skill(folder / "references", "inner")
    (folder / "SKILL.md").symlink_to(real / "SKILL.md")
    assert ["a"] == names(found(tmp_path / "skills"))


def test_w36_folders_that_link_to_each_other_are_searched_once(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """No link leads up, yet every step doubles the ways: two links in each."""
    for here, there in (("a", "b"), ("b", "a")):
        make_skill(tmp_path / here, f"skill-{here}")
        for link in ("one", "two"):
            (tmp_path / here / link).symlink_to(tmp_path / there)
    answer = found(tmp_path)
    assert (["skill-a", "skill-b"], []) == (names(answer), codes(answer))
