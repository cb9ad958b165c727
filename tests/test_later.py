"""Modules that are loaded at their first use."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from prime_skills_ext.later import later


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module that nobody has imported."""
    (tmp_path / "late_module.py").write_text("LIMIT = 3\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "late_module", raising=False)
    return "late_module"


def test_module_is_loaded_by_the_first_attribute(module: str) -> None:
    """Naming it and showing it load nothing."""
    found = later(module)
    assert "late_module" in repr(found)
    assert module not in sys.modules
    assert 3 == found.LIMIT
    assert module in sys.modules


def test_attributes_are_the_modules_as_they_are_now(module: str) -> None:
    """What replaces one, a test for example, is seen."""
    found = later(module)
    assert 3 == found.LIMIT
    sys.modules[module].LIMIT = 4  # type: ignore[attr-defined]  # made for the test
    assert 4 == found.LIMIT


def test_attribute_that_is_missing_is_the_modules_own_error(module: str) -> None:
    """It names the module, not what stands for it."""
    with pytest.raises(AttributeError, match="late_module"):
        _ = later(module).missing
