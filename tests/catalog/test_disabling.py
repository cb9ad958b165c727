"""Settings against skills that really lie somewhere."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prime_skills_ext.catalog.places import Places, find_places
from prime_skills_ext.catalog.settings import settings_path
from prime_skills_ext.catalog.survey import Choices, Survey, survey
from prime_skills_ext.catalog.trust import TrustStore
from tests.catalog.test_settings import SLOW_START
from tests.conftest import MakeSkill

World = Callable[..., Survey]


@pytest.fixture
def places(home: Path, tmp_path: Path, make_skill: MakeSkill) -> Places:
    """A user with three skills, a project with two."""
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    for name in ("mine", "edit", "bad-skill"):
        make_skill(home / ".prime/agent/skills", name)
    for name in ("mine", "theirs"):
        make_skill(project / ".agents/skills", name)
    return find_places(environ={"HOME": str(home)}, project=project)


@pytest.fixture
def look(places: Places) -> World:
    """``look(user={…}, project={…})``: write settings and see what counts."""

    def see(*, user: object = None, project: object = None, **keywords: Any) -> Survey:
        for scope, content in (("user", user), ("project", project)):
            path = settings_path(places, scope)  # type: ignore[arg-type]
            path.parent.mkdir(parents=True, exist_ok=True)
            if content is not None:
                path.write_text(json.dumps(content))
        return survey(places, choices=Choices(**keywords), environ={})

    return see


def off(found: Survey) -> list[str]:
    """Where the disabled skills lie."""
    return [item.candidate.location for item in found.selection.disabled]


def reasons(found: Survey) -> list[tuple[str, str]]:
    return [(item.by.reason, item.by.fix) for item in found.selection.disabled]


def codes(found: Survey) -> list[str]:
    return [item.code for item in found.diagnostics]


def sources(found: Survey, kind: str) -> list[Path]:
    return [item.directory for item in found.sources if item.kind == kind]


def test_w50_name_disables_in_every_source(look: World) -> None:
    """The reason names file and entry, the fix the command."""
    found = look(user={"skills": ["-mine"]})
    assert ["project:.agents/skills: mine", "user: mine"] == off(found)
    assert (
        '"-mine" in the user\'s settings.json disables it',
        "%skill enable mine",
    ) == reasons(found)[0]


def test_w50_project_disables_built_ins_and_the_users(look: World) -> None:
    """It can narrow, and the fix says where."""
    found = look(project={"skills": ["-edit"]})
    assert ["user: edit", "builtin: edit"] == off(found)
    assert "%skill enable edit --project" == reasons(found)[0][1]


def test_w50_project_never_enables_what_the_user_disabled(look: World) -> None:
    """The most restrictive wins."""
    found = look(
        user={"skills": ["-edit"], "bundledSkills": {"websearch": False}},
        project={
            "skills": ["+edit", "+websearch"],
            "bundledSkills": {"websearch": True},
        },
    )
    assert ["user: edit", "builtin: edit", "builtin: websearch"] == off(found)


def test_qualified_name_leaves_the_name_to_the_next(look: World) -> None:
    """Label or kind of the source."""
    found = look(user={"skills": ["-edit@user"]})
    winner = next(it for it in found.selection.winners if it.skill.name == "edit")
    assert (["user: edit"], "builtin") == (off(found), winner.source.kind)
    assert "%skill enable edit@user" == reasons(found)[0][1]


@pytest.mark.parametrize(
    "entry",
    ["-skills/bad-skill", "-skills/bad-skill/SKILL.md", "!**/bad-*", "!skills/bad*"],
)
def test_paths_and_globs_disable_relative_to_their_file(
    look: World, entry: str
) -> None:
    """What only an editor can undo, the fix leaves to an editor."""
    found = look(user={"skills": [entry]})
    assert ["user: bad-skill"] == off(found)
    assert (
        f'remove "{entry}" from the user\'s settings.json, then run %reload_skills'
        == reasons(found)[0][1]
    )


@pytest.mark.parametrize(
    "entry",
    ["-../../.agents/skills/theirs", "-.agents/skills/theirs", "!.agents/skills/th*"],
)
def test_project_paths_count_from_file_and_root(look: World, entry: str) -> None:
    """Either is what people write."""
    assert ["project:.agents/skills: theirs"] == off(look(project={"skills": [entry]}))


def test_home_sign_and_absolute_paths_are_understood(
    look: World, places: Places
) -> None:
    """In exact forms."""
    entry = f"-{places.agent_directory}/skills/./edit"
    found = look(user={"skills": ["-~/.prime/agent/skills/mine", entry]})
    assert ["user: edit", "user: mine"] == off(found)


def test_built_in_is_disabled_by_its_file(look: World) -> None:
    """As the reference writes it; the user's skill of that name is another file."""
    assert ["builtin: edit"] == off(look(user={"skills": ["-edit/SKILL.md"]}))


