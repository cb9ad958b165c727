"""On what terms each skill is called: by whom, lent what, in a thread, how long.

Every shell says what holds for its skills; the calls ask. It calls nothing itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple, Protocol, final

from prime_skills_ext.errors import SkillPermissionError
from prime_skills_ext.kernel.lending import Variables
from prime_skills_ext.skill.model import Skill

__all__ = [
    "Guard",
    "Terms",
    "Watcher",
    "guard_at",
    "guard_of",
    "is_threaded",
    "limit",
    "provide",
    "source_directory",
    "take_calls",
    "terms_of",
    "withdraw",
]


@final
class Terms(NamedTuple):
    """How a skill is called, where that is not simply calling it.

    Attributes:
        variables: Makes what a call is lent; ``None`` lends nothing.
        threaded: A ``run`` that is no coroutine function runs in a thread.
        timeout_s: Longest that a call may take, in seconds; ``None`` is for ever.
    """

    variables: Variables | None = None
    threaded: bool = False
    timeout_s: float | None = None


class Watcher(Protocol):
    """Hears of each call of a skill, with its arguments; the call waits for it."""

    async def before(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> SkillPermissionError | None:
        """Return why the call must not be; ``None`` lets it begin."""

    async def after(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any
    ) -> None:
        """Hear what it returned."""

    async def failed(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any], error: Exception
    ) -> None:
        """Hear what it raised."""


@final
class Guard(NamedTuple):
    """What stands before the calls of a skill.

    Attributes:
        name: The skill's.
        is_for_people: A model may not call it.
        watcher: Told of each call; ``None`` when nobody is.
    """

    name: str
    is_for_people: bool = False
    watcher: Watcher | None = None


_PLAIN = Terms()
#: By who said so; one per shell.
_VARIABLES: dict[int, Mapping[Path, Variables]] = {}
_THREADED: dict[int, Collection[Path]] = {}
_LIMITS: dict[int, float] = {}
_GUARDS: dict[int, Mapping[Path, Guard]] = {}


@final
class _Epoch:
    """Changes whenever terms do: what was looked up before it no longer holds."""

    __slots__ = ("now",)

    def __init__(self) -> None:
        self.now = object()


_EPOCH = _Epoch()


def provide(
    owner: object,
    variables: Mapping[Path, Variables],
    *,
    threaded: Iterable[Path] = (),
    guards: Mapping[Path, Guard] = MappingProxyType({}),
) -> None:
    """Say how skills are called.

    Args:
        owner: Who says so; takes the place of what it said before.
        variables: What they are lent, by ``src`` of the skill.
        threaded: The ``src`` of each skill whose ``run`` leaves the loop free.
        guards: What stands before their calls, by ``src``; from the next bind on.
    """
    _VARIABLES[id(owner)] = dict(variables)
    _THREADED[id(owner)] = frozenset(threaded)
    _GUARDS[id(owner)] = dict(guards)
    _EPOCH.now = object()


def withdraw(owner: object) -> None:
    """Have no terms any more in the name of ``owner``."""
    _VARIABLES.pop(id(owner), None)
    _THREADED.pop(id(owner), None)
    _GUARDS.pop(id(owner), None)
    limit(owner, None)


def limit(owner: object, timeout_s: float | None) -> None:
    """Limit the time of every call, in the name of ``owner``.

    Args:
        owner: Who says so; among several the shortest limit counts.
        timeout_s: In seconds; ``None`` takes the limit back.
    """
    _LIMITS.pop(id(owner), None)
    if timeout_s is not None:
        _LIMITS[id(owner)] = timeout_s
    _EPOCH.now = object()


def is_threaded(skill: Skill) -> bool:
    """Read ``metadata: {threaded: true}``; scalars in there are text."""
    declared = skill.metadata.get("threaded")
    return isinstance(declared, str) and declared.strip().lower() == "true"


def terms_of(module: ModuleType) -> Terms | None:
    """Return the terms of a skill that is called; ``None`` when it is simply called.

    The answer is kept on the module's loader, since every call asks; so the calls are
    counted there, where ``take_calls`` finds them.
    """
    loader = module.__loader__
    try:
        loader.calls += 1  # type: ignore[union-attr]  # a SkillLoader has it
        epoch, terms = loader.terms  # type: ignore[union-attr]
    except AttributeError:
        return _look_up(source_directory(module))  # a module that was made by hand
    if epoch is not _EPOCH.now:
        epoch, terms = _EPOCH.now, _look_up(source_directory(module))
        loader.terms = epoch, terms  # type: ignore[union-attr]
    found: Terms | None = terms
    return found


def take_calls(module: object) -> int:
    """Return how often a skill was called since this was last asked.

    Args:
        module: What is bound for it; nothing else than a module is ever called.
    """
    # as Python itself reads it: a module's own __getattr__ is not for us
    loader = vars(module).get("__loader__") if isinstance(module, ModuleType) else None
    calls: int = getattr(loader, "calls", 0)
    if calls:
        loader.calls = 0  # type: ignore[union-attr]  # it has them
    return calls


def guard_at(src: Path) -> Guard | None:
    """Return what stands before the calls of a skill, by its ``src``."""
    return next((named[src] for named in [*_GUARDS.values()] if src in named), None)


def guard_of(module: ModuleType) -> Guard | None:
    """Return what stands before the calls of a skill."""
    return guard_at(source_directory(module))


def source_directory(module: ModuleType) -> Path:
    """The ``src`` that a module was loaded from."""
    src = getattr(module.__loader__, "src", None)
    if isinstance(src, Path):
        return src
    return Path(getattr(module, "__file__", None) or "").parent.parent


def _look_up(src: Path) -> Terms | None:
    variables = [named[src] for named in [*_VARIABLES.values()] if src in named]
    terms = Terms(
        variables=variables[0] if variables else None,
        threaded=any(src in named for named in [*_THREADED.values()]),
        timeout_s=min(_LIMITS.values(), default=None),
    )
    return None if terms == _PLAIN else terms
