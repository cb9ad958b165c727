"""One winner per name, whatever the order that candidates come in."""

from __future__ import annotations

import itertools
import random
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prime_skills_ext.catalog.discovery import Candidate, Discovery, discover
from prime_skills_ext.catalog.selection import Precedence, Selection, select
from prime_skills_ext.catalog.sources import RANKS, Source, SourceKind
from prime_skills_ext.skill.model import Diagnostic, PythonPackage, Skill
from tests.catalog.conftest import MakeSource
from tests.conftest import MakeSkill


def candidate(
    name: str,
    kind: SourceKind = "user",
    *,
    folder: str | None = None,
    label: str | None = None,
    order: int = 0,
    python: bool = False,
    import_name: str | None = None,
    identity: str | None = None,
    aliases: tuple[Candidate, ...] = (),
) -> Candidate:
    """A candidate that lies nowhere."""
    label = label or kind
    root = Path("/", label)
    directory = root / (folder or name)
    module = import_name or name.replace("-", "_")
    package = PythonPackage(
        import_name=module,
        directory=directory,
        pyproject=directory / "pyproject.toml",
        src=directory / "src",
    )
    return Candidate(
        skill=Skill(
            name=name,
            description="d",
            path=directory / "SKILL.md",
            directory=directory,
            identity=Path(identity) if identity else directory / "SKILL.md",
            import_name=module,
            python=package if python else None,
        ),
        source=Source(kind=kind, label=label, directory=root, order=order),
        aliases=aliases,
    )


def chosen(
    *candidates: Candidate,
    trusted: Callable[[Candidate], bool] = lambda _: True,
    precedence: Precedence = "project",
) -> Selection:
    discovery = Discovery(candidates=candidates, diagnostics=())
    return select(discovery, trusted=trusted, precedence=precedence)


def from_user(item: Candidate) -> bool:
    """Trust everything but projects."""
    return item.source.kind != "project"


def won(selection: Selection) -> list[str]:
    return [winner.location for winner in selection.winners]


def lost(selection: Selection) -> list[str]:
    return [item.candidate.location for item in selection.shadowed]


def reported(selection: Selection) -> list[tuple[str, str]]:
    return [(item.code, item.severity) for item in selection.diagnostics]


def test_winners_are_sorted_by_name() -> None:
    """The order of the sources does not show."""
    selection = chosen(candidate("b", "project"), candidate("a"), candidate("c"))
    assert ["user: a", "project: b", "user: c"] == won(selection)


def test_each_rank_wins_over_the_next() -> None:
    """All eight, highest first."""
    kinds = list(RANKS)
    for higher, lower in itertools.pairwise(kinds):
        selection = chosen(candidate("a", lower), candidate("a", higher))
        assert [f"{higher}: a"] == won(selection)


def test_personal_precedence_puts_the_user_before_the_project() -> None:
    """Explicit paths still win over both."""
    kinds: list[SourceKind] = [
        "builtin",
        "project",
        "project-settings",
        "user",
        "user-settings",
        "explicit",
    ]
    selection = chosen(*(candidate("a", kind) for kind in kinds), precedence="personal")
    assert ["explicit: a"] == won(selection)
    assert [
        "user-settings: a",
        "user: a",
        "project-settings: a",
        "project: a",
        "builtin: a",
    ] == lost(selection)


def test_nearer_source_wins_within_a_rank() -> None:
    """The order of the sources decides before any path does."""
    near = candidate("a", "project", label="project:z", order=0)
    far = candidate("a", "project", label="project:a", order=1)
    assert ["project:z: a"] == won(chosen(far, near))


def test_names_are_compared_in_one_unicode_form() -> None:
    """What looks the same is the same."""
    composed = unicodedata.normalize("NFC", "café")
    decomposed = unicodedata.normalize("NFD", "café")
    selection = chosen(candidate(composed), candidate(decomposed, "builtin"))
    assert (1, 1) == (len(selection.winners), len(selection.shadowed))


def test_pr01_two_of_one_source_are_told_apart_by_path(
    tmp_path: Path, make_skill: MakeSkill, make_source: MakeSource
) -> None:
    """The first by path wins; both places are named; it is a warning."""
    for folder in ("y", "x"):
        make_skill(tmp_path, folder, frontmatter="name: dup\ndescription: d\n")
    selection = select(discover([make_source(tmp_path)]), trusted=lambda _: True)
    collision = selection.diagnostics[-1]
    assert ["user: x"] == won(selection)
    assert ("name-collision", "warning") == (collision.code, collision.severity)
    assert (
        "Two skills of one source are called `dup`: user: x wins over user: y."
        == collision.message
    )
    assert tmp_path / "y/SKILL.md" == collision.path


def test_pr01_result_is_stable_over_shuffled_candidates() -> None:
    """Fifty orders, one result, diagnostics included."""
    candidates = [
        candidate("dup", kind, folder=folder, python=True)
        for kind in ("user", "project")
        for folder in ("x", "y", "z")
    ]
    chance = random.Random(1)
    results = []
    for _ in range(50):
        chance.shuffle(candidates)
        results.append(chosen(*candidates))
    assert {repr(results[0])} == {repr(result) for result in results}


