"""How these tests read a skill: as everybody does, through the two functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from prime_skills_ext.skill import pyproject
from prime_skills_ext.skill.frontmatter import parse
from prime_skills_ext.skill.model import Diagnostic, Skill
from prime_skills_ext.skill.pyproject import Project
from prime_skills_ext.skill.validation import to_skill

ROOT = Path("/skills")
#: Where a `pyproject.toml` would lie, and the least that one says.
PATH = Path("/skills/a/pyproject.toml")
MINIMAL = '[project]\nname = "a"\nversion = "1"\n'


@dataclass(frozen=True)
class Loaded:
    """A skill as it was read, and what was said about it."""

    maybe: Skill | None
    diagnostics: tuple[Diagnostic, ...]

    @property
    def skill(self) -> Skill:
        assert self.maybe is not None, self.diagnostics
        return self.maybe

    @property
    def codes(self) -> list[str]:
        return [item.code for item in self.diagnostics]


LoadFile = Callable[..., Loaded]


def load_file(
    data: bytes | str, *, folder: str = "a", file: str = "SKILL.md"
) -> Loaded:
    """Read a whole file that lies in ``folder``."""
    path = ROOT / folder / file
    loose = file != "SKILL.md"
    skill, diagnostics = to_skill(parse(data, path=path), path=path, loose=loose)
    return Loaded(skill, diagnostics)


def load_header(header: str, *, folder: str = "a", file: str = "SKILL.md") -> Loaded:
    """Read a header without its fences; a description is added if it has none."""
    if "description" not in header.lower():
        header += "\ndescription: Does a thing."
    return load_file(f"---\n{header}\n---\n\nDo it.\n", folder=folder, file=file)


@pytest.fixture
def load() -> LoadFile:
    """``load("name: a", folder="a")``: a header, read."""
    return load_header


@pytest.fixture
def load_whole() -> LoadFile:
    """``load_whole(b"---…", folder="a")``: a whole file, read."""
    return load_file


def project(
    text: str, *, import_name: str = "a", files: tuple[str, ...] = ()
) -> Project:
    """The metadata of a project that can be read."""
    found, diagnostics = pyproject.parse(
        text, import_name=import_name, path=PATH, files=frozenset(files)
    )
    assert found is not None, diagnostics
    return found
