"""``%skill prompt``, ``%skill budget`` and the settings behind them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prime_skills_ext.__main__ import main
from prime_skills_ext.commands import run as command
from prime_skills_ext.errors import HostError, SettingsError
from prime_skills_ext.manager import SkillManager
from prime_skills_ext.prompt.listing import Listing
from prime_skills_ext.prompt.usage import Usage, usage_file
from prime_skills_ext.views.budget import BudgetReport
from tests.conftest import Run, write_skill

pytestmark = pytest.mark.usefixtures("place")

BUDGET = "SLASH_COMMAND_TOOL_CHAR_BUDGET"


@pytest.fixture
def root(home: Path) -> Path:
    """Two skills of instructions, without the built-in ones."""
    root = home / ".agents" / "skills"
    write_skill(root, "first", description="One. " * 20)
    write_skill(root, "second", description="Two. " * 20)
    return root


def manager_with(environ: dict[str, str] | None = None, **traits: Any) -> SkillManager:
    return SkillManager(environ={"PATH": "", **(environ or {})}, **traits)


def _listed(listing: Listing) -> list[str]:
    return [item.name for item in listing.items]


def _xml(text: str) -> ET.Element:
    return ET.fromstring(text[text.index("<available_skills>") :])


def test_prompt_is_what_a_model_is_told(root: Path) -> None:
    """In the order of names, with instructions before it, as one text."""
    found = command(manager_with(), "prompt", door="%skill")
    assert isinstance(found, Listing)
    assert ["edit", "first", "second", "skill-creator"] == _listed(found)
    names = [each.text for each in _xml(found.text).iter("name")]
    assert names == _listed(found)
    assert found == command(manager_with(), "prompt", door="%skill")


@pytest.mark.parametrize(
    ("words", "traits", "variable", "limit"),
    [
        ("prompt", {}, None, 8_000),
        ("prompt", {}, "700", 700),
        ("prompt", {}, "many", 8_000),
        ("prompt", {"listing_chars": 600}, "700", 600),
        ("prompt --budget 500", {"listing_chars": 600}, "700", 500),
        ("prompt --budget -5", {}, None, 0),
        ("prompt --context 100000", {}, None, 4_000),
        ("prompt --context 100000", {}, "700", 4_000),
        ("prompt --context 100000 --budget 50", {}, None, 50),
        ("prompt", {"context_tokens": 50_000}, None, 2_000),
        ("prompt", {"context_tokens": 50_000, "listing_share": 0.1}, None, 20_000),
        ("prompt --context 100000", {"listing": "codex"}, None, 2_000),
        ("prompt", {"listing": "none"}, None, None),
    ],
)
def test_the_nearest_budget_counts(
    words: str,
    traits: dict[str, Any],
    variable: str | None,
    limit: int | None,
    root: Path,
) -> None:
    """What is asked for, else what is set, else the variable, else the preset's."""
    environ = {} if variable is None else {BUDGET: variable}
    found = command(manager_with(environ, **traits), words, door="%skill")
    assert isinstance(found, Listing)
    assert limit == found.limit
    assert limit is None or found.counted <= limit


def test_cap_and_tokenizer_are_settings(root: Path) -> None:
    """One description's length, and what is counted."""
    listing = manager_with(listing_entry_chars=30).prompt()
    assert all(item.shown <= len(item.name) + 30 for item in listing.items)
    counted = manager_with(context_tokens=10_000, tokenizer=len).prompt()
    assert ("tokens", 100) == (counted.unit, counted.limit)
    assert counted.counted <= 100


def test_caller_and_tools_decide_what_is_told(root: Path) -> None:
    """A model hears nothing of what it may not call, or cannot read."""
    for name, header in {
        "for-people": "disable-model-invocation: true\n",
        "for-models": "user-invocable: false\n",
    }.items():
        front = f"name: {name}\ndescription: D. Use it.\n{header}"
        write_skill(root, name, frontmatter=front)
    manager = manager_with()
    model = _listed(manager.prompt())
    assert ("for-models" in model, "for-people" in model) == (True, False)
    user = command(manager, "prompt --caller user", door="%skill")
    assert isinstance(user, Listing)
    assert ("for-models" in _listed(user), "for-people" in _listed(user)) == (
        False,
        True,
    )
    assert "for-people" in _listed(manager_with(list_restricted=True).prompt())
    assert ("", ()) == (
        manager.prompt(tools=["browse"]).text,
        manager.prompt(tools=["browse"]).items,
    )
    assert _listed(manager.prompt(tools=["ipython"])) == model


@pytest.mark.parametrize("words", ["prompt --budget much", "budget --caller nobody"])
def test_odd_options_are_refused(words: str) -> None:
    """With how they are used."""
    with pytest.raises(SettingsError, match=r"budget|caller"):
        command(manager_with(), words, door="%skill")


def test_least_used_gives_way_first(root: Path, home: Path) -> None:
    """What was counted before this kernel decides; what it counts itself does not."""
    usage = Usage(usage_file(home / ".prime" / "agent"))
    usage.add("second", calls=1)
    assert usage.write(wait_s=1)
    budget = len("firstsecond") + 150
    manager = manager_with({"HOME": str(home)}, no_skills=True, skill_paths=[str(root)])
    found = manager.prompt(budget=budget)
    assert ["trimmed", "whole"] == [item.cut for item in found.items]
    for _ in range(3):
        manager.activate("first")
    assert found == manager.prompt(budget=budget)
    uncounted = manager_with(
        {"HOME": str(home), "PRIME_SKILLS_USAGE": "0"},
        no_skills=True,
        skill_paths=[str(root)],
    )
    assert ["whole", "trimmed"] == [
        item.cut for item in uncounted.prompt(budget=budget).items
    ]


