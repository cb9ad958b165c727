"""Whom the user trusts, and what happens when that cannot be read for certain."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prime_skills_ext.catalog.discovery import Candidate, discover
from prime_skills_ext.catalog.selection import select
from prime_skills_ext.catalog.sources import (
    SourceKind,
    find_places,
    find_sources,
    project_sources,
)
from prime_skills_ext.catalog.trust import (
    Override,
    TrustStore,
    find_override,
    is_trusted,
)
from prime_skills_ext.errors import TrustError
from tests.catalog.conftest import MakeSource
from tests.conftest import MakeSkill

Find = Callable[[Path], list[Candidate]]


@pytest.fixture
def agent(home: Path) -> Path:
    return home / ".prime" / "agent"


@pytest.fixture
def store(agent: Path) -> TrustStore:
    return TrustStore(agent)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    return root


def skills_of(root: Path) -> list[Candidate]:
    found = discover(project_sources(root, working_directory=root))
    return list(found.candidates)


def trusted_names(root: Path, store: TrustStore) -> list[str]:
    return [
        item.skill.name for item in skills_of(root) if is_trusted(item, store=store)
    ]


def add_worktree(repository: Path, worktree: Path, *, points_back: bool) -> None:
    """What ``git worktree add`` leaves behind."""
    private = repository / ".git/worktrees" / worktree.name
    private.mkdir(parents=True)
    worktree.mkdir()
    (worktree / ".git").write_text(f"gitdir: {private}\n")
    target = worktree if points_back else repository
    (private / "gitdir").write_text(f"{target}/.git\n")


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
    assert (False, "nobody has trusted it yet") == (decision.trusted, decision.reason)
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


def test_store_is_private_and_leaves_no_crumbs(
    project: Path, agent: Path, store: TrustStore
) -> None:
    """Mode 0600, replaced by rename."""
    store.trust(project)
    store.untrust(project)
    assert 0o600 == stat.S_IMODE(store.path.stat().st_mode)
    assert {"trust.json", "trust.json.lock"} >= {item.name for item in agent.iterdir()}


def test_store_keeps_other_decisions(
    tmp_path: Path, project: Path, agent: Path, store: TrustStore
) -> None:
    """Two kernels that decide one after the other lose nothing."""
    other = tmp_path / "other"
    other.mkdir()
    store.decision(project)
    TrustStore(agent).trust(other)
    store.trust(project)
    assert store.decision(other).trusted
    assert store.decision(project).trusted


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b"null",
        b'{"schema": 2, "roots": {}}',
        b'{"schema": 1}',
        b'{"schema": 1, "roots": {"ROOT": true}}',
        b'{"schema": 1, "roots": {"ROOT": {"trusted": 1}}}',
        b'{"schema": 1, "roots": {"ROOT": {"trusted": true, "pins": []}}}',
        b'{"schema": 1, "roots": {"ROOT": {"trusted": true, "pins": {"a": 1}}}}',
        b'{"schema": 1, "roots": {"ROOT": {"trusted": true, "owner": "me"}}}',
        b'{"schema": 1, "roots": {"ROOT": {"trusted": true, "owner": true}}}',
        b'{"schema": 1, "roots": {"ROOT": {"trusted": true}, "/x": {}}}',
        b"[" * 200_000,
    ],
)
def test_se01_damaged_store_means_untrusted(
    project: Path, agent: Path, store: TrustStore, content: bytes
) -> None:
    """One diagnostic says so, and deciding anew does not wipe what is in there."""
    content = content.replace(b"ROOT", os.fsencode(project))
    agent.mkdir(parents=True)
    store.path.write_bytes(content)
    store.path.chmod(0o600)
    assert not store.decision(project).trusted
    assert ["trust-store"] == [item.code for item in store.diagnostics()]
    with pytest.raises(TrustError, match="is damaged"):
        store.trust(project)
    assert content == store.path.read_bytes()


@given(st.binary(max_size=200))
def test_no_content_of_the_store_raises(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    """Nor does it trust anybody."""
    folder = tmp_path_factory.mktemp("agent")
    (folder / "trust.json").write_bytes(content)
    assert not TrustStore(folder).decision(folder).trusted


def test_se01_store_that_others_can_write_means_untrusted(
    project: Path, store: TrustStore
) -> None:
    """Whoever can write it could trust anything; the fix closes it."""
    store.trust(project)
    store.path.chmod(0o666)
    assert not store.decision(project).trusted
    (diagnostic,) = store.diagnostics()
    assert "can be changed by others" in diagnostic.message
    assert f"chmod 600 {store.path}" == diagnostic.fix
    store.path.chmod(0o600)
    assert store.decision(project).trusted


def test_se01_unreadable_store_means_untrusted(
    project: Path, agent: Path, store: TrustStore
) -> None:
    """A folder under its name is as unreadable as it gets."""
    store.path.mkdir(parents=True)
    assert not store.decision(project).trusted
    assert ["trust-store"] == [item.code for item in store.diagnostics()]


def test_store_that_cannot_be_written_is_an_error_with_the_fix(
    unprivileged_folder: Path,
) -> None:
    """The decision was not taken, and the user hears it."""
    agent = unprivileged_folder / "agent"
    agent.mkdir()
    agent.chmod(0o500)
    root = unprivileged_folder / "root"
    root.mkdir()
    with pytest.raises(TrustError, match="cannot be written") as caught:
        TrustStore(agent).trust(root)
    assert f"make {agent} writable, or let other kernels finish" == caught.value.fix


def test_failed_write_leaves_the_store_as_it_was(
    project: Path, agent: Path, store: TrustStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk loses no decision."""
    store.trust(project)
    before, files = store.path.read_bytes(), sorted(agent.iterdir())

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(TrustError):
        store.untrust(project)
    assert before == store.path.read_bytes()
    assert files == sorted(agent.iterdir())


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


