"""How fast skills are found, measured in pairs against peers.

    uv run benchmarks/discovery.py [--skills 1000 10000] [--rounds 7]

Generates skills, makes an environment for the public ``skills-ref`` package, and runs
every contestant in turn, round after round, each in a new process with the same
Python. A busy machine slows both sides of a pair, so each round gives one ratio and
the median of these counts; the ratio of CPU times stands beside it, because waiting
for a core is nobody's merit or fault. Exits with 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from prime_skills_ext import process
from prime_skills_ext.environment.uv import find_uv

#: What is compared with; pinned, so that ratios can be compared over time.
PEER: Final = "skills-ref==0.1.1"

_CONTESTANTS: Final = Path(__file__).with_name("_contestants.py")
#: Files that are younger are not cached: see prime_skills_ext.catalog.cache.
_SAFE_AGE_S: Final = 4.0
_TIMEOUT_S: Final = 600.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """Two contestants and what their ratio must be.

    Attributes:
        ours: What is measured.
        peer: What it is measured against.
        label: The peer in words.
        slower: ``ours / peer`` must not exceed this, if it has a target.
        faster: ``peer / ours`` must not fall short of this, if it has a target.
    """

    ours: str
    peer: str
    label: str
    slower: float | None = None
    faster: float | None = None


_COLUMNS: Final = (
    *("skills", "ours", "time", "against", "time", "ratio", "from … to", "CPU ratio"),
    *("target", "holds"),
)

PAIRS: Final = (
    Pair(ours="cold", peer="skills_ref", label=f"`{PEER}`", faster=5),
    Pair(
        ours="cold",
        peer="bare_loop",
        label="`scandir`, read, C YAML",
        slower=2,
    ),
    Pair(
        ours="warm",
        peer="walk_and_load",
        label="`scandir`, `stat`, cache loaded",
        slower=2,
    ),
    Pair(
        ours="warm",
        peer="walk_and_parse",
        label="`scandir`, `stat`, cache's JSON parsed",
    ),
)

#: Wall and CPU time of each round, by contestant.
Times = Mapping[str, Sequence[tuple[float, float]]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, and say whether all targets hold."""
    parser = argparse.ArgumentParser(
        description="Measure how fast skills are found, against peers."
    )
    parser.add_argument("--skills", type=int, nargs="+", default=[1000, 10000])
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args(arguments)
    # both sides may write bytecode; none is there to be written after the first round
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    holds = True
    with tempfile.TemporaryDirectory(prefix="prime-skills-benchmark-") as directory:
        root = Path(directory).resolve()
        peer = _peer_python(root / "peer")
        rows = []
        for count in options.skills:
            place = root / str(count)
            generate(place / "skills", count=count)
            (place / "agent").mkdir()
            time.sleep(_SAFE_AGE_S)
            times = measure(place, count=count, rounds=options.rounds, peer=peer)
            for pair in PAIRS:
                row, is_met = _row(pair, times, count=count)
                rows.append(row)
                holds = holds and is_met
    _print(rows, rounds=options.rounds)
    return 0 if holds else 1


def generate(folder: Path, *, count: int) -> None:
    """Write ``count`` skills that are valid to every contestant.

    Seven in ten have a description on one line, two a folded and one a quoted one; one
    in ten has a list, for which we, too, ask a YAML parser; one in ten is backed by
    Python. Their text has about two kilobytes.
    """
    for number in range(count):
        name = f"skill-{number:05d}"
        skill = folder / name
        skill.mkdir(parents=True)
        text = "\n".join(_skill_lines(name, number=number))
        (skill / "SKILL.md").write_text(text, encoding="utf-8")
        if number % 10 == 0:
            package = skill / "src" / name.replace("-", "_")
            package.mkdir(parents=True)
            (package / "__init__.py").write_text("async def run(): ...\n")
            (skill / "pyproject.toml").write_text(
                f'[project]\nname = "{name}"\nversion = "1"\n'
            )


