"""How fast skills are installed, measured in pairs against uv alone.

    uv run benchmarks/install.py [--skills 1 10 50] [--rounds 7] [--slow-rounds 3]

Generates skills without requirements that hatchling builds, fills a uv cache of its
own, and runs every contestant in turn, round after round, each in a new process with
the same Python and without a network; ``_pairs.py`` says how a pair is judged. Exits
with 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from _installers import SEED
from _pairs import Pair, Sample, contestants, in_turn, print_table, row
from _skills import write_skill

from prime_skills_ext import process

_INSTALLERS: Final = Path(__file__).with_name("_installers.py")
_TIMEOUT_S: Final = 600.0
#: Targets are for this many skills and more.
_MANY: Final = 50
#: What these need is made once and stays.
_STAYING: Final = ("warm", "requirements")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the tables, and say whether all targets hold."""
    parser = argparse.ArgumentParser(
        description="Measure how fast skills are installed, against uv alone."
    )
    parser.add_argument("--skills", type=int, nargs="+", default=[1, 10, 50])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--slow-rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    # both sides may write bytecode; none is there to be written after the first round
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    holds = True
    slow_rows: list[str] = []
    rows: list[str] = []
    with tempfile.TemporaryDirectory(prefix="prime-skills-benchmark-") as directory:
        root = Path(directory).resolve()
        environ = {**os.environ, "UV_CACHE_DIR": str(root / "cache")}
        for count in options.skills:
            place = root / str(count)
            generate(
                place / "skills", [f"skill-{number:03d}" for number in range(count)]
            )
            generate(place / SEED, [SEED])
            _fill(place, environ=environ)
            for pairs, found, rounds in (
                (_slow_pairs(count), slow_rows, options.slow_rounds),
                (_pairs(count), rows, options.rounds),
            ):
                times = in_turn(
                    contestants(pairs),
                    partial(sample, place=place, environ=environ),
                    rounds=rounds,
                    title=f"{count} skills",
                )
                for pair in pairs:
                    text, is_met = row(str(count), pair, times)
                    found.append(text)
                    holds = holds and is_met
    print_table(slow_rows, first="skills", rounds=options.slow_rounds)
    sys.stdout.write("\n")
    print_table(rows, first="skills", rounds=options.rounds)
    return 0 if holds else 1


def _slow_pairs(count: int) -> tuple[Pair, ...]:
    return (
        Pair(
            ours="cold",
            peer="sequential",
            label="`uv venv`, `uv pip install --editable` for each",
            faster=20 if count >= _MANY else 1,
        ),
    )


def _pairs(count: int) -> tuple[Pair, ...]:
    return (
        Pair(
            ours="apply",
            peer="bare",
            label="`uv pip install --offline` of the wheels",
            slower=2 if count >= _MANY else None,
        ),
        Pair(
            ours="warm",
            peer="requirements",
            label="`uv pip install -r`, nothing to do",
            faster=1,
        ),
    )


def generate(folder: Path, names: Sequence[str]) -> None:
    """Write skills of one module each."""
    for name in names:
        code = "def run():\n    return 1\n"
        write_skill(folder, name, modules={"__init__": code})


def _fill(place: Path, *, environ: Mapping[str, str]) -> None:
    """Fill the cache with what hatchling needs, and write the wheels of all skills."""
    _run("sequential", place / SEED, place / "first", place, environ=environ)
    _run("cold", place / "skills", place / "made", place, environ=environ)
    stores = (place / "made").rglob("wheels")
    shutil.copytree(next(stores), place / "wheels")


def sample(name: str, *, place: Path, environ: Mapping[str, str]) -> Sample:
    """Run one contestant; what it makes is removed, unless it goes on using it."""
    folder = place / name
    taken = _run(
        name,
        place / "skills",
        folder,
        place / "wheels",
        environ={**environ, "UV_OFFLINE": "1"},
    )
    if name not in _STAYING:
        shutil.rmtree(folder)
    return taken


def _run(
    name: str, skills: Path, folder: Path, wheels: Path, *, environ: Mapping[str, str]
) -> Sample:
    folder.mkdir(exist_ok=True)
    argv = [sys.executable, str(_INSTALLERS), name, str(skills)]
    done = process.run(
        [*argv, str(folder), str(wheels)],
        cwd=folder,
        env=environ,
        timeout_s=_TIMEOUT_S,
    )
    taken = json.loads(done.stdout)
    return taken["wall"], taken["cpu"]


if __name__ == "__main__":
    sys.exit(main())
