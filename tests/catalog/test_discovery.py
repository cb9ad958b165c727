"""Which skills there are: links, lone files, spelling, order."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.catalog.discovery import Discovery, discover
from prime_skills_ext.catalog.places import find_places
from prime_skills_ext.catalog.sources import Source, find_sources
from tests.catalog.conftest import MakeSource, codes, names, only
from tests.conftest import MakeSkill

Find = Callable[..., Discovery]


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
