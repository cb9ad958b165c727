"""One state per skill, with one reason and one way out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from prime_skills_ext.catalog.discovery import Discovery, discover
from prime_skills_ext.catalog.gates import Facts, Problem, gates
from prime_skills_ext.catalog.origin import may_run_commands
from prime_skills_ext.catalog.selection import Disabling, Selection, select
from prime_skills_ext.catalog.status import Catalogue, SkillStatus, statuses
from prime_skills_ext.errors import UnknownSkillError
from tests.catalog.conftest import MakeSource
from tests.conftest import MakeSkill

NEEDS_KEY = (
    "name: search\ndescription: d\n"
    "metadata: {credential: {provider: serper, variable: SERPER_API_KEY}}\n"
)
NEEDS_LOGIN = (
    "name: tracker\ndescription: d\nmetadata: {credential: {provider: tracker}}\n"
)
FAILED = Problem(state="install-failed", reason="no such version", fix="fix it")
BROKEN = Problem(state="import-failed", reason="SyntaxError", fix="mend it")


def catalogue(
    selection: Selection,
    *,
    installed: Mapping[Path, Problem] | None = None,
    bound: Mapping[Path, Problem] | None = None,
    names: Mapping[Path, str] | None = None,
    facts: Facts | None = None,
    removed: Iterable[SkillStatus] = (),
) -> Catalogue:
    return statuses(
        selection,
        installed=installed or {},
        bound=bound or {},
        names=names or {},
        facts=facts or Facts(),
        removed=removed,
    )


def chosen(discovery: Discovery) -> Selection:
    """Trust everything but projects."""
    return select(discovery, trusted=lambda item: item.source.kind != "project")


@pytest.fixture
def selection(
    tmp_path: Path, make_skill: MakeSkill, make_source: MakeSource
) -> Selection:
    """A user's three skills, a project's two, a built-in that is overridden."""
    user, project, builtin = (tmp_path / name for name in ("u", "p", "b"))
    make_skill(user, "word-count", python="async def run(): ...\n")
    make_skill(user, "search", frontmatter=NEEDS_KEY, python="")
    make_skill(user, "edit")
    make_skill(project, "deploy", python="1 / 0\n")
    make_skill(project, "word-count", python="1 / 0\n")
    make_skill(builtin, "edit", python="")
    return chosen(
        discover(
            [
                make_source(user, "user", label="user:.agents/skills"),
                make_source(project, "project"),
                make_source(builtin, "builtin"),
            ]
        )
    )


def identity_of(selection: Selection, name: str) -> Path:
    return next(
        item.skill.identity for item in selection.winners if item.skill.name == name
    )


def test_every_skill_has_one_state(selection: Selection) -> None:
    """Sorted by name, the winner before those it overrides."""
    assert [
        ("deploy", "project: deploy", "untrusted"),
        ("edit", "user:.agents/skills: edit", "instructions"),
        ("edit", "builtin: edit", "shadowed"),
        ("search", "user:.agents/skills: search", "needs-credential"),
        ("word-count", "user:.agents/skills: word-count", "ready"),
        ("word-count", "project: word-count", "untrusted"),
    ] == [
        (status.name, status.location, status.state)
        for status in catalogue(selection).skills
    ]


def test_skill_that_works_has_nothing_to_fix(selection: Selection) -> None:
    """Neither reason nor fix."""
    status = catalogue(selection).get("word-count")
    assert (None, None) == (status.reason, status.fix)


def test_every_other_state_has_a_reason_and_a_fix(selection: Selection) -> None:
    """One sentence without a full stop, and something to do."""
    for status in catalogue(selection).skills:
        if status.state not in {"ready", "instructions"}:
            assert status.reason
            assert status.fix
            assert not status.reason.endswith(".")


def test_se01_untrusted_skill_is_listed_with_the_command(selection: Selection) -> None:
    """The table says what to type."""
    status = catalogue(selection).get("deploy")
    assert ("untrusted", "%skill trust") == (status.state, status.fix)


def test_se07_untrusted_skill_that_would_override_says_so(selection: Selection) -> None:
    """And the winner does not claim to override it."""
    status = catalogue(selection).get("word-count@project")
    assert ("untrusted", "would override word-count after `%skill trust`") == (
        status.state,
        status.reason,
    )
    assert "%skill trust" == status.fix
    assert () == catalogue(selection).get("word-count").overrides


def test_se01_trust_is_known_of_every_skill(
    tmp_path: Path, make_skill: MakeSkill, make_source: MakeSource
) -> None:
    """Also of one that lost its name to another untrusted one, or is disabled."""
    near, far, user = (tmp_path / name for name in ("near", "far", "user"))
    make_skill(near, "deploy")
    make_skill(far, "deploy")
    make_skill(far, "off")
    make_skill(user, "edit")
    found = discover(
        [
            make_source(near, "project", label="project"),
            make_source(far, "project", label="project:far", order=1),
            make_source(user, "user"),
        ]
    )
    selection = select(
        found,
        trusted=lambda item: item.source.kind != "project",
        disabled=lambda item: (
            Disabling(reason="r", fix="f") if item.skill.name == "off" else None
        ),
    )
    assert [
        ("project: deploy", "untrusted", False, False),
        ("project:far: deploy", "shadowed", False, False),
        ("user: edit", "instructions", True, True),
        ("project:far: off", "disabled", False, False),
    ] == [
        (status.location, status.state, status.is_trusted, may_run_commands(status))
        for status in catalogue(selection).skills
    ]


def test_pr04_winner_names_what_it_overrides(selection: Selection) -> None:
    """As qualified names, with which the others can be reached."""
    status = catalogue(selection).get("edit")
    assert ("edit@builtin",) == status.overrides
    assert "builtin" == catalogue(selection).get("edit@builtin").source.label


def test_shadowed_skill_says_who_has_its_name(selection: Selection) -> None:
    """And how to look at it."""
    status = catalogue(selection).get("edit@builtin")
    assert ("user:.agents/skills: edit has its name", "%skill show edit@builtin") == (
        status.reason,
        status.fix,
    )


@pytest.mark.parametrize(
    "facts",
    [
        Facts(environ={"SERPER_API_KEY": "k"}),
        Facts(credentials=frozenset({"serper"})),
    ],
)
def test_credential_makes_a_skill_ready(selection: Selection, facts: Facts) -> None:
    """A variable or a stored key will do."""
    assert "ready" == catalogue(selection, facts=facts).get("search").state


def test_missing_credential_names_what_to_do(selection: Selection) -> None:
    """The two ways that work."""
    status = catalogue(selection).get("search")
    assert "it needs a key for serper" == status.reason
    assert (
        "`%skill login serper`, or set the environment variable SERPER_API_KEY"
        == status.fix
    )


def test_missing_credential_without_a_variable_has_one_way(
    tmp_path: Path, make_skill: MakeSkill, make_source: MakeSource
) -> None:
    """The command."""
    make_skill(tmp_path, "tracker", frontmatter=NEEDS_LOGIN)
    status = catalogue(chosen(discover([make_source(tmp_path)]))).get("tracker")
    assert "%skill login tracker" == status.fix


def test_trust_is_asked_before_the_credential(
    tmp_path: Path, make_skill: MakeSkill, make_source: MakeSource
) -> None:
    """One state per skill: what must happen first."""
    make_skill(tmp_path, "search", frontmatter=NEEDS_KEY)
    selection = chosen(discover([make_source(tmp_path, "project")]))
    problems = gates(selection, facts=Facts())
    assert ["untrusted"] == [problem.state for problem in problems.values()]


def test_gates_speak_of_winners_alone(selection: Selection) -> None:
    """A loser's reason is that it lost."""
    problems = gates(selection, facts=Facts())
    assert {identity_of(selection, "deploy"), identity_of(selection, "search")} == set(
        problems
    )


