"""The reference system's own tests of discovery and resolution, in our terms.

One test per row of ``reference.md`` §12.1, 12.3, 12.6 and 12.8 that concerns which
skills count, under the row's number. Rows about the prompt (12.1/20-27), about built-in
skills that do not ship yet (12.3/14-17), about packages and other resources, and about
how releases are made are not this room's. Where we mean to differ, the test says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.catalog import survey as surveying
from prime_skills_ext.catalog.package_sources import PackageDirectory
from prime_skills_ext.catalog.places import Places, find_places
from prime_skills_ext.catalog.settings import settings_path
from prime_skills_ext.catalog.survey import Choices, Survey, survey
from prime_skills_ext.skill.model import Skill
from tests.conftest import MakeSkill

Look = Callable[..., Survey]


@pytest.fixture
def places(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    """A user and a project without any skill."""
    # what other distributions of this Python bring is not what is tested
    monkeypatch.setattr(surveying, "site_directories", lambda: ())
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    places = find_places(environ={"HOME": str(home)}, project=project)
    (home / ".prime/agent").mkdir(parents=True)
    return places._replace(builtin=_folder(tmp_path / "shipped"))


@pytest.fixture
def look(places: Places) -> Look:
    """``look(user={…}, project={…})``: write settings, trust all, and see."""

    def see(*, user: object = None, project: object = None, **more: Any) -> Survey:
        for scope, content in (("user", user), ("project", project)):
            if content is not None:
                path = settings_path(places, scope)  # type: ignore[arg-type]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps(content))
        where = more.pop("places", places)
        choices = Choices(**{"trust": "all", **more})
        return survey(where, choices=choices, environ={})

    return see


def _folder(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


def own(found: Survey) -> list[Skill]:
    return [item.skill for item in found.selection.winners]


def on(found: Survey) -> list[str]:
    return [skill.name for skill in own(found)]


def off(found: Survey) -> list[str]:
    return [item.candidate.skill.name for item in found.selection.disabled]


def where(found: Survey) -> list[str]:
    return [item.location for item in found.selection.winners]


def codes(found: Survey) -> list[str]:
    said = (*found.diagnostics, *found.selection.diagnostics)
    return [item.code for item in said if item.code != "builtin-missing"]


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


# 12.1 skills.test.ts

HEADERS: dict[str, tuple[str, list[str], list[str]]] = {
    # row: (header of the skill in the folder "a-skill", names, codes)
    "01": ("name: a-skill\ndescription: d", ["a-skill"], []),
    "02": ("name: other\ndescription: d", ["other"], ["name-directory"]),
    "03": (
        "name: A_Skill\ndescription: d",
        ["A_Skill"],
        # we do not say the same of its folder: it is the same name
        ["name-characters"],
    ),
    "04": (
        f"name: {'a' * 90}\ndescription: d",
        ["a" * 90],
        ["name-length", "name-directory"],
    ),
    "05": ("name: a-skill", [], ["description-missing"]),
    "06": ("name: a-skill\ndescription: d\nauthor: x\nversion: 1", ["a-skill"], []),
    # we read what is left: one field is broken, the others are not
    "10": ("name: a-skill\ndescription: d\nx: [a", ["a-skill"], ["yaml-invalid"]),
    "11": ("name: a-skill\ndescription: |\n  one\n  two", ["a-skill"], []),
    "12": (
        "name: a--skill\ndescription: d",
        ["a--skill"],
        ["name-doubles"],
    ),
    "15": ("description: d", ["a-skill"], []),
}


@pytest.mark.parametrize("row", HEADERS)
def test_row_12_1_header(row: str, look: Look, places: Places) -> None:
    """Rows 1-6, 10-12 and 15: what a header makes of its skill."""
    header, expected, said = HEADERS[row]
    folder = places.agent_directory / "skills" / "a-skill"
    write(folder / "SKILL.md", f"---\n{header}\n---\n")
    found = look()
    assert (expected, said) == (on(found), codes(found))


def test_row_12_1_07_nested_skill_is_found(
    look: Look, places: Places, make_skill: MakeSkill
) -> None:
    """Without a word."""
    make_skill(places.agent_directory / "skills/deep/er", "a")
    found = look()
    assert (["a"], []) == (on(found), codes(found))


def test_row_12_1_08_root_skill_hides_nested_ones(look: Look, places: Places) -> None:
    """And is named after its directory; we say so (W44)."""
    skills = places.agent_directory / "skills"
    write(skills / "SKILL.md", "---\ndescription: d\n---\n")
    write(skills / "a/SKILL.md", "---\ndescription: d\n---\n")
    found = look()
    assert (["skills"], ["skill-hides-others"]) == (on(found), codes(found))


def test_row_12_1_09_file_without_header_is_no_skill(
    look: Look, places: Places
) -> None:
    """One message: that the header is missing, not what would be in it."""
    write(places.agent_directory / "skills/a/SKILL.md", "# A\n")
    found = look()
    assert ([], ["no-frontmatter"]) == (on(found), codes(found))


def test_row_12_1_11_lines_of_a_block_are_kept(look: Look, places: Places) -> None:
    """As they are written."""
    text = "---\ndescription: |\n  one\n  two\n---\n"
    write(places.agent_directory / "skills/a/SKILL.md", text)
    assert ["one\ntwo"] == [skill.description for skill in own(look())]


def test_row_12_1_13_many_are_found(
    look: Look, places: Places, make_skill: MakeSkill
) -> None:
    """All of a tree."""
    for number in range(6):
        make_skill(places.agent_directory / f"skills/{number % 2}", f"s{number}")
    assert ["s0", "s1", "s2", "s3", "s4", "s5"] == on(look())


def test_row_12_1_14_missing_directories_say_nothing(look: Look) -> None:
    """12.6/1 and 12.8/1 are the same: nothing configured, nothing there."""
    found = look()
    assert ([], []) == (on(found), codes(found))


@pytest.mark.parametrize(
    ("line", "flag"), [("disable-model-invocation: true", True), ("", False)]
)
def test_row_12_1_16_17_model_invocation(
    line: str, look: Look, places: Places, *, flag: bool
) -> None:
    """Present and absent."""
    text = f"---\ndescription: d\n{line}\n---\n"
    write(places.agent_directory / "skills/a/SKILL.md", text)
    found = look()
    assert [flag] == [skill.disable_model_invocation for skill in own(found)]
    assert [] == codes(found)


def test_row_12_1_18_python_skill(
    look: Look, places: Places, make_skill: MakeSkill
) -> None:
    """Its kind and where its half lies."""
    folder = make_skill(places.agent_directory / "skills", "a-b", python="")
    found = look()
    (python,) = (skill.python for skill in own(found))
    assert python is not None
    assert ("a_b", folder, folder / "pyproject.toml", []) == (
        python.import_name,
        python.directory,
        python.pyproject,
        codes(found),
    )


def test_row_12_1_19_project_without_package_is_markdown(
    look: Look, places: Places, make_skill: MakeSkill
) -> None:
    """The warning names the file that is expected."""
    folder = places.agent_directory / "skills"
    make_skill(folder, "a-b", files={"pyproject.toml": "[project]\nname = 'a-b'\n"})
    found = look()
    said = [item.message for item in found.selection.diagnostics]
    assert ["markdown"] == [skill.kind for skill in own(found)]
    assert ["`src/a_b/__init__.py` is missing" in text for text in said] == [True]


def test_row_12_1_28_explicit_path_is_loaded(
    look: Look, tmp_path: Path, make_skill: MakeSkill
) -> None:
    """From anywhere, without a word."""
    found = look(explicit=[make_skill(tmp_path / "else", "a")])
    assert (["explicit: a"], []) == (where(found), codes(found))


def test_row_12_1_29_missing_explicit_path_is_told(look: Look) -> None:
    """As an error, since somebody asked for it."""
    found = look(explicit=["nowhere"])
    assert [("source-missing", "error")] == [
        (item.code, item.severity)
        for item in found.diagnostics
        if item.code != "builtin-missing"
    ]


def test_row_12_1_30_home_sign_is_the_home(
    look: Look, home: Path, make_skill: MakeSkill
) -> None:
    """Either spelling finds the same."""
    make_skill(home / "mine", "a")
    assert where(look(explicit=["~/mine"])) == where(look(explicit=[home / "mine"]))


def test_row_12_1_31_shared_import_name_is_told(
    look: Look, places: Places, make_skill: MakeSkill
) -> None:
    """Both load; the warning names both."""
    for name in ("web-search", "web_search"):
        make_skill(places.agent_directory / "skills", name, python="")
    found = look()
    (clash,) = (x for x in found.selection.diagnostics if "import" in x.code)
    assert ["web-search", "web_search"] == on(found)
    assert "web-search" in clash.message
    assert "web_search" in clash.message


def test_row_12_1_32_first_of_a_name_wins(
    look: Look, places: Places, make_skill: MakeSkill
) -> None:
    """The other one is shadowed, once."""
    for folder in ("x", "y"):
        make_skill(places.agent_directory / "skills" / folder, "a")
    found = look()
    assert ["user: x/a"] == where(found)
    assert ["user: y/a"] == [it.candidate.location for it in found.selection.shadowed]


# 12.3 builtin-skills.test.ts


@pytest.fixture
def shipped(places: Places, make_skill: MakeSkill) -> Path:
    """Two skills that ship."""
    make_skill(places.builtin, "builtin-skill")
    make_skill(places.builtin, "other")
    return places.builtin


def test_row_12_3_01_09_shipped_skills_are_builtin(look: Look, shipped: Path) -> None:
    """By source, and relative to their folder."""
    found = look()
    assert ["builtin: builtin-skill", "builtin: other"] == where(found)
    assert {shipped} == {item.source.directory for item in found.selection.winners}


def test_row_12_3_02_10_users_skill_wins(
    look: Look, shipped: Path, places: Places, make_skill: MakeSkill
) -> None:
    """Over a shipped one of its name."""
    make_skill(places.agent_directory / "skills", "other")
    assert "user: other" in where(look())


def test_row_12_3_03_flag_removes_shipped_skills(look: Look, shipped: Path) -> None:
    """``enableBuiltinSkills``; we keep them in sight, with the reason."""
    found = look(user={"enableBuiltinSkills": False})
    assert ([], ["builtin-skill", "other"]) == (on(found), off(found))


@pytest.mark.parametrize("state", ["missing", "empty"])
def test_row_12_3_04_05_12_nothing_shipped_is_a_warning(
    state: str, look: Look, places: Places
) -> None:
    """Packaging went wrong, and the path says where."""
    if state == "missing":
        places.builtin.rmdir()
    (said,) = look().diagnostics
    assert ("builtin-missing", "warning", places.builtin) == (
        said.code,
        said.severity,
        said.path,
    )


def test_row_12_3_06_shipped_skills_are_no_news(look: Look, shipped: Path) -> None:
    """Nothing is said where something is there."""
    assert () == look().diagnostics


@pytest.mark.parametrize("way", ["settings", "no-skills"])
def test_row_12_3_07_nobody_misses_what_is_switched_off(
    way: str, look: Look, places: Places
) -> None:
    """No warning about a folder that is not asked for."""
    places.builtin.rmdir()
    found = (
        look(user={"enableBuiltinSkills": False})
        if way == "settings"
        else look(only_explicit=True)
    )
    assert () == found.diagnostics


def test_row_12_3_08_shipped_skill_is_disabled_by_its_file(
    look: Look, shipped: Path
) -> None:
    """Others stay."""
    found = look(user={"skills": ["-builtin-skill/SKILL.md"]})
    assert (["other"], ["builtin-skill"]) == (on(found), off(found))


def test_row_12_3_11_no_skills_is_empty(look: Look, shipped: Path) -> None:
    """12.8/14 and 12.8/19 are the same."""
    assert [] == where(look(only_explicit=True))


@pytest.fixture
def as_shipped(places: Places, home: Path) -> Places:
    """The same places with what really ships."""
    real = find_places(environ={"HOME": str(home)}, project=places.project_root)
    return places._replace(builtin=real.builtin)


def test_row_12_3_13_18_what_ships_is_sound(look: Look, as_shipped: Places) -> None:
    """No diagnostic; the creator is there, and ``edit`` is a function."""
    found = look(places=as_shipped)
    kinds = {skill.name: skill.kind for skill in own(found)}
    assert ("markdown", "python") == (kinds["skill-creator"], kinds["edit"])
    assert [] == codes(found)


# 12.6 package-manager.test.ts


def test_row_12_6_03_settings_entry_is_a_source(
    look: Look, places: Places, tmp_path: Path, make_skill: MakeSkill
) -> None:
    """Absolute, or relative to the user's settings."""
    make_skill(tmp_path / "else", "a")
    make_skill(places.agent_directory / "more", "b")
    assert ["a", "b"] == on(look(user={"skills": [str(tmp_path / "else"), "more"]}))


