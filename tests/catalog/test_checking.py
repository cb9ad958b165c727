"""Checking a skill where it lies: files, links, bounds, rewriting."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from prime_skills_ext.catalog.check_report import CheckedSkill
from prime_skills_ext.catalog.checking import (
    Surroundings,
    Target,
    check_skill,
    find_targets,
    repair_skill,
)
from prime_skills_ext.catalog.distributions import read_distributions
from prime_skills_ext.catalog.sources import Source
from prime_skills_ext.errors import PrimeSkillsError
from tests.conftest import MakeSkill

SCRIPTS = {"word_count": "rlm.skill:cli"}


def check(folder: Path, *, file: str = "SKILL.md", loose: bool = False) -> CheckedSkill:
    target = Target(path=folder / file, location="here", loose=loose)
    return check_skill(target, surroundings=Surroundings())


def codes(skill: CheckedSkill) -> list[str]:
    return [item.code for item in skill.findings]


def test_skill_that_keeps_every_rule_has_no_finding(
    tmp_path: Path, make_skill: MakeSkill
) -> None:
    """Markdown and Python, links and hooks included."""
    folder = make_skill(
        tmp_path,
        "word-count",
        body="Read [the guide](references/guide.md).\n",
        python="async def run(text: str) -> int:\n    return 1\n",
        scripts=SCRIPTS,
        files={"references/guide.md": "See [the skill](../SKILL.md).\n"},
    )
    assert check(folder).findings == ()


def test_findings_are_sorted_by_file_and_line(
    tmp_path: Path, make_skill: MakeSkill
) -> None:
    """The SKILL.md first, then the other files."""
    folder = make_skill(
        tmp_path,
        "word-count",
        frontmatter="name: word-count\ndescription: a: b\n",
        body="[x](x.md)\n",
        python="import nowhere_at_all\ndef run(): pass\n",
        scripts=SCRIPTS,
    )
    found = check(folder).findings
    places = [(item.path.name, item.line) for item in found]
    assert places == [("SKILL.md", 3), ("SKILL.md", 6), ("__init__.py", 1)]


def test_every_group_of_rules_is_asked(tmp_path: Path, make_skill: MakeSkill) -> None:
    """Header, hooks, length, hidden characters, links and Python."""
    folder = make_skill(
        tmp_path,
        "word-count",
        frontmatter="name: other\ndescription: d\nhooks: {Nowhere: []}\n",
        body="[x](x.md)\u202e\n" + "a\n" * 600,
        python="import nowhere_at_all\nasync def run(): ...\n",
        scripts=SCRIPTS,
    )
    assert {
        "name-directory",
        "hooks-event",
        "body-length",
        "invisible-unicode",
        "link-broken",
        "import-undeclared",
    } <= set(codes(check(folder)))


def test_links_are_followed_through_the_skills_documents(
    tmp_path: Path, make_skill: MakeSkill
) -> None:
    """A broken link and hidden text in a reference are its author's business."""
    folder = make_skill(
        tmp_path,
        "a",
        body="[one](references/one.md) [folder](odd.md)\n",
        files={
            "references/one.md": "[two](two.md)\n[none](none.md)\n",
            "references/two.md": "[one](one.md) hid\u200bden\n",
            "odd.md/x": "",
        },
    )
    found = [(item.path.name, item.code) for item in check(folder).findings]
    assert found == [("one.md", "link-broken"), ("two.md", "invisible-unicode")]


def test_link_through_a_symlink_out_of_the_folder_is_outside(
    tmp_path: Path, make_skill: MakeSkill
) -> None:
    """Where a link leads counts, not how it is spelled."""
    (tmp_path / "secret.md").write_text("x", encoding="utf-8")
    folder = make_skill(tmp_path, "a", body="[x](link.md)\n")
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    assert codes(check(folder)) == ["link-outside"]


