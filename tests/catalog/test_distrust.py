"""Why a skill is not trusted, and the fix that works there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.catalog import trust as trust_module
from prime_skills_ext.catalog.discovery import discover
from prime_skills_ext.catalog.sources import project_sources
from prime_skills_ext.catalog.trust import TrustStore, distrust
from tests.conftest import MakeSkill


def _found(root: Path) -> Any:
    return discover(project_sources(root, working_directory=root)).candidates


def reasons(root: Path, **arguments: Any) -> list[tuple[str, str]]:
    found = [distrust(item, **arguments) for item in _found(root)]
    return [(why.reason, why.fix) for why in found if why is not None]


def test_reason_is_that_of_the_decision(
    project: Path, make_skill: MakeSkill, store: TrustStore
) -> None:
    """Never decided and taken back are told apart."""
    make_skill(project / ".agents/skills", "a")
    before = reasons(project, store=store)
    store.untrust(project)
    after = reasons(project, store=store)
    assert {"it comes with this project; you have not trusted it yet"} == {
        reason for reason, _ in before
    }
    assert {"it comes with this project; its trust was taken back"} == {
        reason for reason, _ in after
    }


def test_reason_names_the_owner_that_has_to_be_named(
    project: Path, make_skill: MakeSkill, store: TrustStore, agent: Path
) -> None:
    """The fix is the command that works, not one that is refused."""
    make_skill(project / ".agents/skills", "a")
    store.trust(project)
    changed_hands = TrustStore(agent, uid=os.geteuid() + 1)
    fixes = {fix for _, fix in reasons(project, store=changed_hands)}
    assert {f"%skill trust --owner {project.owner()}"} == fixes


def test_se07_reason_tells_what_a_pin_holds_against(
    project: Path, make_skill: MakeSkill, store: TrustStore
) -> None:
    """A changed file and a new skill are told, with the command that pins again."""
    folder = make_skill(project / ".agents/skills", "a")
    store.trust(project, pin=True)
    (folder / "extra.txt").write_text("swapped")
    make_skill(project / ".agents/skills", "b")
    pinned = "since this project was trusted with --pin"
    assert [
        (f"a file of it changed {pinned}", "%skill trust --pin"),
        (f"it is new {pinned}", "%skill trust --pin"),
    ] == reasons(project, store=store)


@pytest.mark.parametrize(
    ("is_trait", "fix"),
    [
        (True, "%config SkillManager.trust = None, then %reload_skills"),
        (False, "`%env PRIME_SKILLS_TRUST=`, then %reload_skills"),
    ],
)
def test_reason_names_the_override(
    *,
    is_trait: bool,
    fix: str,
    project: Path,
    make_skill: MakeSkill,
    store: TrustStore,
) -> None:
    """Where the store is not asked, trusting the project would not help."""
    make_skill(project / ".agents/skills", "a")
    store.trust(project)
    found = reasons(project, store=store, override="none", is_trait=is_trait)
    assert {fix} == {said for _, said in found}


def test_w35_link_to_somebody_elses_folder_is_not_trusted_with_the_project(
    project: Path,
    tmp_path: Path,
    make_skill: MakeSkill,
    store: TrustStore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its owner could change it after the decision."""
    theirs = make_skill(tmp_path / "theirs", "a")
    (project / ".agents/skills").mkdir(parents=True)
    (project / ".agents/skills/a").symlink_to(theirs)
    store.trust(project)
    assert [] == reasons(project, store=store)
    real = trust_module._owner_id
    monkeypatch.setattr(
        trust_module, "_owner_id", lambda path: 4242 if path == theirs else real(path)
    )
    monkeypatch.setattr(trust_module, "_owner", lambda _: "mallory")
    ((reason, fix),) = reasons(project, store=store)
    assert reason.endswith("it belongs to mallory")
    assert "put a copy into the project in place of the link" == fix