def test_row_12_6_04_12_8_02_lone_file_of_the_user_counts(
    look: Look, places: Places
) -> None:
    """Directly in the user's folder."""
    file = places.agent_directory / "skills/lone.md"
    write(file, "---\ndescription: d\n---\n")
    assert ["lone"] == on(look())


def test_row_12_6_05_project_entry_is_relative_to_its_file(
    look: Look, places: Places, make_skill: MakeSkill
) -> None:
    """To ``.prime/agent``."""
    make_skill(places.project_root / ".prime/agent/extra", "a")
    assert ["a"] == on(look(project={"skills": ["extra"]}))


def test_row_12_6_07_shared_tree_is_one_source(
    look: Look, places: Places, tmp_path: Path, make_skill: MakeSkill
) -> None:
    """Both scopes link to one folder: each skill once.

    We differ in whose it is: what users have among their own needs no trust, wherever
    it is met again.
    """
    make_skill(tmp_path / "shared", "a")
    for base in (places.agent_directory, places.project_root / ".prime/agent"):
        base.mkdir(parents=True, exist_ok=True)
        (base / "skills").symlink_to(tmp_path / "shared")
    (winner,) = look().selection.winners
    assert ("user", ()) == (winner.source.kind, winner.aliases)


def test_row_12_6_10_ancestors_up_to_the_repository(
    look: Look, places: Places, make_skill: MakeSkill
) -> None:
    """Its root and what lies between count; what lies above does not."""
    root = places.project_root
    make_skill(root / ".agents/skills", "at-root")
    make_skill(root / "sub/.agents/skills", "below")
    make_skill(root.parent / ".agents/skills", "above")
    inner = places._replace(working_directory=_folder(root / "sub/deep"))
    assert ["at-root", "below"] == on(look(places=inner))


