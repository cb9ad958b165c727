"""The door in a shell: ``%skill``, ``%reload_skills``, completion.

It registers with the shell, renders what ``commands`` returns and takes exactly its
own entries out again on unload. IPython has no call for the latter, so each
registration remembers how it is undone. No logic about skills lives here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, final
from weakref import WeakKeyDictionary

from IPython.core.completer import (
    CompletionContext,
    SimpleCompletion,
    SimpleMatcherResult,
    context_matcher,
)
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import no_var_expand

from prime_skills_ext.errors import PrimeSkillsError
from prime_skills_ext.garbage import new_only
from prime_skills_ext.kernel.callers import caller, watch
from prime_skills_ext.kernel.interrupts import at_once, leave_task, renew
from prime_skills_ext.kernel.skills import Skills
from prime_skills_ext.later import later
from prime_skills_ext.manager import SkillManager
from prime_skills_ext.views import formatters, inspection
from prime_skills_ext.views.progress import Progress
from prime_skills_ext.views.summary import summarise

if TYPE_CHECKING:
    from prime_skills_ext import commands, completion, login, slash
else:
    # a load asks for nothing: who types %skill, or Tab behind it, does
    commands = later("prime_skills_ext.commands")
    completion = later("prime_skills_ext.completion")
    login = later("prime_skills_ext.login")
    slash = later("prime_skills_ext.slash")

__all__ = ["load", "unload"]

_OURS = re.compile(r"(?P<before>\s*(?:[\w., ]+=\s*)?%?)%(?:skill|reload_skills)\s")
#: Of a longer hint the beginning is shown.
_MAX_HINT = 40
#: One door per shell; several shells may live in one process.
_DOORS: WeakKeyDictionary[InteractiveShell, _Door] = WeakKeyDictionary()


def load(shell: InteractiveShell) -> None:
    """Open the door of ``shell``; does nothing where it is open already."""
    if shell in _DOORS:
        return
    door = _Door(shell)
    try:
        at_once(door.open)
    except BaseException as error:
        # an interrupt while uv works: nothing half-loaded stays behind
        door.close()
        if isinstance(error, KeyboardInterrupt):
            leave_task(error)
        raise
    _DOORS[shell] = door


def unload(shell: InteractiveShell) -> None:
    """Close the door of ``shell`` and restore everything that it changed."""
    door = _DOORS.pop(shell, None)
    if door is not None:
        door.close()


@final
class _Door:
    """What one shell got from us, and how each thing is taken away again."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._undo: list[Callable[[], None]] = []
        self._progress = Progress()
        self.manager = SkillManager(
            parent=shell,
            namespace=shell.user_ns,
            hidden=shell.user_ns_hidden,
            progress=self._progress.say,
            kernel=getattr(shell, "kernel", None),  # a terminal has none
        )

    def open(self) -> None:
        """Register everything, then run the pipeline once."""
        # makes %config SkillManager see it; IPython types the list too narrowly
        configurables: list[Any] = self._shell.configurables
        configurables.append(self.manager)
        self._undo.append(lambda: _discard(configurables, self.manager))
        self._add_magic("skill", self.skill)
        self._add_magic("skill", self.skill, kind="cell")
        self._add_magic("reload_skills", self.reload_skills)
        self._add_transform()
        self._add_completion()
        self._undo.append(formatters.register(self._shell))
        self._add_event("pre_run_cell", self._before_cell)
        self._add_event("post_run_cell", self._after_cell)
        self._undo.append(inspection.register(self._shell))
        self._undo.append(watch(self._shell))
        self._undo.append(self.manager.unload)
        with self._progress, new_only():
            self.manager.load()
        summary = summarise(self.manager.catalogue)
        if summary:
            # the one line that a load may say
            self._say(summary)

    def close(self) -> None:
        """Undo every registration, the last one first."""
        with ExitStack() as stack:  # one that fails does not keep the others
            while self._undo:
                stack.callback(self._undo.pop(0))

    @no_var_expand
    def skill(self, line: str, cell: str = "") -> object:
        """Show the skills of this kernel, or do one thing with them.

        %skill                  the table: every skill, its state, and the way out
        %skill NAME             one skill: card, instructions, signature
        %skill use NAME …       its instructions for a model, with what you say
        %%skill use NAME        the same with a whole cell, as /skill:NAME is
        %skill COMMAND …        %skill --help names the commands

        A line that ends in a question mark is IPython's help: it never gets here,
        a cell does.
        """
        words = f"{line}\n{cell}" if cell else line
        who = caller()
        return self._answer(
            lambda: commands.run(self.manager, words, door="%skill", caller=who)
        )

    @no_var_expand
    def reload_skills(self, line: str) -> object:
        """Take up added, removed and edited skills in the running kernel.

        %reload_skills          report what changed; nothing when nothing did
        %reload_skills --retry  also try again what failed to install before
        %reload_skills --now    do not wait for calls that run in threads
        """
        return self._answer(lambda: commands.reload(self.manager, line))

    def _before_cell(self, _info: object = None) -> None:
        """Take up what changed, where that was asked for or is still owed."""
        renew()
        manager = self.manager
        polls = bool(manager.auto_reload or manager.waiting)
        if not (polls or manager.is_host_new):
            return
        try:
            with self._progress:
                at_once(manager.follow_host)
                report = at_once(manager.poll) if polls else None
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  # the cell is not ours to stop
            self._say(f"Skills: not reloaded: {str(error) or type(error).__name__}")
            return
        if report is not None:
            self._say(f"Skills: {report}")

    def _after_cell(self, _result: object = None) -> None:
        self.manager.counting.after_cell()

    @staticmethod
    def _say(line: str) -> None:
        # where somebody listens
        with suppress(OSError, ValueError):
            print(line)  # noqa: T201

    def _answer(self, ask: Callable[[], object]) -> object:
        try:
            with self._progress:
                # before a silent cell nobody calls us
                at_once(self.manager.follow_host)
                return at_once(ask)
        except PrimeSkillsError as error:
            # the only place where ours become IPython's: no traceback, the fix
            raise UsageError(str(error)) from error
        except KeyboardInterrupt as error:
            leave_task(error)
            raise

    def _add_magic(
        self, name: str, function: Callable[..., object], *, kind: str = "line"
    ) -> None:
        magics = self._shell.magics_manager.magics[kind]
        before = magics.get(name)
        magics[name] = function

        def undo() -> None:
            if magics.get(name) != function:
                return  # somebody else's by now
            del magics[name]
            if before is not None:
                magics[name] = before

        self._undo.append(undo)

    def _add_event(self, name: str, callback: Callable[..., None]) -> None:
        events = self._shell.events
        events.register(name, callback)

        def undo() -> None:
            with suppress(ValueError):  # somebody took it away
                events.unregister(name, callback)

        self._undo.append(undo)

    def _add_transform(self) -> None:
        transforms = self._shell.input_transformers_cleanup
        transforms.append(_transform)
        self._undo.append(lambda: _discard(transforms, _transform))

    def _add_completion(self) -> None:
        matchers = self._shell.Completer.custom_matchers
        matchers.append(self._match)
        self._undo.append(lambda: _discard(matchers, self._match))

    @context_matcher(identifier="prime_skills_ext")
    def _match(self, context: CompletionContext) -> SimpleMatcherResult:
        line = context.text_until_cursor
        # `found = %skill show …` is a line of ours, too
        typed = _OURS.match(line)
        if typed is None:
            before = _up_to_cursor(context)
            is_slash = before.lstrip().startswith("/skill:")
            return self._match_slash(before) if is_slash else self._match_call(context)
        line = line[typed.end("before") :]
        names = [item.skill.name for item in self.manager.catalogue.skills]
        hints = self._hints()
        found = completion.complete(
            line,
            names=names,
            usable=[*hints],
            providers=partial(login.providers, self.manager),
        )
        shown = hints if completion.is_use(line) else {}
        return _offer(found, typed=completion.last_word(line), hints=shown)

    def _match_slash(self, before: str) -> SimpleMatcherResult:
        """Names behind ``/skill:``, where a setting does not switch that off."""
        hints = self._hints()
        settings = self.manager.snapshot.settings
        if not all(each.enable_skill_commands for each in settings):
            hints = {}
        typed, found = completion.complete_slash(before, usable=[*hints])
        return _offer(found, typed=typed, hints=hints)

    def _hints(self) -> dict[str, str]:
        """What each skill that a person may use takes, by the skill's name."""
        return {
            name: item.skill.argument_hint or ""
            for name, item in self.manager.catalogue.in_force().items()
            if item.skill.user_invocable
        }

    def _match_call(self, context: CompletionContext) -> SimpleMatcherResult:
        """Arguments of ``skills["…"](``, which IPython does not look into."""
        text = _up_to_cursor(context)
        skills = self._shell.user_ns.get("skills")
        if "skills" not in text or not isinstance(skills, Skills):
            return {"completions": []}
        call = completion.find_call(text)
        if call is None:
            return {"completions": []}
        found = completion.arguments(skills._peek(call.name), call)  # noqa: SLF001  # no key
        return {
            "completions": [SimpleCompletion(text, type="param") for text in found],
            "matched_fragment": call.typed,
        }


