"""Which import names a skill may have, and which belong to somebody else.

It looks names up and imports nothing.
"""

from __future__ import annotations

import builtins
import contextlib
import hashlib
import keyword
import os
import sys
from collections.abc import Iterable, Mapping
from importlib.machinery import FileFinder, ModuleSpec, PathFinder
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, Self, final

from prime_skills_ext.catalog.looking import python_path

__all__ = [
    "PRIVATE",
    "Surroundings",
    "import_name_of",
    "is_inside",
    "private_name",
    "why_private",
]

#: Parent package of the skills that cannot have the name they ask for.
PRIVATE = "_prime_skills"

_IPYTHON = frozenset(
    {"In", "Out", "display", "exit", "get_ipython", "open", "quit", "IPython"}
)


def private_name(import_name: str, *, src: Path) -> str:
    """A module name that no other ``src`` has."""
    digest = hashlib.sha256(os.fsencode(src)).hexdigest()[:8]
    return f"{PRIVATE}.{import_name}_{digest}"


def import_name_of(module: str) -> str:
    """The import name of a skill, given the name its module has."""
    leaf = module.rpartition(".")[2]
    return leaf.rpartition("_")[0] if module.startswith(f"{PRIVATE}.") else leaf


@final
class Surroundings(NamedTuple):
    """What top-level names mean to every finder but ours.

    Attributes:
        path: Where Python would look.
        ignored: Folders whose modules do not count: skills, the overlay.
        listed: What the folders among ``path`` hold, up to the first dot: most names
            that are asked for stand in none of them.
    """

    path: tuple[str, ...]
    ignored: tuple[str, ...] = ()
    listed: Mapping[str, frozenset[str]] = MappingProxyType({})

    @classmethod
    def without(
        cls, folders: Iterable[str | Path], *, working_directory: bool = True
    ) -> Self:
        """``sys.path`` as it is now, without some folders and what lies in them."""
        ignored = tuple(dict.fromkeys(str(folder) for folder in folders))
        path = python_path() if working_directory else _path_without_cwd()
        below = tuple(f"{place}{os.sep}" for place in ignored)
        kept = tuple(
            entry
            for entry in path
            if entry not in ignored and not entry.startswith(below)
        )
        return cls(path=kept, ignored=ignored, listed=_listed(kept))

    def find(self, name: str) -> ModuleSpec | None:
        """The module of that name; namespace packages, any folder, do not count."""
        for finder in list(sys.meta_path):
            if type(finder).__module__.startswith("prime_skills_ext."):
                continue
            if finder is PathFinder:
                spec = PathFinder.find_spec(name, self._places_of(name))
            else:
                spec = _ask(finder, name)
            if spec is None or (spec.loader is None or spec.origin is None):
                continue
            if not any(is_inside(spec.origin, place) for place in self.ignored):
                return spec
        return None

    def _places_of(self, name: str) -> list[str]:
        """The entries of ``path`` that may hold a module of that name."""
        wanted = name.casefold()
        return [
            entry
            for entry in self.path
            if entry not in self.listed or wanted in self.listed[entry]
        ]


def why_private(name: str, *, src: Path, surroundings: Surroundings) -> str | None:
    """Say to whom an import name belongs already.

    Args:
        name: The import name.
        src: Where the skill's own package of that name lies.
        surroundings: What else could have the name.

    Returns:
        Half a sentence; ``None`` when the skill may have the name.
    """
    reserved = _why_reserved(name)
    if reserved is not None:
        return reserved
    loaded = sys.modules.get(name)
    if loaded is not None and not _comes_from(loaded, src):
        return "a module that is already loaded from somewhere else"
    if surroundings.find(name) is not None:
        return "a module that this kernel's environment provides"
    return None


def _why_reserved(name: str) -> str | None:
    if keyword.iskeyword(name) or keyword.issoftkeyword(name):
        return "a keyword of Python"
    if name in sys.stdlib_module_names or name in sys.builtin_module_names:
        return "a module of the standard library"
    if name in _IPYTHON or name.startswith("_"):
        return "a name of IPython"
    if hasattr(builtins, name):
        return "a builtin of Python"
    return None


def is_inside(place: str, folder: str | Path) -> bool:
    """Whether a path is a folder or lies in it, by spelling."""
    prefix = str(folder)
    return place == prefix or place.startswith(prefix + os.sep)


def _listed(path: Iterable[str]) -> dict[str, frozenset[str]]:
    """What folders hold; archives, and whatever cannot be listed, are left out."""
    found: dict[str, frozenset[str]] = {}
    for entry in path:
        # whoever else serves a folder may serve more than lies there
        if type(sys.path_importer_cache.get(entry)) is not FileFinder:
            continue
        with contextlib.suppress(OSError, ValueError):
            # casefolded: some file systems do not tell cases apart
            names = os.listdir(entry)  # noqa: PTH208 - names only
            found[entry] = frozenset(
                name.partition(".")[0].casefold() for name in names
            )
    return found


def _comes_from(module: object, src: Path) -> bool:
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and is_inside(file, src)


def _ask(finder: object, name: str) -> ModuleSpec | None:
    """Ask a finder of somebody else's, whatever it is."""
    find_spec = getattr(finder, "find_spec", None)
    try:
        spec = None if find_spec is None else find_spec(name, None)
    except Exception:  # noqa: BLE001  # a stranger's code runs here
        return None
    return spec if isinstance(spec, ModuleSpec) else None


def _path_without_cwd() -> list[str]:
    """``sys.path`` without the working directory, in each of its spellings."""
    try:
        here = os.path.realpath(os.curdir)
    except OSError:  # it was removed
        here = ""
    return [
        entry for entry in python_path() if entry and os.path.realpath(entry) != here
    ]
