"""Runs a skill's own hooks before, after and on an error of its uses.

A use is a call (``await skill(…)``) or an activation. Each hook is a command of a
shell, run in the skill's folder, with ``CLAUDE_SKILL_DIR`` and ``CLAUDE_PROJECT_DIR``
set. On its stdin it finds one JSON object::

    {"hook_event_name": "PreToolUse",       # or PostToolUse, PostToolUseFailure
     "tool_name": "Skill",
     "tool_input": {"skill": "word-count", "args": ["a b a"], "kwargs": {}},
     "tool_response": …,                    # after: the result
     "error": "ValueError: …",              # on an error
     "cwd": "…", "session_id": "…"}

``args`` of an activation is its text, as typed, without ``kwargs``. What JSON cannot
hold is told as its ``repr``.

A hook before the use refuses it by exit status 2, with the reason on stderr, or by JSON
on stdout: ``{"decision": "block", "reason": …}``, or ``permissionDecision: deny`` with
a ``permissionDecisionReason`` (in ``hookSpecificOutput`` as well). Whatever else goes
wrong with a hook stops nothing: a warning says so once. No hook of a skill that came
from a remote source, or that nobody trusts, ever runs.
"""

from __future__ import annotations

import json
import os
import shutil
import warnings
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar, final

from prime_skills_ext import process_async
from prime_skills_ext.catalog.origin import may_run_commands
from prime_skills_ext.catalog.status import SkillStatus
from prime_skills_ext.errors import ProcessError, SkillPermissionError
from prime_skills_ext.process import Completed
from prime_skills_ext.prompt.hook_text import as_json, error_text, legible
from prime_skills_ext.prompt.session import session_id
from prime_skills_ext.skill.hooks import Event, Hook, parse_hooks
from prime_skills_ext.skill.model import Skill

__all__ = ["TOOL", "Hooks", "Place", "find_hooks", "hooks_of"]

T = TypeVar("T")

TOOL: Final = "Skill"
"""What every use is called as a tool; matchers can name it, beside the skill."""

