"""What calling a skill costs, measured in pairs against calling its function.

    uv run benchmarks/call.py [--calls 200000] [--rounds 7]

A skill without key, limit or thread is loaded as a kernel loads it, and every
contestant awaits the same ``run`` many times, in turn, round after round, each in a
new process; ``_pairs.py`` says how a pair is judged. Exits with 1 if a target is
missed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Final

from _pairs import Pair, Sample, contestants, in_turn, print_table, row
from _skills import write_skill

from prime_skills_ext import process
from prime_skills_ext.kernel.binding import Binder
from prime_skills_ext.skill.model import PythonPackage, Skill

_TIMEOUT_S: Final = 600.0

PAIRS: Final = (
    Pair(ours="async", peer="wrapped", label="an `async` wrapper", slower=6),
    Pair(ours="async", peer="bare", label="`await run()`", slower=15),
    Pair(ours="sync", peer="wrapped_sync", label="an `async` wrapper"),
    Pair(ours="waiting", peer="wrapped_waiting", label="an `async` wrapper"),
)

#: How each ``run`` looks; the last one gives the loop a turn.
_RUNS: Final = {
    "async": "async def run(text, top=3):\n    return top",
    "sync": "def run(text, top=3):\n    return top",
    "waiting": "import asyncio\nasync def run(*_, top):\n    await asyncio.sleep(0)",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, and say whether all targets hold."""
    parser = argparse.ArgumentParser(description="Measure what a call costs.")
    parser.add_argument("--calls", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--contestant", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.contestant:
        print(json.dumps(asyncio.run(contend(options.contestant, options.calls))))  # noqa: T201
        return 0

    def sample(name: str) -> Sample:
        answer = process.run(
            [
                *(sys.executable, __file__, "--contestant", name),
                *("--calls", str(options.calls)),
            ],
            cwd=Path(__file__).parent,
            env=os.environ,
            timeout_s=_TIMEOUT_S,
        )
        wall, cpu = json.loads(answer.stdout)
        return wall, cpu

    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    title = f"{options.calls:,} calls"
    times = in_turn(contestants(PAIRS), sample, rounds=options.rounds, title=title)
    rows = [row(f"{options.calls:,}", pair, times) for pair in PAIRS]
    print_table([line for line, _ in rows], first="calls", rounds=options.rounds)
    return 0 if all(is_met for _, is_met in rows) else 1


async def contend(name: str, calls: int) -> Sample:
    """Await one contestant that often; return the seconds that it took.

    It runs under a handler like the one that a kernel has for a cell with ``await``.
    """
    kind = name.removeprefix("wrapped").removeprefix("_")
    with tempfile.TemporaryDirectory(prefix="prime-skills-benchmark-") as directory:
        skill = load(Path(directory), code=_RUNS.get(kind, _RUNS["async"]))
    run = skill.run

    async def wrapped(*args: Any, **kwargs: Any) -> Any:
        return await run(*args, **kwargs)

    async def wrapped_sync(*args: Any, **kwargs: Any) -> Any:
        return run(*args, **kwargs)

    called: Callable[..., Awaitable[Any]] = skill
    if name == "bare":
        called = run
    elif name.startswith("wrapped"):
        called = wrapped_sync if kind == "sync" else wrapped
    signal.signal(signal.SIGINT, lambda *_: None)
    await called("a b a", top=1)  # what the first call sets up is not measured
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(calls):
        await called("a b a", top=1)
    return time.perf_counter() - wall, time.process_time() - cpu


def load(directory: Path, *, code: str) -> Any:
    """Write a skill and bind it as a kernel does; return it."""
    write_skill(directory, "measured", modules={"__init__": f"{code}\n"})
    folder = directory / "measured"
    python = PythonPackage(
        import_name="measured",
        directory=folder,
        pyproject=folder / "pyproject.toml",
        src=folder / "src",
    )
    path = folder / "SKILL.md"
    skill = Skill(
        name="measured",
        description="Answers.",
        path=path,
        directory=folder,
        identity=path,
        import_name="measured",
        python=python,
    )
    names: dict[str, Any] = {}
    Binder(names, hidden={}).bind([skill])
    return names["measured"]


if __name__ == "__main__":
    sys.exit(main())
