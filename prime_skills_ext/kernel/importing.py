"""The way a skill's code enters the kernel: one finder per process.

It maps import names to the ``src`` of the skills that won them, so that neither a
stale ``.pth`` file nor a folder of the same name can take their place. It decides
nothing: what it serves and refuses is told to it.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
)
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import ClassVar, NamedTuple, Self, final

from prime_skills_ext.catalog.looking import is_file
from prime_skills_ext.catalog.status import Problem
from prime_skills_ext.kernel.failures import import_refused
from prime_skills_ext.kernel.loading import ImportOutcome, Session, SkillLoader
from prime_skills_ext.kernel.names import (
    PRIVATE,
    Surroundings,
    import_name_of,
    is_inside,
)
from prime_skills_ext.kernel.neighbours import neighbours
from prime_skills_ext.kernel.placeholder import UnavailableImportError, unavailable
from prime_skills_ext.skill.model import Diagnostic

__all__ = ["Deferral", "Refusal", "SkillFinder"]


@final
class Refusal(NamedTuple):
    """An import name that must not be imported.

    Attributes:
        problem: Said by the ``ImportError``.
        src: Where the refused code lies. A module of that name found anywhere
            else is left alone; ``None`` refuses the name wherever it is found.
    """

    problem: Problem
    src: Path | None = None


@final
class Deferral(NamedTuple):
    """A skill that is bound before its code runs.

    Attributes:
        src: Where its code lies.
        begin: Gives the module that the code is executed in.
        end: Told that it was.
    """

    src: Path
    begin: Callable[[], ModuleType]
    end: Callable[[], None]


@final
class _Served(NamedTuple):
    owner: object
    names: dict[str, Path]
    refused: Mapping[str, Refusal]


@final
class SkillFinder(MetaPathFinder):
    """Maps import names to the ``src`` of the skills that won them.

    One per process; each shell acquires it and releases it. ``Binder`` does both.
    """

    _current: ClassVar[SkillFinder | None] = None

    def __init__(self) -> None:
        self._owners: dict[int, _Served] = {}
        self._names: dict[str, Path] = {}
        self._refused: dict[str, Refusal] = {}
        self._extras: dict[str, Path] = {}
        self._outcomes: dict[str, ImportOutcome] = {}
        self._deferred: dict[str, Deferral] = {}
        self._last = _LastFinder(self)
        #: The reload that is going on, if any.
        self.session: Session | None = None

    @classmethod
    def acquire(cls, owner: object) -> Self:
        """Put the finder at the front of ``sys.meta_path`` for ``owner``."""
        finder = cls._current
        if finder is None:
            cls._current = finder = cls()
        finder._owners.setdefault(id(owner), _Served(owner, names={}, refused={}))
        finder._take_place()
        return finder

    @classmethod
    def release(cls, owner: object) -> None:
        """Forget what ``owner`` served; the last one takes the finder away."""
        finder = cls._current
        if finder is None or not finder._drop(owner):  # noqa: SLF001  # one of this class
            return
        cls._current = None
        sys.modules.pop(PRIVATE, None)

    def _take_place(self) -> None:
        """Be among the finders; whoever puts an older list back takes us away."""
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)
        if self._last not in sys.meta_path:
            sys.meta_path.append(self._last)

    def _drop(self, owner: object) -> bool:
        """Forget an owner; whether it was the last one, and all is taken away."""
        if self._owners.pop(id(owner), None) is None:
            return False
        self._refresh()
        if self._owners:
            return False
        for ours in (self, self._last):
            if ours in sys.meta_path:
                sys.meta_path.remove(ours)
        return True

    def serve(
        self,
        owner: object,
        *,
        names: Mapping[str, Path],
        refused: Mapping[str, Refusal] | None = None,
    ) -> tuple[Diagnostic, ...]:
        """Replace what ``owner`` serves; clashes of other top-level names come back.

        Args:
            owner: Who acquired the finder.
            names: Module name to ``src``. Where two owners differ, the first to
                acquire the finder keeps the name.
            refused: Names that must not be imported.
        """
        self._owners[id(owner)] = _Served(
            owner=owner, names=dict(names), refused=dict(refused or {})
        )
        self._take_place()
        return self._refresh()

    def add(self, owner: object, *, name: str, src: Path) -> None:
        """Serve one more name."""
        self._owners[id(owner)].names[name] = src
        self._refresh()

    def defer(self, name: str, deferral: Deferral) -> None:
        """Have the first import of a top-level name fill a module that is there."""
        self._deferred[name] = deferral

    @classmethod
    def serves(cls, name: str, *, src: Path) -> bool:
        """Whether an import of a top-level name gives the module of a ``src``."""
        return cls._current is not None and cls._current.source(name) == src

    def source(self, name: str) -> Path | None:
        """The ``src`` that a top-level name is served from."""
        return self._names.get(name)

    def outcome(self, name: str) -> ImportOutcome | None:
        """How the import of a top-level name went; ``None`` before it ran."""
        return self._outcomes.get(name)

    def forget(self, name: str) -> None:
        """Allow a failed import to be tried again."""
        self._outcomes.pop(name, None)

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Find a module of a skill; ``None`` for everybody else's.

        Raises:
            UnavailableImportError: It is refused, or its import failed before.
        """
        # importlib.reload says which module is meant
        again = target is not None
        spec = self._find(fullname, path or (), again=again)
        if spec is not None and isinstance(spec.loader, SkillLoader):
            spec.loader.is_again = again
        return spec

    def _find(
        self, fullname: str, path: Sequence[str], *, again: bool
    ) -> ModuleSpec | None:
        root = _root(fullname)
        if fullname == root:
            return self._find_root(root, again=again)
        src = self._names.get(root) or self._extras.get(root)
        if src is None:
            return None
        inside = [entry for entry in path if is_inside(entry, src)]
        return self.locate(fullname, inside, src=src)

    def locate(
        self, fullname: str, directories: Iterable[str], *, src: Path
    ) -> ModuleSpec | None:
        """Look for a module of a skill in certain directories."""
        return self._enlist(_search(fullname, directories, src=src), src=src)

    def locate_root(self, root: str, *, src: Path) -> ModuleSpec | None:
        """Look for the top-level package of a skill, whatever it is called here."""
        package = src / import_name_of(root)
        source = package / "__init__.py"
        if not is_file(source):
            return None
        spec = spec_from_file_location(
            root,
            source,
            loader=SkillLoader(root, str(source), src=src),
            submodule_search_locations=[str(package)],
        )
        return self._enlist(spec, src=src)

    def _enlist(self, spec: ModuleSpec | None, *, src: Path) -> ModuleSpec | None:
        """Let a reload that is going on have a say."""
        session = self.session
        if (
            session is not None
            and spec is not None
            and isinstance(spec.loader, SkillLoader)
            and session.covers(spec.name, src=src)
        ):
            spec.loader.session = session
        return spec

    def _find_root(self, root: str, *, again: bool) -> ModuleSpec | None:
        outcome = self._outcomes.get(root)
        # who asks for the code to be executed again gets that
        if outcome is not None and outcome.error is not None and not again:
            raise import_refused(root, error=outcome.error)
        if root in self._refused:
            self._refuse(root, refusal=self._refused[root])
            return None
        src = self._names.get(root)
        if src is None:
            return None
        spec = self.locate_root(root, src=src)
        if spec is None or not isinstance(spec.loader, SkillLoader):
            # another module of that name must not stand in for the skill
            raise ModuleNotFoundError(
                f"{src / import_name_of(root)} holds no package", name=root
            )
        spec.loader.report = functools.partial(self._record, root)
        deferral = self._deferred.get(root)
        if deferral is not None and deferral.src == src:
            spec.loader.begin = deferral.begin
        return spec

    def _refuse(self, root: str, *, refusal: Refusal) -> None:
        if refusal.src is not None:
            spec = Surroundings.without(()).find(root)
            if spec is not None and not _lies_in(spec, refusal.src):
                return
        raise UnavailableImportError(
            unavailable(root, problem=refusal.problem),
            fix=refusal.problem.fix,
            name=root,
        )

    def _record(self, root: str, outcome: ImportOutcome) -> None:
        self._outcomes[root] = outcome
        if outcome.error is not None:
            raise import_refused(root, error=outcome.error)
        deferral = self._deferred.pop(root, None)
        if deferral is not None:
            deferral.end()

    def _refresh(self) -> tuple[Diagnostic, ...]:
        names: dict[str, Path] = {}
        refused: dict[str, Refusal] = {}
        for served in self._owners.values():
            for name, src in served.names.items():
                names.setdefault(name, src)
            for name, refusal in served.refused.items():
                refused.setdefault(name, refusal)
        for name in [name for name in refused if name in names]:
            del refused[name]
        for name in [*self._outcomes]:
            if names.get(name) != self._names.get(name):
                del self._outcomes[name]
        extras, clashes = neighbours(names)
        # whole mappings are replaced: other threads may be importing
        self._names, self._refused, self._extras = names, refused, extras
        if any(name.startswith(f"{PRIVATE}.") for name in names):
            _ensure_private_package()
        return clashes


