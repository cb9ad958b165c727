"""Benchmarks run; what they measure is not a test's business."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from prime_skills_ext import process

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.mark.integration
@pytest.mark.network
def test_discovery_prints_a_row_for_every_pair(tmp_path: Path) -> None:
    """It sets up what it needs by itself; few skills prove nothing and suffice."""
    script = str(BENCHMARKS / "discovery.py")
    done = process.run(
        [sys.executable, script, "--skills", "20", "--rounds", "1"],
        cwd=tmp_path,
        env=os.environ,
        timeout_s=240,
        check=False,
    )
    rows = [line for line in done.stdout.splitlines() if line.startswith("| 20 |")]
    assert ["cold", "cold", "warm", "warm"] == [row.split(" | ")[1] for row in rows]


@pytest.mark.integration
def test_call_prints_a_row_for_every_pair(tmp_path: Path) -> None:
    """It loads its skill by itself; few calls prove nothing and suffice."""
    script = str(BENCHMARKS / "call.py")
    done = process.run(
        [sys.executable, script, "--calls", "20", "--rounds", "1"],
        cwd=tmp_path,
        env=os.environ,
        timeout_s=240,
        check=False,
    )
    rows = [line for line in done.stdout.splitlines() if line.startswith("| 20 |")]
    ours = ["async", "async", "sync", "waiting"]
    assert ours == [row.split(" | ")[1] for row in rows]
