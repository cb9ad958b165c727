"""The skills that ship, imported as any Python imports them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import prime_skills_ext

BUILTIN = Path(prime_skills_ext.__file__).parent / "builtin_skills"


def _imported(name: str) -> Iterator[ModuleType]:
    src = str(BUILTIN / name / "src")
    sys.path.insert(0, src)
    try:
        yield importlib.import_module(name)
    finally:
        sys.path.remove(src)
        for loaded in [key for key in sys.modules if key.partition(".")[0] == name]:
            del sys.modules[loaded]


@pytest.fixture(scope="session")
def builtin() -> Path:
    """The folder of the skills that ship."""
    return BUILTIN


@pytest.fixture(scope="module")
def edit() -> Iterator[ModuleType]:
    """The module of the skill ``edit``."""
    yield from _imported("edit")


@pytest.fixture(scope="module")
def websearch() -> Iterator[ModuleType]:
    """The module of the skill ``websearch``."""
    yield from _imported("websearch")
