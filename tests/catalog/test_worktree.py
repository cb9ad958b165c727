"""A git worktree and the decision of its repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from prime_skills_ext.catalog.trust import (
    TrustStore,
)
from tests.catalog.conftest import trusted_names
from tests.conftest import MakeSkill


def add_worktree(repository: Path, worktree: Path, *, points_back: bool) -> None:
    """What ``git worktree add`` leaves behind."""
    private = repository / ".git/worktrees" / worktree.name
    private.mkdir(parents=True)
    worktree.mkdir()
    (worktree / ".git").write_text(f"gitdir: {private}\n")
    target = worktree if points_back else repository
    (private / "gitdir").write_text(f"{target}/.git\n")


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
