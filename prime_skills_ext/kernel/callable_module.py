"""Modules that can be called: ``await word_count("a b a")``.

A module becomes callable by a change of its class, so there is one object and one
namespace. Nothing here imports a skill or binds a name.
"""

from __future__ import annotations

import asyncio
import asyncio.coroutines
import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import CoroutineType, ModuleType
from typing import Any, ClassVar, Final, cast, final

from prime_skills_ext.kernel.interrupts import (
    begin,
    cut,
    end,
    ends_loop,
    hand_over,
    stoppable,
)
from prime_skills_ext.kernel.loading import watch_interrupts
from prime_skills_ext.kernel.names import import_name_of
from prime_skills_ext.kernel.terms import source_directory, terms_of

__all__ = [
    "CALLS",
    "CallableSkill",
    "find_run",
    "make_callable",
    "make_plain",
    "not_started",
    "pretty_call",
]

#: Kinds of parameters that can be given by name.
_BY_NAME: Final = (
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)


class _Signature:
    """``__signature__``: that of ``run``, read when somebody asks.

    A non-data descriptor that is silent on the class, where a property would
    break ``inspect.signature(type(module))``.
    """

    def __get__(
        self, module: CallableSkill | None, owner: type[ModuleType]
    ) -> inspect.Signature:
        if module is None:
            raise AttributeError("__signature__")
        try:
            return inspect.signature(module.run)
        except Exception:  # noqa: BLE001  # a builtin without one; a `run` of any class
            raise AttributeError("__signature__") from None


class _Documentation:
    """``__doc__``: that of ``run``, else the module's own, read when asked."""

    def __init__(self, own: str | None) -> None:
        self._own = own

    def __get__(
        self, module: CallableSkill | None, owner: type[CallableSkill]
    ) -> str | None:
        if module is None:
            return self._own
        own = module.__dict__.get("__doc__")
        try:
            run = find_run(module)
            while isinstance(run, functools.partial):
                run = run.func
            doc = getattr(run, "__doc__", None) or own
        except Exception:  # noqa: BLE001  # a `run` of any class
            doc = own
        return doc if isinstance(doc, str) else None

    def __set__(self, module: CallableSkill, doc: str | None) -> None:
        module.__dict__["__doc__"] = doc


class CallableSkill(ModuleType):
    """A skill: a module whose ``run`` is called by calling the module.

    ``await skill(...)`` is ``skill.run(...)``, awaited if it can be.
    """

    #: Which of our classes this is, with or without a class of the author's.
    _kind: ClassVar[type[CallableSkill]]
    # asyncio's own mark; 3.12 and later have an official one, set below
    _is_coroutine = getattr(asyncio.coroutines, "_is_coroutine", None)
    __signature__ = _Signature()

    # the slash keeps `skill(self=4)` an argument of the skill
    async def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call ``run`` and await what it returns if that can be awaited."""
        is_counted = begin()
        try:
            terms = terms_of(self)
            if terms is None:
                result = self.run(*args, **kwargs)
                if type(result) is CoroutineType or inspect.isawaitable(result):
                    result = await result
            else:
                # most skills have none: what these need is imported by the first
                from prime_skills_ext.kernel.calling import call_on_terms  # noqa: PLC0415

                result = await call_on_terms(
                    terms, self.run, args, kwargs, name=_short_name(self)
                )
        except BaseException as error:  # a stranger's code ran here
            _settle(error, module=self, args=args, kwargs=kwargs)
            if not ends_loop(error):
                raise
            await hand_over()
            raise asyncio.CancelledError from None
        finally:
            if is_counted:
                end()
        return result

    def __reduce__(self) -> tuple[Callable[[str, str], ModuleType], tuple[str, str]]:
        return _restore, (self.__name__, str(source_directory(self)))


CallableSkill._kind = CallableSkill  # noqa: SLF001  # it has no name inside itself
#: Code of the functions that a call of a skill runs in.
CALLS: Final = {CallableSkill.__call__.__code__}
CallableSkill.__doc__ = cast("str", _Documentation(CallableSkill.__doc__))
stoppable(CallableSkill.__call__)
if sys.version_info >= (3, 12):
    inspect.markcoroutinefunction(CallableSkill)


def find_run(module: ModuleType) -> Callable[..., Any] | None:
    """The callable that a module offers as ``run``, PEP 562 included."""
    own = type(module)
    is_ours = own is ModuleType or getattr(own, "_kind", None) is own
    if is_ours and "run" in module.__dict__:
        run = module.__dict__["run"]  # no code of the skill's own is asked for it
        return run if callable(run) else None
    with watch_interrupts() as interrupts:
        try:
            run = getattr(module, "run", None)
        except BaseException:  # a skill's own module __getattr__
            if interrupts.real:
                raise
            return None
    return run if callable(run) else None


def make_callable(
    module: ModuleType, *, kind: type[CallableSkill] = CallableSkill
) -> bool:
    """Make a module with a callable ``run`` callable, in place.

    Args:
        module: It may be callable as of another kind already.
        kind: How it is to be called.

    Returns:
        Whether this call changed its class. A module that its author made
        callable stays as it is.
    """
    own: type[ModuleType] = type(module)
    if isinstance(module, CallableSkill):
        if module._kind is kind:  # noqa: SLF001  # of ours
            return False
        own = getattr(own, "_own", ModuleType)
    elif callable(module) or find_run(module) is None:
        return False
    if own is ModuleType:
        module.__class__ = kind
        return True
    try:
        # a class of the author's own may refuse to be subclassed
        contents = {"_own": own, "_kind": kind}
        module.__class__ = type(f"Callable{own.__name__}", (kind, own), contents)
    except Exception:  # noqa: BLE001  # a stranger's __init_subclass__
        return False
    return True


def make_plain(module: ModuleType) -> None:
    """Put back the class that the module had before ``make_callable``."""
    if isinstance(module, CallableSkill):
        own = getattr(type(module), "_own", ModuleType)
        module.__class__ = own  # type: ignore[assignment]  # it stops being callable


def not_started(call: object) -> str | None:
    """What to show for a call that was displayed instead of awaited.

    Returns:
        ``None`` for anything but the unstarted call of a skill. A formatter of
        ``types.CoroutineType`` shows it; the call stays a real coroutine.
    """
    if (
        not isinstance(call, CoroutineType)
        or call.cr_code not in CALLS
        or inspect.getcoroutinestate(call) != inspect.CORO_CREATED
    ):
        return None
    frame = call.cr_frame
    if frame is None:
        return None
    module = frame.f_locals["self"]
    return f"{_short_name(module)}(...) not started: put `await` before it"


def pretty_call(call: object, printer: Any, cycle: bool) -> None:  # noqa: ARG001, FBT001  # IPython's order
    """Show a call as ``not_started`` has it: IPython's formatter of coroutines."""
    printer.text(not_started(call) or repr(call))


