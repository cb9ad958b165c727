"""Which skills' shell commands a kernel offers, and what each is told by."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from prime_skills_ext.environment.installation import InstallReport
from prime_skills_ext.environment.scripts import write_scripts
from prime_skills_ext.kernel.bindings import Bindings
from prime_skills_ext.kernel.command_path import CommandPath
from prime_skills_ext.kernel.loading import is_source_only
from prime_skills_ext.skill.model import Diagnostic, Skill
from prime_skills_ext.snapshot import Snapshot

__all__ = ["offer_commands", "offered_commands"]


def offer_commands(
    path: CommandPath,
    skills: Iterable[Skill],
    installed: InstallReport,
    bindings: Bindings,
) -> tuple[Diagnostic, ...]:
    """Put the commands of the skills that work first on ``PATH``.

    Args:
        path: Where they go.
        skills: Who holds each name.
        installed: Which commands there are.
        bindings: Which skills work.
    """
    works = [
        skill.python
        for skill in skills
        if skill.python is not None
        and isinstance(module := bindings.values.get(skill.identity), ModuleType)
        # a private name means that another module answers to its own
        and module.__name__ == skill.import_name
    ]
    offering = {package.import_name for package in works}
    commands = [
        command
        for offered in installed.commands.values()
        for command in offered
        if command.import_name in offering
    ]
    if not commands or installed.generation is None:
        path.close()
        return ()
    try:
        write_scripts(
            path.open(),
            python=installed.generation.python,
            commands=commands,
            sources={item.import_name: item.src for item in works},
            bytecode=installed.generation.directory / "bytecode"
            if any(is_source_only(item.src) for item in works)
            else None,
        )
    except OSError as error:
        # a full disk takes the commands away, not the skills
        return (
            Diagnostic(
                code="commands-missing",
                message=f"the skills' shell commands cannot be written: {error}",
                fix="make room in the temporary directory, then %reload_skills",
            ),
        )
    return ()


def offered_commands(snapshot: Snapshot) -> dict[Path, str]:
    """Return the shell command of each skill that has one, by the skill's identity.

    Of several the one with the skill's import name is told, else the first. Only what
    lies in the directory on ``PATH`` can be typed.
    """
    if snapshot.commands is None:
        return {}
    found: dict[Path, str] = {}
    taken: set[str] = set()
    for identity, commands in snapshot.installed.commands.items():
        # a private name means that another module answers to its own
        module = snapshot.bindings.values.get(identity)
        own = [
            command
            for command in commands
            if isinstance(module, ModuleType)
            and module.__name__ == command.import_name
            and command.name not in taken
            and (snapshot.commands / command.name).is_file()
        ]
        taken.update(command.name for command in own)
        own.sort(key=lambda command: command.name != command.import_name)
        if own:
            found[identity] = own[0].name
    return found
