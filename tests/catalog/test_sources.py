"""Where skills are looked for: design section 3 and the table of section 4."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prime_skills_ext.catalog.places import Places, find_places
from prime_skills_ext.catalog.sources import RANKS, Source, find_sources
from tests.conftest import MakeSkill


def places_of(project: Path, *, home: Path, **environ: str) -> Places:
    return find_places(environ=environ, project=project, home=home)


def sources_of(places: Places, *explicit: str | Path, **environ: str) -> list[Source]:
    return list(find_sources(places, explicit=explicit, environ=environ)[0])


def explicit_of(places: Places, *explicit: str | Path) -> list[Source]:
    found = sources_of(places, *explicit)
    return [source for source in found if source.kind == "explicit"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    return root


def test_agent_directory_is_below_home_when_nothing_is_set(
    project: Path, home: Path
) -> None:
    """Without a variable it is ``~/.prime/agent``."""
    assert home / ".prime" / "agent" == places_of(project, home=home).agent_directory


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"PRIME_AGENT_CODING_AGENT_DIR": "/a", "PI_CODING_AGENT_DIR": "/b"}, "/a"),
        ({"PRIME_AGENT_CODING_AGENT_DIR": "", "PI_CODING_AGENT_DIR": "/b"}, "/b"),
        ({"PRIME_AGENT_CODING_AGENT_DIR": "  ", "PI_CODING_AGENT_DIR": "/b/"}, "/b"),
    ],
)
def test_agent_directory_follows_the_variables_in_order(
    project: Path, home: Path, environ: dict[str, str], expected: str
) -> None:
    """The first variable wins, and an empty one counts as unset."""
    assert Path(expected) == places_of(project, home=home, **environ).agent_directory


def test_agent_directory_expands_the_home(project: Path, home: Path) -> None:
    """``~/x`` in the variable is below the home directory."""
    places = places_of(project, home=home, PI_CODING_AGENT_DIR="~/mine")
    assert home / "mine" == places.agent_directory


def test_home_comes_from_the_environment(project: Path, home: Path) -> None:
    """``HOME`` names it when nobody passes one."""
    places = find_places(environ={"HOME": str(home)}, project=project)
    assert home == places.home


def test_builtin_folder_exists(project: Path, home: Path) -> None:
    """The skills that ship lie beside the code."""
    assert "builtin_skills" == places_of(project, home=home).builtin.name


def test_project_root_is_the_nearest_folder_with_git(project: Path, home: Path) -> None:
    """A folder above that has one too does not count."""
    inner = project / "a" / "b"
    (inner / ".git").mkdir(parents=True)
    deep = inner / "c"
    deep.mkdir()
    assert inner == places_of(deep, home=home).project_root


def test_di12_project_root_is_the_worktree_when_git_is_a_file(
    project: Path, tmp_path: Path, home: Path
) -> None:
    """The filesystem alone decides, wherever the shared repository lies."""
    worktree = tmp_path / "w"
    worktree.mkdir()
    (worktree / ".git").write_text(f"gitdir: {project}/.git/worktrees/w\n")
    assert worktree == places_of(worktree, home=home).project_root


def test_project_root_prefers_git_to_a_nearer_prime_folder(
    project: Path, home: Path
) -> None:
    """``.prime`` is asked only where there is no repository."""
    inner = project / "inner"
    (inner / ".prime").mkdir(parents=True)
    assert project == places_of(inner, home=home).project_root


def test_project_root_is_the_prime_folder_without_git(
    tmp_path: Path, home: Path
) -> None:
    """Without a repository the nearest ``.prime`` decides."""
    root = tmp_path / "plain"
    (root / ".prime").mkdir(parents=True)
    (root / "deep").mkdir()
    assert root == places_of(root / "deep", home=home).project_root


def test_project_root_is_never_home_for_its_prime_folder(home: Path) -> None:
    """``~/.prime`` is the user's own and makes no project."""
    (home / ".prime").mkdir()
    work = home / "work"
    work.mkdir()
    assert work == places_of(work, home=home).project_root