def _up_to_cursor(context: CompletionContext) -> str:
    lines = context.full_text.split("\n")[: context.cursor_line]
    return "\n".join([*lines, context.text_until_cursor])


def _offer(
    found: Sequence[str], *, typed: str, hints: Mapping[str, str]
) -> SimpleMatcherResult:
    """Offer words; what a skill takes stands where front ends show a word's type."""
    return {
        "completions": [
            SimpleCompletion(text, type=_one_line(hints.get(text) or "skill"))
            for text in found
        ],
        "matched_fragment": typed,
        # as an expression the line would be completed with names and keywords
        "suppress": True,
    }


def _one_line(hint: str) -> str:
    """Return a hint that JupyterLab does not break: lines would cover each other."""
    short = hint if len(hint) <= _MAX_HINT else f"{hint[: _MAX_HINT - 1].rstrip()}…"
    return "\N{NO-BREAK SPACE}".join(short.split())


def _transform(lines: list[str]) -> list[str]:
    """Use a skill where a cell begins with ``/skill:NAME``."""
    # most cells have none, and need nothing of ours
    is_meant = any("/skill:" in line for line in lines)
    return slash.as_magic(lines) if is_meant else lines


def _discard(items: list[Any], item: object) -> None:
    with suppress(ValueError):
        items.remove(item)