def _skill_lines(name: str, *, number: int) -> Iterator[str]:
    sentences = (
        f"Extracts the tables of report {number} and turns them into data frames.",
        "Use it when somebody asks for the numbers in a document or a spreadsheet.",
    )
    what = " ".join(sentences)
    yield from ("---", f"name: {name}")
    match number % 10:
        case 7 | 8:
            yield from ("description: >-", *(f"  {text}" for text in sentences))
        case 9:
            yield f"description: 'Note: {what}'"
        case _:
            yield f"description: {what}"
    yield from ("license: Apache-2.0", "metadata:", "  author: somebody")
    yield f'  version: "1.{number}"'
    if number % 10 == 6:
        yield from ("  tags:", "    - tables", "    - reports")
    yield from ("---", "", f"# {name}", "")
    yield from (f"{step}. Do what has to be done in step {step}." for step in range(50))
    yield ""


def measure(place: Path, *, count: int, rounds: int, peer: Path) -> Times:
    """Run all contestants in turn; return what each took in each round."""
    names = list(
        dict.fromkeys(name for pair in PAIRS for name in (pair.ours, pair.peer))
    )
    # the cache must be there for the others; the first round warms up and is dropped
    names.sort(key=lambda name: name != "cold")
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for turn in range(rounds + 1):
        for name in names:
            python = str(peer) if name == "skills_ref" else sys.executable
            answer = process.run(
                [
                    *(python, str(_CONTESTANTS), name),
                    *(str(place / "skills"), str(place / "agent")),
                ],
                cwd=place,
                timeout_s=_TIMEOUT_S,
            )
            result = json.loads(answer.stdout)
            if result["count"] != count:
                raise SystemExit(f"{name} saw {result['count']} of {count} skills")
            if turn > 0:
                times[name].append((result["wall"], result["cpu"]))
        sys.stderr.write(f"\r{count} skills: round {turn} of {rounds} ")
        sys.stderr.flush()
    sys.stderr.write("\n")
    return times


def _peer_python(directory: Path) -> Path:
    """Make an environment that holds the peer, with this Python."""
    uv = str(find_uv(os.environ))
    for arguments in (
        ["venv", "--quiet", "--python", sys.executable, str(directory)],
        ["pip", "install", "--quiet", "--python", str(directory), PEER],
    ):
        process.run([uv, *arguments], cwd=directory.parent, timeout_s=_TIMEOUT_S)
    scripts = "Scripts" if os.name == "nt" else "bin"
    return directory / scripts / "python"


def _row(pair: Pair, times: Times, *, count: int) -> tuple[str, bool]:
    rounds = list(zip(times[pair.ours], times[pair.peer], strict=True))
    # the larger one is named first, so that every ratio reads "times"
    walls = [_ratio(pair, ours[0], peer[0]) for ours, peer in rounds]
    cpus = [_ratio(pair, ours[1], peer[1]) for ours, peer in rounds]
    ratio = statistics.median(walls)
    if pair.faster is not None:
        word, target, is_met = "faster", f"≥ {pair.faster:g}", ratio >= pair.faster
    elif pair.slower is not None:
        word, target, is_met = "slower", f"≤ {pair.slower:g}", ratio <= pair.slower
    else:
        word, target, is_met = "slower", "none", True
    cells = (
        f"{count:,}",
        pair.ours,
        _milliseconds(times[pair.ours]),
        pair.label,
        _milliseconds(times[pair.peer]),
        f"{ratio:.2f} × {word}",
        f"{min(walls):.2f} to {max(walls):.2f}",
        f"{statistics.median(cpus):.2f}",
        target,
        "" if target == "none" else "yes" if is_met else "**no**",
    )
    return f"| {' | '.join(cells)} |", is_met


def _ratio(pair: Pair, ours: float, peer: float) -> float:
    return ours / peer if pair.faster is None else peer / ours


def _milliseconds(times: Sequence[tuple[float, float]]) -> str:
    return f"{statistics.median(wall for wall, _ in times) * 1000:.0f} ms"


def _print(rows: Sequence[str], *, rounds: int) -> None:
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    lines = (
        f"| {' | '.join(_COLUMNS)} |",
        f"|{'---|' * len(_COLUMNS)}",
        *rows,
        "",
        f"Medians of {rounds} rounds, CPython {platform.python_version()}, {machine}.",
    )
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
