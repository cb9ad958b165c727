"""How long a warm ``%load_ext`` takes, a kernel's start with it, and what memory.

    uv run benchmarks/load.py [--skills 1 10 50 200] [--rounds 7]

Generates Python-backed skills and installs them once. Then, round after round and each
time in a new kernel, the extension is loaded, and beside it a bare kernel imports the
same modules from one entry of ``sys.path`` per skill. Last come the starts of kernels,
without a skill and with many; ``_starting.py`` measures them and can be run alone.
``_pairs.py`` says how a pair is judged. Exits with 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from _kernel import ask, kernel
from _pairs import Pair, Sample, contestants, in_turn, print_table, row
from _skills import write_skill
from _starting import PAIR as START
from _starting import compare

#: At this many skills the targets hold; other numbers show how it grows.
TARGET_AT: Final = 50
MAX_ADDED_MB: Final = 15.0
#: Files that are younger are not cached: see prime_skills_ext.catalog.cache.
_SAFE_AGE_S: Final = 4.0

_LABEL: Final = "the modules, imported from as many `sys.path` entries"
LOAD: Final = Pair(ours="load", peer="import", label=_LABEL)
LOAD_TARGET: Final = Pair(
    ours="load", peer="import", label=_LABEL, slower=1.15, allowance_s=0.03
)
_IMPL: Final = '''"""Counts the words of a text."""

from __future__ import annotations

import re

WORD = re.compile(r"\\w+")


async def run(text: str, *, least: int = 1) -> dict[str, int]:
    """Count the words of a text.

    Args:
        text: What to count in.
        least: Leave out words that occur less often.

    Returns:
        How often each word occurs.
    """
    found: dict[str, int] = {}
    for word in WORD.findall(text):
        found[word] = found.get(word, 0) + 1
    return {word: count for word, count in found.items() if count >= least}
'''

#: Prints what loading took, and how many of the skills can be called afterwards.
_LOAD: Final = """
import json, time
start = time.perf_counter(), time.process_time()
get_ipython().run_line_magic("load_ext", "prime_skills_ext")
took = time.perf_counter() - start[0], time.process_time() - start[1]
count = sum(callable(skills[name]) for name in skills if name.startswith("skill-"))
print(json.dumps({"took": took, "count": count}))
"""
_IMPORT: Final = """
import importlib, json, os, sys, time
folder = FOLDER
names = sorted(os.listdir(folder))
start = time.perf_counter(), time.process_time()
sys.path += [f"{folder}/{name}/src" for name in names]
modules = [importlib.import_module(name.replace("-", "_")) for name in names]
took = time.perf_counter() - start[0], time.process_time() - start[1]
print(json.dumps({"took": took, "count": sum(callable(it.run) for it in modules)}))
"""
#: Prints the memory before and after a load: resident, and this process's alone.
_MEMORY: Final = """
import json, psutil
def used():
    found = psutil.Process().memory_full_info()
    return found.rss, found.uss
before = used()
get_ipython().run_line_magic("load_ext", "prime_skills_ext")
print(json.dumps([before, used()]))
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the tables, and say whether all targets hold."""
    parser = argparse.ArgumentParser(
        description="Measure a warm %%load_ext against bare imports."
    )
    parser.add_argument("--skills", type=int, nargs="+", default=[1, 10, 50, 200])
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args(arguments)
    at = TARGET_AT if TARGET_AT in options.skills else max(options.skills)
    with tempfile.TemporaryDirectory(prefix="prime-skills-benchmark-") as directory:
        root = Path(directory).resolve()
        homes = {count: root / str(count) for count in options.skills}
        for count, home in homes.items():
            generate(skills_of(home), count=count)
        time.sleep(_SAFE_AGE_S)
        loads = [
            _load_row(home, count=count, rounds=options.rounds)
            for count, home in homes.items()
        ]
        memory = measure_memory(homes[at], rounds=options.rounds)
        # homes of their own: nothing but these skills is in them
        starts = [
            _start_row(root / f"start-{count}", count=count, rounds=options.rounds)
            for count in (0, at)
        ]
    for judged in (loads, starts):
        print_table([line for line, _ in judged], first="skills", rounds=options.rounds)
        sys.stdout.write("\n")
    fits = _print_memory(memory, count=at)
    return 0 if fits and all(is_met for _, is_met in (*loads, *starts)) else 1


def skills_of(home: Path) -> Path:
    """Where the user's own skills lie."""
    return home / ".prime" / "agent" / "skills"


def generate(folder: Path, *, count: int) -> None:
    """Write ``count`` skills of a realistic shape."""
    for number in range(count):
        name = f"skill-{number:03d}"
        module = name.replace("-", "_")
        code = (
            f'"""Counts words."""\n\nfrom {module}.impl import run\n\n'
            '__all__ = ["run"]\n'
        )
        write_skill(folder, name, modules={"__init__": code, "impl": _IMPL})


def _load_row(home: Path, *, count: int, rounds: int) -> tuple[str, bool]:
    cells = {
        "load": _LOAD,
        "import": _IMPORT.replace("FOLDER", repr(str(skills_of(home)))),
    }

    def sample(name: str) -> Sample:
        with kernel(home) as client:
            answer = ask(client, cells[name])
        if answer["count"] != count:
            raise SystemExit(f"{name} has {answer['count']} of {count} skills")
        wall, cpu = answer["took"]
        return wall, cpu

    pair = LOAD_TARGET if count == TARGET_AT else LOAD
    sample("load")  # installs, and learns the headers: what is measured is warm
    times = in_turn(contestants([pair]), sample, rounds=rounds, title=f"{count} skills")
    return row(str(count), pair, times)


def _start_row(home: Path, *, count: int, rounds: int) -> tuple[str, bool]:
    times = compare(rounds, skills=count, python=Path(sys.executable), home=home)
    return row(str(count), START, times)


def measure_memory(home: Path, *, rounds: int) -> list[tuple[float, float, float]]:
    """Return per round, in MB: resident before the load, and what it added, twice.

    Once as pages that are resident, once as those that no other process shares.
    """
    found = []
    for _ in range(rounds):
        with kernel(home) as client:
            (rss, uss), (later, own) = ask(client, _MEMORY)
        found.append((rss / 1e6, (later - rss) / 1e6, (own - uss) / 1e6))
    return found


def _print_memory(rounds: Sequence[tuple[float, float, float]], *, count: int) -> bool:
    bare, added, own = (
        statistics.median(column) for column in zip(*rounds, strict=True)
    )
    spread = [it for _, it, _ in rounds]
    is_met = bool(added <= MAX_ADDED_MB)
    cells = (
        *(str(count), f"{bare:.1f} MB", f"{added:.1f} MB"),
        f"{min(spread):.1f} to {max(spread):.1f}",
        *(f"{own:.1f} MB", f"≤ {MAX_ADDED_MB:g} MB", "yes" if is_met else "**no**"),
    )
    columns = (
        "skills",
        "bare kernel",
        "added",
        "from … to",
        "unshared",
        "target",
        "holds",
    )
    lines = (
        f"| {' | '.join(columns)} |",
        f"|{'---|' * len(columns)}",
        f"| {' | '.join(cells)} |",
    )
    sys.stdout.write("\n".join(lines) + "\n")
    return is_met


if __name__ == "__main__":
    sys.exit(main())
