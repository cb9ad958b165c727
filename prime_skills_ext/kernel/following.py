"""Held objects follow: what the user took from a skill becomes what it is now.

Each function follows the one with the same ``__qualname__`` that is defined in the
same module, never another one that was bound to its name. It executes no module.
"""

from __future__ import annotations

import functools
import gc
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple, final

__all__ = ["Definition", "History", "appeared", "definitions", "parts", "reachable"]


class _Key(NamedTuple):
    """Tells the functions apart that share a qualified name (decorators, setters)."""

    qualname: str
    code: str
    role: str


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Definition:
    """A function or class that a module defines.

    Attributes:
        key: Its qualified name and what tells it from others of that name.
        value: The object.
        reachable: It is what its qualified name leads to in the module.
    """

    key: _Key
    value: Any
    reachable: bool


@final
@dataclass(kw_only=True, slots=True)
class History:
    """Everything that one module ever defined and that somebody may still hold."""

    held: dict[tuple[_Key, bool], list[weakref.ref[Any]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    caches: list[weakref.ref[Any]] = field(default_factory=list)

    def remember(self, module: ModuleType, *, was_replaced: bool = False) -> None:
        """Note what a module defines at this moment.

        Args:
            module: What is about to be executed again.
            was_replaced: Somebody else executed it since, so that what it defined
                before that may be held as well.
        """
        self.caches = [*filter(_alive, self.caches), *_caches(module)]
        for definition in definitions(module):
            self._note(definition)
        if was_replaced:
            known = {id(ref()) for refs in self.held.values() for ref in refs}
            for definition in _left_behind(module):
                if id(definition.value) not in known:
                    self._note(definition)

    def _note(self, definition: Definition) -> None:
        references = self.held[definition.key, definition.reachable]
        references[:] = filter(_alive, references)
        if not any(ref() is definition.value for ref in references):
            references.append(weakref.ref(definition.value))

    def follow(
        self,
        module: ModuleType,
        *,
        moved: Mapping[str, Any] | None = None,
        is_used: bool = True,
    ) -> None:
        """Make every older object behave like what the module defines now.

        Args:
            module: What was executed again.
            moved: What other modules of the skill define since, by qualified name:
                what is gone here and appeared there is the same one.
            is_used: Its code is that of the skill now; without it nothing is left
                here.
        """
        now = _Index.of(module) if is_used else _Index(reachable={}, exact={})
        elsewhere = moved or {}
        for (key, reachable), references in list(self.held.items()):
            new = now.find(key, reachable=reachable)
            if new is None and reachable and not key.role:
                new = elsewhere.get(key.qualname)
            for reference in references:
                old = reference()
                if old is not None and new is not None and old is not new:
                    _follow(old, new)
        for reference in self.caches:
            cached = reference()
            if cached is not None:
                # what it remembers was computed by the code before
                cached.cache_clear()


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class _Index:
    reachable: Mapping[str, Any]
    exact: Mapping[_Key, Any]

    @classmethod
    def of(cls, module: ModuleType) -> _Index:
        reachable: dict[str, Any] = {}
        exact: dict[_Key, Any] = {}
        twice: set[_Key] = set()
        for definition in definitions(module):
            if definition.reachable and not definition.key.role:
                reachable[definition.key.qualname] = definition.value
            if definition.key in exact:
                twice.add(definition.key)
            exact[definition.key] = definition.value
        # two closures of one decorator share a name: which is meant cannot be told
        for key in twice:
            del exact[key]
        return cls(reachable=reachable, exact=exact)

    def find(self, key: _Key, *, reachable: bool) -> Any:
        if reachable and not key.role:
            found = self.reachable.get(key.qualname)
            if found is not None:
                return found
        found = self.exact.get(key)
        if found is None and "<locals>" not in key.qualname:
            found = self.reachable.get(key.qualname)
        return found


def reachable(module: ModuleType) -> dict[str, Any]:
    """What a module defines at the place that its qualified name says."""
    return {
        item.key.qualname: item.value
        for item in definitions(module)
        if item.reachable and not item.key.role
    }


def appeared(
    before: Mapping[str, Mapping[str, Any]], modules: Mapping[str, ModuleType]
) -> dict[str, Any]:
    """What some modules define that none of them did under that name.

    Args:
        before: By module: what was reachable.
        modules: Those that were executed since; what two define is left out, since
            nobody can tell which of the two is meant.
    """
    found: dict[str, list[Any]] = defaultdict(list)
    for name, module in modules.items():
        known = before.get(name, {})
        for qualname, value in reachable(module).items():
            if qualname not in known:
                found[qualname].append(value)
    return {name: values[0] for name, values in found.items() if len(values) == 1}


def definitions(module: ModuleType) -> Iterator[Definition]:
    """Functions and classes that a module defines, each once."""
    seen: set[int] = set()
    for value in list(module.__dict__.values()):
        yield from _walk(value, module=module, role="", seen=seen)


def _walk(
    value: Any, *, module: ModuleType, role: str, seen: set[int]
) -> Iterator[Definition]:
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, FunctionType | type):
        if getattr(value, "__module__", None) != module.__name__:
            return
        qualname = value.__qualname__
        code = "" if isinstance(value, type) else value.__code__.co_qualname
        yield Definition(
            key=_Key(qualname, code, role),
            value=value,
            reachable=_lookup(module, qualname) is value,
        )
    for inner_role, inner in parts(value):
        yield from _walk(inner, module=module, role=inner_role, seen=seen)


def parts(value: Any) -> Iterator[tuple[str, Any]]:
    """What a value of a module is made of, as far as it may hold functions."""
    if isinstance(value, type):
        yield from (("", inner) for inner in list(vars(value).values()))
    elif isinstance(value, FunctionType):
        for cell in value.__closure__ or ():
            try:
                yield "", cell.cell_contents
            except ValueError:  # not filled yet
                continue
    elif isinstance(value, staticmethod | classmethod):
        yield "", value.__func__
    elif isinstance(value, property):
        yield from (("fget", value.fget), ("fset", value.fset), ("fdel", value.fdel))
    elif isinstance(
        value,
        functools.partial | functools.partialmethod | functools.cached_property,
    ):
        yield "", value.func
    # what a decorator keeps; read from the instance so that no __getattr__ runs
    wrapped = getattr(value, "__dict__", {}).get("__wrapped__")
    if wrapped is not None:
        yield "", wrapped


def _alive(reference: weakref.ref[Any]) -> bool:
    return reference() is not None


def _left_behind(module: ModuleType) -> Iterator[Definition]:
    """Functions of a module that no name of it leads to: somebody holds them.

    Only what is as its ``def`` made it; what a decorator made of one cannot be told
    from what the user made of it.
    """
    namespace = module.__dict__
    for value in gc.get_referrers(namespace):
        if type(value) is not FunctionType or value.__globals__ is not namespace:
            continue
        qualname, code = value.__qualname__, value.__code__.co_qualname
        is_plain = qualname == code and "<locals>" not in code
        if is_plain and value.__module__ == module.__name__:
            yield Definition(key=_Key(qualname, code, ""), value=value, reachable=False)


def _caches(module: ModuleType) -> Iterator[weakref.ref[Any]]:
    """Cached functions of a module, which cannot themselves be changed."""
    for value in list(module.__dict__.values()):
        inside = list(vars(value).values()) if isinstance(value, type) else ()
        for found in (value, *inside):
            if isinstance(found, functools._lru_cache_wrapper):  # noqa: SLF001  # has no other name
                yield weakref.ref(found)


def _lookup(module: ModuleType, qualname: str) -> Any:
    """What a qualified name leads to, descriptors unwrapped."""
    found: Any = None
    namespace: Mapping[str, Any] = module.__dict__
    for part in qualname.split("."):
        found = namespace.get(part)
        if isinstance(found, staticmethod | classmethod):
            found = found.__func__
        namespace = vars(found) if isinstance(found, type) else {}
    return found


def _follow(old: Any, new: Any) -> None:
    if isinstance(old, FunctionType) and isinstance(new, FunctionType):
        _follow_function(old, new)
    elif isinstance(old, type) and isinstance(new, type):
        # the class could not be changed in place; its instances move over
        for instance in gc.get_referrers(old):
            if type(instance) is old:
                _move(instance, new)


def _move(instance: Any, new: type) -> None:
    try:
        instance.__class__ = new
    except TypeError:  # another layout: it stays what it was
        return


def _follow_function(old: FunctionType, new: FunctionType) -> None:
    is_alike = len(old.__closure__ or ()) == len(new.__closure__ or ())
    # the names that code uses are those of the module that it was written in
    if is_alike and old.__globals__ is new.__globals__:
        for cell, source in zip(
            old.__closure__ or (), new.__closure__ or (), strict=True
        ):
            try:
                cell.cell_contents = source.cell_contents
            except ValueError:
                continue
        old.__code__ = new.__code__
        old.__kwdefaults__ = new.__kwdefaults__
        old.__dict__ = new.__dict__
    else:
        # the code of one cannot serve the other: it calls it instead
        old.__code__ = _forwarding_code(len(old.__closure__ or ()))
        old.__kwdefaults__ = {"__new": new}
        old.__dict__ = {**new.__dict__, "__wrapped__": new}
    old.__defaults__ = new.__defaults__
    old.__doc__ = new.__doc__
    old.__annotations__ = new.__annotations__


def _forwarding_code(cells: int) -> CodeType:
    """Code that calls another function, fit for a function with so many cells."""
    names = [f"cell{number}" for number in range(cells)]
    mention = f"if False: ({', '.join(names)},)" if names else "pass"
    namespace: dict[str, Callable[..., FunctionType]] = {}
    source = (
        f"def outer({', '.join(names)}):\n"
        f"    def forward(*args, __new, **kwargs):\n"
        f"        {mention}\n"
        f"        return __new(*args, **kwargs)\n"
        f"    return forward\n"
    )
    exec(compile(source, __file__, "exec"), namespace)  # noqa: S102  # text made above
    return namespace["outer"](*names).__code__
