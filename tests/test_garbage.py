"""The collector does less while we work, and what it was before afterwards."""

from __future__ import annotations

import gc

import pytest

from prime_skills_ext.garbage import new_only, without_collection


def test_collector_is_at_rest_meanwhile_and_works_again() -> None:
    """Also after an error."""
    seen = []

    def fail() -> None:
        with without_collection():
            seen.append(gc.isenabled())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert [False, True] == [*seen, gc.isenabled()]


def test_collector_that_was_off_stays_off() -> None:
    """That is the user's decision."""
    gc.disable()
    try:
        with without_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_what_was_there_before_is_not_searched() -> None:
    """What is made meanwhile is; afterwards everything is again."""
    before = [object()]
    before.append(before)
    with new_only():
        made: list[object] = []
        made.append(made)
        watched = gc.get_objects()
        assert [False, True] == [any(it is x for it in watched) for x in (before, made)]
    assert 0 == gc.get_freeze_count()
    assert any(it is before for it in gc.get_objects())


def test_what_somebody_else_set_aside_stays_there() -> None:
    """A server that forks does that."""
    gc.freeze()
    try:
        count = gc.get_freeze_count()
        with new_only():
            pass
        assert count <= gc.get_freeze_count()
    finally:
        gc.unfreeze()
