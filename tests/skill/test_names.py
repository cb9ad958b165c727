"""Names of projects; those of skills are tested with ``validation``."""

from __future__ import annotations

import pytest
from packaging.utils import canonicalize_name

from prime_skills_ext.skill.names import canonical_project


@pytest.mark.parametrize("name", ["acme", "Acme.Tool", "acme__tool", "a-_.B-", "É_1"])
def test_canonical_project_is_what_packaging_says(name: str) -> None:
    """It only saves the import."""
    assert canonicalize_name(name) == canonical_project(name)
