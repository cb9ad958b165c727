"""Calls are counted where every call looks anyway."""

from __future__ import annotations

from typing import Any

import pytest

from prime_skills_ext.kernel.binding import Binder
from prime_skills_ext.kernel.terms import take_calls


async def test_every_call_counts_once(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """Also one that fails; a call of ``run`` itself and a look at it do not."""
    skill = new_skill("counted", "def run(n):\n    return 1 // n\n")
    binder.bind([skill])
    module = user_ns["counted"]
    assert 0 == take_calls(module)
    assert [1, 0] == [await module(1), await module(2)]
    with pytest.raises(ZeroDivisionError):
        await module(0)
    assert 1 == module.run(1)
    assert "counted" in repr(module)
    assert (3, 0) == (take_calls(module), take_calls(module))


async def test_a_reload_loses_no_call(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """The module stays, and so does what was counted."""
    skill = new_skill("counted", "def run():\n    return 1\n")
    binder.bind([skill])
    await user_ns["counted"]()
    new_skill("counted", "def run():\n    return 22\n")
    binder.bind([skill], reload=True)
    assert 22 == await user_ns["counted"]()
    assert 2 == take_calls(user_ns["counted"])


@pytest.mark.parametrize("value", [None, 1, "text", object(), pytest])
def test_what_is_no_skill_was_never_called(value: object) -> None:
    """A placeholder, details of a markdown skill, another module."""
    assert 0 == take_calls(value)
