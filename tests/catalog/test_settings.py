"""Reading ``settings.json``: each value on its own, and nothing ever raises."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from prime_skills_ext.catalog._settings_memory import SettingsMemory
from prime_skills_ext.catalog.places import find_places
from prime_skills_ext.catalog.settings import (
    Settings,
    find_settings,
    parse_settings,
    read_settings,
)
from prime_skills_ext.skill.model import Diagnostic

HERE = Path("/agent/settings.json")


def parse(content: dict[str, Any]) -> tuple[Settings, tuple[Diagnostic, ...]]:
    return parse_settings(content, scope="user", path=HERE)


def entries(found: Settings) -> list[str]:
    return [item.text for item in found.skills]


def told(diagnostics: tuple[Diagnostic, ...]) -> list[str]:
    return [item.message for item in diagnostics]


def test_empty_settings_say_nothing() -> None:
    """The defaults, and nothing to report."""
    assert (Settings(scope="user", path=HERE), ()) == parse({})


def test_every_key_that_concerns_skills_is_read() -> None:
    """As the reference names them; other keys are nobody's business."""
    found, diagnostics = parse(
        {
            "skills": ["extra", "-edit"],
            "enableBuiltinSkills": False,
            "bundledSkills": {"websearch": False},
            "compaction": {"agentCallable": False, "threshold": 1},
            "enableSkillCommands": False,
            "packages": ["npm:x", {"source": "./y"}],
            "theme": 3,
        }
    )
    assert (["extra", "-edit"], ()) == (entries(found), diagnostics)
    assert (False, False, False, False) == (
        found.enable_builtin,
        found.websearch,
        found.compact,
        found.enable_skill_commands,
    )
    assert ("npm:x", {"source": "./y"}) == found.packages


def test_w47_skills_as_text_is_one_entry() -> None:
    """It is not taken apart into characters, and the right line is shown."""
    found, diagnostics = parse({"skills": "~/x"})
    assert ["~/x"] == entries(found)
    assert 'Write it as a list: "skills": ["~/x"].' == diagnostics[0].fix


@pytest.mark.parametrize(
    ("entry", "what"),
    [
        (7, "is a number and is ignored"),
        (None, "is null and is ignored"),
        (["a"], "is a list and is ignored"),
        ({}, "is an object and is ignored"),
        (True, "is true or false and is ignored"),
        ("   ", "names nothing"),
        ("!", "names nothing"),
        ("- ", "names nothing"),
        ("a\0b", "holds characters that no path has"),
        ("\ud800", "holds characters that no path has"),
    ],
)
def test_w47_one_bad_entry_is_one_diagnostic(entry: object, what: str) -> None:
    """The others count."""
    found, diagnostics = parse({"skills": ["a", entry, "-b"]})
    assert ["a", "-b"] == entries(found)
    assert [f"In the user's settings.json, entry 2 of `skills` {what}."] == told(
        diagnostics
    )


@pytest.mark.parametrize("value", [7, True, 1.5])
def test_w47_skills_of_another_type_are_ignored(value: object) -> None:
    """With one diagnostic."""
    found, diagnostics = parse({"skills": value})
    assert ([], ["settings-value"]) == (entries(found), [d.code for d in diagnostics])


@pytest.mark.parametrize(
    ("value", "expected"),
    [("false", False), ("No", False), (0, False), ("yes", True), ([], True)],
)
def test_w48_flag_that_reads_as_no_is_one(value: object, *, expected: bool) -> None:
    """In doubt the more restrictive reading holds; it is reported either way."""
    found, diagnostics = parse({"enableBuiltinSkills": value})
    assert (expected, 1) == (found.enable_builtin, len(diagnostics))


def test_legacy_object_is_read_as_list_and_flag() -> None:
    """The older form means the same, and the new one is shown."""
    found, diagnostics = parse(
        {"skills": {"enableSkillCommands": False, "customDirectories": ["a", "-b"]}}
    )
    assert (["a", "-b"], False) == (entries(found), found.enable_skill_commands)
    assert ["settings-legacy"] == [item.code for item in diagnostics]


def test_number_of_costly_entries_is_bounded() -> None:
    """A stranger's file cannot make a start slow; names are free and all count."""
    many = [f"{prefix}{n}" for n in range(300) for prefix in ("p", "!p", "-p")]
    found, diagnostics = parse({"skills": many})
    kinds = Counter(item.kind for item in found.skills)
    assert {"path": 200, "exclude": 200, "disable": 300} == kinds
    assert ["settings-too-many"] * 2 == [item.code for item in diagnostics]


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_missing_file_says_nothing(tmp_path: Path) -> None:
    """It is no fault."""
    found, diagnostics = read_settings(tmp_path / "settings.json", scope="user")
    assert (Settings(scope="user", path=tmp_path / "settings.json"), ()) == (
        found,
        diagnostics,
    )


def test_byte_order_mark_is_read_over(tmp_path: Path) -> None:
    """Editors write it."""
    path = tmp_path / "settings.json"
    path.write_bytes(b'\xef\xbb\xbf{"skills": ["-a"]}')
    found, diagnostics = read_settings(path, scope="user")
    assert (["-a"], ()) == (entries(found), diagnostics)


DISABLES = {
    "enableBuiltinSkills": False,
    "bundledSkills": {"websearch": False},
    "compaction": {"agentCallable": False},
    "skills": ["extra", "!bad*", "+bad-but-wanted", "-edit"],
}


