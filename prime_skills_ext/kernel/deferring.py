"""Skills that are imported at their first use: ``SkillManager.imports = "lazy"``.

What is bound is the module itself, empty until somebody touches, calls or imports it;
then the finder has its code executed in it. It binds no names.
"""

from __future__ import annotations

import importlib
from contextlib import suppress
from functools import partial
from importlib.util import module_from_spec
from types import ModuleType
from typing import Any, final

from prime_skills_ext.catalog.status import Problem
from prime_skills_ext.errors import SkillUnavailableError
from prime_skills_ext.kernel.callable_module import CallableSkill
from prime_skills_ext.kernel.failures import import_failed
from prime_skills_ext.kernel.guarded import GuardedSkill
from prime_skills_ext.kernel.importing import Deferral, SkillFinder
from prime_skills_ext.kernel.names import import_name_of
from prime_skills_ext.kernel.placeholder import (
    UnavailableAttributeError,
    UnavailableImportError,
    unavailable,
)
from prime_skills_ext.kernel.terms import guard_at, source_directory
from prime_skills_ext.kernel.trees import SkillTree, stamp

__all__ = ["DeferredSkill", "defer"]


class DeferredSkill(CallableSkill):
    """A skill whose code has not run yet; any use of it runs it."""

    def __getattr__(self, attribute: str) -> Any:
        # tools probe names such as _repr_html_ and __wrapped__
        module = self if attribute.endswith("_") else _use(self)
        if isinstance(module, DeferredSkill):
            raise AttributeError(  # noqa: TRY004  # its code runs just now
                f"module {self.__name__!r} has no attribute {attribute!r}"
            )
        return getattr(module, attribute)

    def __dir__(self) -> list[str]:
        with suppress(SkillUnavailableError):
            _use(self)
        return [*ModuleType.__dir__(self)]

    def __reduce__(self) -> Any:
        _use(self)
        # this object is of another class by now
        return CallableSkill.__reduce__(self)


@final
class _GuardedDeferredSkill(DeferredSkill, GuardedSkill):
    """The same, where not everybody's use runs it."""


# that of `run`, as for every skill
for _kind in (DeferredSkill, _GuardedDeferredSkill):
    type.__setattr__(_kind, "__doc__", vars(CallableSkill)["__doc__"])


def defer(tree: SkillTree, *, finder: SkillFinder) -> ModuleType | None:
    """Make the module of a tree without executing anything.

    Returns:
        ``None`` where that is too late (the tree was imported, or could not be) or
        where there is no package: its import says so.
    """
    is_used = tree.module is not None or finder.outcome(tree.name) is not None
    if is_used or tree.parked:
        return None
    if tree.deferred is None:
        spec = finder.locate_root(tree.name, src=tree.src)
        if spec is None:
            return None
        tree.deferred = module_from_spec(spec)
    is_guarded = guard_at(tree.src) is not None
    tree.deferred.__class__ = _GuardedDeferredSkill if is_guarded else DeferredSkill
    begin = partial(_begin, tree, tree.deferred)
    finder.defer(tree.name, Deferral(src=tree.src, begin=begin, end=tree.dress))
    return tree.deferred


def _begin(tree: SkillTree, module: ModuleType) -> ModuleType:
    tree.stamps = stamp(tree.src)
    # the import system fills in what belongs to the code that runs now
    module.__loader__ = None
    return module


def _use(module: ModuleType) -> object:
    """Import a skill that somebody touched; an error is an ``AttributeError``, too."""
    name, src = module.__name__, source_directory(module)
    if not SkillFinder.serves(name, src=src):
        problem = Problem(
            state="removed",
            reason="it was taken out of this kernel before its first use",
            fix="%load_ext prime_skills_ext, or put its folder back and run "
            "%reload_skills",
        )
        raise UnavailableAttributeError(
            unavailable(import_name_of(name), problem=problem), fix=problem.fix
        )
    try:
        return importlib.import_module(name)
    except UnavailableImportError as error:
        raise UnavailableAttributeError(
            error.message, fix=error.fix
        ) from error.__cause__
    except ImportError as error:
        problem = import_failed(error, src=src)
        raise UnavailableAttributeError(
            unavailable(import_name_of(name), problem=problem), fix=problem.fix
        ) from error
