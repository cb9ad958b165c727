"""Switching off and on writes one entry and leaves every other byte alone."""

from __future__ import annotations

import json
from functools import partial
from operator import eq
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from prime_skills_ext.catalog._settings_text import (
    NoListError,
    switch_on,
    with_entry,
    without_entries,
)
from prime_skills_ext.catalog.places import Places
from prime_skills_ext.catalog.settings import Scope
from prime_skills_ext.catalog.settings_file import SettingsFile
from prime_skills_ext.errors import SettingsError
from tests.catalog.test_settings import JSON, KEYS, SLOW_START


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """A home, an agent directory and a project."""
    for name in ("agent", "project"):
        (tmp_path / name).mkdir()
    return Places(
        working_directory=tmp_path / "project",
        project_root=tmp_path / "project",
        agent_directory=tmp_path / "agent",
        home=tmp_path,
        builtin=tmp_path / "builtin",
    )


def file_of(places: Places, text: str | bytes, scope: Scope = "user") -> SettingsFile:
    found = SettingsFile(places, scope)
    found.path.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode() if isinstance(text, str) else text
    found.path.write_bytes(data)
    return found


PRETTY = '{\n  "theme": "dark",\n  "skills": [\n    "extra"\n  ]\n}\n'


def test_entry_joins_the_list_in_the_files_own_form(places: Places) -> None:
    """Indented as the others, everything else as it was."""
    file = file_of(places, PRETTY)
    assert file.disable("edit")
    assert PRETTY.replace('"extra"', '"extra",\n    "-edit"') == file.path.read_text()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, '{\n  "skills": [\n    "-e"\n  ]\n}\n'),
        ("{}", '{"skills": [ "-e" ]}'),
        ('{"a":1}', '{"a":1, "skills": [ "-e" ]}'),
        ('{"skills": []}', '{"skills": ["-e"]}'),
        ('{"skills":["a","b"]}', '{"skills":["a","b","-e"]}'),
        ('{\n\t"a": 1\n}', '{\n\t"a": 1,\n\t"skills": [\n\t\t"-e"\n\t]\n}'),
        ('{\r\n "a": 1\r\n}', '{\r\n "a": 1,\r\n "skills": [\r\n  "-e"\r\n ]\r\n}'),
        (
            '{"skills": {"customDirectories": ["a"]}}',
            '{"skills": {"customDirectories": ["a", "-e"]}}',
        ),
    ],
)
def test_every_form_is_kept(before: str | None, after: str) -> None:
    """Minified, tabs, Windows line ends, the older object form."""
    assert after == with_entry(before, "-e")


def test_name_that_is_no_utf8_is_written_as_an_escape() -> None:
    """The file stays UTF-8, and the entry can be taken out again."""
    for text in (None, "{}"):
        between = with_entry(text, "-a@project:\udcff")
        assert between.encode("utf-8")
        assert text == without_entries(between, is_meant=lambda it: "\udcff" in it)


SPACES = st.text(" \t\n\r", max_size=3)


@st.composite
def texts(draw: st.DrawFn) -> str | None:
    """Any text of a settings file whose ``skills`` is a list or missing."""
    content: dict[str, Any] = draw(
        st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), JSON, max_size=3)
    )
    lists = st.lists(st.text(max_size=4).filter(lambda it: it.strip() != "-e") | JSON)
    if draw(st.booleans()):
        content["skills"] = draw(lists)
    else:
        content.pop("skills", None)
    if draw(st.booleans()):
        spaces = draw(SPACES)
        separators = (draw(st.sampled_from((",", ", "))), ":" + spaces)
        text = json.dumps(content, separators=separators)
        if text == "{}":
            text = "{" + draw(SPACES) + "}"
        text = text.replace("[]", "[" + draw(SPACES) + "]")
    else:
        indent: int | str = draw(st.sampled_from([0, 1, 2, 4]) | st.just("\t"))
        text = json.dumps(content, indent=indent, ensure_ascii=False)
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return draw(SPACES) + text + draw(SPACES)


@SLOW_START
@given(text=st.none() | texts())
@example(text='{\n  "skills": [\n  ]\n}\n')
@example(text="{\n}\n")
@example(text='{"skills": [\n    ]}')
@example(text='\ufeff{"skills": [ ]}')
@example(text='{"skills": 1, "skills": []}')
def test_enable_after_disable_restores_the_text(text: str | None) -> None:
    """Byte for byte, whatever the form; in between the entry is there."""
    between = with_entry(text, "-e")
    entries = json.loads(between.removeprefix("\ufeff"))["skills"]
    assert "-e" == entries[-1]
    assert text == without_entries(between, is_meant=lambda entry: entry == "-e")


@SLOW_START
@given(text=st.none() | texts(), order=st.permutations(("-e", "-f", "-g")))
def test_order_of_enabling_loses_nothing(text: str | None, order: list[str]) -> None:
    """However entries come and go, what was there before is what remains."""
    now = text
    for entry in ("-e", "-f", "-g"):
        now = with_entry(now, entry)
    for entry in order:
        assert now is not None
        now = without_entries(now, is_meant=partial(eq, entry))
    left = {} if now is None else json.loads(now)
    before = {} if text is None else json.loads(text)
    assert repr(before.get("skills") or []) == repr(left.get("skills") or [])
    assert repr({**before, "skills": 0}) == repr({**left, "skills": 0})


