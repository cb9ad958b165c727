"""Which skills there are: sources in, candidates and diagnostics out.

Puts together what the walker and the loader find in each source. One skill, by the
real path of its file, is one candidate, however many ways lead to it. Decides
nothing about names or trust, and keeps nothing from one call to the next; what a
cache may keep is the cache's business.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple, final

from prime_skills_ext.catalog.cache import SkillCache
from prime_skills_ext.catalog.ignores import IgnoreRule
from prime_skills_ext.catalog.loading import Loader
from prime_skills_ext.catalog.looking import real_path
from prime_skills_ext.catalog.sources import Source
from prime_skills_ext.catalog.walking import Found, walk
from prime_skills_ext.garbage import without_collection
from prime_skills_ext.skill.model import Diagnostic, Skill

__all__ = ["Candidate", "Discovery", "discover"]


@final
class Candidate(NamedTuple):
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
        """Path inside the source; a folder stands for its ``SKILL.md``."""
        return self.source.inside(self.skill.content)

    @property
    def location(self) -> str:
        """``"builtin: edit"``: the same text on every machine."""
        return self.source.locate(self.skill.content)


@final
class Discovery(NamedTuple):
    """Everything that was found.

    Attributes:
        candidates: One per skill, by precedence of source, then by path.
        diagnostics: In the order of the sources, then of the walk.
    """

    candidates: tuple[Candidate, ...]
    diagnostics: tuple[Diagnostic, ...]


def discover(
    sources: Iterable[Source],
    *,
    cache: SkillCache | None = None,
    looked: list[str] | None = None,
) -> Discovery:
    """Find the skills of all sources.

    One bad file is one diagnostic; nothing that lies on a disk raises.

    Args:
        sources: Where to look.
        cache: Headers of files that have not changed; used and then saved. ``None``
            reads every file.
        looked: Gets the paths that the answer depends on; the code of Python-backed
            skills is not among them.
    """
    findings = _Findings(cache, looked=looked)
    with without_collection():
        for source in sorted(
            sources, key=lambda item: (item.rank, item.order, item.label)
        ):
            findings.search(source)
        if cache is not None:
            cache.save()
        return findings.discovery()


@final
class _Findings:
    """What has been found so far, over all sources."""

    def __init__(self, cache: SkillCache | None, *, looked: list[str] | None) -> None:
        self._looked = looked
        self._ways: dict[str, list[Candidate]] = {}
        self._refused: set[str] = set()
        self._hidden: dict[str, Diagnostic] = {}
        self._reported: set[tuple[str, str]] = set()
        self._loader = Loader(cache)
        self._diagnostics: list[Diagnostic] = []

    def search(self, source: Source) -> None:
        """Walk one source."""
        walk(
            source,
            take=partial(self._take, source=source),
            report=self._report,
            looked=self._looked,
        )

    def discovery(self) -> Discovery:
        """Return everything as values."""
        candidates = [
            first._replace(aliases=tuple(others)) if others else first
            for first, *others in self._ways.values()
        ]
        candidates.sort(
            key=lambda item: (item.source.rank, item.source.order, item.inside)
        )
        # what another source shows is not hidden
        hidden = [
            diagnostic
            for identity, diagnostic in self._hidden.items()
            if identity not in self._ways
        ]
        return Discovery(
            candidates=tuple(candidates), diagnostics=(*self._diagnostics, *hidden)
        )

    def _take(self, found: Found, *, source: Source) -> bool:
        ways = self._ways.get(found.identity, [])
        if found.identity in self._refused:
            return False
        if ways and any(way.source.label == source.label for way in ways):
            return True
        skill, diagnostics = self._loader.load(found)
        if found.hidden_by is not None:
            if skill is not None:
                way = Candidate(skill=skill, source=source)
                diagnostic = _explain_hidden(way, rule=found.hidden_by)
                self._hidden.setdefault(found.identity, diagnostic)
            return False
        if skill is None:
            # an unnamed lone file may still be named by a later source
            if diagnostics or not found.loose:
                self._refused.add(found.identity)
        else:
            ways.append(Candidate(skill=skill, source=source))
            self._ways[found.identity] = ways
        if len(ways) <= 1:
            self._diagnostics += diagnostics
        return skill is not None

    def _report(self, diagnostic: Diagnostic) -> None:
        """Keep what a walk says, once per place however many ways lead to it."""
        key = (diagnostic.code, real_path(diagnostic.path or ""))
        if key not in self._reported:
            self._reported.add(key)
            self._diagnostics.append(diagnostic)


def _explain_hidden(candidate: Candidate, *, rule: IgnoreRule) -> Diagnostic:
    file = candidate.source.inside(rule.file)
    return Diagnostic(
        code="ignored",
        message=(
            f"The skill `{candidate.skill.name}` ({candidate.location}) is hidden by "
            f"line {rule.line} of `{file}`: `{rule.text}`."
        ),
        fix="Delete that line, or name the skill's own folder with %skill add.",
        severity="info",
        path=candidate.skill.path,
    )
