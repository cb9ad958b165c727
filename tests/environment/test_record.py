"""The record: what is written is read back, and garbage is an empty one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prime_skills_ext.environment import record as records
from prime_skills_ext.environment.record import Command, Record, SkillRecord


def entry(**values: Any) -> SkillRecord:
    given: dict[str, Any] = {
        "import_name": "a",
        "package_path": "/skills/a",
        "pyproject_path": "/skills/a/pyproject.toml",
        "pyproject_hash": "sha256:0",
        "fingerprint": "sha256:1",
        "state": "installed",
    }
    return SkillRecord(**(given | values))


def test_record_reads_back_what_was_written(tmp_path: Path) -> None:
    """Every field survives, and the names are the reference's."""
    skill = entry(
        extra=("httpx",),
        commands=(Command("a", "rlm.skill:cli", "a"),),
        reason="because",
    )
    record = Record(base="b", kernel="k", site="s", skills={skill.package_path: skill})
    path = tmp_path / ".bootstrap-version"
    records.write(path, record=record)
    assert records.read(path) == record
    data = json.loads(path.read_text(encoding="utf-8"))
    names = {"importName", "packagePath", "pyprojectPath", "pyprojectHash"}
    assert names <= set(data["pythonSkills"][0])
    assert isinstance(data["schema"], int)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"schema": 8}',
        '{"schema": 101, "pythonSkills": [{}]}',
        '{"schema": 101, "pythonSkills": 3, "base": "", "kernel": "", "site": ""}',
        "[" * 100_000,
    ],
)
def test_in01_garbage_is_an_empty_record(tmp_path: Path, text: str) -> None:
    """Whatever lies there, reading never fails."""
    path = tmp_path / "record"
    path.write_text(text, encoding="utf-8")
    assert records.read(path) == Record()


@given(st.binary(max_size=200))
def test_no_bytes_break_the_reader(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    """Not even what is no text."""
    path = tmp_path_factory.mktemp("record") / "record"
    path.write_bytes(data)
    assert records.read(path) == Record()


def test_long_logs_keep_their_end(tmp_path: Path) -> None:
    """The record does not grow with what uv says."""
    skill = entry(log="x" * records.MAX_LOG_CHARS + "end")
    path = tmp_path / "record"
    records.write(path, record=Record(skills={skill.package_path: skill}))
    log = records.read(path).skills[skill.package_path].log
    assert (len(log), log[-3:]) == (records.MAX_LOG_CHARS, "end")


@pytest.mark.parametrize("change", [{"state": "weird"}, {"state": []}, {"project": 5}])
def test_in01_a_field_of_another_kind_is_an_empty_record(
    tmp_path: Path, change: dict[str, object]
) -> None:
    """One that nobody understands must not stand for "nothing to do"."""
    path = tmp_path / ".bootstrap-version"
    skill = entry()
    records.write(path, record=Record(skills={skill.package_path: skill}))
    data = json.loads(path.read_text(encoding="utf-8"))
    data["pythonSkills"][0].update(change)
    path.write_text(json.dumps(data), encoding="utf-8")
    assert records.read(path) == Record()