def test_enable_takes_every_spelling_of_the_entry_out(places: Places) -> None:
    """Twice, and with spaces."""
    file = file_of(places, '{"skills": ["-edit", "a", " -edit "]}')
    assert file.enable("edit")
    assert '{"skills": ["a"]}' == file.path.read_text()


def test_disabling_twice_writes_once(places: Places) -> None:
    """And enabling what is not disabled writes nothing."""
    file = file_of(places, PRETTY)
    assert [True, False, True, False] == [
        file.disable("edit"),
        file.disable("edit"),
        file.enable("edit"),
        file.enable("edit"),
    ]
    assert PRETTY == file.path.read_text()


def test_file_made_for_an_entry_goes_with_it(places: Places) -> None:
    """Where there was none, there is none again."""
    file = SettingsFile(places, "project")
    file.disable("edit")
    assert '{\n  "skills": [\n    "-edit"\n  ]\n}\n' == file.path.read_text()
    file.enable("edit")
    assert not file.path.exists()


@pytest.mark.parametrize(
    ("name", "before"),
    [
        ("websearch", '{"bundledSkills": {"websearch": false}}'),
        ("compact", '{"compaction":{"a":1,"agentCallable":false}}'),
    ],
)
def test_enable_sets_the_switch_of_a_skill(
    places: Places, name: str, before: str
) -> None:
    """In place."""
    file = file_of(places, before)
    assert file.enable(name)
    assert before.replace("false", "true") == file.path.read_text()


def test_switch_of_another_type_is_left_alone() -> None:
    """It is reported when read."""
    text = '{"bundledSkills": [], "compaction": {"agentCallable": 0}}'
    assert text == switch_on(text, ("bundledSkills", "websearch"))
    assert text == switch_on(text, ("compaction", "agentCallable"))


@pytest.mark.parametrize("text", [b"{,}", b"", b"[]", b"\xff{}", b"[" * 9999])
def test_w48_damaged_file_is_never_overwritten(places: Places, text: bytes) -> None:
    """The error names the file."""
    file = file_of(places, text)
    with pytest.raises(SettingsError, match="is damaged and is not overwritten"):
        file.disable("edit")
    assert text == file.path.read_bytes()


def test_list_of_another_type_is_not_replaced(places: Places) -> None:
    """The user's words are not thrown away."""
    file = file_of(places, '{"skills": "~/x"}')
    with pytest.raises(SettingsError, match="is no list"):
        file.disable("edit")
    with pytest.raises(NoListError):
        with_entry('{"skills": {"customDirectories": 1}}', "-e")


def test_users_file_is_the_users_alone(places: Places) -> None:
    """Mode 0600, from the first write on."""
    file = file_of(places, "{}")
    file.path.chmod(0o644)
    file.disable("edit")
    assert 0o600 == file.path.stat().st_mode & 0o777


def test_projects_file_stays_readable_for_others(places: Places) -> None:
    """It is shared; a new one is not."""
    file = file_of(places, "{}", "project")
    file.path.chmod(0o664)
    file.disable("edit")
    assert 0o664 == file.path.stat().st_mode & 0o777


def test_link_stays_a_link(places: Places, tmp_path: Path) -> None:
    """Dotfiles are written where they really lie, and nothing is left beside."""
    real = tmp_path / "dotfiles" / "settings.json"
    real.parent.mkdir()
    real.write_text("{}")
    file = SettingsFile(places, "user")
    file.path.symlink_to(real)
    file.disable("edit")
    assert file.path.is_symlink()
    assert ["settings.json"] == [item.name for item in real.parent.iterdir()]
    assert '{"skills": [ "-edit" ]}' == real.read_text()


def test_projects_link_that_leaves_it_is_not_written(
    places: Places, tmp_path: Path
) -> None:
    """A repository cannot point our pen at other files."""
    (tmp_path / "secret.json").write_text("{}")
    folder = places.project_root / ".prime" / "agent"
    folder.mkdir(parents=True)
    (folder / "settings.json").symlink_to(tmp_path / "secret.json")
    with pytest.raises(SettingsError, match="leaves the project"):
        SettingsFile(places, "project")


def test_home_that_is_the_project_has_no_project_settings(tmp_path: Path) -> None:
    """They are the user's."""
    places = Places(
        working_directory=tmp_path,
        project_root=tmp_path,
        agent_directory=tmp_path / ".prime" / "agent",
        home=tmp_path,
        builtin=tmp_path,
    )
    with pytest.raises(SettingsError, match="its settings are yours"):
        SettingsFile(places, "project")


def test_folder_that_cannot_be_written_is_told(unprivileged_folder: Path) -> None:
    """As an error with a fix, not as a traceback."""
    agent = unprivileged_folder / "agent"
    agent.mkdir()
    agent.chmod(0o500)
    places = Places(
        working_directory=agent,
        project_root=agent,
        agent_directory=agent,
        home=agent,
        builtin=agent,
    )
    with pytest.raises(SettingsError, match="cannot be written: permission denied"):
        SettingsFile(places, "user").disable("edit")