def test_import_names_and_commands_are_those_that_work(
    run: Run, root: Path, home: Path
) -> None:
    """Told from bindings and scripts that are there, never from hope."""
    code = "def run(): return 1\n"
    write_skill(root, "word-count", python=code)
    write_skill(root, "json", python=code)
    write_skill(root, "broken", python="1 / 0\n")
    run("%load_ext prime_skills_ext")
    told = {
        each.findtext("name"): each.findtext("python_import")
        for each in _xml(run("%skill prompt").text).iter("skill")
    }
    assert "broken" not in told
    assert ("word_count", 'skills["json"]', None) == (
        told["word-count"],
        told["json"],
        told["first"],
    )


def test_budget_tells_what_is_cut_and_what_would_fit(root: Path) -> None:
    """The setting that it names leaves nothing to cut."""
    manager = manager_with({}, listing_chars=120)
    report = command(manager, "budget", door="%skill")
    assert isinstance(report, BudgetReport)
    assert report.listing == manager.prompt()
    assert report.fix is not None
    for line in report.fix.splitlines():
        name, _, value = line.removeprefix("%config SkillManager.").partition(" = ")
        setattr(manager, name, int(value))
    after = manager.budget()
    assert (False, None) == (after.listing.is_cut, after.fix)
    assert after.wanted == after.listing.counted


def test_budget_in_a_terminal_names_what_is_set_there(
    root: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A variable, since the command has no ``%config``."""
    assert 0 == main(["budget", "--budget", "120"])
    said = capsys.readouterr().out
    assert "set SLASH_COMMAND_TOOL_CHAR_BUDGET=" in said
    assert "░" in said
    assert 0 == main(["budget", "--budget", "120", "--json"])
    data = json.loads(capsys.readouterr().out)
    assert (120, "characters") == (data["limit"], data["unit"])
    assert data["counted"] == sum(each["shown"] for each in data["skills"])


_HEADERS = st.fixed_dictionaries(
    {
        "python": st.sampled_from([None, "def run(): return 1\n", "1 / 0\n"]),
        "flags": st.sampled_from(
            [
                "",
                "disable-model-invocation: true\n",
                "user-invocable: false\n",
                "requires: {bins: [no-such-program]}\n",
                "metadata: {host: {requests: [model.info]}}\n",
                "context: fork\n",
            ]
        ),
    }
)
_NAMES = st.sampled_from(["ant", "bee-hive", "json", "cat", "class", "edit"])


@settings(max_examples=15)
@given(st.dictionaries(_NAMES, _HEADERS, max_size=5))
def test_pb06_what_is_listed_can_be_shown_and_used(
    tmp_path_factory: pytest.TempPathFactory, skills: dict[str, dict[str, Any]]
) -> None:
    """And every name that is bound is listed, or has a reason."""
    root = tmp_path_factory.mktemp("random")
    for name, made in skills.items():
        header = f"name: {name}\ndescription: Does it. Use it.\n{made['flags']}"
        write_skill(root, name, frontmatter=header, python=made["python"])
    manager = SkillManager(
        namespace={},
        environ={"PATH": "", "HOME": str(root), "PRIME_SKILLS_UV": "/nowhere"},
        skill_paths=[str(root)],
    )
    manager.load()
    try:
        listed = _listed(manager.prompt())
        for name in listed:
            assert name == manager.details(name).status.name
        _can_be_used(manager, _listed(manager.prompt(caller="user")))
        hidden = {
            item.name
            for item in manager.catalogue.skills
            if item.bound_as is not None and item.name not in listed
        }
        assert hidden == {
            item.name
            for item in manager.catalogue.skills
            if item.name in hidden
            and (item.reason is not None or item.skill.disable_model_invocation)
        }
    finally:
        manager.unload()


def _can_be_used(manager: SkillManager, names: list[str]) -> None:
    for name in names:
        if manager.catalogue.get(name).skill.context == "fork":
            with pytest.raises(HostError, match="no agent host"):
                manager.activate(name)
        else:
            assert name == manager.activate(name).name


def test_fork_without_a_host_runs_no_command_of_the_skill(
    root: Path, place: Path
) -> None:
    """It is refused before anything of it happens."""
    header = "name: apart\ndescription: d\ncontext: fork\n"
    write_skill(root, "apart", frontmatter=header, body="!`touch ran`\n")
    manager = manager_with({"PATH": os.environ["PATH"]})
    with pytest.raises(HostError, match="no agent host"):
        manager.activate("apart")
    assert not (place / "ran").exists()


def test_listing_is_printed_as_its_text(root: Path) -> None:
    """As an activation is, and never as a value of Python."""
    listing = manager_with().prompt()
    assert listing.text
    assert listing.text == str(listing)


@pytest.mark.parametrize("make", [lambda m: m.prompt(), lambda m: m.budget()])
def test_nothing_to_list_is_nothing(make: Callable[[SkillManager], Any]) -> None:
    """PB-07: no heading that invites a model to invent what stands below it."""
    manager = manager_with(no_skills=True)
    assert "" == manager.prompt().text
    assert make(manager) is not None
    assert {"skills": []}.items() <= command_json(manager, "budget").items()


def command_json(manager: SkillManager, words: str) -> dict[str, Any]:
    found = command(manager, f"{words} --json", door="%skill")
    assert isinstance(found, dict)
    return found