@pytest.mark.parametrize("damage", ["{,}", "", "[]", "[" * 9999, '{"a": "\xff"'])
def test_w48_damaged_file_keeps_what_it_disabled(tmp_path: Path, damage: str) -> None:
    """A typing error switches nothing on, and adds no source either."""
    path = write(tmp_path / "settings.json", json.dumps(DISABLES))
    memory = SettingsMemory(tmp_path / "agent")
    before, _ = read_settings(path, scope="user", memory=memory)
    path.write_text(damage, encoding="latin-1")
    after, (problem,) = read_settings(path, scope="user", memory=memory)
    assert before.narrowing() == after.narrowing()
    assert ["!bad*", "+bad-but-wanted", "-edit"] == entries(after)
    assert ("settings-damaged", "error", path) == (
        problem.code,
        problem.severity,
        problem.path,
    )
    assert "what it disabled before stays disabled" in problem.message


def test_w48_place_of_a_typing_error_is_named(tmp_path: Path) -> None:
    """Line and column."""
    path = write(tmp_path / "settings.json", '{\n  "skills": ["-a",]\n}\n')
    _, (problem,) = read_settings(path, scope="user")
    assert ((2, 19), True) == (
        (problem.line, problem.column),
        "nothing is known of what it disables" in problem.message,
    )


def test_w48_unreadable_file_keeps_what_it_disabled(
    unprivileged_folder: Path,
) -> None:
    """Whatever the reason."""
    path = write(unprivileged_folder / "settings.json", json.dumps(DISABLES))
    memory = SettingsMemory(unprivileged_folder / "agent")
    read_settings(path, scope="user", memory=memory)
    path.chmod(0)
    after, (problem,) = read_settings(path, scope="user", memory=memory)
    path.chmod(0o600)
    assert not after.enable_builtin
    assert "cannot be read: permission denied" in problem.message


def test_w48_fifo_is_not_waited_for(tmp_path: Path) -> None:
    """It is no settings file."""
    os.mkfifo(tmp_path / "settings.json")
    _, (problem,) = read_settings(tmp_path / "settings.json", scope="user")
    assert "not a regular file" in problem.message


def test_w48_removed_file_is_forgotten(tmp_path: Path) -> None:
    """To remove the file is a decision; a link to nothing is a fault."""
    path = write(tmp_path / "settings.json", json.dumps(DISABLES))
    memory = SettingsMemory(tmp_path / "agent")
    read_settings(path, scope="user", memory=memory)
    path.unlink()
    assert () == read_settings(path, scope="user", memory=memory)[1]
    assert memory.recall(path) is None


def test_file_in_the_place_of_the_folder_is_no_fault(tmp_path: Path) -> None:
    """Other programs may call a file `.prime`: there are no settings then."""
    (tmp_path / ".prime").touch()
    path = tmp_path / ".prime" / "agent" / "settings.json"
    assert () == read_settings(path, scope="project")[1]


def test_nothing_is_written_where_nothing_is_disabled(tmp_path: Path) -> None:
    """A start in a clean home leaves it clean."""
    path = write(tmp_path / "settings.json", '{"skills": ["extra"]}')
    read_settings(path, scope="user", memory=SettingsMemory(tmp_path / "agent"))
    assert not (tmp_path / "agent").exists()


def test_memory_is_the_users_alone(tmp_path: Path) -> None:
    """Mode 0600, and what is damaged in it counts as nothing."""
    path = write(tmp_path / "settings.json", json.dumps(DISABLES))
    memory = SettingsMemory(tmp_path / "agent")
    read_settings(path, scope="user", memory=memory)
    assert 0o600 == memory.path.stat().st_mode & 0o777
    memory.path.write_text('{"schema": 1, "files": []}')
    assert memory.recall(path) is None


def test_settings_of_a_home_that_is_the_project_are_the_users(home: Path) -> None:
    """One file is read once, and its sources need no trust."""
    write(home / ".prime/agent/settings.json", '{"skills": ["-a"]}')
    places = find_places(environ={"HOME": str(home)}, project=home)
    found, _ = find_settings(places)
    assert ["user"] == [item.scope for item in found]


#: The first text that hypothesis makes loads a table, which takes a second or two.
SLOW_START = settings(
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.function_scoped_fixture,
    ],
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
KEYS = (
    "skills",
    "enableBuiltinSkills",
    "bundledSkills",
    "compaction",
    "enableSkillCommands",
    "packages",
    "websearch",
    "customDirectories",
)
OBJECTS = st.dictionaries(
    st.sampled_from(KEYS),
    JSON
    | st.dictionaries(st.sampled_from((*KEYS, "agentCallable")), JSON)
    | st.lists(st.text("!+-./*?[]{},~ab\0\ud800", max_size=8)),
)


@SLOW_START
@given(content=OBJECTS)
def test_no_settings_content_raises(content: dict[str, Any]) -> None:
    """Whatever JSON says, it becomes settings, and its diagnostics can be printed."""
    found, diagnostics = parse(content)
    again, _ = parse(found.narrowing())
    assert found.narrowing() == again.narrowing()
    for item in diagnostics:
        assert f"{item.message}{item.fix}".encode()


@SLOW_START
@given(data=st.binary() | OBJECTS.map(lambda it: json.dumps(it).encode()))
@example(data=b"9" * 5000)
@example(data=b'{"skills": ' + b"[" * 100_000)
def test_no_settings_file_raises(data: bytes, tmp_path: Path) -> None:
    """Whatever bytes it holds."""
    path = tmp_path / "settings.json"
    path.write_bytes(data)
    memory = SettingsMemory(tmp_path / "agent")
    assert isinstance(read_settings(path, scope="user", memory=memory)[0], Settings)
