"""Whom the user trusts, and what happens when that cannot be read for certain."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from prime_skills_ext.catalog.discovery import discover
from prime_skills_ext.catalog.places import find_places
from prime_skills_ext.catalog.selection import select
from prime_skills_ext.catalog.sources import SourceKind, find_sources, project_sources
from prime_skills_ext.catalog.trust import (
    Override,
    TrustStore,
    find_override,
    is_trusted,
)
from prime_skills_ext.errors import TrustError
from tests.catalog.conftest import MakeSource, skills_of, trusted_names
from tests.conftest import MakeSkill


def test_se01_project_skills_are_untrusted_until_somebody_decides(
    project: Path, home: Path, make_skill: MakeSkill, store: TrustStore
) -> None:
    """Python and markdown: both are listed, neither is active."""
    make_skill(project / ".agents/skills", "runs", python="1 / 0\n")
    make_skill(project / ".prime/agent/skills", "reads")
    places = find_places(environ={}, project=project, home=home)
    sources, _ = find_sources(places, environ={})
    discovery = discover(source for source in sources if source.kind == "project")
    selection = select(discovery, trusted=lambda item: is_trusted(item, store=store))
    assert ["reads", "runs"] == [winner.skill.name for winner in selection.winners]
    assert () == selection.active()


def test_se01_finding_and_hashing_run_nothing(
    project: Path, make_skill: MakeSkill, store: TrustStore
) -> None:
    """Neither a build script nor a module leaves its mark."""
    marks = "open(__file__ + '.ran', 'w').close()\n"
    make_skill(project / ".agents/skills", "a", python=marks, files={"setup.py": marks})
    store.trust(project, pin=True)
    assert ["a"] == trusted_names(project, store)
    assert [] == list(project.rglob("*.ran"))


def test_trust_lets_a_projects_skills_run(
    project: Path, make_skill: MakeSkill, store: TrustStore
) -> None:
    """And a second store reads what the first one wrote."""
    make_skill(project / ".agents/skills", "a")
    decision = store.trust(project)
    assert (project, True, None) == (decision.root, decision.trusted, decision.reason)
    assert ["a"] == trusted_names(project, TrustStore(store.path.parent))


def test_untrust_takes_it_back(
    project: Path, make_skill: MakeSkill, store: TrustStore
) -> None:
    """The reason says so."""
    make_skill(project / ".agents/skills", "a")
    store.trust(project)
    decision = store.untrust(project)
    assert (False, "its trust was taken back") == (decision.trusted, decision.reason)
    assert [] == trusted_names(project, store)


def test_undecided_root_says_so(project: Path, store: TrustStore) -> None:
    """Nothing was decided, so nothing is written."""
    decision = store.decision(project)
    assert (False, "you have not trusted it yet") == (decision.trusted, decision.reason)
    assert not store.path.exists()


def test_trust_is_keyed_by_the_real_path(
    tmp_path: Path, project: Path, store: TrustStore
) -> None:
    """A link to a trusted root is trusted, another folder put in its place is not."""
    link = tmp_path / "link"
    link.symlink_to(project)
    store.trust(link)
    assert store.decision(project).trusted
    other = tmp_path / "other"
    other.mkdir()
    link.unlink()
    link.symlink_to(other)
    assert not store.decision(link).trusted


def test_trust_of_one_root_says_nothing_about_others(
    tmp_path: Path, project: Path, store: TrustStore
) -> None:
    """Neither below nor above."""
    (project / "inner").mkdir()
    store.trust(project)
    assert not store.decision(project / "inner").trusted
    assert not store.decision(tmp_path).trusted


def test_missing_root_cannot_be_trusted(tmp_path: Path, store: TrustStore) -> None:
    """There is nothing to decide about."""
    with pytest.raises(TrustError, match="There is no folder"):
        store.trust(tmp_path / "nowhere")


def test_vanished_root_is_untrusted(project: Path, store: TrustStore) -> None:
    """Nobody knows whose folder comes back."""
    store.trust(project)
    (project / ".git").rmdir()
    project.rmdir()
    assert not store.decision(project).trusted


# Whose folder it is


def test_root_of_somebody_else_needs_the_owners_name(
    project: Path, agent: Path
) -> None:
    """The error says whose it is and what to type."""
    theirs = TrustStore(agent, uid=os.geteuid() + 1)
    with pytest.raises(TrustError, match=f"belongs to {project.owner()}") as caught:
        theirs.trust(project)
    assert f"%skill trust --owner {project.owner()}" == caught.value.fix
    assert not theirs.decision(project).trusted


@pytest.mark.parametrize("by_number", [False, True])
def test_root_of_somebody_else_is_trusted_when_the_owner_is_named(
    project: Path, agent: Path, *, by_number: bool
) -> None:
    """By name, or by number where the number has no name."""
    store = TrustStore(agent, uid=os.geteuid() + 1)
    owner = str(os.geteuid()) if by_number else project.owner()
    assert store.trust(project, owner=owner).trusted


def test_wrong_owner_is_refused(project: Path, agent: Path) -> None:
    """A name that does not fit decides nothing."""
    store = TrustStore(agent, uid=os.geteuid() + 1)
    with pytest.raises(TrustError):
        store.trust(project, owner="somebody")


def test_root_that_changed_hands_asks_again(project: Path, agent: Path) -> None:
    """What was decided was about the owner of that time."""
    TrustStore(agent).trust(project)
    decision = TrustStore(agent, uid=os.geteuid() + 1).decision(project)
    assert not decision.trusted
    assert f"it belongs to {project.owner()}, whom nobody has named" == decision.reason


# Pins


@pytest.mark.parametrize(
    ("inside", "content"),
    [
        ("SKILL.md", "---\nname: a\ndescription: other\n---\n"),
        ("src/a/__init__.py", "async def run(): evil\n"),
        ("src/a/added.py", ""),
        ("setup.py", ""),
    ],
)
def test_se07_pinned_skill_that_changed_asks_again(
    project: Path, make_skill: MakeSkill, store: TrustStore, inside: str, content: str
) -> None:
    """Any change, wherever; the others stay trusted."""
    root = project / ".agents/skills"
    folder = make_skill(root, "a", python="async def run(): ...\n")
    make_skill(root, "b")
    store.trust(project, pin=True)
    assert ["a", "b"] == trusted_names(project, store)
    (folder / inside).write_text(content)
    assert ["b"] == trusted_names(project, store)
    store.trust(project, pin=True)
    assert ["a", "b"] == trusted_names(project, store)


def test_se07_unpinned_skill_may_change(
    project: Path, make_skill: MakeSkill, store: TrustStore
) -> None:
    """Without ``--pin`` the folder is trusted, not its content."""
    make_skill(project / ".agents/skills", "a")
    store.trust(project)
    make_skill(project / ".agents/skills", "a", description="other")
    make_skill(project / ".agents/skills", "b")
    assert ["a", "b"] == trusted_names(project, store)


def test_pin_covers_no_skill_that_comes_later(
    project: Path, make_skill: MakeSkill, store: TrustStore
) -> None:
    """A new skill is a change, too."""
    make_skill(project / ".agents/skills", "a")
    store.trust(project, pin=True)
    make_skill(project / ".agents/skills", "b")
    assert ["a"] == trusted_names(project, store)


def test_pin_survives_what_python_leaves_behind(
    project: Path, make_skill: MakeSkill, store: TrustStore
) -> None:
    """Importing and installing do not ask again."""
    folder = make_skill(project / ".agents/skills", "a", python="")
    store.trust(project, pin=True)
    for inside in ("src/a/__pycache__", "src/a.egg-info"):
        (folder / inside).mkdir()
        (folder / inside / "x").touch()
    assert ["a"] == trusted_names(project, store)


def test_pin_binds_the_skills_that_are_passed(
    project: Path, make_skill: MakeSkill, store: TrustStore
) -> None:
    """Folders between the notebook and the root are the caller's to name."""
    make_skill(project / ".agents/skills", "a")
    make_skill(project / "deep/.agents/skills", "b")
    found = discover(project_sources(project, working_directory=project / "deep"))
    store.trust(project, pin=True, skills=[item.skill for item in found.candidates])
    assert [True, True] == [is_trusted(item, store=store) for item in found.candidates]


