"""What else lies in a skill's ``src``: other top-level names, and who has them.

Many skills keep a second package beside their own. It reads directories and
imports nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from prime_skills_ext.catalog.looking import is_file
from prime_skills_ext.kernel.names import Surroundings, import_name_of
from prime_skills_ext.skill.model import Diagnostic

__all__ = ["neighbours"]


def neighbours(
    names: Mapping[str, Path],
) -> tuple[dict[str, Path], tuple[Diagnostic, ...]]:
    """Top-level names beside the skills' own, and who already has them."""
    extras: dict[str, Path] = {}
    clashes: list[Diagnostic] = []
    surroundings: Surroundings | None = None
    own = {(src, import_name_of(name)) for name, src in names.items()}
    for src in dict.fromkeys(names.values()):
        for name in _top_level(src):
            if (src, name) in own:
                continue
            if surroundings is None:  # few skills have neighbours
                surroundings = Surroundings.without(names.values())
            holder = _holder(
                name, names=names, extras=extras, surroundings=surroundings
            )
            if holder is None:
                extras[name] = src
            else:
                clashes.append(_clash(name, src=src, holder=holder))
    return extras, tuple(clashes)


def _holder(
    name: str,
    *,
    names: Mapping[str, Path],
    extras: Mapping[str, Path],
    surroundings: Surroundings,
) -> str | None:
    other = names.get(name) or extras.get(name)
    if other is not None:
        return f"the skill {other.parent.name!r}"
    if surroundings.find(name) is not None:
        return "this kernel's environment"
    return None


def _clash(name: str, *, src: Path, holder: str) -> Diagnostic:
    return Diagnostic(
        code="module-clash",
        message=f"`import {name}` gives the module of {holder}, not the skill's own",
        fix=f"Move src/{name} into the skill's package and import it from there",
        path=src / name,
    )


def _top_level(src: Path) -> list[str]:
    """Importable names directly in ``src``, sorted."""
    try:
        entries = sorted(os.scandir(src), key=lambda entry: entry.name)
    except OSError:
        return []
    found: list[str] = []
    for entry in entries:
        stem, _, suffix = entry.name.partition(".")
        if not stem.isidentifier():
            continue
        if suffix == "py" or (not suffix and _is_package(entry)):
            found.append(stem)
    return found


def _is_package(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir() and is_file(Path(entry.path, "__init__.py"))
