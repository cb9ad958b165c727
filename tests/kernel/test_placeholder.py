"""What cannot be used explains itself when used, and is quiet when looked at."""

from __future__ import annotations

import copy
import pydoc
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from prime_skills_ext.catalog.status import Problem
from prime_skills_ext.errors import SkillUnavailableError
from prime_skills_ext.kernel.placeholder import UnavailableSkill

PROBLEM = Problem(
    state="install-failed", reason="no such package", fix="%reload_skills --retry"
)
ERROR = KeyError("original")


@pytest.fixture
def skill() -> Any:
    return UnavailableSkill(
        "web-search", import_name="web_search", problem=PROBLEM, error=ERROR
    )


def test_kb02_calling_raises_with_reason_fix_and_original(skill: Any) -> None:
    """A ``RuntimeError`` that names skill, state, reason and fix."""
    with pytest.raises(RuntimeError) as caught:
        skill("q", self=1)
    assert isinstance(caught.value, SkillUnavailableError)
    assert str(caught.value) == (
        "Skill 'web-search' is not usable (install-failed): no such package\n"
        "Fix: %reload_skills --retry"
    )
    assert caught.value.__cause__ is ERROR


@pytest.mark.parametrize("attribute", ["run", "anything", "status"])
def test_kb02_public_attributes_raise_the_same(skill: Any, attribute: str) -> None:
    """Also an ``AttributeError``, so that ``hasattr`` answers."""
    with pytest.raises(SkillUnavailableError, match="no such package") as caught:
        getattr(skill, attribute)
    assert isinstance(caught.value, AttributeError)
    assert caught.value.__cause__ is ERROR
    assert not hasattr(skill, attribute)


@pytest.mark.parametrize(
    "attribute",
    ["_ipython_display_", "_repr_html_", "__wrapped__", "__signature__", "_private"],
)
def test_kb02_probes_are_quiet(skill: Any, attribute: str) -> None:
    """Display hooks, dunders and private names are plain attribute errors."""
    with pytest.raises(AttributeError) as caught:
        getattr(skill, attribute)
    assert not isinstance(caught.value, SkillUnavailableError)


def test_kb02_looking_is_quiet(skill: Any) -> None:
    """``repr``, ``bool``, ``dir``, ``help``, copies."""
    assert repr(skill) == "<skill 'web-search' is not usable: install-failed>"
    assert bool(skill)
    assert all(name.startswith("__") for name in dir(skill))
    assert "Reason: no such package" in pydoc.render_doc(skill)
    assert skill.__name__ == "web_search"
    assert repr(copy.deepcopy(skill)) == repr(skill)


def test_question_mark_shows_name_state_reason_and_fix(
    skill: Any, shell: InteractiveShell
) -> None:
    """``skill?`` in a real shell."""
    shell.user_ns["web_search"] = skill
    shown = shell.object_inspect_mime("web_search")["text/plain"]
    for text in ("web-search", "install-failed", "no such package", "--retry"):
        assert text in shown


def test_displaying_is_quiet(
    skill: Any, shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last line of a cell shows the repr."""
    assert shell.display_formatter is not None
    data, _ = shell.display_formatter.format(skill)
    assert data == {"text/plain": repr(skill)}
    assert capsys.readouterr().err == ""


def test_the_class_keeps_its_own_documentation() -> None:
    """The text of one placeholder does not leak into the class."""
    assert "Stands for a skill" in (UnavailableSkill.__doc__ or "")