def test_failed_installation_comes_before_a_failed_import(selection: Selection) -> None:
    """The cause, not the consequence."""
    identity = identity_of(selection, "word-count")
    found = catalogue(
        selection, installed={identity: FAILED}, bound={identity: BROKEN}
    ).get("word-count")
    assert ("install-failed", "no such version", "fix it") == (
        found.state,
        found.reason,
        found.fix,
    )


def test_failed_import_is_said_where_the_installation_went_well(
    selection: Selection,
) -> None:
    """Every stage may object."""
    identity = identity_of(selection, "word-count")
    found = catalogue(selection, bound={identity: BROKEN}).get("word-count")
    assert "import-failed" == found.state


def test_gate_comes_before_a_failed_installation(selection: Selection) -> None:
    """What may not run was never tried, whatever an old record says."""
    identity = identity_of(selection, "search")
    found = catalogue(selection, installed={identity: FAILED}).get("search")
    assert "needs-credential" == found.state


def test_bound_name_is_what_to_type(selection: Selection) -> None:
    """Only the skill that is bound has one."""
    identity = identity_of(selection, "word-count")
    found = catalogue(selection, names={identity: "word_count"})
    assert {"word_count", None} == {status.bound_as for status in found.skills}
    assert "word_count" == found.get("word-count").bound_as