def _settle(
    error: BaseException,
    *,
    module: CallableSkill,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> None:
    """Make an error that leaves a call readable."""
    from prime_skills_ext.kernel.tracebacks import trim  # noqa: PLC0415  # errors alone

    calling = sys.modules.get("prime_skills_ext.kernel.calling")
    trim(error, ours={__file__, *(calling.MACHINERY if calling else ())})
    if isinstance(error, TypeError):
        _explain(error, module=module, args=args, kwargs=kwargs)
    cut(error)


def _explain(
    error: TypeError,
    *,
    module: CallableSkill,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> None:
    """Name the skill and its signature in the error of a wrong call."""
    from prime_skills_ext.kernel.tracebacks import reaches  # noqa: PLC0415

    try:
        run = module.run
        signature = inspect.signature(run)
        said = str(signature)
        code = getattr(inspect.unwrap(run), "__code__", None)
    except Exception:  # noqa: BLE001  # a `run` of any class, defaults of any class
        return
    if code is not None and reaches(error.__traceback__, code):
        return  # it was called; a decorator may have passed it other arguments
    try:
        signature.bind(*args, **kwargs)
    except TypeError as wrong:
        name = _short_name(module)
        hint = _suggest(signature, kwargs)
        # Python's own object is kept: same type, same traceback, better words
        error.args = (f"{name}(): {wrong}{hint}\nSignature: {name}{said}",)


def _suggest(signature: inspect.Signature, kwargs: Iterable[str]) -> str:
    """Name the parameter that was probably meant by one that does not exist."""
    from difflib import get_close_matches  # noqa: PLC0415

    names = [
        name
        for name, parameter in signature.parameters.items()
        if parameter.kind in _BY_NAME
    ]
    for word in kwargs:
        if word not in names and (close := get_close_matches(word, names, n=1)):
            return f", did you mean {close[0]!r}?"
    return ""


def _short_name(module: ModuleType) -> str:
    return import_name_of(module.__name__)


@final
class _Worker:
    """Owns what is imported to unpickle, in a process that loaded no skill."""


_WORKER = _Worker()


def _restore(name: str, src: str) -> ModuleType:
    """Find the module that was pickled, importing it where it is not loaded."""
    module = sys.modules.get(name)
    if module is None:
        # importing.py needs this module, so it is only met when a pickle is read
        from prime_skills_ext.kernel.importing import SkillFinder  # noqa: PLC0415

        SkillFinder.acquire(_WORKER).add(_WORKER, name=name, src=Path(src))
        module = importlib.import_module(name)
        make_callable(module)
    return module