def test_row_12_6_11_without_a_repository(
    look: Look, places: Places, tmp_path: Path, home: Path, make_skill: MakeSkill
) -> None:
    """We differ: the working directory is the project (design section 3).

    Between it and the file system's root lie the folders of strangers.
    """
    make_skill(tmp_path / "loose/.agents/skills", "above")
    make_skill(tmp_path / "loose/work/.agents/skills", "here")
    bare = find_places(environ={"HOME": str(home)}, project=tmp_path / "loose/work")
    assert ["here"] == on(look(places=bare._replace(builtin=places.builtin)))


def test_row_12_6_12_lone_file_of_agents_does_not_count(
    look: Look, places: Places, make_skill: MakeSkill
) -> None:
    """Only folders do."""
    skills = places.project_root / ".agents/skills"
    make_skill(skills / "deep", "a")
    write(skills / "lone.md", "---\ndescription: d\n---\n")
    assert ["a"] == on(look())


def test_row_12_6_13_users_folder_stays_the_users(
    look: Look, places: Places, home: Path, make_skill: MakeSkill
) -> None:
    """Though the walk up from below the home directory meets it."""
    make_skill(home / ".agents/skills", "a")
    inner = find_places(environ={"HOME": str(home)}, project=_folder(home / "work"))
    found = look(places=inner._replace(builtin=places.builtin))
    assert ["user"] == [item.source.kind for item in found.selection.winners]


