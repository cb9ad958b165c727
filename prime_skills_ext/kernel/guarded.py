"""Skills that not everybody may call, or whose calls are watched.

They are of a class of their own, so that a call of any other skill pays nothing for
it. Who may call what, and who watches, is told by ``terms``.
"""

from __future__ import annotations

import functools
from typing import Any, Final, cast

from prime_skills_ext.errors import SkillPermissionError
from prime_skills_ext.kernel import callable_module
from prime_skills_ext.kernel.callable_module import CallableSkill
from prime_skills_ext.kernel.callers import caller
from prime_skills_ext.kernel.interrupts import begin, end
from prime_skills_ext.kernel.terms import guard_of
from prime_skills_ext.kernel.tracebacks import trim
from prime_skills_ext.skill.model import Caller

__all__ = ["GuardedSkill"]

_OURS: Final = frozenset({__file__, callable_module.__file__})


async def _call(self: GuardedSkill, who: Caller, /, *args: Any, **kwargs: Any) -> Any:
    """Call ``run`` and await what it returns if that can be awaited."""
    is_counted = begin()  # what is awaited before and after can be interrupted, too
    try:
        return await _past_guard(self, who, args, kwargs)
    except BaseException as error:
        trim(error, ours=_OURS)
        raise
    finally:
        if is_counted:
            end()


async def _past_guard(
    skill: GuardedSkill, who: Caller, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    guard = guard_of(skill)
    if guard is not None and guard.is_for_people and who == "model":
        raise SkillPermissionError(
            f"Skill {guard.name!r} is for people alone "
            "(disable-model-invocation: true), and this cell is the model's",
            fix="ask the user to call it in a cell of their own",
        )
    watcher = None if guard is None else guard.watcher
    if watcher is None:
        return await CallableSkill.__call__(skill, *args, **kwargs)
    veto = await watcher.before(args, kwargs)
    if veto is not None:
        raise veto
    try:
        result = await CallableSkill.__call__(skill, *args, **kwargs)
    except Exception as error:
        await watcher.failed(args, kwargs, error)
        raise
    await watcher.after(args, kwargs, result)
    return result


class _Call:
    """``__call__``: it notes who calls when the call is made, not when it is awaited.

    What it gives is a ``partial`` of a coroutine function, which ``inspect`` takes for
    one in every version of Python.
    """

    def __get__(
        self, module: GuardedSkill | None, owner: type[GuardedSkill]
    ) -> functools.partial[Any] | _Call:
        if module is None:
            return self
        call: Any = functools.partial(_call, module, caller())
        call.__doc__ = CallableSkill.__call__.__doc__
        return cast("functools.partial[Any]", call)

    def __call__(self, module: GuardedSkill, /, *args: Any, **kwargs: Any) -> Any:
        # read from the class: `type(skill).__call__(skill, …)`
        return _call(module, caller(), *args, **kwargs)


class GuardedSkill(CallableSkill):  # noqa: D101  # its text is that of `run`
    __call__ = cast("Any", _Call())


GuardedSkill._kind = GuardedSkill  # noqa: SLF001  # as CallableSkill has it
type.__setattr__(GuardedSkill, "__doc__", vars(CallableSkill)["__doc__"])
callable_module.CALLS.add(_call.__code__)
