"""Binding again: skills that change, go and come back; several shells."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from prime_skills_ext.catalog.status import Problem
from prime_skills_ext.errors import SkillUnavailableError
from prime_skills_ext.kernel.binding import Binder
from prime_skills_ext.kernel.callable_module import CallableSkill
from prime_skills_ext.kernel.importing import SkillFinder
from prime_skills_ext.kernel.placeholder import UnavailableSkill

RUN = "def run(text='x'):\n    return text * 2\n"
UNTRUSTED = Problem(state="untrusted", reason="nobody trusts it", fix="%skill trust")


async def test_a_problem_that_goes_away_makes_the_skill_live(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """And one that comes takes it out, its module among it."""
    skill = new_skill("gated", RUN)
    binder.bind([skill], problems={skill.identity: UNTRUSTED})
    binder.bind([skill])
    module = user_ns["gated"]
    assert await module("a") == "aa"
    binder.bind([skill], problems={skill.identity: UNTRUSTED})
    placeholder: object = user_ns["gated"]
    assert isinstance(placeholder, UnavailableSkill)
    assert "gated" not in sys.modules
    binder.bind([skill])
    assert user_ns["gated"] is module
    assert isinstance(module, CallableSkill)


def test_re04_a_removed_skill_becomes_a_placeholder(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """Its name explains itself, importing it too, and the mapping forgets it."""
    skill = new_skill("leaving", RUN)
    binder.bind([skill])
    bindings = binder.bind([], reload=True)
    assert bindings.removed == ("leaving",)
    assert "leaving" not in binder.skills
    with pytest.raises(SkillUnavailableError, match="removed"):
        user_ns["leaving"]()
    with pytest.raises(ImportError, match="removed"):
        import leaving  # type: ignore[import-not-found]  # noqa: F401
    assert binder.bind([], reload=True).removed == ()
    binder.unbind()
    assert user_ns == {}


async def test_re04_a_skill_that_comes_back_is_the_same_object(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """With what its files say now."""
    skill = new_skill("returning", RUN)
    binder.bind([skill])
    held = user_ns["returning"]
    binder.bind([], reload=True)
    (skill.python.src / "returning/__init__.py").write_text("def run(): return 'new'\n")
    binder.bind([skill], reload=True)
    assert user_ns["returning"] is held
    assert await held() == "new"


async def test_a_name_that_another_folder_wins_is_the_other_skill(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """The loser's modules leave ``sys.modules``."""
    first = new_skill("rival", "def run(): return 1\n")
    second = new_skill("rival", "def run(): return 2\n", root="nearer")
    binder.bind([first])
    binder.bind([second], reload=True)
    assert await user_ns["rival"]() == 2
    binder.bind([first], reload=True)
    assert await user_ns["rival"]() == 1


def test_re07_repeated_binding_adds_nothing(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """Counts of names, finders and path entries stay what they were."""
    skills = [new_skill("twice", RUN), new_skill("twice-broken", "1/0\n")]
    binder.bind(skills)
    before = (dict(user_ns), list(sys.meta_path), list(sys.path))
    changed = [binder.bind(skills, reload=True).changed for _ in range(5)]
    assert (dict(user_ns), list(sys.meta_path), list(sys.path)) == before
    assert changed == [()] * 5


async def test_re07_two_shells_share_modules_and_undo_separately(
    new_binder: Any, new_skill: Any
) -> None:
    """The last one that leaves puts the class back."""
    skill = new_skill("shared", RUN)
    finders = len(sys.meta_path)
    one: dict[str, Any] = {}
    two: dict[str, Any] = {}
    first, second = new_binder(one), new_binder(two)
    first.bind([skill])
    second.bind([skill])
    assert one["shared"] is two["shared"]
    first.unbind()
    assert one == {}
    assert await two["shared"]("a") == "aa"
    second.unbind()
    assert len(sys.meta_path) == finders


async def test_two_shells_may_select_different_folders(
    new_binder: Any, new_skill: Any
) -> None:
    """The second shell's skill of the same name is private there."""
    one: dict[str, Any] = {}
    two: dict[str, Any] = {}
    first, second = new_binder(one), new_binder(two)
    first.bind([new_skill("differing", "def run(): return 1\n")])
    second.bind([new_skill("differing", "def run(): return 2\n", root="other")])
    assert await one["differing"]() == 1
    assert await second.skills["differing"]() == 2


def test_unbind_is_repeatable_and_release_needs_an_owner(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """Nothing happens the second time."""
    binder.bind([new_skill("once", RUN)])
    binder.unbind()
    binder.unbind()
    SkillFinder.release(object())
    assert user_ns == {}


async def test_a_module_held_over_unload_and_load_works_again(
    new_binder: Any, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """``%reload_ext`` keeps what the user holds alive."""
    skill = new_skill("surviving", RUN)
    first = new_binder(user_ns)
    first.bind([skill])
    held = user_ns["surviving"]
    first.unbind()
    (skill.python.src / "surviving/__init__.py").write_text("def run(): return 2\n")
    new_binder(user_ns).bind([skill])
    assert user_ns["surviving"] is held
    assert await held() == 2