def test_flags_disable_what_they_name(look: World) -> None:
    """All built-ins, or the one web search that ships."""
    found = look(user={"bundledSkills": {"websearch": False}})
    assert [
        (
            "bundledSkills.websearch is false in the user's settings.json",
            "%skill enable websearch",
        )
    ] == reasons(found)
    found = look(user={"enableBuiltinSkills": False})
    assert {"builtin"} == {it.candidate.source.kind for it in found.selection.disabled}
    assert (
        "set enableBuiltinSkills to true in the user's settings.json, "
        "then run %reload_skills" == reasons(found)[0][1]
    )


def test_compact_is_disabled_wherever_it_comes_from(
    look: World, places: Places, make_skill: MakeSkill
) -> None:
    """``compaction.agentCallable`` speaks of the skill by name."""
    make_skill(places.agent_directory / "skills", "compact")
    found = look(project={"compaction": {"agentCallable": False}})
    assert ["user: compact"] == off(found)


def test_explicit_path_outranks_globs_but_not_a_name(
    look: World, tmp_path: Path, make_skill: MakeSkill
) -> None:
    """Who names a folder now does not mean a pattern of last year."""
    folder = make_skill(tmp_path, "fresh")
    found = look(user={"skills": ["!**/*"]}, explicit=[folder])
    assert ["explicit: fresh"] == [it.location for it in found.selection.winners]
    found = look(user={"skills": ["-fresh"]}, explicit=[folder])
    assert ["explicit: fresh"] == off(found)


def test_entry_is_a_source_relative_to_its_file(
    look: World, places: Places, make_skill: MakeSkill
) -> None:
    """Of rank 1 and 3; the user's needs no trust."""
    make_skill(places.agent_directory / "extra", "a")
    make_skill(places.project_root / ".prime/agent/more", "b")
    found = look(user={"skills": ["extra"]}, project={"skills": ["./more"]})
    by_name = {it.skill.name: it for it in found.selection.winners}
    assert ("user-settings: a", "project-settings: b") == (
        by_name["a"].location,
        by_name["b"].location,
    )
    untrusted = found.selection.untrusted
    assert [False, True] == [
        by_name[name].skill.identity in untrusted for name in ("a", "b")
    ]


def test_entry_may_be_a_file(
    look: World, places: Places, make_skill: MakeSkill
) -> None:
    """A SKILL.md or a lone one."""
    make_skill(places.home / "x", "a")
    (places.home / "lone.md").write_text("---\ndescription: d\n---\n")
    found = look(user={"skills": ["~/x/a/SKILL.md", "~/lone.md"]})
    names = {it.skill.name for it in found.selection.winners}
    assert {"a", "lone"} <= names


def test_w49_glob_is_a_source(
    look: World, places: Places, make_skill: MakeSkill
) -> None:
    """Every folder that it matches; files only where it asks for them."""
    for plugin in ("one", "two"):
        make_skill(places.home / "plugins" / plugin / "skills", f"of-{plugin}")
    (places.home / "plugins" / "README.md").write_text("hello")
    found = look(user={"skills": ["~/plugins/*/skills", "~/plugins/*"]})
    assert [
        places.home / "plugins/one/skills",
        places.home / "plugins/two/skills",
        places.home / "plugins/one",
        places.home / "plugins/two",
    ] == sources(found, "user-settings")
    assert [] == codes(found)
    found = look(user={"skills": ["~/**/of-*/SKILL.md"]})
    assert ["of-one", "of-two"] == [
        path.name for path in sources(found, "user-settings")
    ]


def test_w49_glob_that_matches_nothing_is_told(look: World) -> None:
    """As a path that does not exist is."""
    found = look(user={"skills": ["nowhere/*", "nothing"]})
    assert ["source-missing", "source-missing"] == codes(found)
    start, end = "The entry", "of `skills` in the user's settings.json"
    assert [
        f'{start} "nowhere/*" {end} matches nothing.',
        f'{start} "nothing" {end} does not exist.',
    ] == [item.message for item in found.diagnostics]


def test_glob_is_bounded(look: World, places: Places) -> None:
    """A pattern for everything is followed so far and no further."""
    for number in range(250):
        (places.home / "many" / str(number)).mkdir(parents=True)
    found = look(user={"skills": ["~/many/*"]})
    assert (200, ["source-too-wide"]) == (
        len(sources(found, "user-settings")),
        codes(found),
    )


def test_all_globs_of_a_file_are_bounded_together(look: World, places: Places) -> None:
    """However many there are."""
    for number in range(400):
        (places.home / "many" / f"{number % 4}" / str(number)).mkdir(parents=True)
    found = look(user={"skills": [f"~/many/{it}/*" for it in range(4)]})
    assert (200, ["source-too-wide"]) == (
        len(sources(found, "user-settings")),
        codes(found),
    )


