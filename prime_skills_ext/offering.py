"""Which skills' shell commands a kernel offers."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType

from prime_skills_ext.environment.installation import InstallReport
from prime_skills_ext.environment.scripts import write_scripts
from prime_skills_ext.kernel.bindings import Bindings
from prime_skills_ext.kernel.command_path import CommandPath
from prime_skills_ext.kernel.loading import is_source_only
from prime_skills_ext.skill.model import Diagnostic, Skill

__all__ = ["offer_commands"]


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
