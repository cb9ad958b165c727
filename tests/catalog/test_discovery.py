"""What a walk finds and what it says about the rest."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.catalog import walking
from prime_skills_ext.catalog.discovery import Discovery, discover
from prime_skills_ext.catalog.sources import Source, find_places, find_sources
from tests.catalog.conftest import MakeSource, codes, names, only
from tests.conftest import MakeSkill

Find = Callable[..., Discovery]


def tree(root: Path, depth: int) -> Path:
    """A folder so many levels below ``root``."""
    return root.joinpath(*(f"d{level}" for level in range(1, depth + 1)))


# DI-01 and DI-02: links and identities


@pytest.mark.parametrize("relative", [False, True])
def test_di01_linked_skill_folder_is_found(
    tmp_path: Path, make_skill: MakeSkill, found: Find, *, relative: bool
) -> None:
    """The user's path is shown; the real one is the identity."""
    real = make_skill(tmp_path / "dotfiles", "a")
    root = tmp_path / "skills"
    root.mkdir()
    (root / "a").symlink_to("../dotfiles/a" if relative else real)
    candidate = only(found(root))
    assert root / "a" / "SKILL.md" == candidate.skill.path
    assert real / "SKILL.md" == candidate.skill.identity
    assert "user: a" == candidate.location


@pytest.mark.parametrize("inner", [False, True])
def test_di01_linked_root_is_found(
    tmp_path: Path, make_skill: MakeSkill, found: Find, *, inner: bool
) -> None:
    """The start of a walk may be a link, and links below it still count."""
    target = tmp_path / "dotfiles"
    real = make_skill(tmp_path / "elsewhere" if inner else target, "a")
    target.mkdir(exist_ok=True)
    if inner:
        (target / "a").symlink_to(real)
    (tmp_path / "skills").symlink_to(target)
    candidate = only(found(tmp_path / "skills"))
    assert tmp_path / "skills/a/SKILL.md" == candidate.skill.path
    assert real / "SKILL.md" == candidate.skill.identity


