"""What settings switch off takes no name, and every view says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from prime_skills_ext.catalog.discovery import Candidate, Discovery
from prime_skills_ext.catalog.gates import Facts, gates
from prime_skills_ext.catalog.selection import Disabling, Selection, select
from prime_skills_ext.catalog.sources import RANKS
from prime_skills_ext.catalog.status import statuses
from tests.catalog.test_selection import candidate, won

OFF = Disabling(reason="-x in the user's settings.json", fix="%skill enable x")


def chosen(
    *candidates: Candidate,
    off: Callable[[Candidate], bool],
    trusted: Callable[[Candidate], bool] = lambda _: True,
) -> Selection:
    return select(
        Discovery(candidates=candidates, diagnostics=()),
        trusted=trusted,
        disabled=lambda item: OFF if off(item) else None,
    )


def from_user(item: Candidate) -> bool:
    return item.source.kind == "user"


def test_disabled_skill_leaves_its_name_to_the_next() -> None:
    """It is neither winner nor shadowed, and no collision is reported."""
    selection = chosen(candidate("a", "user"), candidate("a", "builtin"), off=from_user)
    assert ["builtin: a"] == won(selection)
    assert ((), ()) == (selection.shadowed, selection.diagnostics)
    assert ["user: a"] == [item.candidate.location for item in selection.disabled]


def test_disabled_skill_leaves_its_import_name_to_the_next() -> None:
    """A module of another skill is not demoted by one that is off."""
    selection = chosen(
        candidate("web-search", "user", python=True),
        candidate("web_search", "builtin", python=True),
        off=from_user,
    )
    (winner,) = selection.winners
    assert ("web_search", "python") == (winner.skill.name, winner.skill.kind)


def test_w51_disabled_way_never_hides_an_enabled_one() -> None:
    """The same file through another source counts under that one."""
    alias = candidate("a", "builtin", identity="/real")
    found = candidate("a", "user", identity="/real", aliases=(alias,))
    selection = chosen(found, off=from_user)
    assert (["builtin: a"], ()) == (won(selection), selection.disabled)


def test_disabled_skill_answers_where_nobody_else_has_the_name() -> None:
    """The first by precedence; one whose name is taken stays silent."""
    selection = chosen(
        candidate("a", "user"),
        candidate("a", "project"),
        candidate("b", "user"),
        candidate("b", "builtin"),
        off=lambda item: item.source.kind != "builtin",
    )
    assert ["project: a", "builtin: b"] == [
        item.location for item in selection.holders()
    ]


def test_disabled_comes_before_every_other_gate() -> None:
    """What is off is off, trusted or not."""
    selection = chosen(
        candidate("a", "project"), off=lambda _: True, trusted=lambda _: False
    )
    (problem,) = gates(selection, facts=Facts()).values()
    assert ("disabled", OFF.reason, OFF.fix) == (
        problem.state,
        problem.reason,
        problem.fix,
    )


def test_catalogue_lists_a_disabled_skill_after_the_one_in_force() -> None:
    """With its reason and its fix."""
    selection = chosen(candidate("a", "user"), candidate("a", "builtin"), off=from_user)
    catalogue = statuses(selection, installed={}, bound={}, names={}, facts=Facts())
    assert [
        ("builtin: a", "instructions", None, None),
        ("user: a", "disabled", OFF.reason, OFF.fix),
    ] == [(it.location, it.state, it.reason, it.fix) for it in catalogue.skills]


CANDIDATES = st.lists(
    st.builds(
        candidate,
        st.sampled_from(("a", "b", "b-c", "b_c")),
        st.sampled_from(sorted(RANKS)),
        folder=st.sampled_from(("x", "y", "z")),
        python=st.booleans(),
    ),
    unique_by=lambda item: item.skill.identity,
    max_size=12,
)


@given(candidates=CANDIDATES, data=st.data())
def test_every_candidate_is_exactly_one_of_winner_shadowed_disabled(
    candidates: list[Candidate], data: st.DataObject
) -> None:
    """Nothing is lost and nothing counted twice, whatever is off or untrusted."""
    identities = [item.skill.identity for item in candidates]
    off = data.draw(st.sets(st.sampled_from(identities or [Path("-")])))
    distrusted = data.draw(st.sets(st.sampled_from(identities or [Path("-")])))
    selection = chosen(
        *candidates,
        off=lambda item: item.skill.identity in off,
        trusted=lambda item: item.skill.identity not in distrusted,
    )
    listed = [item.skill.identity for item in selection.candidates()]
    assert sorted(identities) == sorted(listed)
    assert off & set(identities) == {
        item.candidate.skill.identity for item in selection.disabled
    }
    catalogue = statuses(selection, installed={}, bound={}, names={}, facts=Facts())
    assert sorted(identities) == sorted(it.skill.identity for it in catalogue.skills)
    assert off & set(identities) == {
        it.skill.identity for it in catalogue.skills if it.state == "disabled"
    }


@given(candidates=CANDIDATES, data=st.data())
def test_order_of_discovery_never_changes_the_selection(
    candidates: list[Candidate], data: st.DataObject
) -> None:
    """Disabled ones included."""
    off = {item.skill.identity for item in candidates if "x" in item.inside}
    shuffled = data.draw(st.permutations(candidates))
    first, second = (
        chosen(*order, off=lambda item: item.skill.identity in off, trusted=from_user)
        for order in (candidates, shuffled)
    )
    assert first == second
    assert first.holders() == second.holders()
