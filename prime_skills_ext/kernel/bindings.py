"""What binding skills left behind, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, final

from prime_skills_ext.catalog.status import Problem
from prime_skills_ext.kernel.loading import ImportOutcome
from prime_skills_ext.skill.model import Diagnostic

__all__ = ["Bindings", "Work"]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Bindings:
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

    names: Mapping[Path, str] = field(default_factory=dict)
    problems: Mapping[Path, Problem] = field(default_factory=dict)
    values: Mapping[Path, object] = field(default_factory=dict)
    seconds: Mapping[Path, float] = field(default_factory=dict)
    output: Mapping[Path, str] = field(default_factory=dict)
    errors: Mapping[Path, BaseException] = field(default_factory=dict)
    changed: tuple[Path, ...] = ()
    waiting: Mapping[Path, int] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


@final
@dataclass(kw_only=True, slots=True)
class Work:
    """A ``Bindings`` in the making."""

    names: dict[Path, str] = field(default_factory=dict)
    problems: dict[Path, Problem] = field(default_factory=dict)
    values: dict[Path, object] = field(default_factory=dict)
    seconds: dict[Path, float] = field(default_factory=dict)
    output: dict[Path, str] = field(default_factory=dict)
    errors: dict[Path, BaseException] = field(default_factory=dict)
    changed: list[Path] = field(default_factory=list)
    waiting: dict[Path, int] = field(default_factory=dict)

    @classmethod
    def after(cls, last: Bindings) -> Self:
        """Begin with what another one left; nothing is changed yet."""
        return cls(
            names=dict(last.names),
            problems=dict(last.problems),
            values=dict(last.values),
            seconds=dict(last.seconds),
            output=dict(last.output),
            errors=dict(last.errors),
            waiting=dict(last.waiting),
        )

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