def test_row26_linked_skill_file_is_followed(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """Formats row 26: ``SKILL.md`` itself may be a link."""
    real = make_skill(tmp_path / "dotfiles", "a")
    folder = tmp_path / "skills" / "a"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").symlink_to(real / "SKILL.md")
    candidate = only(found(tmp_path / "skills"))
    assert folder == candidate.skill.directory
    assert real / "SKILL.md" == candidate.skill.identity


def test_di02_link_beside_its_target_is_one_skill(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """The real folder gives the path, though the link sorts first."""
    make_skill(tmp_path, "b")
    (tmp_path / "a").symlink_to("b")
    discovery = found(tmp_path)
    assert tmp_path / "b/SKILL.md" == only(discovery).skill.path
    assert () == discovery.diagnostics


def test_di02_linked_file_beside_its_target_is_one_skill(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """The same holds for a linked ``SKILL.md``."""
    make_skill(tmp_path, "b")
    (tmp_path / "a").mkdir()
    (tmp_path / "a/SKILL.md").symlink_to("../b/SKILL.md")
    discovery = found(tmp_path)
    assert tmp_path / "b/SKILL.md" == only(discovery).skill.path
    assert () == discovery.diagnostics


def test_di02_skill_of_two_roots_is_one_with_the_higher_label(
    tmp_path: Path, make_skill: MakeSkill, make_source: MakeSource
) -> None:
    """No warning, and the other way to it is remembered."""
    make_skill(tmp_path / "real", "a")
    (tmp_path / "user").symlink_to("real")
    (tmp_path / "project").symlink_to("real")
    discovery = discover(
        [
            make_source(tmp_path / "user", "user"),
            make_source(tmp_path / "project", "project"),
        ]
    )
    candidate = only(discovery)
    assert "a@project" == candidate.qualified_name
    assert ["a@user"] == [alias.qualified_name for alias in candidate.aliases]
    assert tmp_path / "user/a/SKILL.md" == candidate.aliases[0].skill.path
    assert () == discovery.diagnostics


def test_di02_bad_skill_of_two_roots_is_reported_once(
    tmp_path: Path, make_skill: MakeSkill, make_source: MakeSource
) -> None:
    """One fault is one diagnostic, however many ways lead to it."""
    make_skill(tmp_path / "real", "bad", frontmatter="name: bad\n")
    (tmp_path / "real/b").mkdir()
    (tmp_path / "real/b/skill.md").write_text("---\ndescription: d\n---\n")
    (tmp_path / "other").symlink_to("real")
    discovery = discover(
        [
            make_source(tmp_path / "real", "project"),
            make_source(tmp_path / "other", "user"),
        ]
    )
    assert ["skill-file-spelling", "description-missing"] == codes(discovery)


def test_di02_home_is_a_link_and_the_notebook_inside_its_target(
    tmp_path: Path, make_skill: MakeSkill
) -> None:
    """One skill, the user's, without a word."""
    target = tmp_path / "volume"
    make_skill(target / ".agents/skills", "a")
    (target / ".git").mkdir()
    (tmp_path / "home").symlink_to(target)
    (target / "work").mkdir()
    places = find_places(environ={}, project=target / "work", home=tmp_path / "home")
    sources, _ = find_sources(places, environ={})
    discovery = discover(source for source in sources if source.kind != "builtin")
    assert "a@user:.agents/skills" == only(discovery).qualified_name
    assert () == discovery.diagnostics


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
    assert [] == codes(discovery)


def test_w36_link_to_itself_is_one_diagnostic(tmp_path: Path, found: Find) -> None:
    """It leads nowhere."""
    (tmp_path / "self").symlink_to("self")
    assert ["dangling-link"] == codes(found(tmp_path))


# DI-07: lone files


def test_di07_only_lone_files_with_a_description_count(
    tmp_path: Path, found: Find
) -> None:
    """W43: READMEs are passed over in silence; a lone file is named after itself."""
    (tmp_path / "README.md").write_text("# Skills\n\nname: x\ndescription: y\n")
    (tmp_path / "LICENSE.md").write_text("MIT\n")
    (tmp_path / "notes.md").write_text("---\ntitle: Notes\n---\n")
    (tmp_path / "torn.md").write_text("---\ndescription: never closed\n")
    (tmp_path / "empty.md").touch()
    (tmp_path / "quick.md").write_text("---\ndescription: Quick.\n---\nDo it.\n")
    (tmp_path / "quick.txt").write_text("---\ndescription: Quick.\n---\nDo it.\n")
    discovery = found(tmp_path, loose_files=True)
    candidate = only(discovery)
    assert ("quick", "user: quick.md") == (candidate.skill.name, candidate.location)
    assert [] == codes(discovery)


def test_w43_two_nameless_lone_files_do_not_collide(
    tmp_path: Path, found: Find
) -> None:
    """Their names are their stems."""
    for name in ("a.md", "b.MD"):
        (tmp_path / name).write_text("---\ndescription: d\n---\n")
    assert ["a", "b"] == names(found(tmp_path, loose_files=True))


def test_di07_lone_files_count_only_at_the_start(tmp_path: Path, found: Find) -> None:
    """Deeper ones, and those of sources without lone files, are no skills."""
    (tmp_path / "group").mkdir()
    (tmp_path / "group/quick.md").write_text("---\ndescription: d\n---\n")
    (tmp_path / "other.md").write_text("---\ndescription: d\n---\n")
    assert [] == names(found(tmp_path))
    assert ["other"] == names(found(tmp_path, loose_files=True))


def test_lone_file_is_never_python_backed(tmp_path: Path, found: Find) -> None:
    """A pyproject beside it is somebody else's."""
    (tmp_path / "quick.md").write_text("---\ndescription: d\n---\n")
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "src/quick").mkdir(parents=True)
    (tmp_path / "src/quick/__init__.py").touch()
    assert "markdown" == only(found(tmp_path, loose_files=True)).skill.kind


def test_dangling_lone_file_is_one_diagnostic(tmp_path: Path, found: Find) -> None:
    """Only where it could have been a skill."""
    (tmp_path / "quick.md").symlink_to("nowhere")
    (tmp_path / "data.txt").symlink_to("nowhere")
    assert ["dangling-link"] == codes(found(tmp_path, loose_files=True))
    assert [] == codes(found(tmp_path))


def test_named_lone_file_says_why_it_is_no_skill(tmp_path: Path, home: Path) -> None:
    """The user named it, so silence would be wrong."""
    (tmp_path / "notes.md").write_text("# Notes\n")
    places = find_places(environ={}, project=tmp_path, home=home)
    sources, _ = find_sources(places, explicit=["notes.md"], environ={})
    assert ["no-frontmatter"] == codes(discover(sources[:1]))


def test_named_lone_file_is_found(tmp_path: Path, home: Path) -> None:
    """Its neighbours are not."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.md").write_text("---\ndescription: d\n---\n")
    places = find_places(environ={}, project=tmp_path, home=home)
    sources, _ = find_sources(places, explicit=["a.md"], environ={})
    assert "explicit: a.md" == only(discover(sources[:1])).location


def test_named_lone_file_speaks_though_a_walk_passed_it_over(
    tmp_path: Path, make_source: MakeSource
) -> None:
    """A source of lower rank that names the file still hears why it is no skill."""
    file = tmp_path / "notes.md"
    file.write_text("# Notes\n")
    named = Source(kind="registered", label="registered", directory=tmp_path, file=file)
    walked = make_source(tmp_path, loose_files=True)
    assert ["no-frontmatter"] == codes(discover([walked, named]))


# DI-09: spelling


@pytest.mark.parametrize("spelling", ["skill.md", "Skill.md", "SKILL.MD"])
def test_row23_di09_other_spelling_loads_with_a_warning(
    tmp_path: Path, make_skill: MakeSkill, found: Find, spelling: str
) -> None:
    """Formats row 23: the warning says what to rename."""
    folder = make_skill(tmp_path, "a", python="async def run(): ...\n")
    (folder / "SKILL.md").rename(folder / spelling)
    discovery = found(tmp_path)
    assert ("python", "user: a") == (
        only(discovery).skill.kind,
        only(discovery).location,
    )
    (diagnostic,) = discovery.diagnostics
    assert ("skill-file-spelling", "warning") == (diagnostic.code, diagnostic.severity)
    assert f"Rename `{spelling}` to `SKILL.md`." == diagnostic.fix


def test_di09_exact_spelling_wins(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """Where both exist there is nothing to warn about."""
    folder = make_skill(tmp_path, "a", description="exact")
    (folder / "skill.md").write_text("---\ndescription: other\n---\n")
    discovery = found(tmp_path)
    assert ("exact", []) == (only(discovery).skill.description, codes(discovery))


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


def test_di13_folder_that_appears_is_found_by_the_next_walk(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """A missing folder yields nothing, in silence, and is not remembered."""
    root = tmp_path / ".agents" / "skills"
    before = found(root)
    make_skill(root, "a")
    assert ([], []) == (names(before), codes(before))
    assert ["a"] == names(found(root))


def test_di12_walk_takes_the_worktrees_own_skills(
    tmp_path: Path, home: Path, make_skill: MakeSkill
) -> None:
    """The main checkout's copy is another folder."""
    main, worktree = tmp_path / "main", tmp_path / "w"
    make_skill(main / ".agents/skills", "a", description="main")
    make_skill(worktree / ".agents/skills", "a", description="worktree")
    (main / ".git/worktrees/w").mkdir(parents=True)
    (worktree / ".git").write_text(f"gitdir: {main}/.git/worktrees/w\n")
    places = find_places(environ={}, project=worktree, home=home)
    sources, _ = find_sources(places, environ={})
    discovery = discover(source for source in sources if source.kind == "project")
    assert "worktree" == only(discovery).skill.description


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


# Order


def test_order_does_not_depend_on_the_file_system(
    tmp_path: Path,
    make_skill: MakeSkill,
    found: Find,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Fifty walks with shuffled directory entries say the same, word for word."""
    for group in ("b", "a"):
        for name in ("y", "x", "z"):
            make_skill(tmp_path / group, name, frontmatter="description: d\n")
        (tmp_path / group / "broken").symlink_to("nowhere")
        (tmp_path / group / "link").symlink_to("../a/x")
    expected = found(tmp_path)
    chance = random.Random(7)
    scandir = os.scandir

    class Shuffled:
        def __init__(self, path: Any) -> None:
            with scandir(path) as entries:
                self._entries = list(entries)
            chance.shuffle(self._entries)

        def __enter__(self) -> Iterator[os.DirEntry[str]]:
            return iter(self._entries)

        def __exit__(self, *_: object) -> None:
            return None

    monkeypatch.setattr(os, "scandir", Shuffled)
    assert {repr(expected)} == {repr(found(tmp_path)) for _ in range(50)}


def test_candidates_are_sorted_by_source_and_path(
    tmp_path: Path, make_skill: MakeSkill, make_source: MakeSource
) -> None:
    """The order of the sources given does not matter."""
    for root in ("one", "two"):
        for name in ("b", "a"):
            make_skill(tmp_path / root, name)
    first = make_source(tmp_path / "two", "project")
    second = make_source(tmp_path / "one", "user")
    forward, backward = discover([first, second]), discover([second, first])
    expected = ["project: a", "project: b", "user: a", "user: b"]
    assert expected == [item.location for item in forward.candidates]
    assert forward == backward


def test_di11_a_name_that_no_file_can_have_leaves_instructions(
    found: Callable[..., Discovery], make_skill: MakeSkill, tmp_path: Path
) -> None:
    """One package that cannot even be looked for costs no other skill."""
    header = f"name: {'n' * 300}\ndescription: Does a thing.\n"
    make_skill(tmp_path, "endless", python="", frontmatter=header)
    make_skill(tmp_path, "short", python="")
    python = {
        c.skill.directory.name: c.skill.python for c in found(tmp_path).candidates
    }
    assert python["endless"] is None
    assert python["short"] is not None


def test_di11_source_folder_that_may_not_be_entered_leaves_instructions(
    found: Callable[..., Discovery], make_skill: MakeSkill, unprivileged_folder: Path
) -> None:
    """The same where ``src`` is somebody else's."""
    folder = make_skill(unprivileged_folder, "closed", python="")
    (folder / "src").chmod(0)
    assert only(found(unprivileged_folder)).skill.python is None
