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
@pytest.mark.network
def test_load_prints_its_tables(tmp_path: Path) -> None:
    """It sets up what it needs by itself; one skill proves nothing and suffices."""
    done = process.run(
        [sys.executable, str(BENCHMARKS / "load.py"), "--skills", "1", "--rounds", "1"],
        cwd=tmp_path,
        env=os.environ,
        timeout_s=240,
        check=False,
    )
    rows = [line for line in done.stdout.splitlines() if line.startswith("| 1 |")]
    kinds = [row.split(" | ")[1] for row in rows]
    assert ["load", "prime-skills"] == kinds[:-1]
    assert kinds[-1].endswith(" MB")


@pytest.mark.integration
@pytest.mark.network
def test_install_prints_a_row_for_every_pair(tmp_path: Path) -> None:
    """It fills a cache of its own; one skill proves nothing and suffices."""
    script = str(BENCHMARKS / "install.py")
    rounds = ["--rounds", "1", "--slow-rounds", "1"]
    done = process.run(
        [sys.executable, script, "--skills", "1", *rounds],
        cwd=tmp_path,
        env=os.environ,
        timeout_s=240,
        check=False,
    )
    rows = [line for line in done.stdout.splitlines() if line.startswith("| 1 |")]
    assert ["cold", "apply", "warm"] == [row.split(" | ")[1] for row in rows]


@pytest.mark.integration
@pytest.mark.network
def test_starting_prints_a_row_for_each_number_of_skills(tmp_path: Path) -> None:
    """Both kernels start and answer; one round proves nothing and suffices."""
    script = str(BENCHMARKS / "_starting.py")
    done = process.run(
        [sys.executable, script, "--skills", "1", "--rounds", "1"],
        cwd=tmp_path,
        env=os.environ,
        timeout_s=240,
        check=False,
    )
    rows = [line for line in done.stdout.splitlines() if line.startswith("| 1 |")]
    assert ["prime-skills"] == [row.split(" | ")[1] for row in rows]


@pytest.mark.integration
def test_reload_prints_a_row_for_every_pair(tmp_path: Path) -> None:
    """Few skills and one round prove nothing about time, but that it measures."""
    done = process.run(
        [
            sys.executable,
            str(BENCHMARKS / "reload.py"),
            "--skills",
            "8",
            "--rounds",
            "1",
        ],
        cwd=tmp_path,
        env=os.environ,
        timeout_s=240,
        check=False,
    )
    rows = [line for line in done.stdout.splitlines() if line.startswith("| 8 |")]
    assert ["edit", "nothing"] == [row.split(" | ")[1] for row in rows]


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
