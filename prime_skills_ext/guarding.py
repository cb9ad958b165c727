"""What stands before the calls of each skill: whom it is for, and its hooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from prime_skills_ext.catalog.discovery import Candidate
from prime_skills_ext.catalog.origin import is_remote
from prime_skills_ext.errors import SkillPermissionError
from prime_skills_ext.kernel.terms import Guard
from prime_skills_ext.later import later

if TYPE_CHECKING:
    from prime_skills_ext.prompt import hooks
else:
    hooks = later("prime_skills_ext.prompt.hooks")  # most skills have none

__all__ = ["guards"]


def guards(
    candidates: Iterable[Candidate],
    *,
    project: Path,
    environ: Mapping[str, str],
    are_hooks_on: Callable[[], bool],
) -> dict[Path, Guard]:
    """Return what stands before the calls of some skills, by their ``src``.

    Args:
        candidates: Skills that are trusted.
        project: The project's root.
        environ: The environment variables of commands.
        are_hooks_on: Whether hooks run; asked at each call.
    """
    found: dict[Path, Guard] = {}
    for candidate in candidates:
        skill = candidate.skill
        if skill.python is None:
            continue
        watcher: _Calls | None = None
        if skill.hooks and not is_remote(skill, source=candidate.source):
            place = hooks.Place(project=project, environ=environ, is_on=are_hooks_on)
            live = hooks.find_hooks(skill, place=place)
            watcher = None if live is None else _Calls(live)
        if watcher is not None or skill.disable_model_invocation:
            found[skill.python.src] = Guard(
                name=skill.name,
                is_for_people=skill.disable_model_invocation,
                watcher=watcher,
            )
    return found


@final
class _Calls:
    """Has the hooks of a skill run around its calls."""

    def __init__(self, live: hooks.Hooks) -> None:
        self._live = live

    async def before(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> SkillPermissionError | None:
        return await self._live.before(_input(args, kwargs))

    async def after(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any
    ) -> None:
        await self._live.after(_input(args, kwargs), result)

    async def failed(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any], error: Exception
    ) -> None:
        await self._live.failed(_input(args, kwargs), error)


def _input(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, object]:
    return {"args": list(args), "kwargs": dict(kwargs)}
