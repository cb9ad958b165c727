"""Reloading: what changed on disk takes effect in place, or not at all.

It owns the transaction. It binds no names.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, final

from prime_skills_ext.kernel.classes import ClassKeeper
from prime_skills_ext.kernel.following import History, appeared, reachable
from prime_skills_ext.kernel.importing import SkillFinder
from prime_skills_ext.kernel.loading import (
    ImportOutcome,
    SkillLoader,
    belongs,
    check_run,
    guarded,
    loader_of,
)
from prime_skills_ext.kernel.names import import_name_of
from prime_skills_ext.kernel.sources import ModuleSource, read_source
from prime_skills_ext.kernel.trees import FileStamp, SkillTree, settled, stamp

__all__ = ["ReloadMode", "reload_tree"]

# set by the import system, not by the module's code
_MACHINERY = frozenset(
    {
        "__builtins__", "__cached__", "__doc__", "__file__", "__loader__",
        "__name__", "__package__", "__path__", "__spec__",
    }
)  # fmt: skip

#: ``"again"`` executes what changed and tries once more what failed; ``"changed"`` does
#: not before its files change; ``"now"`` does not wait for calls in threads either.
ReloadMode = Literal["again", "changed", "now"]

_LOCK = threading.RLock()


def reload_tree(
    tree: SkillTree, *, finder: SkillFinder, mode: ReloadMode = "again"
) -> ImportOutcome | None:
    """Execute again what changed in a tree; all of it takes effect or none.

    Args:
        tree: Whose files are looked at.
        finder: What serves them.
        mode: What to do about code that failed before or is being executed.

    Returns:
        How it went; ``None`` when nothing was executed: no file changed, or
        ``tree.calls`` says what is waited for. After an error the old code is as it
        was and ``tree.error`` says why.
    """
    tree.calls = 0
    if tree.error is None:
        now = stamp(tree.src, before=tree.stamps)
        if now == tree.stamps:
            tree.stamps = settled(now)
            return None
    else:
        now = stamp(tree.src, before=tree.tried)
        if mode == "changed" and now == tree.tried:
            return None
    if mode != "now":
        # only who has something to reload needs it
        from prime_skills_ext.kernel.running import (  # noqa: PLC0415
            calls_in_threads,
        )

        modules = {**tree.aside, **tree.modules()}.values()
        tree.calls = calls_in_threads(modules, src=tree.src)
        if tree.calls:
            # a call in a thread would see a module that is half old and half new
            return None
    with _LOCK:
        session = _Transaction(tree=tree, finder=finder, now=now)
        outcome = guarded(session.run, root=tree.name, src=tree.src)
    tree.error, tree.tried = outcome.error, now
    if outcome.error is None:
        # kept from before on an error, so that the next reload tries again
        tree.stamps = now
        tree.dress()
    return outcome


@final
@dataclass(kw_only=True, slots=True)
class _Transaction:
    """One reload of one tree.

    The import system drives it, as in a first import: the changed modules leave
    ``sys.modules`` and are imported again in natural order, each executed in the
    module object that it had.
    """

    tree: SkillTree
    finder: SkillFinder
    now: Mapping[str, FileStamp]
    modules: dict[str, ModuleType] = field(default_factory=dict)
    reusable: dict[str, ModuleType] = field(default_factory=dict)
    sources: dict[str, ModuleSource] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)
    loaders: list[SkillLoader] = field(default_factory=list)
    defined: dict[str, frozenset[str]] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)

    def run(self) -> None:
        """Do it, or raise with everything as it was."""
        self.modules = self.tree.modules()
        if loader_of(self.tree.module) is None:
            self._import_anew()
            return
        moved = self._read()
        again = self._affected(moved)
        if not again and not self.removed:
            return
        self.reusable = {**self.tree.aside, **_real(self.modules)}
        snapshot = {
            name: (module, dict(module.__dict__), type(module))
            for name, module in self.reusable.items()
        }
        names = {*self.tree.aside, *again}
        touched = {name: it for name, it in self.reusable.items() if name in names}
        for name, module in touched.items():
            loader = loader_of(module)
            self.tree.history.setdefault(name, History()).remember(
                module, was_replaced=loader is not None and loader.is_again
            )
        before = {name: reachable(it) for name, it in self.reusable.items()}
        keeper = ClassKeeper(modules=touched)
        self.finder.session = self
        try:
            with keeper.keeping():
                self._execute_again(again)
        except BaseException:
            keeper.restore()
            for module, namespace, kind in snapshot.values():
                _put_back(module, namespace, kind=kind)
            raise
        finally:
            self.finder.session = None
            for loader in self.loaders:
                loader.session = None
        used = self.tree.modules()
        arrived = appeared(before, _real(used))
        for name, module in touched.items():
            self.tree.history[name].follow(module, moved=arrived, is_used=name in used)
        self.tree.aside = {
            name: module
            for name, module in self.reusable.items()
            if sys.modules.get(name) is not module
        }

    def _import_anew(self) -> None:
        """Import a skill that put an object of its own in the place of its module.

        What that is cannot be executed again in place.
        """
        for name in self.modules:
            sys.modules.pop(name, None)
        self.finder.forget(self.tree.name)
        importlib.import_module(self.tree.name)

    def covers(self, name: str, *, src: Path) -> bool:
        """Whether a module belongs to the tree that is reloaded."""
        return src == self.tree.src and (
            belongs(name, None, root=self.tree.name, src=src)
            or name.partition(".")[0] in self._tops()
        )

    def reuse(self, spec: ModuleSpec) -> ModuleType | None:
        """The module to execute again in place; ``None`` for a new one."""
        module = self.reusable.get(spec.name)
        if module is None:
            return None
        before = loader_of(module)
        if before is not None and isinstance(spec.loader, SkillLoader):
            # copied: if the reload fails, the old one comes back
            spec.loader.calls = before.calls
        module.__loader__ = spec.loader
        module.__file__ = spec.origin
        module.__dict__.pop("__path__", None)
        if spec.submodule_search_locations is not None:
            module.__path__ = spec.submodule_search_locations
            module.__package__ = spec.name
        else:
            module.__package__ = spec.name.rpartition(".")[0]
        return module

    def execute(self, loader: SkillLoader, module: ModuleType) -> None:
        """Execute a module from its source and delete what is gone."""
        self.loaders.append(loader)
        name = module.__name__
        namespace = module.__dict__
        source = self.sources.get(name)
        if source is None:  # it is new in the tree
            source = read_source(loader, is_package="__path__" in namespace)
        gone = self._gone(module, source=source)
        if source.stores_anything:
            # only running it can tell which of them come back
            for key in gone:
                del namespace[key]
        if "__doc__" not in source.stores:
            namespace["__doc__"] = None
        namespace.pop("__annotations__", None)
        exec(source.code, namespace)  # noqa: S102  # this is what reloading means
        for key, value in gone.items():
            if namespace.get(key) is value and not source.stores_anything:
                del namespace[key]
        if loader.report is not None:
            check_run(module)
        loader.defined = frozenset(namespace)

    def _tops(self) -> set[str]:
        return {name.partition(".")[0] for name in self.modules}

    def _read(self) -> set[str]:
        """Compile every source of the tree; tell which modules moved to other files."""
        moved: set[str] = set()
        for name, module in self.tree.aside.items():
            loader = loader_of(module)
            self.defined[name] = frozenset() if loader is None else loader.defined
        real = _real(self.modules)
        for name, module in self.modules.items():
            old = loader_of(module)
            if old is None and name in real:
                continue  # extension modules cannot be executed again
            spec = self._find(name)
            if spec is None or not isinstance(spec.loader, SkillLoader):
                if name == self.tree.name:
                    gone = module.__file__
                    raise ModuleNotFoundError(f"{gone} is gone", name=name)
                self.removed.add(name)
                continue
            if old is None or spec.origin != old.path:
                moved.add(name)  # or it put something else in its own place
            if old is not None:
                self.defined[name] = old.defined
            self.files[str(spec.origin)] = name
            self.sources[name] = read_source(
                spec.loader, is_package=spec.submodule_search_locations is not None
            )
        return moved

    def _find(self, name: str) -> ModuleSpec | None:
        parent = name.rpartition(".")[0]
        if name == self.tree.name:
            return self.finder.locate_root(name, src=self.tree.src)
        if not parent:
            directories = [str(self.tree.src)]
        elif parent in self.removed or parent not in self.modules:
            return None
        else:
            directories = list(getattr(self.modules[parent], "__path__", ()))
        return self.finder.locate(name, directories, src=self.tree.src)

    def _affected(self, moved: set[str]) -> list[str]:
        """Modules to execute: what changed, and what imports that."""
        files = self.files
        again = set(moved)
        names = set(self.removed)
        before = self.tree.stamps
        for path in sorted({*before, *self.now}):
            if before.get(path) == self.now.get(path):
                continue
            if path in files:
                again.add(files[path])
            elif not path.endswith(".py"):
                again |= set(self.sources)  # data that any module may have read
            elif path not in before or path not in self.now:
                names.add(self._module_name(path))
        while True:
            more = set(self._importers(again | names)) - again
            if not more:
                return [name for name in self.sources if name in again]
            again |= more

    def _importers(self, changed: set[str]) -> Iterable[str]:
        for name, source in self.sources.items():
            if source.imports & changed or (source.imports_anything and changed):
                yield name

    def _module_name(self, path: str) -> str:
        parts = list(Path(path).relative_to(self.tree.src).with_suffix("").parts)
        if parts[-1] == "__init__":
            del parts[-1]
        if parts and parts[0] == import_name_of(self.tree.name):
            parts[0] = self.tree.name
        return ".".join(parts)

    def _execute_again(self, again: list[str]) -> None:
        wanted = self._reachable()
        for name in (*again, *self.removed):
            module = sys.modules.pop(name)
            parent, _, leaf = name.rpartition(".")
            holder = getattr(self.modules.get(parent), "__dict__", {})
            # `from . import x` would be content with the attribute
            if holder.get(leaf) is module:
                del holder[leaf]
        for name in sorted(again, key=lambda name: name != self.tree.name):
            # one that nothing imports any more is not executed: it may not even work
            if name not in sys.modules and name in wanted:
                importlib.import_module(name)
        for name in again:
            if name in sys.modules and sys.modules[name] is None:
                raise ImportError(f"{name} removed itself", name=name)

    def _reachable(self) -> set[str]:
        """Modules that the skill may import, now or when it is called."""
        found: set[str] = set()
        pending = {self.tree.name}
        while pending:
            name = pending.pop()
            found.add(name)
            source = self.sources.get(name)
            if source is not None:
                more = set(self.sources)
                if not source.imports_anything:
                    more &= source.imports
                pending |= more - found
        return found

    def _gone(self, module: ModuleType, *, source: ModuleSource) -> dict[str, Any]:
        """What the old code defined and no statement of the new one assigns."""
        defined = self.defined.get(module.__name__, frozenset())
        namespace = module.__dict__
        return {
            key: namespace[key]
            for key in defined - source.stores - _MACHINERY
            if key in namespace and not self._is_submodule(module, key)
        }

    def _is_submodule(self, module: ModuleType, key: str) -> bool:
        name = f"{module.__name__}.{key}"
        return name in self.modules or name in sys.modules


def _real(modules: Mapping[str, object]) -> dict[str, ModuleType]:
    """Leave out what a skill put in the place of a module."""
    return {name: it for name, it in modules.items() if isinstance(it, ModuleType)}


def _put_back(
    module: ModuleType, namespace: dict[str, Any], *, kind: type[ModuleType]
) -> None:
    current = module.__dict__
    # values first: code that runs meanwhile finds every name at any time
    current.update(namespace)
    for key in [key for key in current if key not in namespace]:
        del current[key]
    if type(module) is not kind:
        module.__class__ = kind
