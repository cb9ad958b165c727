"""The garbage collector, kept from searching thousands of new values in vain."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["new_only", "without_collection"]


@contextmanager
def without_collection() -> Iterator[None]:
    """Collect nothing meanwhile: for work of ours that makes much and drops little."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def new_only() -> Iterator[None]:
    """Collect only what is made meanwhile: for work in which strangers' code runs.

    A kernel holds some hundred thousand values before, which every full collection
    would search. Where somebody has set values aside already, nothing is done: they
    could not be told from ours afterwards.
    """
    if gc.get_freeze_count():
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
