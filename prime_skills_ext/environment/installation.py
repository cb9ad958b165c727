"""The one entrance: make the environment hold what the selected skills need."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

from prime_skills_ext.environment.record import Command
from prime_skills_ext.environment.venv import Environment, Generation
from prime_skills_ext.skill.model import Diagnostic, Skill

__all__ = ["Failure", "InstallReport", "ensure"]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """Why a skill is not installed.

    Attributes:
        reason: One sentence.
        fix: What to do about it.
        log: Everything that uv said, possibly empty.
    """

    reason: str
    fix: str
    log: str = ""


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class InstallReport:
    """What ``ensure`` found or did. Paths are identities of skills.

    Attributes:
        generation: What to overlay or to run in; ``None`` without one.
        installed: Skills that this call installed anew.
        failed: Skills whose requirements are not met.
        restart: Distributions that this process uses in another version than the
            current generation has.
        commands: Commands that each usable skill offers.
        problem: What is wrong with the environment as a whole, if something is.
        diagnostics: Whatever else somebody should know.
    """

    generation: Generation | None
    installed: tuple[Path, ...] = ()
    failed: Mapping[Path, Failure] = field(default_factory=dict)
    restart: tuple[str, ...] = ()
    commands: Mapping[Path, tuple[Command, ...]] = field(default_factory=dict)
    problem: Failure | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


def ensure(
    skills: Sequence[Skill],
    *,
    environment: Environment,
    environ: Mapping[str, str],
    progress: Callable[[str], None] | None = None,
    retry: bool = False,
    allow_install: bool = True,
    unavailable: Sequence[Skill] = (),
    extra_requirements: Mapping[Path, tuple[str, ...]] | None = None,
) -> InstallReport:
    """Make the environment hold what the Python-backed ones among ``skills`` need."""
    raise NotImplementedError
