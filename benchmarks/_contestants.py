"""One measured pass over a folder of skills, in a process of its own.

Run as ``python _contestants.py NAME FOLDER AGENT_DIRECTORY``; prints how many skills
were seen and the seconds that it took, as JSON. ``discovery.py`` starts it with the
interpreter of the environment that holds what ``NAME`` needs, so nothing but the
standard library is imported before that is known. Imports are not measured,
everything else is.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

Pass = Callable[[], int]


def skills_ref(folder: Path, _: Path) -> Pass:
    """Read every skill's properties with the public reference library."""
    from skills_ref import read_properties

    return lambda: sum(
        bool(read_properties(skill).name) for skill in sorted(folder.iterdir())
    )


def bare_loop(folder: Path, _: Path) -> Pass:
    """Scan, read and load YAML with libyaml: the least that reading headers takes."""
    import yaml

    loader = yaml.CSafeLoader

    def run() -> int:
        found = []
        for path in _skill_files(folder):
            with open(path, encoding="utf-8") as file:
                header = file.read().split("---", 2)[1]
            found.append(yaml.load(header, Loader=loader))  # noqa: S506 - it is safe
        return sum(bool(header["name"]) for header in found)

    return run


def cold(folder: Path, agent: Path) -> Pass:
    """Discover with an empty cache, and write it."""
    from prime_skills_ext.catalog.cache import CACHE_FILE

    # imported when the first header needs it; like the peer's, it is not measured
    from prime_skills_ext.skill import _yaml  # noqa: F401 - for its effect

    (agent / CACHE_FILE).unlink(missing_ok=True)
    return _discover(folder, agent)


def warm(folder: Path, agent: Path) -> Pass:
    """Discover with a cache that knows every header."""
    return _discover(folder, agent)


def walk_and_load(folder: Path, agent: Path) -> Pass:
    """Scan, look at each skill's status, and make skills of all that the cache holds.

    This is what a warm run cannot do without: it compares nothing, knows no rules, and
    puts nothing together.
    """
    from prime_skills_ext.catalog._cached import from_json
    from prime_skills_ext.catalog.cache import CACHE_FILE

    def run() -> int:
        status = [os.stat(path) for path in _skill_files(folder)]
        kept = json.loads((agent / CACHE_FILE).read_bytes())["skills"]
        skills = [
            from_json(entry[1], path=(path := Path(text)), identity=path)
            for text, entry in kept.items()
        ]
        return min(len(status), len(skills))

    return run


def walk_and_parse(folder: Path, agent: Path) -> Pass:
    """Scan, look at each skill's status, and parse the JSON of the cache, no more."""
    from prime_skills_ext.catalog.cache import CACHE_FILE

    def run() -> int:
        status = [os.stat(path) for path in _skill_files(folder)]
        kept = json.loads((agent / CACHE_FILE).read_bytes())["skills"]
        return min(len(status), len(kept))

    return run


CONTESTANTS: dict[str, Callable[[Path, Path], Pass]] = {
    contestant.__name__: contestant
    for contestant in (
        skills_ref,
        bare_loop,
        cold,
        warm,
        walk_and_load,
        walk_and_parse,
    )
}


def _discover(folder: Path, agent: Path) -> Pass:
    from prime_skills_ext.catalog.cache import SkillCache
    from prime_skills_ext.catalog.discovery import discover
    from prime_skills_ext.catalog.sources import Source

    sources = [Source(kind="user", label="user", directory=folder)]
    return lambda: len(discover(sources, cache=SkillCache(agent)).candidates)


def _skill_files(folder: Path) -> Iterator[str]:
    with os.scandir(folder) as skills:
        for skill in skills:
            with os.scandir(skill.path) as entries:
                for entry in entries:
                    if entry.name == "SKILL.md":
                        yield entry.path


def main() -> None:
    """Measure one pass."""
    name, folder, agent = sys.argv[1:]
    run = CONTESTANTS[name](Path(folder), Path(agent))
    start, start_cpu = time.perf_counter(), time.process_time()
    count = run()
    answer = {
        "count": count,
        "wall": time.perf_counter() - start,
        "cpu": time.process_time() - start_cpu,
    }
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
