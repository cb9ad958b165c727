"""Puts skills into a user namespace and takes exactly them out again.

It owns the names of one shell. It never decides which skill counts, installs
nothing and prints nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

from prime_skills_ext.catalog.status import Problem
from prime_skills_ext.kernel.importing import Refusal, SkillFinder
from prime_skills_ext.kernel.skills import Skills
from prime_skills_ext.skill.model import Diagnostic, Skill

__all__ = ["Binder", "Bindings"]


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
        changed: Skills whose code was executed again.
        removed: Names of skills that were bound before and are gone now.
        diagnostics: Clashes of top-level names, private names and why.
    """

    names: Mapping[Path, str] = field(default_factory=dict)
    problems: Mapping[Path, Problem] = field(default_factory=dict)
    values: Mapping[Path, object] = field(default_factory=dict)
    seconds: Mapping[Path, float] = field(default_factory=dict)
    output: Mapping[Path, str] = field(default_factory=dict)
    changed: tuple[Path, ...] = ()
    removed: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


@final
class Binder:
    """Binds skills in one namespace.

    Args:
        user_ns: ``shell.user_ns``.
        hidden: ``shell.user_ns_hidden``: what ``%who`` does not show.
    """

    def __init__(
        self,
        user_ns: MutableMapping[str, object],
        *,
        hidden: MutableMapping[str, object],
    ) -> None:
        self.finder = SkillFinder.acquire(self)
        self.skills = Skills()

    def bind(
        self,
        skills: Sequence[Skill],
        *,
        problems: Mapping[Path, Problem] | None = None,
        refused: Mapping[str, Refusal] | None = None,
        modules: Mapping[str, Path] | None = None,
        values: Mapping[str, object] | None = None,
        ignored: Sequence[Path] = (),
        reload: bool = False,
    ) -> Bindings:
        """Make the namespace agree with a selection; repeatable.

        Args:
            skills: The winners, in order; markdown ones are left to ``values``.
            problems: By identity: skills that must not be imported, and why.
            refused: Import names recorded elsewhere that must not be imported.
            modules: Ordinary top-level names served too: ``{"rlm": src}``.
            values: What else ``skills[...]`` answers for, keys as asked for:
                markdown skills by name, ``edit@builtin`` for shadowed ones. A
                callable without arguments wrapped in ``Lazy`` is called when asked.
            ignored: Directories that are not the kernel's own (the overlay's
                site-packages): what is found there does not make a name private.
            reload: Execute again what changed on disk, try failed imports again.
        """
        raise NotImplementedError

    def load_private(self, skill: Skill, *, key: str) -> object:
        """Import a skill that is not a winner, under a private name."""
        raise NotImplementedError

    def unbind(self) -> None:
        """Restore the namespace, ``sys.meta_path``, ``sys.modules`` and classes."""
        raise NotImplementedError
