"""What has to be done, from values alone."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement

from prime_skills_ext.environment.plan import (
    Failure,
    InstallPlan,
    Wanted,
    plan_installs,
)
from prime_skills_ext.environment.record import Record, SkillRecord
from prime_skills_ext.skill.model import PythonPackage, Skill
from prime_skills_ext.skill.pyproject import Project


def wanted(name: str, *requires: str, mark: str | None = "1", **more: Any) -> Wanted:
    folder = Path("/skills", name)
    package = PythonPackage(
        import_name=name,
        directory=folder,
        pyproject=folder / "pyproject.toml",
        src=folder / "src",
    )
    skill = Skill(
        name=name,
        description="",
        path=folder / "SKILL.md",
        directory=folder,
        identity=folder / "SKILL.md",
        import_name=name,
        python=package,
    )
    return Wanted(
        skill=skill,
        key=str(folder),
        pyproject_hash="sha256:0",
        fingerprint=mark,
        project=Project(
            name=more.pop("project", name),
            dependencies=tuple(map(Requirement, requires)),
        ),
        **more,
    )


def record(*items: tuple[Wanted, str], **more: Any) -> Record:
    plan = plan_installs([item for item, _ in items], record=Record())
    skills = [
        SkillRecord(
            import_name=item.skill.import_name,
            package_path=item.key,
            pyproject_path=str(item.skill.directory / "pyproject.toml"),
            pyproject_hash=item.pyproject_hash,
            fingerprint=item.fingerprint or "",
            state=state,  # type: ignore[arg-type]
            project=item.name,
            siblings=plan.siblings[item.key],
            reason="it was so",
            **more,
        )
        for item, state in items
    ]
    return Record(skills={skill.package_path: skill for skill in skills})


def steps(plan: InstallPlan) -> list[str]:
    return [step.wanted.skill.name for step in plan.steps]


def failed(plan: InstallPlan) -> dict[str, str]:
    return {Path(key).name: failure.reason for key, failure in plan.failed.items()}


def test_empty_record_installs_everything() -> None:
    """What nobody knows has to be installed."""
    plan = plan_installs([wanted("b"), wanted("a")], record=Record())
    assert (steps(plan), plan.unchanged, dict(plan.failed)) == (["a", "b"], (), {})


def test_steps_come_after_what_they_require() -> None:
    """A skill comes after the skills it requires."""
    items = [wanted("a", "z"), wanted("m"), wanted("z", "m")]
    assert steps(plan_installs(items, record=Record())) == ["m", "z", "a"]


@given(st.permutations(["a", "b", "c", "d"]), st.sets(st.sampled_from("abcd")))
def test_order_never_matters(order: list[str], installed: set[str]) -> None:
    """The same selection gives the same plan in every order."""
    requires = {"a": ("d",), "b": ("a", "numpy>=1"), "c": (), "d": ()}
    items = {name: wanted(name, *requires[name]) for name in order}
    known = record(*((item, "installed") for item in items.values()))
    known = Record(
        skills={key: one for key, one in known.skills.items() if key[-1] in installed}
    )
    plan = plan_installs(list(items.values()), record=known)
    first = plan_installs([items[name] for name in "abcd"], record=known)
    assert steps(plan) == steps(first)
    assert set(plan.unchanged) == set(first.unchanged)


def test_planning_what_was_applied_gives_no_step() -> None:
    """The plan of an up-to-date environment is empty."""
    items = [wanted("a", "b"), wanted("b", "a"), wanted("c")]
    plan = plan_installs(items, record=record(*((i, "installed") for i in items)))
    assert (plan.steps, set(plan.unchanged)) == ((), {item.key for item in items})


def test_changed_fingerprint_is_a_step() -> None:
    """What changed is installed again, and nothing else."""
    known = record((wanted("a"), "installed"), (wanted("b"), "installed"))
    plan = plan_installs([wanted("a", mark="2"), wanted("b")], record=known)
    assert steps(plan) == ["a"]


def test_in02_unreadable_input_never_equals() -> None:
    """Where hashing failed the skill counts as changed."""
    known = record((wanted("a"), "installed"))
    assert steps(plan_installs([wanted("a", mark=None)], record=known)) == ["a"]


def test_new_sibling_is_a_step() -> None:
    """A requirement that used to come from the index and is now a skill."""
    known = record((wanted("a", "b"), "installed"))
    plan = plan_installs([wanted("a", "b"), wanted("b")], record=known)
    assert steps(plan) == ["b", "a"]


def test_cycle_falls_back_to_the_order_of_paths() -> None:
    """A circle is installed, and told by name."""
    items = [wanted("c", "a"), wanted("b", "c"), wanted("a", "b")]
    plan = plan_installs(items, record=Record())
    assert steps(plan) == ["a", "b", "c"]
    assert [note.code for note in plan.notes] == ["dependency-cycle"]


@pytest.mark.parametrize("spelling", ["my-skill", "My_Skill", "my.skill", "MY--SKILL"])
def test_names_are_compared_in_canonical_form(spelling: str) -> None:
    """A sibling is found however it is spelled."""
    items = [wanted("a", f"{spelling}[x]>=1"), wanted("b", project="my-skill")]
    plan = plan_installs(items, record=Record())
    assert plan.siblings["/skills/a"] == ("/skills/b",)


def test_marker_that_does_not_apply_is_no_dependency() -> None:
    """A requirement for other systems binds nobody here."""
    items = [wanted("a", 'b ; python_version < "3"'), wanted("b")]
    plan = plan_installs(items, record=Record())
    assert plan.siblings["/skills/a"] == ()


def test_unavailable_skill_is_an_error_with_a_way_out() -> None:
    """It is not looked up elsewhere."""
    plan = plan_installs(
        [wanted("a", "Hidden")], record=Record(), unavailable={"hidden": "hidden"}
    )
    assert dict(plan.failed) == {
        "/skills/a": Failure(
            reason="it requires the skill hidden, which is not available here",
            fix="%skill show hidden",
        )
    }


def test_row34_a_sibling_named_like_a_public_project_is_not_taken_from_the_index() -> (
    None
):
    """A skill called ``requests`` that is not in use here is not the one on PyPI."""
    plan = plan_installs(
        [wanted("a", "requests>=2")],
        record=Record(),
        unavailable={"requests": "requests"},
    )
    assert plan.steps == ()
    assert plan.failed["/skills/a"].reason == (
        "it requires the skill requests, which is not available here"
    )


def test_vanished_skill_is_an_error_for_who_requires_it() -> None:
    """A recorded skill whose folder is gone is not looked up on the index."""
    known = record((wanted("b"), "installed"))
    plan = plan_installs([wanted("a", "b")], record=known, gone=["/skills/b"])
    assert list(failed(plan)) == ["a"]
    assert plan.stale == ("/skills/b",)


def test_failure_spreads_along_the_whole_chain() -> None:
    """Whoever needs it, however far away, says because of what."""
    problem = Failure(reason="broken", fix="repair it")
    items = [wanted("a", "b"), wanted("b", "c"), wanted("c", problem=problem)]
    assert failed(plan_installs(items, record=Record())) == {
        "c": "broken",
        "b": "because c failed: broken",
        "a": "because b failed: because c failed: broken",
    }


def test_failure_is_remembered_until_something_changes() -> None:
    """Same files, same uv: same failure; anything else is a new try."""
    known = record((wanted("a"), "failed"), tool="uv 1")
    same = plan_installs([wanted("a")], record=known, tool="uv 1")
    assert (failed(same), same.steps) == ({"a": "it was so"}, ())
    for change in (
        plan_installs([wanted("a", mark="2")], record=known, tool="uv 1"),
        plan_installs([wanted("a")], record=known, tool="uv 2"),
        plan_installs([wanted("a")], record=known, tool="uv 1", retry=True),
        plan_installs([wanted("a")], record=known, tool="uv 1", again=["/skills/a"]),
    ):
        assert (steps(change), dict(change.failed)) == (["a"], {})


def test_dependent_is_tried_again_when_what_it_requires_changed() -> None:
    """A failure because of another skill ends with that one's change."""
    known = record((wanted("a", "b"), "failed"), (wanted("b"), "failed"))
    items = [wanted("a", "b"), wanted("b", mark="2")]
    plan = plan_installs(items, record=known)
    assert (steps(plan), dict(plan.failed)) == (["b", "a"], {})


def test_first_of_a_project_name_has_it() -> None:
    """Precedence decides, and the other one names the holder."""
    first, second = wanted("a", project="same"), wanted("b", project="same")
    for one, other in itertools.permutations((first, second)):
        plan = plan_installs([one, other], record=Record())
        assert steps(plan) == [one.skill.name]
        assert f"the skill {one.skill.name}" in failed(plan)[other.skill.name]


def test_invalid_added_requirement_is_left_out() -> None:
    """What is no requirement binds nobody."""
    items = [wanted("a", extra=("???", "b")), wanted("b")]
    plan = plan_installs(items, record=Record())
    assert plan.siblings["/skills/a"] == ("/skills/b",)
