"""The subcommand ``env``: what environments there are, where, and keeping them tidy.

It asks the manager's snapshot which environment is used here; the work is done below.
"""

from __future__ import annotations

from typing import Literal

from prime_skills_ext.environment.bases import places
from prime_skills_ext.environment.inventory import (
    EnvironmentPath,
    Inventory,
    Pruned,
    Rebuilt,
)
from prime_skills_ext.environment.rebuilding import rebuild
from prime_skills_ext.environment.stocktaking import prune_all, take_stock
from prime_skills_ext.errors import InstallError, SettingsError
from prime_skills_ext.manager import SkillManager

__all__ = ["Action", "answer"]

Action = Literal["list", "path", "prune", "rebuild"]


def answer(
    manager: SkillManager,
    action: Action,
    *,
    python: bool = False,
    everything: bool = False,
    dry_run: bool = False,
) -> Inventory | EnvironmentPath | Pruned | Rebuilt:
    """Do what was asked for.

    Args:
        manager: Whose environment is meant.
        action: What to do.
        python: With ``path``: the interpreter instead of the directory.
        everything: With ``prune``: also what is kept for a while.
        dry_run: With ``prune``: only say what would go.

    Raises:
        SettingsError: An option does not belong to ``action``.
        PrimeSkillsError: It could not be done; what was there is still there.
    """
    for option, is_given, owner in (
        ("--python", python, "path"),
        ("--all", everything, "prune"),
        ("--dry-run", dry_run, "prune"),
    ):
        if is_given and action != owner:
            raise SettingsError(
                f"env {action} takes no {option}", fix=f"%skill env {owner} {option}"
            )
    if action == "path":
        return _path(manager, python=python)
    if action == "rebuild":
        return _rebuild(manager)
    here = manager.snapshot.environment
    everywhere = places(manager.places.agent_directory, environ=manager.environ)
    if action == "prune":
        return prune_all(
            everywhere,
            here=here,
            everything=everything,
            dry_run=dry_run,
            progress=manager.progress.tell,
        )
    return take_stock(everywhere, here=here)


def _path(manager: SkillManager, *, python: bool) -> EnvironmentPath:
    environment = manager.snapshot.environment
    if environment.mode == "custom" and environment.kernel_prefix is not None:
        path = environment.interpreter if python else environment.kernel_prefix
        return EnvironmentPath(path=path)
    generation = manager.snapshot.installed.generation
    if generation is None:
        raise InstallError(
            f"there is no environment here yet; it would be in {environment.root}",
            fix="%reload_skills makes it as soon as a skill needs it",
            path=environment.root,
        )
    return EnvironmentPath(path=generation.python if python else generation.directory)


def _rebuild(manager: SkillManager) -> Rebuilt:
    snapshot = manager.snapshot
    with manager.progress.work():
        return rebuild(
            snapshot.wanted,
            environment=snapshot.environment,
            environ=manager.environ,
            progress=manager.progress.tell,
            unavailable=snapshot.unavailable,
        )
