"""The packages that skills of the reference system may import without declaring them.

Its environment always holds twelve packages (``reference`` section 3.3), so skills
written for it often leave them out. Ours is empty: an import that fails for one of
them says which requirement to add, once. Nothing else is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

__all__ = ["DEFAULT_PACKAGES", "find_undeclared"]

#: Import name to the requirement that brings it.
DEFAULT_PACKAGES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "bs4": "beautifulsoup4",
        "dotenv": "python-dotenv",
        "httpx": "httpx",
        "lxml": "lxml",
        "numpy": "numpy",
        "pandas": "pandas",
        "pydantic": "pydantic",
        "requests": "requests",
        "scipy": "scipy",
        "tomli": "tomli",
        "tyro": "tyro",
        "yaml": "pyyaml",
    }
)


def find_undeclared(
    errors: Mapping[Path, BaseException],
) -> dict[Path, tuple[str, ...]]:
    """Return the requirement that each failed import lacks, where it is one of them.

    Args:
        errors: The exception that an import ended with, by identity of the skill.
    """
    found: dict[Path, tuple[str, ...]] = {}
    for identity, error in errors.items():
        name = getattr(error, "name", None)
        if not isinstance(error, ModuleNotFoundError) or not isinstance(name, str):
            continue
        requirement = DEFAULT_PACKAGES.get(name.partition(".")[0])
        if requirement is not None:
            found[identity] = (requirement,)
    return found
