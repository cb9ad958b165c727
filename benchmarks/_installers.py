"""One measured installation, in a process of its own.

Run as ``python _installers.py NAME SKILLS PLACE WHEELS``: the folder with the skills,
a folder to work in, and one with the wheels of the same skills. Prints the seconds of
wall and of CPU time that it took, those of the programs that it started included, as
JSON. What ``NAME`` needs beforehand is done here, too, and not measured.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest.mock import patch

from prime_skills_ext.catalog.discovery import discover
from prime_skills_ext.catalog.sources import Source
from prime_skills_ext.environment import renewal
from prime_skills_ext.environment.installation import ensure
from prime_skills_ext.environment.plan import InstallPlan, plan_installs
from prime_skills_ext.environment.uv import find_uv
from prime_skills_ext.environment.venv import current, locate
from prime_skills_ext.skill.model import Skill

#: Beside the folder of skills: one more, which an existing environment holds already.
SEED = "seed"

#: Moments of the wall and of the CPU clock.
Moment = tuple[float, float]
#: Does the measured part; returns when that began, if not when it was called.
Run = Callable[[], Moment | None]


def cold(skills: Path, place: Path, _: Path) -> Run:
    """Ensure all skills where nothing is: the environment is made, too."""
    wanted = _wanted(skills)
    return lambda: _ensure(wanted, place=place)


def sequential(skills: Path, place: Path, _: Path) -> Run:
    """Make an environment, then install each skill with a call and a build of its own.

    This is what the reference system does, without the packages that it adds.
    """

    def run() -> None:
        _make(place)
        for skill in sorted(skills.iterdir()):
            _install(place, "--editable", str(skill))

    return run


def apply(skills: Path, place: Path, _: Path) -> Run:
    """What follows the plan, until the report: into an environment that is there."""
    seed = _wanted(skills.with_name(SEED))
    wanted = [*_wanted(skills), *seed]
    _ensure(seed, place=place)
    planned: list[Moment] = []

    def noted(*arguments: object, **keywords: object) -> InstallPlan:
        plan = plan_installs(*arguments, **keywords)  # type: ignore[arg-type]
        planned.append(_now())
        return plan

    patch.object(renewal, "plan_installs", noted).start()

    def run() -> Moment:
        _ensure(wanted, place=place)
        return planned[0]

    return run


def bare(_: Path, place: Path, wheels: Path) -> Run:
    """Hand the wheels of the same skills to uv: into an environment that is there."""
    # copies: uv has not unpacked those of the other side either
    shutil.copytree(wheels, place / "wheels")
    paths = sorted(map(str, (place / "wheels").glob("*/*.whl")))
    runtime = [path for path in paths if "prime_agent_runtime" in path]
    _make(place)
    _install(place, "--no-deps", *runtime)
    return lambda: _install(place, *(path for path in paths if path not in runtime))


def warm(skills: Path, place: Path, _: Path) -> Run:
    """Ensure all skills where all are."""
    wanted = _wanted(skills)
    if (
        current(locate(mode="overlay", agent_directory=place, environ=os.environ))
        is None
    ):
        _ensure(wanted, place=place)
    return lambda: _ensure(wanted, place=place)


def requirements(skills: Path, place: Path, _: Path) -> Run:
    """Hand all skills to uv in one file where all are."""
    file = place / "requirements.txt"
    if not file.exists():
        _make(place)
        lines = [f"-e {skill.as_uri()}\n" for skill in sorted(skills.iterdir())]
        file.write_text("".join(lines), encoding="utf-8")
        _install(place, "-r", str(file))
    return lambda: _install(place, "-r", str(file))


CONTESTANTS: dict[str, Callable[[Path, Path, Path], Run]] = {
    contestant.__name__: contestant
    for contestant in (cold, sequential, apply, bare, warm, requirements)
}


def _wanted(folder: Path) -> Sequence[Skill]:
    found = discover([Source(kind="user", label="user", directory=folder)])
    return [candidate.skill for candidate in found.candidates]


def _ensure(skills: Sequence[Skill], *, place: Path) -> None:
    environment = locate(mode="overlay", agent_directory=place, environ=os.environ)
    report = ensure(skills, environment=environment, environ=os.environ)
    if report.failed or report.problem or report.generation is None:
        raise SystemExit(f"not installed: {report}")


def _make(place: Path) -> None:
    _uv("venv", "--quiet", "--python", sys.executable, str(place / "venv"))


def _install(place: Path, *words: str) -> None:
    _uv("pip", "install", "--quiet", "--python", str(place / "venv"), *words)


def _uv(*words: str) -> None:
    """Start uv with nothing around it: no pipes, no threads."""
    binary = str(find_uv(os.environ))
    started = os.posix_spawn(binary, [binary, *words], os.environ)
    if status := os.waitstatus_to_exitcode(os.waitpid(started, 0)[1]):
        raise SystemExit(f"uv {' '.join(words)} ended with {status}")


def _now() -> Moment:
    usage = (
        resource.getrusage(who)
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    cpu = sum(each.ru_utime + each.ru_stime for each in usage)
    return time.perf_counter(), cpu


def main() -> None:
    """Measure one installation."""
    name, *folders = sys.argv[1:]
    skills, place, wheels = map(Path, folders)
    # uv reads settings from where it runs; there are none here
    os.chdir(place)
    run = CONTESTANTS[name](skills, place, wheels)
    called = _now()
    begun = run() or called
    ended = _now()
    answer = {"wall": ended[0] - begun[0], "cpu": ended[1] - begun[1]}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