def test_w47_root_as_entry_is_bounded(look: World) -> None:
    """The walk has its limits, wherever it starts."""
    found = look(project={"skills": ["/**/*/"]})
    assert "source-too-wide" in codes(found)


def test_project_entry_that_leaves_it_is_trusted_by_path(
    look: World, places: Places, tmp_path: Path, make_skill: MakeSkill
) -> None:
    """Trust in the project is not enough, a link inside it no way round."""
    make_skill(tmp_path / "outside", "out")
    inside = places.project_root / ".prime/agent"
    inside.mkdir(parents=True)
    (inside / "link").symlink_to(tmp_path / "outside")
    store = TrustStore(places.agent_directory)
    store.trust(places.project_root)
    for entry in ("../../../outside", "link", str(tmp_path / "outside")):
        found = look(project={"skills": [entry]})
        (source,) = (it for it in found.sources if it.kind == "project-settings")
        assert tmp_path / "outside" == source.root
        assert {"out"} == {path.parent.name for path in found.selection.untrusted}
    store.trust(tmp_path / "outside")
    assert frozenset() == look().selection.untrusted


def test_user_settings_path_inside_a_project_is_trusted(
    look: World, places: Places
) -> None:
    """The user named it."""
    found = look(user={"skills": [str(places.project_root / ".agents/skills")]})
    assert frozenset() == found.selection.untrusted


def test_no_skills_leaves_the_explicit_ones(
    look: World, tmp_path: Path, make_skill: MakeSkill
) -> None:
    """Not even settings' sources count."""
    folder = make_skill(tmp_path, "fresh")
    found = look(
        user={"skills": ["skills"]},
        explicit=[folder],
        registered=[tmp_path],
        only_explicit=True,
    )
    assert ["explicit"] == [it.label for it in found.sources]
    assert ["fresh"] == [it.skill.name for it in found.selection.winners]
    assert () == look(only_explicit=True).selection.winners


def test_w48_damage_keeps_what_was_disabled(look: World, places: Places) -> None:
    """From one start to the next."""
    assert ["user: edit", "builtin: edit"] == off(look(user={"skills": ["-edit"]}))
    settings_path(places, "user").write_text('{"skills": [,]}')
    found = look()
    assert ["user: edit", "builtin: edit"] == off(found)
    assert ["settings-damaged"] == codes(found)


HEADERS = {
    "good": "---\nname: {name}\ndescription: d\n---\n",
    "nameless": "---\ndescription: d\n---\n",
    "blank": "",
    "no description": "---\nname: {name}\n---\n",
    "broken": "---\nname: [\n---\n",
}


@SLOW_START
@given(
    skills=st.dictionaries(
        st.tuples(st.sampled_from(("user", "project")), st.sampled_from("abcd")),
        st.tuples(st.sampled_from(sorted(HEADERS)), st.sampled_from("abcd")),
    ),
    entries=st.lists(
        st.sampled_from(("-a", "-b@user", "!c", "!*/d", "+a", "-skills/d"))
    ),
    ignored=st.sampled_from(("", "b\n", "c/\n")),
)
def test_every_skill_is_winner_shadowed_disabled_or_diagnosed(
    skills: dict[tuple[str, str], tuple[str, str]], entries: list[str], ignored: str
) -> None:
    """And exactly one of them, whatever lies there and whatever settings say."""
    with tempfile.TemporaryDirectory() as folder:
        home, project = Path(folder, "home"), Path(folder, "project")
        roots = {
            "user": home / ".prime/agent/skills",
            "project": project / ".prime/agent/skills",
        }
        for root in roots.values():
            root.mkdir(parents=True)
            (root / ".gitignore").write_text(ignored)
        written = set()
        for (scope, name), (header, declared) in skills.items():
            path = roots[scope] / name / "SKILL.md"
            path.parent.mkdir()
            path.write_text(HEADERS[header].format(name=declared))
            # a file that is no skill and that an ignore file hides is nobody's business
            if name not in ignored or header in {"good", "nameless"}:
                written.add(path.resolve())
        settings = home / ".prime/agent/settings.json"
        settings.write_text(json.dumps({"skills": entries}))
        places = find_places(environ={"HOME": str(home)}, project=project)
        selection = survey(places, choices=Choices(), environ={}).selection

    counted = [
        item.skill.identity
        for item in selection.candidates()
        if item.source.kind != "builtin"
    ]
    diagnosed = {
        Path(os.path.realpath(item.path))
        for item in selection.diagnostics
        if item.path is not None
        and item.severity in {"error", "info"}
        and item.code != "overrides"
    }
    assert len(set(counted)) == len(counted)
    assert written == set(counted) | (diagnosed & written)
    assert set() == set(counted) & diagnosed
