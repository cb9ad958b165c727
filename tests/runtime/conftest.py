"""The runtime as a skill's process has it: imported from where it is kept."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from prime_skills_ext.pipeline import RUNTIME


@pytest.fixture
def rlm(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module ``rlm``, imported anew."""
    monkeypatch.syspath_prepend(RUNTIME)
    _forget()
    yield importlib.import_module("rlm")
    _forget()


def _forget() -> None:
    for name in [name for name in sys.modules if name.split(".", 1)[0] == "rlm"]:
        del sys.modules[name]
