"""What binding skills left behind, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Self, final

from prime_skills_ext.catalog.status import Problem
from prime_skills_ext.kernel.loading import ImportOutcome
from prime_skills_ext.skill.model import Diagnostic

__all__ = ["Bindings", "Work"]


@final
class Bindings(NamedTuple):
    """What one call of ``Binder.bind`` left behind. Keys are identities of skills.

    Attributes:
        names: How each skill is reached: ``word_count`` or ``skills["json"]``.
        problems: What the kernel found wrong: ``import-failed``, ``stale``,
            ``name-taken``. Problems that were passed in are not repeated.
        values: What each name stands for: a module or an ``UnavailableSkill``.
        seconds: Time that each import or reload took, where one ran.
        output: What each import printed, where it did.
        errors: The exception behind ``import-failed`` and ``stale``.
        changed: Skills whose code was executed again.
        waiting: Skills that changed and reload when so many calls in threads end.
        removed: Names of skills that were bound before and are gone now.
        diagnostics: Clashes of top-level names, private names and why.
    """

    names: Mapping[Path, str] = MappingProxyType({})
    problems: Mapping[Path, Problem] = MappingProxyType({})
    values: Mapping[Path, object] = MappingProxyType({})
    seconds: Mapping[Path, float] = MappingProxyType({})
    output: Mapping[Path, str] = MappingProxyType({})
    errors: Mapping[Path, BaseException] = MappingProxyType({})
    changed: tuple[Path, ...] = ()
    waiting: Mapping[Path, int] = MappingProxyType({})
    removed: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


@final
class Work:
    """A ``Bindings`` in the making."""

    def __init__(self) -> None:
        self.names: dict[Path, str] = {}
        self.problems: dict[Path, Problem] = {}
        self.values: dict[Path, object] = {}
        self.seconds: dict[Path, float] = {}
        self.output: dict[Path, str] = {}
        self.errors: dict[Path, BaseException] = {}
        self.changed: list[Path] = []
        self.waiting: dict[Path, int] = {}

    @classmethod
    def after(cls, last: Bindings) -> Self:
        """Begin with what another one left; nothing is changed yet."""
        work = cls()
        work.names.update(last.names)
        work.problems.update(last.problems)
        work.values.update(last.values)
        work.seconds.update(last.seconds)
        work.output.update(last.output)
        work.errors.update(last.errors)
        work.waiting.update(last.waiting)
        return work

    def forget(self, identity: Path) -> None:
        """Leave out what was said about one skill."""
        said: dict[Path, Any]
        for said in (self.problems, self.output, self.errors, self.waiting):
            said.pop(identity, None)

    def note(self, identity: Path, outcome: ImportOutcome) -> None:
        """Keep how an import or a reload went."""
        self.seconds[identity] = outcome.seconds
        if outcome.output:
            self.output[identity] = outcome.output
        if outcome.error is not None:
            self.errors[identity] = outcome.error

    def finish(
        self, *, removed: tuple[str, ...], diagnostics: tuple[Diagnostic, ...]
    ) -> Bindings:
        """Return what it became."""
        return Bindings(
            names=self.names,
            problems=self.problems,
            values=self.values,
            seconds=self.seconds,
            output=self.output,
            errors=self.errors,
            changed=tuple(self.changed),
            waiting=self.waiting,
            removed=removed,
            diagnostics=diagnostics,
        )
