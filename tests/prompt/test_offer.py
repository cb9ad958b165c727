"""Which skills are offered to whom, and the listing made of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

import prime_skills_ext
from prime_skills_ext.catalog.gates import State
from prime_skills_ext.catalog.sources import Source
from prime_skills_ext.catalog.status import Catalogue, SkillStatus
from prime_skills_ext.errors import SettingsError
from prime_skills_ext.prompt.entry import Entry
from prime_skills_ext.prompt.offer import RESTRICTED, offer, render
from prime_skills_ext.skill.model import PythonPackage, Skill

ROOT = Path("/skills").absolute()
STATES: tuple[State, ...] = (
    *("ready", "instructions", "stale", "untrusted", "disabled", "needs-credential"),
    *("needs-host", "needs-requirement", "install-failed", "import-failed"),
    *("name-taken", "shadowed", "removed"),
)


def status(
    name: str,
    state: State = "instructions",
    *,
    bound_as: str | None = None,
    import_name: str | None = None,
    restricted: bool = False,
    invocable: bool = True,
    builtin: bool = False,
    at: int = 0,
) -> SkillStatus:
    directory = ROOT / str(at) / "folder"
    module = import_name or name.replace("-", "_")
    package = PythonPackage(
        import_name=module,
        directory=directory,
        pyproject=directory / "pyproject.toml",
        src=directory / "src",
    )
    return SkillStatus(
        skill=Skill(
            name=name,
            description=f"Does {name}.",
            when_to_use="Now and then.",
            path=directory / "SKILL.md",
            directory=directory,
            identity=ROOT / f"real-{at}",
            import_name=module,
            python=None if state == "instructions" else package,
            disable_model_invocation=restricted,
            user_invocable=invocable,
        ),
        source=Source(
            kind="builtin" if builtin else "user",
            label="builtin" if builtin else "user",
            directory=ROOT,
        ),
        location=f"user: {name}",
        state=state,
        bound_as=bound_as,
    )


def names(*skills: SkillStatus, **how: object) -> list[str]:
    return [it.name for it in offer(Catalogue(skills=skills), **how)]  # type: ignore[arg-type]  # as given


def test_an_entry_has_what_the_catalogue_knows() -> None:
    """Import name and command are those that exist, never a hope."""
    word_count = status("word-count", "ready", bound_as="word_count", builtin=True)
    found = offer(
        Catalogue(skills=(word_count,)),
        commands={word_count.skill.identity: "wc-words"},
        uses={"word-count": 7, "other": 9},
    )
    assert found == (
        Entry(
            name="word-count",
            kind="python",
            description="Does word-count.",
            when_to_use="Now and then.",
            location=str(ROOT / "0" / "folder" / "SKILL.md"),
            python_import="word_count",
            command="wc-words",
            is_builtin=True,
            uses=7,
        ),
    )


@pytest.mark.parametrize(
    ("state", "bound_as", "is_offered"),
    [
        ("ready", "x", True),
        ("ready", 'skills["x"]', True),
        ("instructions", None, True),
        ("stale", "x", True),
        ("stale", None, False),
        ("name-taken", 'skills["x"]', True),
        ("name-taken", None, False),
        *((state, "x", False) for state in STATES[3:10]),
        ("shadowed", "x", False),
        ("removed", None, False),
    ],
)
def test_pb06_only_what_works_is_offered(
    *, state: State, bound_as: str | None, is_offered: bool
) -> None:
    """To a model and to a person alike; what is bound is told as it is bound."""
    catalogue = Catalogue(skills=(status("x", state, bound_as=bound_as),))
    expected = [bound_as] if is_offered else []
    assert expected == [it.python_import for it in offer(catalogue)]
    assert expected == [it.python_import for it in offer(catalogue, caller="user")]


@pytest.mark.parametrize(
    ("restricted", "invocable", "model", "user"),
    [
        (False, True, ["x"], ["x"]),
        (True, True, [], ["x"]),
        (False, False, ["x"], []),
        (True, False, [], []),
    ],
)
def test_pb03_each_is_offered_what_it_may_use(
    *, restricted: bool, invocable: bool, model: list[str], user: list[str]
) -> None:
    """Two flags, two callers."""
    skill = status("x", restricted=restricted, invocable=invocable)
    assert (model, user) == (names(skill), names(skill, caller="user"))


def test_pb03_a_restricted_skill_can_be_listed_with_a_mark() -> None:
    """So that a model may ask for it; a person needs no mark."""
    catalogue = Catalogue(skills=(status("x", restricted=True), status("y", at=1)))
    marks = [it.mark for it in offer(catalogue, list_restricted=True)]
    assert [RESTRICTED, None] == marks
    assert [None, None] == [it.mark for it in offer(catalogue, caller="user")]


def test_pb06_a_name_with_hidden_characters_is_told_by_one_that_is_found() -> None:
    """As it is told it would lead nowhere, or to somebody else."""
    hidden = status(
        "pay\u200bpal",
        "ready",
        import_name="pay_pal",
        bound_as='skills["pay\u200bpal"]',
    )
    (entry,) = offer(Catalogue(skills=(hidden,)))
    assert ("pay_pal", 'skills["pay_pal"]') == (entry.name, entry.python_import)

    other = status("pay_pal", builtin=True, at=1)
    both = Catalogue(skills=(other, hidden))
    assert ["pay_pal", "pay_pal@user"] == [it.name for it in offer(both)]
    assert [other, hidden] == [both.get(it.name) for it in offer(both)]

    elsewhere = replace(hidden, source=hidden.source._replace(label="cafe\u0301"))
    not_found = Catalogue(skills=(other, elsewhere))  # labels are compared in NFC
    assert ["pay_pal"] == [it.name for it in offer(not_found)]
    same_place = Catalogue(skills=(status("pay_pal", at=1), hidden))
    assert ["pay_pal"] == [it.name for it in offer(same_place)]


@st.composite
def catalogues(draw: st.DrawFn) -> Catalogue:
    """Skills with distinct names, as the one in force of each name has."""
    odd = st.text("ab-_@\u200b\u202e é", min_size=1, max_size=4)
    found = draw(st.lists(odd, unique=True, max_size=6))
    return Catalogue(
        skills=tuple(
            status(
                name,
                draw(st.sampled_from(STATES)),
                bound_as=draw(st.sampled_from((None, "x", f'skills["{name}"]'))),
                import_name=draw(st.sampled_from(("a", "a_b", "m"))),
                restricted=draw(st.booleans()),
                invocable=draw(st.booleans()),
                at=at,
            )
            for at, name in enumerate(sorted({" ".join(it.split()) for it in found}))
            if name
        )
    )


@given(catalogues(), st.sampled_from(("model", "user")))
def test_pb06_every_listed_name_leads_to_its_skill(
    catalogue: Catalogue, caller: str
) -> None:
    """And every bound one that is not listed has a reason to be away."""
    listing = render(catalogue, budget="none", caller=caller)  # type: ignore[arg-type]  # one of two
    listed = {}
    if listing.text:
        text = listing.text[listing.text.index("<available_skills>") :]
        for skill in ET.fromstring(text):
            found = catalogue.get(skill.findtext("name", ""))
            listed[found.skill.identity] = found
            assert str(found.skill.path) == skill.findtext("location")
    for it in catalogue.skills:
        may = (
            it.skill.user_invocable
            if caller == "user"
            else not it.skill.disable_model_invocation
        )
        works = it.state in ("ready", "instructions") or (
            it.state in ("stale", "name-taken") and it.bound_as is not None
        )
        nameless = not it.skill.name.isprintable()  # tested above
        assert nameless or (may and works) == (it.skill.identity in listed)
        assert not (it.skill.identity in listed and not (may and works))


# ---- rendering


def catalogue() -> Catalogue:
    return Catalogue(
        skills=(
            status("cite"),
            status("word-count", "ready", bound_as="word_count", at=1),
        )
    )


@pytest.mark.parametrize(
    "tools",
    [
        None,
        ["ipython"],
        ["Bash"],
        ("web_search", "read"),
        {"Read_File"},
        ["mcp__files__read-file"],
        ["functions.python"],
        ["str_replace_based_edit_tool"],
        ["codeInterpreter"],
    ],
)
def test_skills_are_told_to_a_model_that_can_use_them(tools: list[str] | None) -> None:
    """One tool that reads files or runs code is enough; unknown counts as having."""
    listing = render(catalogue(), tools=tools)
    assert ["cite", "word-count"] == [item.name for item in listing.items]


@pytest.mark.parametrize(
    "tools", [[], ["web_search"], ["read_email", "bashful"], ["", "write"]]
)
def test_nothing_is_told_to_a_model_that_cannot_use_it(tools: list[str]) -> None:
    """It could neither read a skill nor call one."""
    listing = render(catalogue(), tools=tools)
    assert ("", ()) == (listing.text, listing.items)


def test_pb07_a_catalogue_without_offers_tells_nothing() -> None:
    """As if there were no skills at all."""
    disabled = Catalogue(skills=(status("x", "disabled"), status("y", restricted=True)))
    assert "" == render(disabled).text
    assert "" == render(Catalogue()).text


def test_a_budget_has_a_name_or_is_one() -> None:
    """An unknown name is the caller's mistake, even where nothing is listed."""
    assert 8_000 == render(catalogue()).limit
    assert render(catalogue(), budget="none").limit is None
    with pytest.raises(SettingsError, match="no budget"):
        render(catalogue(), budget="much", tools=[])


def test_the_front_door_has_it() -> None:
    """For programs that have a catalogue."""
    budget = prime_skills_ext.Budget(chars=4)
    listing = prime_skills_ext.render(catalogue(), budget=budget)
    assert isinstance(listing, prime_skills_ext.Listing)
    assert 4 == listing.counted
