"""The record: what is written is read back, and garbage is an empty one."""

from __future__ import annotations

import json
import os
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


def test_record_that_is_changed_in_place_is_read_again(tmp_path: Path) -> None:
    """Of the same size and with its old time put back, as a backup tool does."""
    path = tmp_path / ".bootstrap-version"
    records.write(path, record=Record(site="1"))
    assert records.read(path).site == "1"
    before = path.stat()
    path.write_text(
        path.read_text("utf-8").replace('"site": "1"', '"site": "2"'), encoding="utf-8"
    )
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert records.read(path).site == "2"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"schema": 8}',
        '{"schema": 102, "pythonSkills": [{}]}',
        '{"schema": 102, "pythonSkills": 3, "base": "", "kernel": "", "site": ""}',
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


@pytest.mark.parametrize(
    "change",
    [
        {"state": "weird"},
        {"state": []},
        {"project": 5},
        {"extra": ["@@"]},
        {"requirements": ["@@"]},
        {"commands": [["rm", "os:system", "b"]]},
        {"commands": [["a", "b"]]},
        {"seal": ""},
        {"seal": None},
    ],
)
def test_in01_an_entry_that_is_not_as_written_costs_its_skill_alone(
    tmp_path: Path, change: dict[str, object]
) -> None:
    """It must not stand for "nothing to do", and the others keep what they have."""
    path = tmp_path / ".bootstrap-version"
    skills = [entry(package_path=f"/skills/{name}") for name in "abc"]
    record = Record(base="b", skills={skill.package_path: skill for skill in skills})
    records.write(path, record=record)
    data = json.loads(path.read_text(encoding="utf-8"))
    data["pythonSkills"][1].update(change)
    path.write_text(json.dumps(data), encoding="utf-8")
    kept = {key: record.skills[key] for key in ("/skills/a", "/skills/c")}
    assert Record(base="b", skills=kept) == records.read(path)


@pytest.mark.parametrize("damage", [5, "text", None, [], {"a": 1}])
def test_in01_what_is_no_entry_is_passed_over(tmp_path: Path, damage: object) -> None:
    """Anything may stand in a list."""
    path = tmp_path / "record"
    skill = entry()
    record = Record(skills={skill.package_path: skill})
    records.write(path, record=record)
    data = json.loads(path.read_text(encoding="utf-8"))
    data["pythonSkills"].insert(0, damage)
    path.write_text(json.dumps(data), encoding="utf-8")
    assert records.read(path) == record


def test_di11_only_a_regular_file_is_a_record(tmp_path: Path) -> None:
    """Opening a FIFO would wait for a writer for ever."""
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", tmp_path, Path("/dev/zero"), tmp_path / "none"):
        assert Record() == records.read(path)
