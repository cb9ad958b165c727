"""From the lines that uv writes while it works to steps that people can follow.

uv draws its bars on a terminal only; elsewhere it writes one plain line per step, and
their first words are read here. A line that is not understood is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import final

from prime_skills_ext.progress import Listener, ProgressEvent, Stage, counted

__all__ = ["Narrator", "subject"]

_NAMED = re.compile(r"(Building|Built|Downloading|Downloaded) ([A-Za-z0-9][\w.-]*)(.*)")
_COUNTED = re.compile(r"(Resolved|Prepared|Installed) (\d+) packages?\b")
_SIZE = re.compile(r" \([\d.,]+ ?[KMGT]?i?B\)")


def subject(skills: int) -> str:
    """What all lines about an installation begin with.

    Args:
        skills: How many skills are installed; with none it is for kernels alone.
    """
    what = counted(skills, "skill") if skills else "what kernels need"
    return f"Installing {what}"


@final
class Narrator:
    """Follows one installation, whatever the number of uv's attempts.

    Args:
        listener: Who is told.
        skills: How many skills are installed.
        builds: How many of them their own backends build, as far as is known.
        names: Distribution, in canonical form, to the name of its skill.
    """

    def __init__(
        self,
        listener: Listener,
        *,
        skills: int,
        builds: int = 0,
        names: Mapping[str, str] | None = None,
    ) -> None:
        self._listener = listener
        self._skills = skills
        self._builds = builds
        self._names = names or {}
        self._begun: dict[str, set[str]] = {"building": set(), "downloading": set()}
        self._ended: dict[str, set[str]] = {"building": set(), "downloading": set()}

    def __call__(self, line: str) -> None:
        """Read one line of uv's."""
        line = line.strip()
        if found := _COUNTED.match(line):
            self._count(found[1], int(found[2]))
        elif found := _NAMED.match(line):
            self._name(found[1], found[2], rest=found[3])

    def _count(self, word: str, packages: int) -> None:
        stage: Stage = "resolving" if word == "Resolved" else "installing"
        is_done = word == "Installed"
        self._tell(
            stage,
            f"{counted(packages, 'package')} {word.lower()}",
            done=self._skills if is_done else None,
            total=self._skills if is_done else None,
        )

    def _name(self, word: str, name: str, *, rest: str) -> None:
        stage: Stage = "building" if word.startswith("Buil") else "downloading"
        begun, ended = self._begun[stage], self._ended[stage]
        begun.add(name)
        if not word.endswith("ing"):
            ended.add(name)
        total = max(len(begun), self._builds if stage == "building" else 0)
        what = f"{len(ended)} of {total} {'built' if stage == 'building' else stage}"
        if stage == "downloading":
            size = _SIZE.match(rest)
            what = f"{word.lower()} {name}{size[0] if size else ''}"
        skill = self._names.get(name)
        self._tell(stage, what, done=len(ended), total=total, skill=skill)

    def _tell(
        self,
        stage: Stage,
        what: str,
        *,
        done: int | None = None,
        total: int | None = None,
        skill: str | None = None,
    ) -> None:
        self._listener(
            ProgressEvent(
                stage=stage,
                message=f"{subject(self._skills)} · {what}",
                done=done,
                total=total,
                skill=skill,
            )
        )