def test_pin_binds_a_lone_file_alone(
    project: Path, make_skill: MakeSkill, store: TrustStore
) -> None:
    """Its neighbours may change."""
    root = project / ".prime/agent/skills"
    make_skill(root, "b")
    (root / "quick.md").write_text("---\ndescription: d\n---\n")
    store.trust(project, pin=True)
    make_skill(root, "b", description="other")
    assert ["quick"] == trusted_names(project, store)
    (root / "quick.md").write_text("---\ndescription: e\n---\n")
    assert [] == trusted_names(project, store)


def test_pin_of_a_linked_folder_follows_the_folder_that_it_leads_to(
    tmp_path: Path, project: Path, make_skill: MakeSkill, store: TrustStore
) -> None:
    """What runs lies outside the root, and a change there asks again."""
    elsewhere = make_skill(tmp_path / "elsewhere", "a")
    (project / ".agents/skills").mkdir(parents=True)
    (project / ".agents/skills/a").symlink_to(elsewhere)
    store.trust(project, pin=True)
    assert ["a"] == trusted_names(project, store)
    make_skill(tmp_path / "elsewhere", "a", description="other")
    assert [] == trusted_names(project, store)


def test_pin_refuses_links_that_leave_the_skill(
    tmp_path: Path, project: Path, make_skill: MakeSkill, store: TrustStore
) -> None:
    """Formats row 30: what lies behind them would change unseen."""
    folder = make_skill(project / ".agents/skills", "a")
    (folder / "inside").symlink_to("SKILL.md")
    store.trust(project, pin=True)
    (folder / "outside").symlink_to(tmp_path)
    assert [] == trusted_names(project, store)
    with pytest.raises(TrustError, match="link outside leads out") as caught:
        store.trust(project, pin=True)
    assert "without --pin" in caught.value.fix


