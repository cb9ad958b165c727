"""What ``env`` answers with, as text, HTML and JSON."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import pytest

from prime_skills_ext.environment.inventory import (
    EnvironmentInfo,
    EnvironmentPath,
    GenerationInfo,
    Inventory,
    Pruned,
    Rebuilt,
    Removal,
)
from prime_skills_ext.views import hypertext
from prime_skills_ext.views.jsonable import to_json
from prime_skills_ext.views.text import render
from tests.views.samples import ROOT

HERE = EnvironmentInfo(
    key="overlay-cpython-311-0123456789ab",
    directory=ROOT / "venvs" / "overlay-cpython-311-0123456789ab",
    mode="overlay",
    kernel_prefix=ROOT / "venv",
    project_root=ROOT / "project",
    base_prefix=ROOT / "python",
    is_here=True,
    generations=(
        GenerationInfo(
            directory=ROOT / "9",
            is_current=False,
            is_in_use=True,
            python="3.11",
            skills=1,
            failed=0,
            size_bytes=999,
        ),
        GenerationInfo(
            directory=ROOT / "10",
            is_current=True,
            is_in_use=False,
            python="3.11",
            skills=12,
            failed=2,
            size_bytes=12_345_678,
            problem="its interpreter is <gone>",
        ),
    ),
    size_bytes=1_234_567_890,
    fix="%skill env rebuild",
)
GONE = EnvironmentInfo(
    key="own-cpython-310-0123456789ab",
    directory=ROOT / "venvs" / "own-cpython-310-0123456789ab",
    mode="own",
    kernel_prefix=None,
    project_root=None,
    base_prefix=None,
    is_here=False,
    generations=(),
    size_bytes=1000,
    gone="its Python is gone: /gone",
    fix="%skill env prune",
)
DAMAGED = EnvironmentInfo(
    key="x",
    directory=ROOT / "venvs" / "x",
    mode=None,
    kernel_prefix=None,
    project_root=None,
    base_prefix=None,
    is_here=False,
    generations=(),
    size_bytes=0,
)
INVENTORY = Inventory(environments=(HERE, GONE, DAMAGED), places=(ROOT / "venvs",))
PRUNED = Pruned(
    removed=(
        Removal(
            path=ROOT / "venvs" / "x" / "1",
            kind="generation",
            why="superseded",
            size_bytes=1500,
        ),
        Removal(
            path=ROOT / "venvs" / "x" / "wheels",
            kind="wheels",
            why="3 that nothing installed comes from",
            size_bytes=20,
        ),
    ),
    skipped=("y: another process has held it for 900 s",),
)
REBUILT = Rebuilt(
    directory=ROOT / "2", skills=1, failed=("bad", "worse"), fix="restart the kernel"
)

_TABLE = f"""\
Environments: 3

overlay-cpython-311-0123456789ab  (used here)
  for     kernels of {ROOT}/venv, in the project {ROOT}/project
  python  {ROOT}/python
  where   {ROOT}/venvs/overlay-cpython-311-0123456789ab
  size    1.2 GB
  NUMBER  STATE               PYTHON  SKILLS        SIZE
  9       superseded, in use  3.11    1             999 B
  10      current             3.11    12, 2 failed  12.3 MB
    its interpreter is <gone>
  fix: %skill env rebuild

own-cpython-310-0123456789ab
  for     the kernel Prime Skills
  where   {ROOT}/venvs/own-cpython-310-0123456789ab
  size    1.0 kB
  gone    its Python is gone: /gone
  no generation
  fix: %skill env prune

x
  for     nobody knows whom: its description is damaged
  where   {ROOT}/venvs/x
  size    0 B
  no generation"""


def test_inventory_is_one_block_per_environment() -> None:
    """To the byte: for whom, where, how big, and every generation."""
    assert _TABLE == render(INVENTORY)


def test_inventory_of_nothing_says_that_nothing_is_needed() -> None:
    """An empty list is no fault."""
    nothing = Inventory(environments=(), places=())
    assert (
        "Environments: none\n  fix: none is needed until a skill needs something"
        == render(nothing)
    )


def test_pruned_tells_what_went_and_what_it_freed() -> None:
    """The sum first, then each thing with its reason."""
    expected = f"""\
Freed 1.5 kB
  generation     1.5 kB  {ROOT}/venvs/x/1  (superseded)
  wheels           20 B  {ROOT}/venvs/x/wheels  (3 that nothing installed comes from)
  skipped      y: another process has held it for 900 s"""
    assert expected == render(PRUNED)


def test_pruned_says_when_it_only_would() -> None:
    """A dry run must not be taken for the real one."""
    planned = Pruned(removed=PRUNED.removed, is_dry_run=True)
    assert "Would free 1.5 kB" == render(planned).splitlines()[0]
    assert "Nothing to prune" == render(Pruned(removed=()))


def test_pruned_says_what_it_kept_for_a_while() -> None:
    """`env list` shows them as superseded: whoever wonders reads why they stay."""
    told = "2 generations are kept for a while, --all removes them"
    assert f"Nothing to prune; {told}" == render(Pruned(removed=(), kept=2))
    some = Pruned(removed=PRUNED.removed, kept=2)
    assert f"  {told}" == render(some).splitlines()[-1]


def test_path_is_the_path_and_nothing_else() -> None:
    """A shell takes it as it is."""
    assert f"{ROOT}/1" == render(EnvironmentPath(path=ROOT / "1"))


def test_rebuilt_names_what_still_fails_and_what_to_do() -> None:
    """One skill is singular."""
    expected = f"""\
Rebuilt with 1 skill: {ROOT}/2
  still failing: bad, worse
  fix: restart the kernel"""
    assert expected == render(REBUILT)


@pytest.mark.parametrize(
    "value",
    [
        INVENTORY,
        Inventory(environments=(), places=()),
        PRUNED,
        Pruned(removed=()),
        REBUILT,
        EnvironmentPath(path=ROOT / "<1>"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_view_is_well_formed_and_serialisable(value: object) -> None:
    """Each parses strictly as XML and survives JSON."""
    page = hypertext.render(value)
    assert page is not None
    assert ET.fromstring(page).attrib["class"].startswith("prime-skills")
    found = to_json(value)
    assert found == json.loads(json.dumps(found))


def test_html_has_a_group_per_environment_and_a_row_per_generation() -> None:
    """States are told in words beside their colour, fixes as code."""
    page = ET.fromstring(str(hypertext.render(INVENTORY)))
    assert [3, 0, 0] == [
        len(body.findall("tr")) if index == 0 else len(body.findall("tr")) - 1
        for index, body in enumerate(page.iter("tbody"))
    ]
    badges = [
        "".join(span.itertext())[1:]
        for span in page.iter("span")
        if "ps-badge" in span.attrib.get("class", "")
    ]
    assert ["used here", "superseded, in use", "current", "gone"] == badges
    assert ["%skill env rebuild", "%skill env prune"] == [
        code.text for code in page.iter("code")
    ]
    assert "its interpreter is <gone>" in "".join(page.itertext())