# Worktrees


def test_worktree_shares_the_decision_of_its_repository(
    tmp_path: Path, project: Path, store: TrustStore
) -> None:
    """The repository points back at it."""
    add_worktree(project, tmp_path / "w", points_back=True)
    store.trust(project)
    assert store.decision(tmp_path / "w").trusted


def test_worktree_shares_pins(
    tmp_path: Path, project: Path, make_skill: MakeSkill, store: TrustStore
) -> None:
    """The same content at the same place is trusted, other content is not."""
    add_worktree(project, tmp_path / "w", points_back=True)
    for root in (project, tmp_path / "w"):
        make_skill(root / ".agents/skills", "a")
    store.trust(project, pin=True)
    assert ["a"] == trusted_names(tmp_path / "w", store)
    make_skill(tmp_path / "w/.agents/skills", "a", description="other")
    assert [] == trusted_names(tmp_path / "w", store)


def test_worktree_may_have_a_decision_of_its_own(
    tmp_path: Path, project: Path, store: TrustStore
) -> None:
    """It comes before the repository's."""
    add_worktree(project, tmp_path / "w", points_back=True)
    store.trust(project)
    store.untrust(tmp_path / "w")
    assert not store.decision(tmp_path / "w").trusted
    assert store.decision(project).trusted


def test_folder_that_claims_a_repository_is_not_believed(
    tmp_path: Path, project: Path, store: TrustStore
) -> None:
    """SE-01: only a repository that points back shares its decision."""
    add_worktree(project, tmp_path / "w", points_back=False)
    store.trust(project)
    assert not store.decision(tmp_path / "w").trusted


@pytest.mark.parametrize(
    "pointer",
    ["", "gitdir:", "gitdir: ", "nonsense", "gitdir: /nowhere/.git/worktrees/w"],
)
def test_broken_pointer_makes_no_worktree(
    tmp_path: Path, project: Path, store: TrustStore, pointer: str
) -> None:
    """Whatever the file says, nothing is raised and nobody is trusted."""
    folder = tmp_path / "w"
    folder.mkdir()
    (folder / ".git").write_text(pointer)
    store.trust(project)
    assert not store.decision(folder).trusted


def test_submodule_is_no_worktree(
    tmp_path: Path, project: Path, store: TrustStore
) -> None:
    """It has its own history and needs its own decision."""
    module = project / "module"
    module.mkdir()
    (project / ".git/modules/module").mkdir(parents=True)
    (module / ".git").write_text("gitdir: ../.git/modules/module\n")
    store.trust(project)
    assert not store.decision(module).trusted


def test_worktree_of_a_bare_repository_shares_its_decision(
    tmp_path: Path, store: TrustStore
) -> None:
    """The repository is then the folder that holds git's own files."""
    bare, worktree = tmp_path / "bare", tmp_path / "w"
    (bare / "worktrees/w").mkdir(parents=True)
    worktree.mkdir()
    (worktree / ".git").write_text(f"gitdir: {bare}/worktrees/w\n")
    (bare / "worktrees/w/gitdir").write_text(f"{worktree}/.git\n")
    store.trust(bare)
    assert store.decision(worktree).trusted


def test_worktree_shares_no_decision_about_somebody_elses_repository(
    tmp_path: Path, project: Path, agent: Path
) -> None:
    """A repository that changed hands is not trusted by another door."""
    add_worktree(project, tmp_path / "w", points_back=True)
    TrustStore(agent).trust(project)
    assert not TrustStore(agent, uid=os.geteuid() + 1).decision(tmp_path / "w").trusted


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


def test_store_is_json_with_a_schema(project: Path, store: TrustStore) -> None:
    """Later versions can tell."""
    store.trust(project)
    content = json.loads(store.path.read_text())
    assert {"schema": 1, "roots": {str(project): {"trusted": True}}} == content