def test_project_root_is_the_working_directory_when_nothing_marks_one(
    tmp_path: Path, home: Path
) -> None:
    """Without any mark it is where the notebook is."""
    plain = tmp_path / "plain"
    plain.mkdir()
    assert plain == places_of(plain, home=home).project_root


def test_working_directory_follows_a_link(
    project: Path, tmp_path: Path, home: Path
) -> None:
    """The way up is the real one, as it is for a process that changed there."""
    (tmp_path / "link").symlink_to(project)
    assert project == places_of(tmp_path / "link", home=home).working_directory


def test_di11_places_survive_a_vanished_working_directory(
    project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The shell's note of it still tells the way up; one diagnostic says so."""
    gone = project / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    places = find_places(environ={"PWD": str(gone)}, home=home)
    _, diagnostics = find_sources(places, environ={})
    assert project == places.project_root
    assert ["working-directory-missing"] == [item.code for item in diagnostics]


def test_di11_a_folder_that_is_there_is_not_the_one_that_vanished(
    project: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel inherits the server's note: trust must never mean that folder."""
    server = tmp_path / "server"
    (server / ".git").mkdir(parents=True)
    gone = project / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    places = find_places(environ={"PWD": str(server)}, home=home)
    assert home.resolve() == places.project_root


def test_di11_places_fall_back_to_home_when_nothing_notes_the_directory(
    project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a note, home stands in: nothing of a project is found there."""
    gone = project / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert home == find_places(environ={}, home=home).working_directory


def test_sources_are_listed_by_precedence(project: Path, home: Path) -> None:
    """Labels and order are the same on every machine."""
    inner = project / "a" / "b"
    inner.mkdir(parents=True)
    sources = sources_of(places_of(inner, home=home))
    expected = [
        "project:a/b/.prime/agent/skills",
        "project:a/b/.agents/skills",
        "project:a/b/_agents/skills",
        "project:a/b/.jupyter/skills",
        "project:a/.prime/agent/skills",
        "project:a/.agents/skills",
        "project:a/_agents/skills",
        "project:a/.jupyter/skills",
        "project",
        "project:.agents/skills",
        "project:_agents/skills",
        "project:.jupyter/skills",
        "user",
        "user:.agents/skills",
        "builtin",
    ]
    assert expected == [source.label for source in sources]


def test_sources_have_falling_precedence(project: Path, home: Path) -> None:
    """Rank and order together never rise along the list, and no label repeats."""
    skills = project / "skills"
    skills.mkdir()
    places = places_of(project, home=home)
    sources, _ = find_sources(
        places, explicit=[skills], registered=[skills], environ={}
    )
    keys = [(source.rank, source.order) for source in sources]
    assert sorted(keys) == keys
    assert len(sources) == len({source.label for source in sources})


def test_ranks_are_those_of_the_design() -> None:
    """Rank 0 wins a name."""
    expected = {
        "explicit": 0,
        "project-settings": 1,
        "project": 2,
        "user-settings": 3,
        "user": 4,
        "package": 5,
        "builtin": 6,
        "registered": 7,
    }
    assert expected == RANKS


def test_sources_of_projects_know_their_root(project: Path, home: Path) -> None:
    """Trust is keyed by it; no other kind has one."""
    roots = {
        source.kind: source.root for source in sources_of(places_of(project, home=home))
    }
    assert {"project": project, "user": None, "builtin": None} == roots


def test_lone_files_count_where_the_reference_lets_them(
    project: Path, home: Path
) -> None:
    """Yes in our own folders and the built-in one, no in shared ones."""
    sources = sources_of(places_of(project, home=home))
    loose = {source.label for source in sources if source.loose_files}
    assert {"project", "user", "builtin"} == loose


def test_sources_stop_at_the_project_root(project: Path, home: Path) -> None:
    """What lies above the repository belongs to somebody else."""
    folders = {source.directory for source in sources_of(places_of(project, home=home))}
    assert project.parent / ".agents/skills" not in folders


@pytest.mark.parametrize("as_link", [False, True])
def test_di02_users_own_folder_stays_the_users_when_home_is_a_repository(
    tmp_path: Path, home: Path, *, as_link: bool
) -> None:
    """Met on the way up, by whatever spelling, it is no project source."""
    (home / ".git").mkdir()
    (home / ".agents/skills").mkdir(parents=True)
    work = home / "work"
    work.mkdir()
    spelled = home
    if as_link:
        spelled = tmp_path / "link"
        spelled.symlink_to(home)
    labels = [source.label for source in sources_of(places_of(work, home=spelled))]
    assert "project:.agents/skills" not in labels
    assert "project" not in labels
    assert "user:.agents/skills" in labels


def test_di02_users_own_folder_stays_the_users_when_linked_into_a_project(
    project: Path, home: Path
) -> None:
    """A link in the project leads to the same folder, not to another source."""
    (home / ".agents/skills").mkdir(parents=True)
    (project / ".agents").mkdir()
    (project / ".agents/skills").symlink_to(home / ".agents/skills")
    labels = [source.label for source in sources_of(places_of(project, home=home))]
    assert "project:.agents/skills" not in labels


def test_explicit_path_may_be_a_folder(
    project: Path, home: Path, make_skill: MakeSkill
) -> None:
    """A folder is taken as it is, relative to the working directory."""
    folder = make_skill(project / "mine", "a")
    (source,) = explicit_of(places_of(project, home=home), "mine/a")
    assert (folder, None, 0) == (source.directory, source.file, source.rank)


def test_explicit_path_may_be_a_skill_file(
    project: Path, home: Path, make_skill: MakeSkill
) -> None:
    """``SKILL.md`` stands for its folder."""
    folder = make_skill(project, "a")
    (source,) = explicit_of(places_of(project, home=home), folder / "SKILL.md")
    assert (folder, None) == (source.directory, source.file)


def test_explicit_path_may_be_a_lone_file(project: Path, home: Path) -> None:
    """Any other ``.md`` file counts alone."""
    file = project / "quick.md"
    file.write_text("---\ndescription: d\n---\n")
    (source,) = explicit_of(places_of(project, home=home), file)
    assert (project, file) == (source.directory, source.file)


def test_explicit_paths_are_numbered_and_counted_once(
    project: Path, home: Path
) -> None:
    """The second path has a label of its own; a repeated one, by link, is dropped."""
    for name in ("a", "b"):
        (project / name).mkdir()
    (project / "again").symlink_to(project / "a")
    sources = explicit_of(places_of(project, home=home), "a", "b", "again")
    assert [("explicit", 0), ("explicit:2", 1)] == [
        (source.label, source.order) for source in sources
    ]


def test_explicit_paths_of_the_environment_come_last(project: Path, home: Path) -> None:
    """``PRIME_SKILLS_PATH`` is a list; stray separators in it mean nothing."""
    for name in ("a", "b", "c"):
        (project / name).mkdir()
    listed = os.pathsep.join(["", str(project / "b"), "~/d", "c", ""])
    (home / "d").mkdir()
    places = places_of(project, home=home)
    sources, diagnostics = find_sources(
        places, explicit=["a"], environ={"PRIME_SKILLS_PATH": listed}
    )
    expected = [project / "a", project / "b", home / "d", project / "c"]
    assert expected == [source.directory for source in sources[:4]]
    assert () == diagnostics


@pytest.mark.parametrize(("text", "inside"), [("~", "."), ("~/x", "x"), ("~//x", "x")])
def test_w46_home_is_expanded_alone_and_before_a_slash(
    project: Path, home: Path, text: str, inside: str
) -> None:
    """``~`` is home and ``~/x`` is below it."""
    (home / "x").mkdir()
    (source,) = explicit_of(places_of(project, home=home), text)
    assert home / inside == source.directory


def test_w46_other_peoples_homes_are_not_expanded(project: Path, home: Path) -> None:
    """``~x`` is neither ``~/x`` nor somebody's home, and the message says so."""
    (home / "x").mkdir()
    places = places_of(project, home=home)
    _, (diagnostic,) = find_sources(places, explicit=["~x"], environ={})
    assert "source-missing" == diagnostic.code
    assert "only `~` and `~/…` are expanded" in diagnostic.fix


@pytest.mark.parametrize("text", ["", "  ", "\t\n"])
def test_w46_blank_path_is_reported_and_scans_nothing(
    project: Path, home: Path, text: str
) -> None:
    """It is not the working directory."""
    places = places_of(project, home=home)
    sources, diagnostics = find_sources(places, explicit=[text], environ={})
    assert "explicit" not in {source.kind for source in sources}
    assert [("source-blank", "error")] == [
        (item.code, item.severity) for item in diagnostics
    ]


def test_missing_explicit_path_is_an_error_with_the_fix(
    project: Path, home: Path
) -> None:
    """The user named it: silence would be wrong."""
    places = places_of(project, home=home)
    _, (diagnostic,) = find_sources(places, explicit=["nowhere"], environ={})
    assert "error" == diagnostic.severity
    assert "The explicit path `nowhere` does not exist." == diagnostic.message
    assert "Correct the path, or create it and run %reload_skills." == diagnostic.fix
    assert project / "nowhere" == diagnostic.path


def test_dangling_explicit_path_is_called_a_link(project: Path, home: Path) -> None:
    """What is wrong is the link, not the spelling."""
    (project / "link").symlink_to("nowhere")
    places = places_of(project, home=home)
    _, (diagnostic,) = find_sources(places, explicit=["link"], environ={})
    assert "The explicit path `link` is a link to nothing." == diagnostic.message


def test_null_character_in_a_path_is_a_missing_path(project: Path, home: Path) -> None:
    """No file has one in its name, and asking must not raise."""
    places = places_of(project, home=home)
    _, (diagnostic,) = find_sources(places, explicit=["a\0b"], environ={})
    assert "source-missing" == diagnostic.code


@pytest.mark.parametrize("kind", ["text", "fifo"])
def test_explicit_path_to_something_else_is_an_error(
    project: Path, home: Path, kind: str
) -> None:
    """A text file is no skill, and a FIFO is not opened."""
    path = project / "thing.txt"
    if kind == "fifo":
        path = project / "thing.md"
        os.mkfifo(path)
    else:
        path.write_text("x")
    places = places_of(project, home=home)
    _, (diagnostic,) = find_sources(places, explicit=[path], environ={})
    assert ("source-not-a-skill", "error") == (diagnostic.code, diagnostic.severity)


def test_registered_paths_come_last(project: Path, home: Path) -> None:
    """Other extensions lose every name to the user."""
    (project / "theirs").mkdir()
    places = places_of(project, home=home)
    sources, _ = find_sources(places, registered=["theirs"], environ={})
    assert ("registered", project / "theirs", 7) == (
        sources[-1].label,
        sources[-1].directory,
        sources[-1].rank,
    )


def test_di13_folder_that_appears_later_is_listed_from_the_start(
    project: Path, home: Path
) -> None:
    """Conventional places are looked at on every call, missing or not."""
    folders = {source.directory for source in sources_of(places_of(project, home=home))}
    assert project / ".agents/skills" in folders


@pytest.mark.parametrize("way", ["explicit", "registered"])
def test_folder_that_was_named_counts_with_its_lone_files(
    way: str, tmp_path: Path, home: Path
) -> None:
    """Whoever names a folder means what is in it."""
    folder = tmp_path / "mine"
    folder.mkdir()
    places = find_places(environ={}, project=tmp_path, home=home)
    given: dict[str, Any] = {way: [folder]}
    sources, _ = find_sources(places, environ={}, **given)
    assert [True] == [item.loose_files for item in sources if item.kind == way]


@given(
    st.sampled_from(["/skills", "/s/../skills", ".", "a", "/"]),
    st.lists(st.sampled_from(["a", ".", "..", "", ".b", "é", "\udcff"]), max_size=4),
)
def test_place_inside_a_source_is_the_relative_path(
    start: str, parts: list[str]
) -> None:
    """The short way for what a walk finds is the long way's answer."""
    source = Source(kind="user", label="user", directory=Path(start))
    path = f"{source.directory}{os.sep}{'/'.join(parts)}"
    expected = os.fsencode(os.path.relpath(path, start)).decode("utf-8", "replace")
    assert (expected if expected != "." else Path(start).name) == source.inside(path)
