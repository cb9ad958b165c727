"""Counting uses: numbers that add up, and never in anybody's way."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prime_skills_ext.prompt.usage import Usage, Uses, usage_file
from prime_skills_ext.writing import exclusive


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where an agent directory, which is not there yet, keeps its numbers."""
    return usage_file(tmp_path / "agent")


def test_two_kernels_add_up(path: Path) -> None:
    """Each adds what it counted to what the other one wrote meanwhile."""
    one, other = Usage(path), Usage(path)
    one.add("edit", calls=2)
    other.add("edit", calls=1, activations=1)
    other.add("pdf", activations=1)
    assert (True, True) == (one.write(wait_s=1), other.write(wait_s=1))
    expected = {"edit": Uses(3, 1), "pdf": Uses(0, 1)}
    assert (expected, expected) == (one.now(), Usage(path).now())
    assert 0o600 == stat.S_IMODE(path.stat().st_mode)
    assert True is one.write(wait_s=1)
    assert expected == one.now()


def test_what_a_listing_goes_by_is_what_was_there_first(path: Path) -> None:
    """Whatever is counted and written later, here or elsewhere."""
    earlier = Usage(path)
    earlier.add("edit", calls=5)
    earlier.write(wait_s=1)
    usage = Usage(path)
    assert {"edit": Uses(5, 0)} == usage.at_first()
    usage.add("edit", calls=1)
    usage.write(wait_s=1)
    assert {"edit": Uses(5, 0)} == usage.at_first()
    assert {"edit": Uses(6, 0)} == usage.now()


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", '{"schema": 2, "skills": {"edit": {"calls": 9}}}'),
        *('{"schema": 1, "skills": [1]}', '{"schema": 1, "skills": {"edit": 4}}'),
        '{"schema": 1, "skills": {"edit": {"calls": -4, "activations": "9"}}}',
        *("[" * 100_000, "\xff\xfe"),
    ],
)
def test_damaged_file_counts_as_nothing(path: Path, text: str) -> None:
    """And the next write makes it whole."""
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="latin-1")
    usage = Usage(path)
    assert 0 == sum(uses.total for uses in usage.at_first().values())
    usage.add("edit", calls=1)
    assert True is usage.write(wait_s=1)
    assert {"edit": Uses(1, 0)} == Usage(path).now()


def test_file_that_somebody_else_writes_is_left_for_later(path: Path) -> None:
    """Nothing is lost, and nobody waits."""
    usage = Usage(path)
    usage.add("edit", calls=1)
    with exclusive(Path(f"{path}.lock")):
        assert False is usage.write(wait_s=0)
    assert not path.exists()
    assert True is usage.write(wait_s=0)
    assert {"edit": Uses(1, 0)} == Usage(path).now()


def test_directory_that_cannot_be_made_costs_the_numbers_alone(tmp_path: Path) -> None:
    """A full disk or a file in the way is not told to anybody."""
    (tmp_path / "agent").write_text("a file")
    usage = Usage(usage_file(tmp_path / "agent"))
    usage.add("edit", calls=1)
    assert False is usage.write(wait_s=0)
    assert {"edit": Uses(1, 0)} == usage.now()


def test_clearing_forgets_everything(path: Path) -> None:
    """What is written and what is not."""
    usage = Usage(path)
    assert False is usage.clear()
    usage.add("edit", calls=1)
    usage.write(wait_s=1)
    usage.add("pdf", calls=1)
    assert True is usage.clear()
    assert {} == usage.now()
    assert not path.exists()


@given(st.dictionaries(st.text(), st.tuples(st.integers(0, 9), st.integers(0, 9))))
def test_any_name_comes_back(
    tmp_path_factory: pytest.TempPathFactory, names: dict[str, tuple[int, int]]
) -> None:
    """Also names that no file system would write as text."""
    path = usage_file(tmp_path_factory.mktemp("any"))
    usage = Usage(path)
    for name, (calls, activations) in names.items():
        usage.add(name, calls=calls, activations=activations)
    assert usage.write(wait_s=1)
    assert {name: Uses(*each) for name, each in names.items()} == Usage(path).now()
    if names:
        json.loads(path.read_bytes())
