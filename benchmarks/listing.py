"""What telling a model of many skills costs, in pairs against escaping the same text.

    uv run benchmarks/listing.py [--skills 2000] [--rounds 15]

A catalogue of generated skills is rendered under each kind of budget; the peer escapes
the name, description and location of every skill for XML and joins them, and does
nothing else. All in one process and in turn, round after round; ``_pairs.py`` says how
a pair is judged. Exits with 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from _pairs import Pair, Sample, contestants, in_turn, print_table, row

from prime_skills_ext.catalog.sources import Source
from prime_skills_ext.catalog.status import Catalogue, SkillStatus
from prime_skills_ext.prompt.budget import Budget
from prime_skills_ext.prompt.offer import render
from prime_skills_ext.skill.model import Skill

_TARGET: Final = 12
_LABEL: Final = "`escape` of every text, joined"

PAIRS: Final = (
    Pair(ours="none", peer="escape", label=_LABEL, slower=_TARGET),
    Pair(ours="claude", peer="escape", label=_LABEL, slower=_TARGET),
    Pair(ours="codex", peer="escape", label=_LABEL, slower=_TARGET),
    Pair(ours="claude, half", peer="escape", label=_LABEL, slower=_TARGET),
    Pair(ours="codex, half", peer="escape", label=_LABEL, slower=_TARGET),
)

_WORDS: Final = (
    *("reads", "writes", "files", "tables", "charts", "and", "the", "of", "with"),
    *("PDF", "<tags>", "R&D", "reports", "when", "user", "asks", "quarterly"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, and say whether all targets hold."""
    parser = argparse.ArgumentParser(description="Measure what a listing costs.")
    parser.add_argument("--skills", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args(arguments)
    catalogue = make_catalogue(options.skills)
    texts = [
        text
        for status in catalogue.skills
        for text in (status.name, status.skill.description, str(status.skill.path))
    ]
    half = render(catalogue, budget="none").needed // 2
    runs: dict[str, Callable[[], object]] = {
        "escape": lambda: "\n".join([escape(text) for text in texts]),
        "none": lambda: render(catalogue, budget="none"),
        "claude": lambda: render(catalogue, budget="claude"),
        "codex": lambda: render(catalogue, budget="codex"),
        "claude, half": lambda: render(catalogue, budget=Budget(chars=half)),
        "codex, half": lambda: render(
            catalogue, budget=Budget(strategy="codex", chars=half, entry_chars=None)
        ),
    }

    def sample(name: str) -> Sample:
        run = runs[name]
        wall, cpu = time.perf_counter(), time.process_time()
        run()
        return time.perf_counter() - wall, time.process_time() - cpu

    title = f"{options.skills:,} skills"
    times = in_turn(contestants(PAIRS), sample, rounds=options.rounds, title=title)
    rows = [row(f"{options.skills:,}", pair, times) for pair in PAIRS]
    print_table([line for line, _ in rows], first="skills", rounds=options.rounds)
    return 0 if all(is_met for _, is_met in rows) else 1


def make_catalogue(count: int) -> Catalogue:
    """Return skills whose descriptions are as long as those in the wild.

    Half of them have up to 225 characters, nine of ten up to 600, and a third have a
    letter that is not ASCII; the same on every machine.
    """
    chance = random.Random(6)  # noqa: S311  # nothing is secret
    root = Path("/home/somebody/.agents/skills")
    source = Source(kind="user", label="user:.agents/skills", directory=root)
    skills = []
    for at in range(count):
        name = f"generated-skill-{at:05}"
        length = min(1_024, int(chance.lognormvariate(5.4, 0.75)) + 20)
        words = ["für"] if at % 3 == 0 else []
        while sum(map(len, words)) + len(words) < length:
            words.append(chance.choice(_WORDS))
        description = " ".join(words)[: length - 1].strip() + "."
        path = root / name / "SKILL.md"
        skill = Skill(
            name=name,
            description=description,
            path=path,
            directory=path.parent,
            identity=path,
            import_name=name.replace("-", "_"),
        )
        location = f"{source.label}: {name}"
        skills.append(
            SkillStatus(
                skill=skill, source=source, location=location, state="instructions"
            )
        )
    return Catalogue(skills=tuple(skills))


if __name__ == "__main__":
    sys.exit(main())