def test_pin_refuses_what_it_cannot_read(
    unprivileged_folder: Path, make_skill: MakeSkill
) -> None:
    """A file that cannot be hashed cannot be bound, and is not trusted later."""
    root = unprivileged_folder / "root"
    folder = make_skill(root / ".agents/skills", "a", files={"data": "x"})
    store = TrustStore(unprivileged_folder / "agent")
    store.trust(root, pin=True)
    (folder / "data").chmod(0)
    assert [] == trusted_names(root, store)
    with pytest.raises(TrustError, match="cannot be read"):
        store.trust(root, pin=True)


# Kinds and the override


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("explicit", True),
        ("project-settings", False),
        ("project", False),
        ("user-settings", True),
        ("user", True),
        ("package", True),
        ("builtin", True),
        ("registered", True),
    ],
)
def test_only_what_comes_with_a_project_needs_trust(
    tmp_path: Path,
    make_skill: MakeSkill,
    make_source: MakeSource,
    store: TrustStore,
    kind: SourceKind,
    *,
    expected: bool,
) -> None:
    """Everything else was put there by the user."""
    make_skill(tmp_path, "a")
    (item,) = discover([make_source(tmp_path, kind)]).candidates
    assert expected == is_trusted(item, store=store)


@pytest.mark.parametrize(("override", "expected"), [("all", ["a"]), ("none", [])])
def test_override_comes_before_the_store(
    project: Path,
    make_skill: MakeSkill,
    store: TrustStore,
    override: Override,
    expected: list[str],
) -> None:
    """In CI nobody can be asked."""
    make_skill(project / ".agents/skills", "a")
    (store.untrust if override == "all" else store.trust)(project)
    names = [
        item.skill.name
        for item in skills_of(project)
        if is_trusted(item, store=store, override=override)
    ]
    assert expected == names


def test_override_leaves_the_users_own_skills_alone(
    tmp_path: Path, make_skill: MakeSkill, make_source: MakeSource, store: TrustStore
) -> None:
    """``none`` is about projects."""
    make_skill(tmp_path, "a")
    (item,) = discover([make_source(tmp_path, "user")]).candidates
    assert is_trusted(item, store=store, override="none")


@pytest.mark.parametrize(
    ("value", "expected", "count"),
    [
        (None, None, 0),
        ("", None, 0),
        ("all", "all", 0),
        (" NONE ", "none", 0),
        ("yes", "none", 1),
    ],
)
def test_override_is_read_from_the_environment(
    value: str | None, expected: str | None, count: int
) -> None:
    """What it does not understand trusts nobody and is reported."""
    environ = {} if value is None else {"PRIME_SKILLS_TRUST": value}
    override, diagnostics = find_override(environ)
    assert (expected, count) == (override, len(diagnostics))