def test_file_in_another_spelling_is_an_error(
    tmp_path: Path, make_skill: MakeSkill
) -> None:
    """Other hosts look for SKILL.md."""
    folder = make_skill(tmp_path, "a")
    (folder / "SKILL.md").rename(folder / "Skill.md")
    assert codes(check(folder, file="Skill.md")) == ["file-name"]


def test_lone_file_is_checked_without_a_folder(tmp_path: Path) -> None:
    """What lies beside it is not its own."""
    file = tmp_path / "note.md"
    file.write_text("---\nname: note\ndescription: D.\n---\n[x](x.md)\n")
    (tmp_path / "pyproject.toml").write_text("[", encoding="utf-8")
    assert check(tmp_path, file="note.md", loose=True).findings == ()


@pytest.mark.parametrize("kind", ["missing", "fifo", "folder"])
def test_file_that_cannot_be_read_is_one_finding(tmp_path: Path, kind: str) -> None:
    """It never blocks and never raises."""
    path = tmp_path / "SKILL.md"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    checked = check(tmp_path)
    assert codes(checked) == ["unreadable"]
    assert checked.name == tmp_path.name


def test_huge_file_is_read_in_part_and_says_so(
    tmp_path: Path, make_skill: MakeSkill
) -> None:
    """The bound is a finding."""
    folder = make_skill(tmp_path, "a", body="x" * (5 << 20))
    assert codes(check(folder)) == ["file-size"]
    target = Target(path=folder / "SKILL.md", location="here")
    assert repair_skill(target, write=True) is None


def test_many_files_beside_a_skill_are_counted_to_a_bound(
    tmp_path: Path, make_skill: MakeSkill
) -> None:
    """A tree of data does not make a check slow."""
    folder = make_skill(tmp_path, "a")
    (folder / "data").mkdir()
    for number in range(2100):
        (folder / "data" / str(number)).touch()
    assert check(folder).findings == ()


def test_targets_are_all_skills_of_a_folder_broken_ones_included(
    tmp_path: Path, make_skill: MakeSkill
) -> None:
    """What discovery leaves out needs a check most."""
    make_skill(tmp_path, "good")
    make_skill(tmp_path, "broken", frontmatter="name: broken\n")
    (tmp_path / "dangling").mkdir()
    (tmp_path / "dangling" / "SKILL.md").symlink_to("nowhere")
    (tmp_path / "README.md").write_text("# Not a skill\n", encoding="utf-8")
    (tmp_path / "lone.md").write_text("---\ndescription: D.\n---\nx\n")
    source = Source(kind="user", label="user", directory=tmp_path, loose_files=True)
    found = find_targets(source)
    assert [item.location for item in found] == [
        "user: broken",
        "user: dangling",
        "user: good",
        "user: lone.md",
    ]
    assert [item.loose for item in found] == [False, False, False, True]


def test_unreadable_lone_file_is_no_target(tmp_path: Path) -> None:
    """Nobody said that it is a skill."""
    source = Source(kind="user", label="user", directory=tmp_path, loose_files=True)
    (tmp_path / "a.md").write_text("---\ndescription: D.\n---\n", encoding="utf-8")
    (tmp_path / "b.md").write_text("---\ndescription: D.\n---\n", encoding="utf-8")
    found = find_targets(source)
    assert [item.path.name for item in found] == ["a.md", "b.md"]


def target_of(folder: Path) -> Target:
    return Target(path=folder / "SKILL.md", location="here")


def test_fix_shows_and_then_writes(tmp_path: Path, make_skill: MakeSkill) -> None:
    """The first call changes nothing on the disk."""
    folder = make_skill(tmp_path, "a", frontmatter="name: a\ndescription: b: c\n")
    file = folder / "SKILL.md"
    before = file.read_bytes()
    file.chmod(0o640)
    shown = repair_skill(target_of(folder), write=False)
    assert shown is not None
    assert not shown.written
    assert '+description: "b: c"' in shown.diff
    assert file.read_bytes() == before
    written = repair_skill(target_of(folder), write=True)
    assert written is not None
    assert written.diff == shown.diff
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert codes(check(folder)) == []
    assert repair_skill(target_of(folder), write=True) is None
    assert [item.name for item in folder.iterdir()] == ["SKILL.md"]