def test_removed_skill_stays_in_sight(selection: Selection) -> None:
    """It is no longer bound and overrides nothing."""
    earlier = catalogue(selection, names={identity_of(selection, "edit"): "edit"})
    nothing = chosen(Discovery(candidates=(), diagnostics=()))
    found = catalogue(nothing, removed=[earlier.get("edit")]).get("edit")
    assert ("removed", None, ()) == (found.state, found.bound_as, found.overrides)
    assert found.fix == "put the folder back, then run %reload_skills"


def test_catalogue_keeps_the_diagnostics(selection: Selection) -> None:
    """What discovery and selection said is still there."""
    assert selection.diagnostics == catalogue(selection).diagnostics


@pytest.mark.parametrize(
    ("name", "location"),
    [
        ("edit", "user:.agents/skills: edit"),
        ("word-count", "user:.agents/skills: word-count"),
        ("word_count", "user:.agents/skills: word-count"),
        ("edit@user:.agents/skills", "user:.agents/skills: edit"),
        ("edit@user", "user:.agents/skills: edit"),
        ("edit@builtin", "builtin: edit"),
        ("word_count@project", "project: word-count"),
    ],
)
def test_get_takes_every_way_to_name_a_skill(
    selection: Selection, name: str, location: str
) -> None:
    """Name, import name, and either of them with a label or a kind."""
    assert location == catalogue(selection).get(name).location


def test_get_compares_names_in_one_unicode_form(
    tmp_path: Path, make_skill: MakeSkill, make_source: MakeSource
) -> None:
    """What looks the same is the same."""
    make_skill(tmp_path, "caf\u00e9")
    found = catalogue(chosen(discover([make_source(tmp_path)])))
    assert "caf\u00e9" == found.get("cafe\u0301").name


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("word-cuont", "word-count"),
        ("wordcount", "word-count"),
        ("word-count@projct", "word-count@project"),
    ],
)
def test_get_suggests_the_nearest_name(
    selection: Selection, name: str, suggestion: str
) -> None:
    """A slip costs one look."""
    with pytest.raises(UnknownSkillError, match=f'There is no skill "{name}"') as error:
        catalogue(selection).get(name)
    assert f'did you mean "{suggestion}"? %skill lists them all' == error.value.fix


@pytest.mark.parametrize("name", ["zzzzzz", "", "@", "@builtin"])
def test_get_points_to_the_list_when_nothing_is_near(name: str) -> None:
    """Also where there are no skills at all."""
    with pytest.raises(UnknownSkillError) as error:
        Catalogue().get(name)
    assert "%skill lists them all" == error.value.fix


def test_qualified_name_leads_back(selection: Selection) -> None:
    """Every skill can be reached by it."""
    found = catalogue(selection)
    assert found.skills == tuple(
        found.get(status.qualified_name) for status in found.skills
    )
