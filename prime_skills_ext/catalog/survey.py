"""The first half of the path: from places to who holds each name.

Puts sources, settings and trust together and decides nothing itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, final

from prime_skills_ext.catalog._package_memory import PackageMemory
from prime_skills_ext.catalog._settings_memory import SettingsMemory
from prime_skills_ext.catalog.cache import SkillCache
from prime_skills_ext.catalog.disabling import Disabler
from prime_skills_ext.catalog.discovery import Candidate, Discovery, discover
from prime_skills_ext.catalog.package_sources import (
    PackageDirectory,
    find_package_sources,
    site_directories,
)
from prime_skills_ext.catalog.places import Places, path_of
from prime_skills_ext.catalog.selection import Precedence, Selection, select
from prime_skills_ext.catalog.settings import Settings, find_settings, settings_path
from prime_skills_ext.catalog.sources import Source, find_sources
from prime_skills_ext.catalog.trust import (
    Distrust,
    Override,
    TrustStore,
    distrust,
    find_override,
    is_trusted,
    needs_trust,
)
from prime_skills_ext.later import later
from prime_skills_ext.skill.model import Diagnostic

if TYPE_CHECKING:
    from prime_skills_ext.catalog import configured as configuring
else:
    configuring = later("prime_skills_ext.catalog.configured")  # few have entries

__all__ = ["Choices", "Survey", "survey"]


@final
class Choices(NamedTuple):
    """What one run goes by, whatever the settings files say.

    Attributes:
        explicit: Paths that the user named, in order.
        registered: Paths that other extensions named.
        packages: Folders that a package manager installed; those of installed
            distributions are found besides.
        only_explicit: Nothing counts but the explicit paths.
        precedence: Who wins a name.
        trust: Overrides the store and ``PRIME_SKILLS_TRUST``; ``None`` does not.
    """

    explicit: Sequence[str | Path] = ()
    registered: Sequence[str | Path] = ()
    packages: Sequence[PackageDirectory] = ()
    only_explicit: bool = False
    precedence: Precedence = "project"
    trust: Override | None = None


@final
class Survey(NamedTuple):
    """What was found.

    Attributes:
        settings: What each settings file says.
        sources: Where skills were looked for, highest precedence first.
        selection: Who holds each name.
        distrusted: Why a winner is not trusted, by identity.
        explain: Says why a candidate is not trusted, as it is when asked.
        diagnostics: What is wrong with settings, sources and the trust store; those
            of the skills themselves are the selection's.
        looked: Paths that all this depends on; the code of skills is not among them.
        asked: Questions that no path answers, and the answers that they had.
    """

    settings: tuple[Settings, ...]
    sources: tuple[Source, ...]
    selection: Selection
    distrusted: Mapping[Path, Distrust]
    explain: Callable[[Candidate], Distrust | None]
    diagnostics: tuple[Diagnostic, ...]
    looked: tuple[str | Path, ...] = ()
    asked: tuple[tuple[Callable[[], object], object], ...] = ()


def survey(places: Places, *, choices: Choices, environ: Mapping[str, str]) -> Survey:
    """Find the skills that count here, and who holds each name.

    Args:
        places: What ``find_places`` found.
        choices: What was chosen for this run.
        environ: The environment variables to go by.
    """
    settings, damage = find_settings(places)
    here = places.working_directory
    found, problems = find_sources(
        places,
        explicit=choices.explicit,
        registered=choices.registered,
        environ=environ,
        only_explicit=choices.only_explicit,
    )
    configured: tuple[Source, ...] = ()
    brought: tuple[Source, ...] = ()
    faults: tuple[Diagnostic, ...] = ()
    sites: tuple[Path, ...] = ()
    if not choices.only_explicit:
        sites = site_directories()
        if any(item.skills for item in settings):
            configured, faults = configuring.settings_sources(settings, places=places)
        brought = find_package_sources(
            choices.packages,
            sites=sites,
            memory=PackageMemory(places.agent_directory),
        )
    everything = (*found, *configured, *brought)
    sources = sorted(everything, key=lambda item: (item.rank, item.order))
    is_trait = choices.trust is not None
    override, notes = (choices.trust, ()) if is_trait else find_override(environ)
    store = TrustStore(places.agent_directory)
    looked: list[str] = []
    discovery = discover(
        sources, cache=SkillCache(places.agent_directory), looked=looked
    )
    selection = select(
        discovery,
        trusted=partial(is_trusted, store=store, override=override),
        disabled=Disabler(settings, home=places.home),
        precedence=choices.precedence,
    )
    explain = partial(distrust, store=store, override=override, is_trait=is_trait)
    diagnostics = (
        *damage,
        *problems,
        *faults,
        *_missing_builtin(discovery, sources=sources, settings=settings),
        *notes,
        *store.diagnostics(),
    )
    named = [*choices.explicit, *choices.registered]
    named += environ.get("PRIME_SKILLS_PATH", "").split(os.pathsep)
    return Survey(
        settings=settings,
        sources=tuple(sources),
        selection=selection,
        distrusted={
            item.skill.identity: why
            for item in selection.winners
            if item.skill.identity in selection.untrusted and (why := explain(item))
        },
        explain=explain,
        diagnostics=diagnostics,
        looked=(
            *looked,
            *sites,
            *(item.file or item.directory for item in sources),
            *(path_of(str(it), home=places.home, base=here) for it in named),
            *(settings_path(places, scope) for scope in ("user", "project")),
            SettingsMemory(places.agent_directory).path,
            store.path,
            *(item.path for item in diagnostics if item.path is not None),
        ),
        asked=(
            *_patterns_asked(settings, places=places, answer=(configured, faults)),
            *_trust_asked(discovery.candidates, store=store, override=override),
        ),
    )


def _patterns_asked(
    settings: Iterable[Settings], *, places: Places, answer: object
) -> Iterator[tuple[Callable[[], object], object]]:
    """What settings name may be globs: these look into folders of their own."""
    if any(item.kind == "path" for each in settings for item in each.skills):
        yield partial(configuring.settings_sources, settings, places=places), answer


def _trust_asked(
    candidates: Iterable[Candidate], *, store: TrustStore, override: Override | None
) -> Iterator[tuple[Callable[[], object], object]]:
    """Trust depends on owners and on git, too, and a pin on every byte."""
    ways = (way for item in candidates for way in (item, *item.aliases))
    roots = {way.source.root for way in ways if needs_trust(way)} - {None}
    if override is not None:
        return
    for root in filter(None, roots):
        decision = store.decision(root)
        yield partial(store.decision, root), decision
        if decision.pins is not None:
            yield never, None


def never() -> object:
    """Answer otherwise each time: what cannot be asked at little cost."""
    return object()


def _missing_builtin(
    discovery: Discovery, *, sources: Iterable[Source], settings: Iterable[Settings]
) -> Iterator[Diagnostic]:
    """Report that nothing ships, where something is wanted."""
    if not all(item.enable_builtin for item in settings):
        return
    ways = (
        way
        for candidate in discovery.candidates
        for way in (candidate, *candidate.aliases)
    )
    seen = {way.source.label for way in ways}
    for source in sources:
        if source.kind == "builtin" and source.label not in seen:
            yield Diagnostic(
                code="builtin-missing",
                message="The built-in skills are missing: their folder holds none.",
                fix="Install prime-skills-ext again; its package is incomplete.",
                path=source.directory,
            )
