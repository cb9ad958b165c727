"""Which skills there are: sources in, candidates and diagnostics out.

Puts together what the walker and the loader find in each source. One skill, by the
real path of its file, is one candidate, however many ways lead to it. Decides
nothing about names or trust, and keeps nothing from one call to the next.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

from prime_skills_ext.catalog.sources import Source
from prime_skills_ext.skill.model import Diagnostic, Skill

__all__ = ["Candidate", "Discovery", "discover"]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A skill and the way it was found.

    Attributes:
        skill: The skill.
        source: The source of highest precedence that leads to it.
        aliases: The same skill as found through the other sources, in order of
            precedence; they have no aliases themselves.
    """

    skill: Skill
    source: Source
    aliases: tuple[Candidate, ...] = ()

    @property
    def qualified_name(self) -> str:
        """``"edit@builtin"``: reaches this one even when another wins its name."""
        return f"{self.skill.name}@{self.source.label}"

    @property
    def inside(self) -> str:
        """Path inside the source, with slashes; the folder's name for its root."""
        lone = self.skill.path.name.casefold() != "skill.md"
        place = self.skill.path if lone else self.skill.directory
        inside = os.path.relpath(place, self.source.directory)
        name = place.name if inside == os.curdir else inside.replace(os.sep, "/")
        # a name that is not UTF-8 must not break the terminal that it is shown in
        return os.fsencode(name).decode("utf-8", "replace")

    @property
    def location(self) -> str:
        """``"builtin: edit"``: the same text on every machine."""
        return f"{self.source.label}: {self.inside}"


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Discovery:
    """Everything that was found.

    Attributes:
        candidates: One per skill, by precedence of source, then by path.
        diagnostics: In the order of the sources, then of the walk.
    """

    candidates: tuple[Candidate, ...]
    diagnostics: tuple[Diagnostic, ...]


def discover(sources: Iterable[Source]) -> Discovery:
    """Find the skills of all sources.

    One bad file is one diagnostic; nothing that lies on a disk raises.
    """
    raise NotImplementedError(sources)
