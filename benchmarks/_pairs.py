"""Measuring in pairs: two contestants in turn, one ratio per round, one row per pair.

A busy machine slows both sides of a pair, so each round gives one ratio and the median
of these counts; the ratio of CPU times stands beside it, because waiting for a core is
nobody's merit or fault. What is run, and what it is called, is each benchmark's own.
"""

from __future__ import annotations

import math
import os
import platform
import statistics
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

#: Seconds of wall and of CPU time that one run of one contestant took; the latter is
#: not a number where it cannot be told.
Sample = tuple[float, float]
#: The sample of each round, by contestant.
Times = Mapping[str, Sequence[Sample]]

_COLUMNS = ("time", "against", "time", "ratio", "from … to", "CPU ratio")


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """Two contestants and what their ratio must be.

    Attributes:
        ours: What is measured.
        peer: What it is measured against.
        label: The peer in words.
        slower: ``ours / peer`` must not exceed this, if it has a target.
        faster: ``peer / ours`` must not fall short of this, if it has a target.
        allowance_s: Seconds that are taken off ours before ``slower`` is judged; the
            ratio that is shown is the one of the times themselves.
    """

    ours: str
    peer: str
    label: str
    slower: float | None = None
    faster: float | None = None
    allowance_s: float = 0.0


def in_turn(
    names: Sequence[str],
    sample: Callable[[str], Sample],
    *,
    rounds: int,
    title: str,
) -> Times:
    """Run all contestants in turn, once more than ``rounds``; return their samples.

    The first round warms up (bytecode is written, files get into the page cache) and
    is dropped. How far it is goes to stderr.
    """
    times: dict[str, list[Sample]] = {name: [] for name in names}
    for turn in range(rounds + 1):
        for name in names:
            taken = sample(name)
            if turn > 0:
                times[name].append(taken)
        sys.stderr.write(f"\r{title}: round {turn} of {rounds} ")
        sys.stderr.flush()
    sys.stderr.write("\n")
    return times


def contestants(pairs: Iterable[Pair]) -> list[str]:
    """Return the name of each contestant once, as they appear."""
    return list(
        dict.fromkeys(name for pair in pairs for name in (pair.ours, pair.peer))
    )


def row(first: str, pair: Pair, times: Times) -> tuple[str, bool]:
    """Return the pair's row of the table, and whether its target holds.

    Args:
        first: The cell in front, for what the pairs of a table differ in.
        pair: Who is compared.
        times: The samples of both.
    """
    rounds = list(zip(times[pair.ours], times[pair.peer], strict=True))
    # the larger one is named first, so that every ratio reads "times"
    walls = [_ratio(pair, ours[0], peer[0]) for ours, peer in rounds]
    cpus = [_ratio(pair, ours[1], peer[1]) for ours, peer in rounds]
    ratio = statistics.median(walls)
    word = "slower" if pair.faster is None else "faster"
    target, is_met = _verdict(pair, rounds)
    cells = (
        first,
        pair.ours,
        _milliseconds(times[pair.ours]),
        pair.label,
        _milliseconds(times[pair.peer]),
        f"{ratio:.2f} × {word}",
        f"{min(walls):.2f} to {max(walls):.2f}",
        _number(statistics.median(cpus)),
        target,
        "" if target == "none" else "yes" if is_met else "**no**",
    )
    return f"| {' | '.join(cells)} |", is_met


def _verdict(pair: Pair, rounds: Iterable[tuple[Sample, Sample]]) -> tuple[str, bool]:
    """Say what the target is, and whether the median of the rounds holds it."""
    if pair.faster is not None:
        ratio = statistics.median(peer[0] / ours[0] for ours, peer in rounds)
        return f"≥ {pair.faster:g}", ratio >= pair.faster
    if pair.slower is not None:
        ratio = statistics.median(
            (ours[0] - pair.allowance_s) / peer[0] for ours, peer in rounds
        )
        extra = f" + {pair.allowance_s * 1000:g} ms" if pair.allowance_s else ""
        return f"≤ {pair.slower:g}{extra}", ratio <= pair.slower
    return "none", True


def _ratio(pair: Pair, ours: float, peer: float) -> float:
    return ours / peer if pair.faster is None else peer / ours


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.2f}"


def _milliseconds(samples: Sequence[Sample]) -> str:
    median = statistics.median(wall for wall, _ in samples) * 1000
    return f"{median:.0f} ms" if median >= 10 else f"{median:.1f} ms"


def print_table(rows: Sequence[str], *, first: str, rounds: int) -> None:
    """Print the rows under their heads, and on what machine they were measured.

    Args:
        rows: What ``row`` returned.
        first: The head over each row's first cell.
        rounds: How many rounds the medians are of.
    """
    columns = (first, "ours", *_COLUMNS, "target", "holds")
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    lines = (
        f"| {' | '.join(columns)} |",
        f"|{'---|' * len(columns)}",
        *rows,
        "",
        f"Medians of {rounds} rounds, CPython {platform.python_version()}, {machine}.",
    )
    sys.stdout.write("\n".join(lines) + "\n")
