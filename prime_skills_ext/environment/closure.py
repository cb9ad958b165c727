"""Whether requirements are met by what is installed, judged in this process.

Reads the metadata of installed distributions; changes nothing, starts nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

__all__ = ["Gap", "Index", "Installed", "gaps", "index", "reach"]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Installed:
    """One distribution that is there.

    Attributes:
        name: Canonical name.
        version: As installed.
        path: Its ``.dist-info`` or ``.egg-info``.
        is_kernels: It belongs to the kernel's own environment.
    """

    name: str
    version: str
    path: Path
    is_kernels: bool = False


@final
@dataclass(kw_only=True, slots=True)
class Index:
    """The distributions that an interpreter would use: the first of a name wins."""

    installed: Mapping[str, Installed]
    _requires: dict[str, tuple[Requirement, ...]] = field(default_factory=dict)

    def get(self, name: str) -> Installed | None:
        """The distribution of that name (any spelling)."""
        return self.installed.get(canonicalize_name(name))

    def requires(self, found: Installed) -> tuple[Requirement, ...]:
        """What a distribution requires, extras included; read once."""
        known = self._requires.get(found.name)
        if known is None:
            lines = PathDistribution(found.path).requires or ()
            known = self._requires[found.name] = tuple(_parse(lines))
        return known


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Gap:
    """A requirement that is not met.

    Attributes:
        requirement: What is wanted.
        chain: Distributions that lead to it, outermost first; empty if the skill
            itself asks.
        found: What is there instead; ``None`` if it is missing.
        by_kernel: The kernel's own distribution asks for it.
    """

    requirement: Requirement
    chain: tuple[str, ...]
    found: Installed | None
    by_kernel: bool = False


def index(*, kernel: Iterable[Path] = (), environment: Iterable[Path] = ()) -> Index:
    """What is installed in the kernel's directories and then in ours."""
    installed: dict[str, Installed] = {}
    places = [(path, True) for path in kernel] + [(path, False) for path in environment]
    for directory, is_kernels in places:
        for found in _scan(directory, is_kernels=is_kernels):
            installed.setdefault(found.name, found)
    return Index(installed=installed)


def gaps(
    requirements: Iterable[Requirement],
    *,
    index: Index,
    ignore: Collection[str] = (),
) -> tuple[Gap, ...]:
    """Everything in the closure of ``requirements`` that is not met.

    Args:
        requirements: Where to start.
        index: What is there.
        ignore: Canonical names that are somebody else's business.
    """
    found: list[Gap] = []
    seen: set[tuple[str, str]] = set()
    waiting = [(item, (), False) for item in requirements if _applies(item, extra="")]
    todo: list[tuple[Requirement, tuple[str, ...], bool]] = [*reversed(waiting)]
    while todo:
        requirement, chain, by_kernel = todo.pop()
        name = canonicalize_name(requirement.name)
        if name in ignore:
            continue
        there = index.get(name)
        if there is None or not _satisfies(there, requirement=requirement):
            gap = Gap(
                requirement=requirement, chain=chain, found=there, by_kernel=by_kernel
            )
            # what the kernel's packages think of each other was so before us
            if there is None or not (by_kernel and there.is_kernels):
                found.append(gap)
            continue
        for extra in ("", *sorted(requirement.extras)):
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            todo.extend(
                (item, (*chain, f"{there.name} {there.version}"), there.is_kernels)
                for item in index.requires(there)
                if _applies(item, extra=extra)
            )
    return _unique(found)


def reach(requirements: Iterable[Requirement], *, index: Index) -> frozenset[str]:
    """Canonical names of the installed distributions that ``requirements`` lead to."""
    found: set[str] = set()
    todo = [item for item in requirements if _applies(item, extra="")]
    seen: set[tuple[str, str]] = set()
    while todo:
        requirement = todo.pop()
        there = index.get(requirement.name)
        if there is None:
            continue
        found.add(there.name)
        for extra in ("", *sorted(requirement.extras)):
            if (there.name, extra) not in seen:
                seen.add((there.name, extra))
                todo += [
                    item
                    for item in index.requires(there)
                    if _applies(item, extra=extra)
                ]
    return frozenset(found)


def _unique(found: Sequence[Gap]) -> tuple[Gap, ...]:
    first = {str(gap.requirement): gap for gap in reversed(found)}
    return tuple(gap for gap in found if first[str(gap.requirement)] is gap)


def _applies(requirement: Requirement, *, extra: str) -> bool:
    marker = requirement.marker
    if marker is None:
        return not extra
    if extra and marker.evaluate({"extra": ""}):
        return False  # asked for anyway: counted with the distribution itself
    return marker.evaluate({"extra": extra})


def _satisfies(there: Installed, *, requirement: Requirement) -> bool:
    if requirement.url is not None:
        return True
    try:
        version = Version(there.version)
    except InvalidVersion:
        return not requirement.specifier
    return requirement.specifier.contains(version, prereleases=True)


def _scan(directory: Path, *, is_kernels: bool) -> Iterator[Installed]:
    try:
        entries = sorted(directory.iterdir())
    except OSError:
        return
    for entry in entries:
        stem, _, kind = entry.name.rpartition(".")
        if kind not in {"dist-info", "egg-info"}:
            continue
        name, _, version = stem.partition("-")
        if kind == "egg-info":
            version = PathDistribution(entry).metadata["Version"] or ""
        if name and version:
            yield Installed(
                name=canonicalize_name(name),
                version=version,
                path=entry,
                is_kernels=is_kernels,
            )


def _parse(lines: Iterable[str]) -> Iterator[Requirement]:
    for line in lines:
        try:
            yield Requirement(line)
        except InvalidRequirement:  # an old distribution: nobody can check that
            continue
