"""Benchmarks run; what they measure is not a test's business."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from prime_skills_ext import process

pytestmark = pytest.mark.integration

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"

Kinds = Callable[..., list[str]]


@pytest.fixture
def kinds(tmp_path: Path) -> Kinds:
    """Run a script, ``kinds("call.py", "--calls", "20")``; tell what it measured.

    That is the second cell of each row whose first one is the number asked for.
    """

    def run(script: str, *words: str) -> list[str]:
        done = process.run(
            [sys.executable, str(BENCHMARKS / script), *words],
            cwd=tmp_path,
            env=os.environ,
            timeout_s=240,
            check=False,
        )
        first = f"| {words[1]} |"
        rows = [line for line in done.stdout.splitlines() if line.startswith(first)]
        return [row.split(" | ")[1] for row in rows]

    return run


@pytest.mark.network
def test_discovery_prints_a_row_for_every_pair(kinds: Kinds) -> None:
    """It sets up what it needs by itself; few skills prove nothing and suffice."""
    found = kinds("discovery.py", "--skills", "20", "--rounds", "1")
    assert ["cold", "cold", "warm", "warm"] == found


@pytest.mark.network
def test_load_prints_its_tables(kinds: Kinds) -> None:
    """It sets up what it needs by itself; one skill proves nothing and suffices."""
    *timed, memory = kinds("load.py", "--skills", "1", "--rounds", "1")
    assert ["load", "prime-skills"] == timed
    assert memory.endswith(" MB")


@pytest.mark.network
def test_install_prints_a_row_for_every_pair(kinds: Kinds) -> None:
    """It fills a cache of its own; one skill proves nothing and suffices."""
    rounds = ("--rounds", "1", "--slow-rounds", "1")
    found = kinds("install.py", "--skills", "1", *rounds)
    assert ["cold", "apply", "warm"] == found


@pytest.mark.network
def test_starting_prints_a_row_for_each_number_of_skills(kinds: Kinds) -> None:
    """Both kernels start and answer; one round proves nothing and suffices."""
    found = kinds("_starting.py", "--skills", "1", "--rounds", "1")
    assert ["prime-skills"] == found


def test_reload_prints_a_row_for_every_pair(kinds: Kinds) -> None:
    """Few skills and one round prove nothing about time, but that it measures."""
    found = kinds("reload.py", "--skills", "8", "--rounds", "1")
    assert ["edit", "nothing"] == found


def test_call_prints_a_row_for_every_pair(kinds: Kinds) -> None:
    """It loads its skill by itself; few calls prove nothing and suffice."""
    found = kinds("call.py", "--calls", "20", "--rounds", "1")
    assert ["async", "async", "sync", "waiting"] == found


def test_listing_prints_a_row_for_every_budget(kinds: Kinds) -> None:
    """It makes its skills by itself; few of them prove nothing and suffice."""
    found = kinds("listing.py", "--skills", "20", "--rounds", "1")
    assert ["none", "claude", "codex", "claude, half", "codex, half"] == found
