"""Skills that packages bring along, as sources of the kind *package*.

Two ways lead here: folders that the package manager names, and the folder
``.agents/skills`` inside a distribution that is installed in the kernel's own
environment. Looks at the lists of files that installers leave behind, and imports
nothing.
"""

from __future__ import annotations

import os
import re
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple, final

from prime_skills_ext.catalog._package_memory import Brought, PackageMemory, Stamp
from prime_skills_ext.catalog.reading import read_file
from prime_skills_ext.catalog.sources import Source
from prime_skills_ext.skill.names import canonical_project

__all__ = ["PackageDirectory", "find_package_sources", "site_directories"]

_FOLDER: Final = ".agents/skills/"
_MAX_RECORD_BYTES: Final = 1 << 24
_RECORDED: Final = rb'(?m)^"?([^,"\n]*?)\.agents/skills/'

#: What was found, by folder and as of its last change.
_FOUND: dict[Stamp, Brought] = {}


@final
class PackageDirectory(NamedTuple):
    """A folder of skills that a package brought.

    Attributes:
        directory: The folder.
        provenance: What the package is called; stands in the source's label.
    """

    directory: Path
    provenance: str


def find_package_sources(
    packages: Sequence[PackageDirectory] = (),
    *,
    sites: Iterable[Path] = (),
    memory: PackageMemory | None = None,
) -> tuple[Source, ...]:
    """List the skills of packages, those of the package manager first.

    Args:
        packages: What the package manager installed, in order of precedence.
        sites: Folders of installed distributions.
        memory: What earlier processes found; ``None`` if that does not count.
    """
    named = [(item.provenance, item.directory) for item in packages]
    for directory in sites:
        found = _distributions(directory, memory=memory)
        named += [(name, directory / inside) for name, inside in found]
    labels: set[str] = set()
    sources: list[Source] = []
    seen: set[Path] = set()
    for name, directory in named:
        if directory in seen:
            continue
        seen.add(directory)
        label = _label(name, directory=directory, taken=labels)
        labels.add(label)
        sources.append(
            Source(kind="package", label=label, directory=directory, order=len(sources))
        )
    return tuple(sources)


def site_directories() -> tuple[Path, ...]:
    """List where distributions of this interpreter's environment are installed.

    What was appended to ``sys.path`` later, such as the environment that holds what
    skills need, is not among them.
    """
    paths = sysconfig.get_paths()
    found = [paths["purelib"], paths["platlib"]]
    # more than one on some systems, and in an environment that sees the system's
    found += [entry for entry in site.getsitepackages() if entry in sys.path]
    if site.ENABLE_USER_SITE and site.USER_SITE in sys.path:
        found.append(str(site.USER_SITE))
    return tuple(Path(entry) for entry in dict.fromkeys(map(os.path.abspath, found)))


def _label(name: str, *, directory: Path, taken: set[str]) -> str:
    label = f"package:{name}"
    if label in taken:
        # one distribution with several packages that bring skills
        label = f"{label}/{directory.parent.parent.name}"
    number = 2
    unique = label
    while unique in taken:
        unique, number = f"{label}-{number}", number + 1
    return unique


def _distributions(directory: Path, *, memory: PackageMemory | None) -> Brought:
    """Name the distributions that bring skills, and the folders of these."""
    try:
        status = directory.stat()
    except OSError:
        return ()
    stamp = (os.fspath(directory), status.st_mtime_ns, status.st_ino)
    if stamp not in _FOUND:
        for old in [old for old in _FOUND if old[0] == stamp[0]]:
            del _FOUND[old]
        known = None if memory is None else memory.recall(stamp)
        _FOUND[stamp] = tuple(sorted(_search(directory))) if known is None else known
        if known is None and memory is not None:
            memory.keep(stamp, _FOUND[stamp])
    return _FOUND[stamp]


def _search(directory: Path) -> Iterator[tuple[str, str]]:
    try:
        with os.scandir(directory) as entries:
            infos = [entry for entry in entries if entry.name.endswith(".dist-info")]
    except OSError:
        return
    for info in infos:
        for inside in _recorded(os.path.join(info.path, "RECORD")):  # noqa: PTH118
            name = info.name.removesuffix(".dist-info").partition("-")[0]
            yield canonical_project(name), inside


def _recorded(record: str) -> set[str]:
    """Return the folders of skills that a list of files names, inside its site."""
    try:
        data = read_file(record, limit=_MAX_RECORD_BYTES)
    except OSError:
        return set()
    if _FOLDER.encode() not in data:
        return set()
    prefixes = {
        match.decode("utf-8", "replace") for match in re.findall(_RECORDED, data)
    }
    return {
        f"{prefix}{_FOLDER}".rstrip("/")
        for prefix in prefixes
        # nothing outside of the environment counts, wherever an installer put it
        if ".." not in PurePosixPath(prefix).parts
        and not PurePosixPath(prefix).is_absolute()
        and (not prefix or prefix.endswith("/"))
    }