_REFUSES: Final = 2
#: By skill: what was to run once, and what was said of a hook, in this process.
_DONE: Final[set[tuple[Path, Hook]]] = set()
_TOLD: Final[set[tuple[Path, Hook, str]]] = set()


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where hooks run.

    Attributes:
        project: The project's root.
        environ: The environment variables of their commands.
        is_on: Whether hooks run at all; asked each time.
    """

    project: Path
    environ: Mapping[str, str]
    is_on: Callable[[], bool] = lambda: True


def hooks_of(status: SkillStatus, *, place: Place) -> Hooks | None:
    """Return the hooks of a skill that may run; ``None`` without any."""
    return find_hooks(status.skill, place=place) if may_run_commands(status) else None


def find_hooks(skill: Skill, *, place: Place) -> Hooks | None:
    """Return the hooks of a skill that is known to be allowed to run commands."""
    names = (skill.name, skill.import_name, TOOL)
    found = [hook for hook in parse_hooks(skill.hooks) if hook.concerns(names)]
    return Hooks(skill, hooks=found, place=place) if found else None


@final
class Hooks:
    """The hooks of one skill.

    Args:
        skill: The skill.
        hooks: Those that concern it.
        place: Where they run.
    """

    def __init__(self, skill: Skill, *, hooks: Iterable[Hook], place: Place) -> None:
        self._skill = skill
        self._hooks = tuple(hooks)
        self._place = place

    async def around(
        self, work: Callable[[], Awaitable[T]], *, tool_input: Mapping[str, object]
    ) -> T:
        """Do some work with the hooks around it.

        Args:
            work: The use of the skill.
            tool_input: What it is used with, beside its name.

        Raises:
            SkillPermissionError: A hook refused it; it was not begun.
        """
        veto = await self.before(tool_input)
        if veto is not None:
            raise veto
        try:
            result = await work()
        except Exception as error:
            await self.failed(tool_input, error)
            raise
        await self.after(tool_input, result)
        return result

    def around_sync(
        self,
        work: Callable[[], T],
        *,
        tool_input: Mapping[str, object],
        wait: Callable[[Coroutine[Any, Any, Any]], Any],
    ) -> T:
        """Do the same where nothing can be awaited.

        Args:
            work: The use of the skill.
            tool_input: What it is used with, beside its name.
            wait: Runs a coroutine to its end: ``kernel.skills.run_sync``.

        Raises:
            SkillPermissionError: A hook refused it; it was not begun.
        """
        veto = wait(self.before(tool_input))
        if veto is not None:
            raise veto
        try:
            result = work()
        except Exception as error:
            wait(self.failed(tool_input, error))
            raise
        wait(self.after(tool_input, result))
        return result

    async def before(
        self, tool_input: Mapping[str, object]
    ) -> SkillPermissionError | None:
        """Run the hooks before a use, until one refuses it; return its refusal."""
        for hook in self._due("PreToolUse"):
            done = await self._run(hook, tool_input=tool_input)
            reason = None if done is None else _refusal(done)
            if reason is not None:
                return SkillPermissionError(
                    f"A hook of skill {self._skill.name!r} refused: "
                    f"{legible(reason) or 'it says no more'}",
                    fix="do as it says, or ask the user",
                    path=self._skill.path,
                )
        return None

    async def after(self, tool_input: Mapping[str, object], result: object) -> None:
        """Run the hooks after a use."""
        for hook in self._due("PostToolUse"):
            await self._run(hook, tool_input=tool_input, tool_response=result)

    async def failed(
        self, tool_input: Mapping[str, object], error: BaseException
    ) -> None:
        """Run the hooks after a use that raised."""
        said = error_text(error)
        for hook in self._due("PostToolUseFailure"):
            await self._run(hook, tool_input=tool_input, error=said)

    def _due(self, event: Event) -> list[Hook]:
        here = self._skill.identity
        due = [
            hook
            for hook in self._hooks
            if hook.event == event and (here, hook) not in _DONE
        ]
        return due if due and self._place.is_on() else []

    async def _run(
        self, hook: Hook, *, tool_input: Mapping[str, object], **more: object
    ) -> Completed | None:
        if hook.once:
            _DONE.add((self._skill.identity, hook))
        told = {
            "hook_event_name": hook.event,
            "tool_name": TOOL,
            "tool_input": {"skill": self._skill.name, **tool_input},
            **more,
            "cwd": _working_directory(),
            "session_id": session_id(),
        }
        shell = shutil.which("bash") or "sh"
        try:
            done = await process_async.run(
                [shell, "-c", hook.command],
                cwd=self._skill.directory,
                timeout_s=hook.timeout_s,
                env={
                    **self._place.environ,
                    "CLAUDE_SKILL_DIR": str(self._skill.directory),
                    "CLAUDE_PROJECT_DIR": str(self._place.project),
                },
                stdin=as_json(told),
            )
        except ProcessError as error:
            self._warn(hook, _first_line(error.message.removeprefix(f"{shell} -c ")))
            return None
        is_heard = done.returncode == _REFUSES and hook.event == "PreToolUse"
        if done.returncode != 0 and not is_heard:
            said = legible(done.stderr)
            what = f"`{hook.command}` failed with exit status {done.returncode}"
            self._warn(hook, f"{what}: {said}" if said else what)
        return done

    def _warn(self, hook: Hook, what: str) -> None:
        told = (self._skill.identity, hook, what)
        if told in _TOLD:
            return
        _TOLD.add(told)
        warnings.warn_explicit(
            f"a {hook.event} hook of skill {self._skill.name!r}: {what}",
            category=RuntimeWarning,
            filename=str(self._skill.path),
            lineno=0,
        )


def _refusal(done: Completed) -> str | None:
    """Return why a hook refuses what it was asked before; ``None`` lets it be."""
    if done.returncode == _REFUSES:
        return done.stderr
    if done.returncode != 0:
        return None
    try:
        said = json.loads(done.stdout)
    except (ValueError, RecursionError):
        return None  # a hook may say what it likes
    for answer in (said, said.get("hookSpecificOutput")) if _is_map(said) else ():
        if not _is_map(answer):
            continue
        if answer.get("decision") == "block":
            return str(answer.get("reason") or "")
        if answer.get("permissionDecision") == "deny":
            reason = answer.get("permissionDecisionReason") or answer.get("reason")
            return str(reason or "")
    return None


def _is_map(value: object) -> bool:
    return isinstance(value, dict)


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


def _working_directory() -> str:
    try:
        return os.getcwd()  # noqa: PTH109  # as text
    except OSError:  # it was removed
        return ""
