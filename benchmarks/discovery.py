"""How fast skills are found, measured in pairs against peers.

    uv run benchmarks/discovery.py [--skills 1000 10000] [--rounds 7]

Generates skills, makes an environment for the public ``skills-ref`` package, and runs
every contestant in turn, round after round, each in a new process with the same
Python; ``_pairs.py`` says how a pair is judged. Exits with 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from _pairs import Pair, Sample, Times, contestants, in_turn, print_table, row

from prime_skills_ext import process
from prime_skills_ext.environment.uv import find_uv

#: What is compared with; pinned, so that ratios can be compared over time.
PEER: Final = "skills-ref==0.1.1"

_CONTESTANTS: Final = Path(__file__).with_name("_contestants.py")
#: Files that are younger are not cached: see prime_skills_ext.catalog.cache.
_SAFE_AGE_S: Final = 4.0
_TIMEOUT_S: Final = 600.0


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
                line, is_met = row(f"{count:,}", pair, times)
                rows.append(line)
                holds = holds and is_met
    print_table(rows, first="skills", rounds=options.rounds)
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
    # the cache must be there for the others
    names = sorted(contestants(PAIRS), key=lambda name: name != "cold")

    def sample(name: str) -> Sample:
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
        return result["wall"], result["cpu"]

    return in_turn(names, sample, rounds=rounds, title=f"{count} skills")


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


if __name__ == "__main__":
    sys.exit(main())
