"""The odd files of ``tests/skills``: one folder per defect, read from disk.

``expected.json`` beside them says what each must give; other rooms' tests use it
to show that they read the same.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.skill.frontmatter import HEADER_BYTES, parse
from prime_skills_ext.skill.validation import to_skill

CORPUS = Path(__file__).parents[1] / "skills"
EXPECTED: dict[str, Any] = json.loads(
    (CORPUS / "expected.json").read_text(encoding="utf-8")
)


def test_corpus_and_expectations_are_the_same_folders() -> None:
    """No file goes untested and no expectation is left over."""
    folders = sorted(path.parent.name for path in CORPUS.glob("*/SKILL.md"))
    assert sorted(EXPECTED) == folders


@pytest.mark.parametrize("folder", sorted(EXPECTED))
def test_fm16_odd_file_reads_as_expected(folder: str) -> None:
    """Name, description and findings of every odd file are pinned."""
    path = CORPUS / folder / "SKILL.md"
    skill, diagnostics = to_skill(parse(path.read_bytes(), path=path), path=path)
    actual = {
        "name": skill and skill.name,
        "description": skill and skill.description,
        "codes": [item.code for item in diagnostics],
    }
    assert actual == EXPECTED[folder]


@pytest.mark.parametrize("folder", sorted(EXPECTED))
def test_fm16_every_finding_names_file_line_and_fix(folder: str) -> None:
    """A message without place or way out helps nobody."""
    path = CORPUS / folder / "SKILL.md"
    _, diagnostics = to_skill(parse(path.read_bytes(), path=path), path=path)
    assert [
        item for item in diagnostics if not (item.path and item.line and item.fix)
    ] == []


@pytest.mark.parametrize("folder", sorted(EXPECTED))
def test_fm16_header_does_not_depend_on_the_body(folder: str) -> None:
    """A reader of the first 64 KiB sees what a reader of the whole file sees."""
    data = (CORPUS / folder / "SKILL.md").read_bytes()
    longer = data + b"\n" + b"x" * HEADER_BYTES
    assert parse(longer[:HEADER_BYTES]).fields == parse(longer).fields