def test_fix_follows_a_link_and_keeps_it(tmp_path: Path, make_skill: MakeSkill) -> None:
    """A linked SKILL.md stays a link; its target is rewritten."""
    real = make_skill(tmp_path / "real", "a", frontmatter="Name: a\ndescription: D.\n")
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / "SKILL.md").symlink_to(real / "SKILL.md")
    assert repair_skill(target_of(folder), write=True) is not None
    assert (folder / "SKILL.md").is_symlink()
    assert (real / "SKILL.md").read_text(encoding="utf-8").startswith("---\nname: a\n")


def test_fix_of_what_cannot_be_read_does_nothing(tmp_path: Path) -> None:
    """The check says what is wrong."""
    assert repair_skill(target_of(tmp_path), write=True) is None


def test_fix_that_cannot_be_written_says_so_and_leaves_nothing(
    tmp_path: Path, make_skill: MakeSkill, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old file stays whole."""
    folder = make_skill(tmp_path, "a", frontmatter="Name: a\ndescription: D.\n")
    before = (folder / "SKILL.md").read_bytes()

    def refuse(*_: object) -> None:
        raise PermissionError(13, "no")

    # root may write everywhere, so the failure is provoked
    monkeypatch.setattr("pathlib.Path.replace", refuse)
    with pytest.raises(PrimeSkillsError, match=r"SKILL.md cannot be written"):
        repair_skill(target_of(folder), write=True)
    assert [item.name for item in folder.iterdir()] == ["SKILL.md"]
    assert (folder / "SKILL.md").read_bytes() == before


def test_distributions_are_read_from_metadata(tmp_path: Path) -> None:
    """Names come from the list of files or from top_level.txt; the first counts."""
    for place, files in {
        "one": "pkg/__init__.py,,\nmod.py,,\n",
        "two": "x.py,,\n",
    }.items():
        info = tmp_path / place / "My_Thing-1.0.dist-info"
        info.mkdir(parents=True)
        # newer readers leave out what is listed and missing
        for line in files.splitlines():
            listed_file = tmp_path / place / line.partition(",")[0]
            listed_file.parent.mkdir(exist_ok=True)
            listed_file.touch()
        (info / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: My_Thing\nVersion: 1.0\n"
            "Requires-Dist: Other.Dist>=1\nRequires-Dist: extra-one; extra == 'x'\n"
            "Requires-Dist: not valid at all\n"
        )
        (info / "RECORD").write_text(
            f"{files}../../bin/tool.py,,\nmy.dist-info/x.py,,\n"
        )
        # some readers of metadata only list what is there
        for line in files.split():
            file = tmp_path / place / line.removesuffix(",,")
            file.parent.mkdir(exist_ok=True)
            file.touch()
    listed = tmp_path / "one" / "Listed-1.0.dist-info"
    listed.mkdir()
    (listed / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: Listed\nVersion: 1\n"
    )
    (listed / "top_level.txt").write_text("inside\n")
    found = read_distributions([str(tmp_path / "one"), str(tmp_path / "two")])
    assert found.provides == {
        "my-thing": frozenset({"pkg", "mod"}),
        "listed": frozenset({"inside"}),
    }
    assert found.requires["my-thing"] == frozenset({"other-dist"})


def test_fix_of_a_lone_file_names_it_alone(tmp_path: Path) -> None:
    """Its folder has nothing to do with it."""
    file = tmp_path / "note.md"
    file.write_text("---\nname: note\nDescription: D.\n---\nx\n", encoding="utf-8")
    change = repair_skill(Target(path=file, location="here", loose=True), write=False)
    assert change is not None
    assert change.diff.startswith("--- note.md (now)\n")