@final
class _LastFinder(MetaPathFinder):
    """Serves the other top-level names of a skill's ``src`` when nobody else does."""

    def __init__(self, finder: SkillFinder) -> None:
        self._finder = finder

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002  # the protocol's
        target: ModuleType | None = None,  # noqa: ARG002  # the protocol's
    ) -> ModuleSpec | None:
        src = self._finder._extras.get(fullname)  # noqa: SLF001  # one object, two places
        if src is None:
            return None
        return self._finder.locate(fullname, [str(src)], src=src)


def _root(fullname: str) -> str:
    parts = fullname.split(".", 2)
    return ".".join(parts[:2]) if parts[0] == PRIVATE else parts[0]


def _search(
    fullname: str, directories: Iterable[str], *, src: Path
) -> ModuleSpec | None:
    """Look for a module with directory listings made just now (they are cached)."""
    portions: list[str] = []
    source = functools.partial(SkillLoader, src=src)
    for directory in directories:
        finder = FileFinder(
            directory,
            (ExtensionFileLoader, EXTENSION_SUFFIXES),
            (source, SOURCE_SUFFIXES),  # type: ignore[arg-type]
        )
        spec = finder.find_spec(fullname)
        if spec is None:
            continue
        if spec.loader is not None:
            return spec
        portions += spec.submodule_search_locations or []
    if not portions:
        return None
    spec = ModuleSpec(fullname, None, is_package=True)
    spec.submodule_search_locations = portions
    return spec


def _lies_in(spec: ModuleSpec, src: Path) -> bool:
    places = [spec.origin or "", *(spec.submodule_search_locations or ())]
    return any(is_inside(place, src) for place in places)


def _ensure_private_package() -> None:
    """Make the parent of skills that cannot have their own name."""
    if PRIVATE not in sys.modules:
        spec = ModuleSpec(PRIVATE, None, is_package=True)
        package = ModuleType(PRIVATE, "Skills whose names belong to somebody else.")
        package.__spec__ = spec
        package.__path__ = []
        sys.modules[PRIVATE] = package
