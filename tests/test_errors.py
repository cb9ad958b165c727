"""The exception tree."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from prime_skills_ext import errors
from prime_skills_ext.kernel.placeholder import UnavailableImportError


@pytest.mark.parametrize("name", errors.__all__)
def test_every_error_says_what_and_how_to_fix_it_also_from_afar(name: str) -> None:
    """Message, fix and path survive pickling, as results of workers do."""
    kind = getattr(errors, name)
    more = (
        {"argv": ["uv"], "returncode": 2, "stderr_tail": "no"}
        if kind is errors.ProcessError
        else {"path": Path("/there")}
    )
    error = kind("it broke", fix="mend it", **more)
    again = pickle.loads(pickle.dumps(error))
    assert ("it broke\nFix: mend it", "mend it") == (str(again), again.fix)
    assert vars(error) == vars(again)
    assert type(error) is type(again)


def test_import_error_of_a_placeholder_pickles() -> None:
    """It has arguments of its own."""
    error = UnavailableImportError("no", fix="mend it", name="broken")
    again = pickle.loads(pickle.dumps(error))
    assert ("broken", "no") == (again.name, again.msg)


def test_an_error_without_a_fix_is_its_message() -> None:
    """No dangling label."""
    assert "it broke" == str(errors.PrimeSkillsError("it broke", fix=""))


def test_unavailable_is_a_runtime_error_and_unknown_a_lookup_error() -> None:
    """What callers of the reference system catch keeps working."""
    assert issubclass(errors.SkillUnavailableError, RuntimeError)
    assert issubclass(errors.UnknownSkillError, LookupError)