def test_row_12_6_14_linked_user_folders_are_one(
    look: Look, places: Places, home: Path, make_skill: MakeSkill
) -> None:
    """One entry."""
    make_skill(home / ".agents/skills", "a")
    (places.agent_directory / "skills").symlink_to(home / ".agents/skills")
    assert ["user: a"] == where(look())


def test_row_12_6_15_ignore_file_in_the_folder_counts(
    look: Look, places: Places, make_skill: MakeSkill
) -> None:
    """The others are found."""
    skills = places.agent_directory / "skills"
    make_skill(skills / "secret", "a")
    make_skill(skills, "b")
    write(skills / ".gitignore", "secret\n")
    assert ["b"] == on(look())


def test_row_12_6_16_ignore_file_of_the_project_does_not(
    look: Look, places: Places, make_skill: MakeSkill
) -> None:
    """Whoever keeps ``.prime/agent`` out of git still wants its skills."""
    make_skill(places.project_root / ".prime/agent/skills", "a")
    write(places.project_root / ".gitignore", ".prime/agent\n")
    assert ["a"] == on(look())


def test_row_12_6_20_outer_skill_of_a_package_alone(
    look: Look, tmp_path: Path, make_skill: MakeSkill
) -> None:
    """What lies in a skill is its own."""
    outer = make_skill(tmp_path / "package/skills", "outer")
    make_skill(outer, "inner")
    package = PackageDirectory(directory=tmp_path / "package/skills", provenance="x")
    assert ["outer"] == on(look(packages=[package]))


