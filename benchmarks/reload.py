"""How fast an edit is live, and how little a reload costs when there is none.

    uv run benchmarks/reload.py [--skills 50 1000] [--rounds 25]

Generates Python-backed skills, loads them as a kernel does, and runs every contestant
in turn in this process, round after round; ``_pairs.py`` says how a pair is judged.
Exits with 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from _pairs import Pair, Sample, Times, contestants, in_turn, print_table, row
from _skills import write_skill

from prime_skills_ext.manager import SkillManager

#: What a reload went by counts when it is older than this.
_SAFE_AGE_S: Final = 4.0
#: Among so many skills an edit has a target.
_FEW: Final = 50
#: Which skill is edited.
_EDITED: Final = 7

EDIT: Final = Pair(
    ours="edit",
    peer="by_hand",
    label="`importlib.reload` of its modules",
    slower=6,
)
NO_AIM: Final = replace(EDIT, slower=None)
NOTHING: Final = Pair(
    ours="nothing", peer="walk", label="`scandir`, `stat` of all trees", slower=1.5
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, and say whether all targets hold."""
    parser = argparse.ArgumentParser(
        description="Measure how fast an edit is live, against peers."
    )
    parser.add_argument("--skills", type=int, nargs="+", default=[50, 1000])
    parser.add_argument("--rounds", type=int, default=25)
    options = parser.parse_args(arguments)
    # both sides may write bytecode
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    holds = True
    rows = []
    home = Path.cwd()
    for count in options.skills:
        with tempfile.TemporaryDirectory(prefix="prime-skills-benchmark-") as folder:
            place = Path(folder).resolve()
            for pair, times in measure(place, count=count, rounds=options.rounds):
                # looking at a thousand skills is no matter of one edit
                aim = pair if count <= _FEW or pair is NOTHING else NO_AIM
                line, is_met = row(f"{count:,}", aim, times)
                rows.append(line)
                holds = holds and is_met
            os.chdir(home)
    print_table(rows, first="skills", rounds=options.rounds)
    return 0 if holds else 1


def measure(place: Path, *, count: int, rounds: int) -> list[tuple[Pair, Times]]:
    """Load ``count`` skills and run all contestants in turn."""
    skills = place / "home" / ".agents" / "skills"
    generate(skills, count=count)
    project = place / "project"
    (project / ".git").mkdir(parents=True)
    # whoever measures has skills of their own: they are left out
    os.environ["HOME"] = str(place / "home")
    os.environ["PRIME_AGENT_KERNEL_VENV"] = str(place / "venv")
    os.chdir(project)
    namespace: dict[str, Any] = {}
    manager = SkillManager(namespace=namespace)
    manager.load()
    try:
        trees = {item.directory for item in manager.snapshot.sources}
        runners: dict[str, Callable[[], object]] = {
            "edit": Edit(skills, reload=manager.reload, namespace=namespace),
            "by_hand": ByHand(skills, place / "by_hand"),
            "nothing": manager.reload,
            "walk": lambda: walk(trees),
        }
        found = []
        for pair in (EDIT, NOTHING):
            # what was just written is looked at more closely for a while
            manager.reload()
            time.sleep(_SAFE_AGE_S)
            manager.reload()
            names = contestants([pair])
            title = f"{count} skills, {pair.ours}"
            times = in_turn(
                names,
                lambda name: timed(runners[name]),
                rounds=rounds,
                title=title,
            )
            found.append((pair, times))
        return found
    finally:
        manager.unload()


def timed(run: Callable[[], object]) -> Sample:
    """Return the wall and the CPU time of one call, in seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - wall, time.process_time() - cpu


def generate(folder: Path, *, count: int) -> None:
    """Write ``count`` Python-backed skills of two modules."""
    for number in range(count):
        modules = {"__init__": "from .core import run\n", "core": core(number)}
        write_skill(folder, f"skill-{number:05d}", modules=modules)


def core(answer: int) -> str:
    """Return the source of a module of some functions and a class."""
    helpers = "".join(
        f"def helper_{step}(value: int) -> int:\n"
        f'    """Do step {step} of what has to be done."""\n'
        f"    total = sum(range(value + {step}))\n"
        f"    return total if total % 2 else total + {step}\n\n\n"
        for step in range(20)
    )
    return (
        "from dataclasses import dataclass\n\n\n"
        "@dataclass\nclass Result:\n    value: int\n\n\n"
        f"{helpers}async def run() -> int:\n    return Result({answer}).value\n"
    )


class Edit:
    """An edit, a reload of ours and a call.

    Args:
        skills: Where the skills are.
        reload: What takes the edit up.
        namespace: Where the skills are bound.
    """

    def __init__(
        self,
        skills: Path,
        *,
        reload: Callable[[], object],
        namespace: dict[str, Any],
    ) -> None:
        name = f"skill_{_EDITED:05d}"
        self._path = skills / name.replace("_", "-") / "src" / name / "core.py"
        self._reload, self._skill = reload, namespace[name]
        self._answer = 10**6

    def __call__(self) -> None:
        """Edit, reload, call; the answer must be the new one."""
        self._answer += 1
        self._path.write_text(core(self._answer), encoding="utf-8")
        self._reload()
        if run(self._skill()) != self._answer:
            raise SystemExit("the edit is not live")


class ByHand:
    """An edit of a copy, ``importlib.reload`` of both modules and a call.

    Args:
        skills: Where the skills are.
        place: Where the copy is put.
    """

    def __init__(self, skills: Path, place: Path) -> None:
        name = f"skill_{_EDITED:05d}"
        source = skills / name.replace("_", "-") / "src" / name
        self._package = place / f"by_hand_{name}_{len(sys.path)}"
        self._package.mkdir(parents=True)
        for file in source.glob("*.py"):
            (self._package / file.name).write_bytes(file.read_bytes())
        sys.path.append(str(place))
        importlib.invalidate_caches()
        self._module = importlib.import_module(self._package.name)
        self._core = sys.modules[f"{self._package.name}.core"]
        self._answer = 10**6

    def __call__(self) -> None:
        """Edit, reload, call; the answer must be the new one."""
        self._answer += 1
        # a size of its own: Python takes times of one second for the same
        text = core(self._answer) + "#" * (self._answer % 10**4) + "\n"
        (self._package / "core.py").write_text(text, encoding="utf-8")
        importlib.reload(self._core)
        importlib.reload(self._module)
        if run(self._module.run()) != self._answer:
            raise SystemExit("the edit is not live")


def run(coroutine: Any) -> Any:
    """Drive a coroutine that never waits; no loop is measured."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise SystemExit("it waits")


def walk(folders: set[Path]) -> int:
    """Look at every entry once; what is there is only counted."""
    pending = [str(folder) for folder in folders]
    files = 0
    while pending:
        try:
            entries = os.scandir(pending.pop())
        except OSError:
            continue
        with entries:
            for entry in entries:
                if entry.name == "__pycache__":
                    continue
                if entry.is_dir():
                    pending.append(entry.path)
                else:
                    entry.stat()
                    files += 1
    return files


if __name__ == "__main__":
    sys.exit(main())
