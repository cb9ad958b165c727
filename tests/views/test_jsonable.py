"""Values as JSON: complete, stable, serialisable."""

from __future__ import annotations

import json

import pytest

from prime_skills_ext.catalog.status import Catalogue
from prime_skills_ext.kernel.reload_report import ReloadReport, WaitingSkill
from prime_skills_ext.views.card import SkillDetails
from prime_skills_ext.views.jsonable import to_json
from prime_skills_ext.views.report import Check, Doctor, Message
from tests.views import samples


def test_catalogue_lists_skills_and_diagnostics() -> None:
    """The form that programs read, paths included."""
    directory = samples.ROOT / "explicit" / "json"
    note = samples.NOTE
    expected = {
        "skills": [
            {
                "name": "json",
                "kind": "python",
                "state": "ready",
                "description": samples.JSON.skill.description,
                "path": str(directory / "SKILL.md"),
                "directory": str(directory),
                "source": "explicit",
                "source_kind": "explicit",
                "location": "explicit: json",
                "reason": None,
                "fix": None,
                "import_name": "json",
                "bound_as": 'skills["json"]',
                "overrides": [],
            }
        ],
        "diagnostics": [
            {
                "code": "yaml-colon",
                "severity": "warning",
                "message": note.message,
                "fix": note.fix,
                "path": str(note.path),
                "line": 3,
                "column": None,
            }
        ],
    }

    catalogue = Catalogue(skills=(samples.JSON,), diagnostics=(note,))
    assert expected == to_json(catalogue)


@pytest.mark.parametrize(
    ("value", "keys"),
    [
        (samples.CATALOGUE, ["skills", "diagnostics"]),
        (SkillDetails(status=samples.EDIT), ["skill", "signature", "doc", "body"]),
        (Doctor(checks=(Check(title="t", state="ok", detail="d"),)), ["checks"]),
        (Message(text="t"), ["text", "fix"]),
        (
            ReloadReport(added=("a",), waiting=(WaitingSkill(name="b", calls=2),)),
            [
                "added",
                "changed",
                "removed",
                "failed",
                "waiting",
                "restart",
                "failures",
                "note",
            ],
        ),
    ],
)
def test_every_value_of_the_doors_survives_json(value: object, keys: list[str]) -> None:
    """What is returned is what ``json`` writes and reads."""
    found = to_json(value)

    assert keys == list(found)
    assert found == json.loads(json.dumps(found))


def test_a_value_without_a_form_is_refused() -> None:
    """A mistake of ours is loud."""
    with pytest.raises(TypeError, match="no JSON form for int"):
        to_json(3)