def test_pr02_project_copy_overrides_the_personal_one(
    tmp_path: Path, make_skill: MakeSkill, make_source: MakeSource
) -> None:
    """The winner is one value: name, path and package cannot disagree."""
    mine = make_skill(tmp_path / "home", "a", python="")
    theirs = make_skill(tmp_path / "project", "a", python="")
    discovery = discover(
        [make_source(mine.parent, "user"), make_source(theirs.parent, "project")]
    )
    (winner,) = select(discovery, trusted=lambda _: True).winners
    assert winner.skill.python is not None
    assert (theirs / "SKILL.md", theirs / "src") == (
        winner.skill.path,
        winner.skill.python.src,
    )


def test_pr03_shared_import_name_demotes_the_loser() -> None:
    """Both are named, and the loser stays as instructions."""
    selection = chosen(
        candidate("web-search", "user", python=True),
        candidate("web_search", "builtin", python=True),
    )
    kinds = {item.skill.name: item.skill.kind for item in selection.winners}
    (clash,) = selection.diagnostics
    assert {"web-search": "python", "web_search": "markdown"} == kinds
    assert ("import-name-clash", "warning") == (clash.code, clash.severity)
    assert (
        "The skills `web-search` (user: web-search) and `web_search` "
        "(builtin: web_search) share the import name web_search: "
        "the second counts as instructions only." == clash.message
    )


def test_pr03_rank_decides_who_keeps_the_import_name() -> None:
    """Not the name's place in the alphabet."""
    selection = chosen(
        candidate("web-search", "builtin", python=True),
        candidate("web_search", "user", python=True),
    )
    kinds = {item.skill.name: item.skill.kind for item in selection.winners}
    assert {"web-search": "markdown", "web_search": "python"} == kinds


def test_pr03_untrusted_skill_never_takes_an_import_name() -> None:
    """It is demoted, whatever its rank."""
    selection = chosen(
        candidate("web-search", "project", python=True),
        candidate("web_search", "builtin", python=True),
        trusted=from_user,
    )
    kinds = {item.skill.name: item.skill.kind for item in selection.winners}
    assert {"web-search": "markdown", "web_search": "python"} == kinds


def test_pr03_markdown_skills_share_import_names_in_peace() -> None:
    """Nothing of theirs is imported."""
    selection = chosen(candidate("web-search", python=True), candidate("web_search"))
    assert () == selection.diagnostics


def test_pr04_override_across_ranks_is_information() -> None:
    """It was meant; the loser can be reached by its qualified name."""
    selection = chosen(candidate("edit", "project"), candidate("edit", "builtin"))
    (diagnostic,) = selection.diagnostics
    assert [("overrides", "info")] == reported(selection)
    assert "`edit` (project: edit) overrides builtin: edit." == diagnostic.message
    assert "%skill show edit@builtin" in diagnostic.fix


def test_pr04_override_between_equal_ranks_is_a_warning() -> None:
    """Two places of the user's own are probably a mistake."""
    selection = chosen(
        candidate("edit", "user"),
        candidate("edit", "user", label="user:.agents/skills", order=1),
    )
    assert [("name-collision", "warning")] == reported(selection)
    assert "user: edit wins over user:.agents/skills: edit" in (
        selection.diagnostics[0].message
    )


def test_w45_each_loser_is_reported_once() -> None:
    """Against the winner, not against one another."""
    selection = chosen(
        candidate("a", "explicit"), candidate("a", "user"), candidate("a", "builtin")
    )
    assert ["user: a", "builtin: a"] == lost(selection)
    assert {"explicit: a"} == {item.by.location for item in selection.shadowed}
    assert 2 == len(selection.diagnostics)


def test_se07_untrusted_skill_never_takes_a_trusted_ones_name() -> None:
    """It is shadowed, would win once trusted, and that is a warning."""
    selection = chosen(
        candidate("edit", "project"), candidate("edit", "builtin"), trusted=from_user
    )
    (item,) = selection.shadowed
    (diagnostic,) = selection.diagnostics
    assert ["builtin: edit"] == won(selection)
    assert item.awaits_trust
    assert [("untrusted-override", "warning")] == reported(selection)
    assert "(project: edit)" in diagnostic.message
    assert "(builtin: edit)" in diagnostic.message
    assert "`%skill trust` lets it take over" in diagnostic.fix


def test_se07_untrusted_skill_of_lower_rank_awaits_nothing() -> None:
    """Trust would not make it win, and the message does not promise it."""
    selection = chosen(
        candidate("edit", "explicit"), candidate("edit", "project"), trusted=from_user
    )
    assert [False] == [item.awaits_trust for item in selection.shadowed]
    assert [("untrusted-override", "warning")] == reported(selection)
    assert "take over" not in selection.diagnostics[0].fix


def test_se07_only_the_best_untrusted_skill_awaits_trust() -> None:
    """Two cannot take one name."""
    selection = chosen(
        candidate("edit", "project", folder="x"),
        candidate("edit", "project", folder="y"),
        candidate("edit", "user"),
        trusted=from_user,
    )
    assert [("project: x", True), ("project: y", False)] == [
        (item.candidate.location, item.awaits_trust) for item in selection.shadowed
    ]


