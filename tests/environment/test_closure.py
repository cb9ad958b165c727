"""Whether requirements are met by what is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from prime_skills_ext.environment import closure
from tests.environment.conftest import site


def told(index: closure.Index, *requirements: str) -> list[tuple[Any, ...]]:
    found = closure.gaps(map(Requirement, requirements), index=index)
    return [
        (str(gap.requirement), gap.chain, gap.found and gap.found.version)
        for gap in found
    ]


def test_closure_is_followed_to_the_end(tmp_path: Path) -> None:
    """A gap names the chain that leads to it."""
    place = site(tmp_path, "env", a_1_0=("b>=2",), b_2_0=("c>=3", "d"), c_1_0=())
    index = closure.index(environment=[place])
    assert told(index, "a") == [
        ("d", ("a 1.0", "b 2.0"), None),
        ("c>=3", ("a 1.0", "b 2.0"), "1.0"),
    ]


def test_the_kernels_version_counts_first(tmp_path: Path) -> None:
    """What the kernel has hides what the environment has."""
    kernel = site(tmp_path, "kernel", a_1_0=())
    place = site(tmp_path, "env", a_2_0=())
    index = closure.index(kernel=[kernel], environment=[place])
    assert told(index, "a>=2") == [("a>=2", (), "1.0")]
    found = index.get("A")
    assert found is not None
    assert found.is_kernels


def test_kernels_own_quarrels_are_not_ours(tmp_path: Path) -> None:
    """What the kernel's packages think of each other was so before."""
    kernel = site(tmp_path, "kernel", a_1_0=("b>=9", "missing"), b_1_0=())
    index = closure.index(kernel=[kernel])
    assert told(index, "a") == [("missing", ("a 1.0",), None)]


def test_extras_and_markers_are_evaluated(tmp_path: Path) -> None:
    """An extra adds what it requires; a marker that does not apply adds nothing."""
    requires = ('x ; extra == "fast"', 'y ; python_version < "3"', "z>=1")
    place = site(tmp_path, "env", a_1_0=requires, z_1_0=())
    index = closure.index(environment=[place])
    assert told(index, "a", 'w ; python_version < "3"') == []
    assert told(index, "a[fast]") == [
        ('x; extra == "fast"', ("a 1.0",), None),
    ]


def test_circles_and_oddities_end(tmp_path: Path) -> None:
    """Dependencies in a circle, prereleases and what is no requirement."""
    place = site(tmp_path, "env", a_1_0rc1=("b", "???"), b_1_0=("a>=0.9",))
    (place / "old.egg-info").mkdir()
    (place / "old.egg-info" / "PKG-INFO").write_text("Name: old\nVersion: 3\n")
    (place / "x.dist-info").mkdir()
    index = closure.index(environment=[place, tmp_path / "missing"])
    assert told(index, "a>=0.5", "old>=2", "b @ https://example.invalid/b.whl") == []
    names = closure.reach([Requirement("a"), Requirement("nothing")], index=index)
    assert names == {"a", "b"}


def test_version_that_is_none_meets_only_an_open_requirement(tmp_path: Path) -> None:
    """Nobody can compare it."""
    place = site(tmp_path, "env", a_what=())
    index = closure.index(environment=[place])
    assert told(index, "a") == []
    assert told(index, "a>=1") == [("a>=1", (), "what")]