PATTERNS: dict[str, tuple[list[str], list[str]]] = {
    # row: (entries, what stays of keep, mine and bad-skill)
    "51": (["!**/bad-skill"], ["keep", "mine"]),
    "52": ([], ["bad-skill", "keep", "mine"]),
    "61": (["!skills/*", "+skills/keep"], ["keep"]),
    "63": (["!**/*", "+skills/keep", "+skills/mine"], ["keep", "mine"]),
    "64": (["!skills/keep", "+skills/keep"], ["bad-skill", "keep", "mine"]),
    "68": (["+skills/keep", "-skills/keep"], ["bad-skill", "mine"]),
    # 12.8/8
    "08": (["-skills/bad-skill"], ["keep", "mine"]),
}


@pytest.mark.parametrize("row", PATTERNS)
def test_row_12_6_patterns(
    row: str, look: Look, places: Places, make_skill: MakeSkill
) -> None:
    """Rows 51, 52, 61, 63, 64 and 68, and 12.8/8: what patterns leave."""
    entries, expected = PATTERNS[row]
    for name in ("keep", "mine", "bad-skill"):
        make_skill(places.agent_directory / "skills", name)
    found = look(user={"skills": entries})
    assert expected == on(found)
    assert sorted({"keep", "mine", "bad-skill"} - {*expected}) == off(found)


# 12.8 resource-loader.test.ts


def test_row_12_8_03_extra_markdown_is_not_looked_at(
    look: Look, places: Places, make_skill: MakeSkill
) -> None:
    """Beside a ``SKILL.md``."""
    make_skill(places.agent_directory / "skills", "a", files={"NOTES.md": "# no"})
    found = look()
    assert (["a"], []) == (on(found), codes(found))


def test_row_12_8_05_projects_skill_wins(
    look: Look, places: Places, make_skill: MakeSkill
) -> None:
    """Over the user's, once it is trusted."""
    make_skill(places.project_root / ".prime/agent/skills", "a")
    make_skill(places.agent_directory / "skills", "a")
    assert ["project: a"] == where(look())
    assert ["user: a"] == where(look(trust="none"))


def test_row_12_8_13_registered_path_keeps_its_source(
    look: Look, places: Places, tmp_path: Path, shipped: Path, make_skill: MakeSkill
) -> None:
    """And nothing else loses its own (W53)."""
    make_skill(tmp_path / "theirs", "a")
    found = look(registered=[tmp_path / "theirs"])
    assert ["registered", "builtin", "builtin"] == [
        item.source.kind for item in found.selection.winners
    ]


def test_row_12_8_15_no_skills_leaves_explicit_ones(
    look: Look, tmp_path: Path, shipped: Path, make_skill: MakeSkill
) -> None:
    """Those were asked for."""
    path = make_skill(tmp_path / "else", "a")
    assert ["explicit: a"] == where(look(explicit=[path], only_explicit=True))


def test_row_12_8_16_17_websearch_is_there(look: Look, as_shipped: Places) -> None:
    """A function whose listing names the way to a key; no warning without one."""
    found = look(places=as_shipped)
    (skill,) = (skill for skill in own(found) if skill.name == "websearch")
    assert "python" == skill.kind
    assert "%skill login" in skill.path.read_text() + skill.description
    assert [] == codes(found)


@pytest.mark.parametrize("scope", ["user", "project"])
def test_row_12_8_18_flag_takes_websearch_out(
    scope: str, look: Look, as_shipped: Places
) -> None:
    """And nothing asks for its key."""
    settings = {"bundledSkills": {"websearch": False}}
    found = look(places=as_shipped, **{scope: settings})
    assert ["websearch"] == off(found)
    assert [] == codes(found)


@pytest.mark.parametrize("kind", ["project", "explicit"])
def test_row_12_8_20_21_another_websearch_wins(
    kind: str, look: Look, as_shipped: Places, tmp_path: Path, make_skill: MakeSkill
) -> None:
    """A markdown skill of the project's, or one that was named."""
    root = places_of(kind, as_shipped=as_shipped, elsewhere=tmp_path / "else")
    path = make_skill(root, "websearch")
    found = look(places=as_shipped, explicit=[path] if kind == "explicit" else [])
    (winner,) = (x for x in found.selection.winners if x.skill.name == "websearch")
    assert (kind, "markdown") == (winner.source.kind, winner.skill.kind)
    assert ["builtin: websearch"] == [
        item.candidate.location for item in found.selection.shadowed
    ]


def places_of(kind: str, *, as_shipped: Places, elsewhere: Path) -> Path:
    project = as_shipped.project_root / ".prime/agent/skills"
    return project if kind == "project" else elsewhere
