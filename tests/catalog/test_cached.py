"""What the cache keeps of a skill, and the way back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prime_skills_ext.catalog._cached import from_json, to_json
from prime_skills_ext.skill.frontmatter import parse
from prime_skills_ext.skill.validation import to_skill

HEADERS = st.lists(
    st.sampled_from(["\n", "\n", ": ", "- ", "[", "]", "{", "}", '"', "\\ud800", "é"])
    | st.sampled_from(["requires", "env", "bins", "paths", "hooks", "a", "b", "  "]),
    max_size=20,
).map("".join)


@given(HEADERS, st.booleans())
def test_outcome_survives_json(header: str, loose: bool) -> None:  # noqa: FBT001
    """Whatever a header holds, what comes back equals what was kept."""
    path = Path("/skills/a/SKILL.md")
    data = f"---\ndescription: d\n{header}\n---\n"
    outcome = to_skill(parse(data, path=path), path=path, loose=loose)
    kept = to_json(outcome, path=str(path))
    assert kept is not None
    back = from_json(json.loads(json.dumps(kept)), path=path, identity=path)
    assert (outcome, repr(outcome)) == (back, repr(back))


@pytest.mark.parametrize("text", ["---\ndescription: d\n---\n", "no header"])
def test_what_is_not_a_files_own_is_not_kept(text: str) -> None:
    """An outcome that speaks of another file is nobody's to keep."""
    path = Path("/skills/a/SKILL.md")
    outcome = to_skill(parse(text, path=path), path=path)
    assert to_json(outcome, path="/skills/b/SKILL.md") is None