def test_untrusted_skill_wins_where_nobody_trusted_has_the_name() -> None:
    """It is listed, and it is not active."""
    selection = chosen(candidate("a", "project"), trusted=from_user)
    assert (["project: a"], ()) == (won(selection), selection.active())
    assert {Path("/project/a/SKILL.md")} == selection.untrusted


def test_untrusted_holds_winners_and_losers() -> None:
    """Whoever is not trusted is in it."""
    selection = chosen(
        candidate("a", "project"),
        candidate("b", "project"),
        candidate("b", "user"),
        trusted=from_user,
    )
    assert {Path("/project/a/SKILL.md"), Path("/project/b/SKILL.md")} == (
        selection.untrusted
    )
    assert ["user: b"] == [winner.location for winner in selection.active()]


def test_link_in_a_project_cannot_hide_the_users_skill() -> None:
    """A trusted way to a skill beats an untrusted one of higher rank."""
    users = candidate("a", "user", identity="/user/a/SKILL.md")
    linked = candidate("a", "project", identity="/user/a/SKILL.md", aliases=(users,))
    selection = chosen(linked, trusted=from_user)
    assert ["user: a"] == [winner.location for winner in selection.active()]
    assert frozenset() == selection.untrusted


def test_link_in_a_project_cannot_promote_the_users_skill() -> None:
    """It counts under the rank of the way that is trusted."""
    old = candidate("a", "user", folder="old", identity="/old")
    linked = candidate("a", "project", identity="/old", aliases=(old,))
    selection = chosen(linked, candidate("a", "explicit"), trusted=from_user)
    assert (["explicit: a"], ["user: old"]) == (won(selection), lost(selection))


def test_trusted_project_keeps_its_label_on_a_shared_skill() -> None:
    """DI-02: the source of highest precedence labels it."""
    users = candidate("a", "user", identity="/x")
    linked = candidate("a", "project", identity="/x", aliases=(users,))
    assert ["project: a"] == won(chosen(linked))


def test_discoverys_diagnostics_come_first() -> None:
    """Collisions follow, then import names."""
    first = Diagnostic(code="first", message="m", fix="f")
    discovery = Discovery(
        candidates=(
            candidate("a", python=True),
            candidate("a", "builtin"),
            candidate("b", python=True, import_name="a"),
        ),
        diagnostics=(first,),
    )
    selection = select(discovery, trusted=lambda _: True)
    assert ["first", "overrides", "import-name-clash"] == [
        item.code for item in selection.diagnostics
    ]


@st.composite
def crowds(draw: st.DrawFn) -> list[Candidate]:
    """Candidates with few names, so that they meet."""
    places = st.tuples(
        st.sampled_from(sorted(RANKS)),
        st.integers(0, 2),
        st.sampled_from(["a-b", "a_b", "c", "é", "e\u0301"]),
        st.sampled_from(["x", "y", "z"]),
        st.booleans(),
    )
    return [
        candidate(
            name,
            kind,
            label=f"{kind}:{order}",
            order=order,
            folder=f"{folder}-{name}",
            python=python,
        )
        for kind, order, name, folder, python in draw(
            st.lists(places, max_size=12, unique_by=lambda item: item[:4])
        )
    ]


def identities(candidates: Iterable[Candidate]) -> set[Path]:
    return {item.skill.identity for item in candidates}


@given(crowds(), st.randoms(use_true_random=False))
@pytest.mark.parametrize("precedence", ["project", "personal"])
def test_order_of_discovery_never_changes_the_selection(
    precedence: Precedence, crowd: list[Candidate], chance: random.Random
) -> None:
    """Whoever comes first gains nothing by it."""
    shuffled = chance.sample(crowd, len(crowd))
    assert chosen(*crowd, trusted=from_user, precedence=precedence) == chosen(
        *shuffled, trusted=from_user, precedence=precedence
    )


@given(crowds())
def test_every_candidate_is_exactly_one_of_winner_and_shadowed(
    crowd: list[Candidate],
) -> None:
    """Nobody is lost, nobody counts twice, and names do not repeat."""
    selection = chosen(*crowd, trusted=from_user)
    winners = identities(selection.winners)
    losers = identities(item.candidate for item in selection.shadowed)
    assert identities(crowd) == winners | losers
    assert len(crowd) == len(selection.winners) + len(selection.shadowed)
    names = [
        unicodedata.normalize("NFC", winner.skill.name) for winner in selection.winners
    ]
    assert sorted(set(names)) == names


@given(crowds())
def test_no_trusted_skill_loses_to_an_untrusted_one(crowd: list[Candidate]) -> None:
    """Neither its name nor its import name."""
    selection = chosen(*crowd, trusted=from_user)
    for item in selection.shadowed:
        if item.candidate.skill.identity not in selection.untrusted:
            assert item.by.skill.identity not in selection.untrusted
    imported = [
        winner.skill.import_name
        for winner in selection.winners
        if winner.skill.python is not None
    ]
    assert len(set(imported)) == len(imported)
