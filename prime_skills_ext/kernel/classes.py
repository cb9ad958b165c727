"""Classes that keep their identity while their module is executed again.

A class statement gives the class that was there before, with its new contents, so
that instances, subclasses and ``except`` clauses that the user holds stay valid.
"""

from __future__ import annotations

import abc
import builtins
import contextlib
import functools
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import FunctionType, MemberDescriptorType, ModuleType
from typing import Any, final

from prime_skills_ext.kernel.following import definitions, parts

__all__ = ["ClassKeeper"]

# these belong to one class object and cannot be handed on
_OWN = frozenset({"__dict__", "__weakref__", "__slots__", "_abc_impl"})
_SHAPE = ("__basicsize__", "__itemsize__", "__dictoffset__", "__weakrefoffset__")


@final
@dataclass(kw_only=True, slots=True)
class ClassKeeper:
    """Knows the classes of some modules and gives them new contents.

    Args:
        modules: Those that are about to be executed again.
    """

    modules: Mapping[str, ModuleType]
    _classes: dict[tuple[str, str], type] = field(default_factory=dict, init=False)
    _undo: list[Callable[[], object]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        for name, module in self.modules.items():
            for definition in definitions(module):
                if definition.reachable and isinstance(definition.value, type):
                    self._classes[name, definition.key.qualname] = definition.value

    @contextlib.contextmanager
    def keeping(self) -> Iterator[None]:
        """While this lasts, class statements of the modules keep their classes."""
        original = builtins.__build_class__
        thread = threading.get_ident()

        def build(body: Any, name: str, /, *bases: Any, **options: Any) -> Any:
            made = original(body, name, *bases, **options)
            if threading.get_ident() == thread and isinstance(body, FunctionType):
                return self._keep(made, namespace=body.__globals__)
            return made

        builtins.__build_class__ = build
        try:
            yield
        finally:
            builtins.__build_class__ = original

    def restore(self) -> None:
        """Give every class back the contents that it had."""
        while self._undo:
            self._undo.pop()()

    def _keep(self, made: Any, *, namespace: dict[str, Any]) -> Any:
        name = namespace.get("__name__", "")
        module = self.modules.get(name)
        if module is None or module.__dict__ is not namespace:
            return made
        if not isinstance(made, type):
            return made
        old = self._classes.get((name, made.__qualname__))
        if old is None or not _fits(old, made):
            return made
        contents, bases = dict(vars(old)), old.__bases__
        self._undo.append(functools.partial(_fill, old, contents, bases=bases))
        if not _fill(old, dict(vars(made)), bases=made.__bases__):
            return made
        for value in list(vars(old).values()):
            _retarget(value, made, old, seen=set())
        return old


def _fits(old: type, made: type) -> bool:
    """Whether a class can take over what another one contains."""
    return (
        type(old) is type(made)
        # other metaclasses keep books of their own (enum, pydantic)
        and type(old) in {type, abc.ABCMeta}
        and vars(old).get("__slots__") == vars(made).get("__slots__")
        and all(getattr(old, item) == getattr(made, item) for item in _SHAPE)
    )


def _fill(old: type, contents: Mapping[str, Any], *, bases: tuple[type, ...]) -> bool:
    if old.__bases__ != bases:
        try:
            old.__bases__ = bases
        except TypeError:  # Python cannot change these bases
            return False
    for name, value in list(vars(old).items()):
        if name not in contents and _can_go(name, value):
            type.__delattr__(old, name)
    for name, value in contents.items():
        if _can_go(name, value) and vars(old).get(name) is not value:
            type.__setattr__(old, name, value)
    return True


def _can_go(name: str, value: Any) -> bool:
    return name not in _OWN and not isinstance(value, MemberDescriptorType)


def _retarget(value: Any, made: type, old: type, *, seen: set[int]) -> None:
    """Point the cell behind ``super()`` and ``__class__`` to the class that stays."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, FunctionType):
        for cell in value.__closure__ or ():
            try:
                if cell.cell_contents is made:
                    cell.cell_contents = old
            except ValueError:  # not filled yet
                continue
    elif isinstance(value, type):
        return
    for _, inner in parts(value):
        _retarget(inner, made, old, seen=seen)
