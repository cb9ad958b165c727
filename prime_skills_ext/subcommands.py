"""The subcommands: one entry of the table and one function for each.

Functions take the manager and the parsed words and return one plain value. They
print nothing and know nothing of the door they were called through.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prime_skills_ext import (
    demo,
    kernelspec,
    login,
    options,
    switching,
    timeline,
    trusting,
)
from prime_skills_ext.catalog.looking import absolute, expanded
from prime_skills_ext.catalog.settings import Scope
from prime_skills_ext.errors import SettingsError
from prime_skills_ext.grammar import Arguments, Command, flag
from prime_skills_ext.kernel.reload_report import ReloadReport
from prime_skills_ext.later import later
from prime_skills_ext.manager import SkillManager
from prime_skills_ext.views.asking import ask_secret
from prime_skills_ext.views.report import Message

if TYPE_CHECKING:
    from prime_skills_ext import check, doctor, environments, stats
else:
    # who asks for one of them does not wait for the others, nor who asks for the table
    check = later("prime_skills_ext.check")
    doctor = later("prime_skills_ext.doctor")
    environments = later("prime_skills_ext.environments")
    stats = later("prime_skills_ext.stats")

__all__ = ["COMMANDS"]


def _list(manager: SkillManager, arguments: Arguments) -> object:
    catalogue = manager.catalogue
    if arguments.all:
        return catalogue
    shown = tuple(item for item in catalogue.skills if item.state != "shadowed")
    return dataclasses.replace(catalogue, skills=shown)


def _show(manager: SkillManager, arguments: Arguments) -> object:
    return manager.details(arguments.NAME)


def _use(manager: SkillManager, arguments: Arguments) -> object:
    return manager.activate(arguments.NAME, arguments.text)


def _prompt(manager: SkillManager, arguments: Arguments) -> object:
    return manager.prompt(
        budget=arguments.budget, context=arguments.context, caller=arguments.caller
    )


def _budget(manager: SkillManager, arguments: Arguments) -> object:
    return manager.budget(
        budget=arguments.budget, context=arguments.context, caller=arguments.caller
    )


def _stats(manager: SkillManager, arguments: Arguments) -> object:
    return stats.clear(manager) if arguments.clear else stats.tell(manager)


def _add(manager: SkillManager, arguments: Arguments) -> object:
    return manager.add(Path(arguments.PATH))


def _prepare(manager: SkillManager, arguments: Arguments) -> object:
    path = expanded(arguments.PATH)
    found = manager.add(path)
    if isinstance(found, ReloadReport) and found.failed:
        return found
    place = absolute(path)
    return Message(
        text=f"{found if isinstance(found, ReloadReport) else found.text}\n"
        f"What it needs is installed. In a kernel type `%skill add {place}`; "
        f"for every kernel set PRIME_SKILLS_PATH={place}",
    )


def _forget(manager: SkillManager, arguments: Arguments) -> object:
    return manager.forget(Path(arguments.PATH))


def _trust(manager: SkillManager, arguments: Arguments) -> object:
    folder = _folder(arguments)
    return trusting.trust(manager, folder, pin=arguments.pin, owner=arguments.owner)


def _untrust(manager: SkillManager, arguments: Arguments) -> object:
    return trusting.untrust(manager, _folder(arguments))


def _folder(arguments: Arguments) -> Path | None:
    return None if arguments.PATH is None else Path(arguments.PATH)


def _enable(manager: SkillManager, arguments: Arguments) -> object:
    return switching.enable(manager, arguments.NAME, scope=_scope(arguments))


def _disable(manager: SkillManager, arguments: Arguments) -> object:
    return switching.disable(manager, arguments.NAME, scope=_scope(arguments))


def _scope(arguments: Arguments) -> Scope:
    if arguments.user and arguments.project:
        raise SettingsError(
            "--user and --project exclude each other", fix="give one of the two"
        )
    return "project" if arguments.project else "user"


def _login(manager: SkillManager, arguments: Arguments) -> object:
    return login.login(manager, arguments.PROVIDER, ask=ask_secret)


def _logout(manager: SkillManager, arguments: Arguments) -> object:
    return login.logout(manager, arguments.PROVIDER)


def _doctor(manager: SkillManager, arguments: Arguments) -> object:
    return doctor.examine(manager, everything=arguments.all)


def _timeline(manager: SkillManager, _arguments: Arguments) -> object:
    return timeline.tell(manager)


def _log(manager: SkillManager, arguments: Arguments) -> object:
    return doctor.tell_log(manager, arguments.NAME)


def _check(manager: SkillManager, arguments: Arguments) -> object:
    return check.examine(
        manager, arguments.TARGET, fix=arguments.fix, write=arguments.write
    )


def _sync(manager: SkillManager, arguments: Arguments) -> object:
    return manager.sync(retry=arguments.retry)


def _env(manager: SkillManager, arguments: Arguments) -> object:
    return environments.answer(
        manager,
        arguments.ACTION or "list",
        python=arguments.python,
        everything=arguments.all,
        dry_run=arguments.dry_run,
    )


def _demo(_manager: SkillManager, arguments: Arguments) -> object:
    notebook = Path(arguments.notebook) if arguments.notebook else demo.find_notebook()
    return demo.run(absolute(notebook), output=absolute(arguments.output))


def _kernelspec(_manager: SkillManager, arguments: Arguments) -> object:
    place: dict[str, Any] = {
        "user": arguments.user,
        "sys_prefix": arguments.sys_prefix,
        "prefix": Path(arguments.prefix) if arguments.prefix else None,
    }
    if arguments.ACTION == "remove":
        return Message(text=f"removed {kernelspec.remove(**place)}")
    told: list[str] = []
    folder = kernelspec.install(**place, warn=told.append)
    for reason in told:
        # it works, with what is in this Python; the next start tries again
        what, _, fix = reason.partition("\nFix: ")
        return Message(
            text=f"installed {folder}, but it starts in this Python: {what}",
            fix=fix or None,
        )
    return Message(
        text=f"installed {folder}",
        fix=f"choose the kernel {kernelspec.DISPLAY_NAME!r} in Jupyter",
    )


COMMANDS = (
    Command(
        name="list",
        help="the skills, their state, and how to fix what is not ready",
        run=_list,
        options=(("--all", {"action": "store_true", "help": "shadowed skills too"}),),
    ),
    Command(
        name="show",
        help="one skill: card, instructions, signature",
        run=_show,
        takes="skill",
    ),
    Command(
        name="use",
        help="a skill's instructions, ready for a model, with what you say about them",
        run=_use,
        takes="skill",
        has_text=True,
        details=options.USE_HELP,
    ),
    Command(
        name="prompt",
        help="what a model is told of the skills",
        run=_prompt,
        options=options.LISTING,
    ),
    Command(
        name="budget",
        help="how much of that budget each skill takes, what is cut, and why",
        run=_budget,
        options=options.LISTING,
    ),
    Command(
        name="stats",
        help="how often each skill was used, counted on this machine",
        run=_stats,
        options=options.STATS,
    ),
    Command(
        name="add",
        help="use the skills of a folder, until this kernel ends",
        run=_add,
        takes="path",
        doors=("%skill",),
        for_people=True,
    ),
    Command(
        name="add",
        help="install what the skills of a folder need, for kernels that use it",
        run=_prepare,
        takes="path",
        doors=("prime-skills",),
        for_people=True,
    ),
    Command(
        name="forget",
        help="undo add",
        run=_forget,
        takes="path",
        doors=("%skill",),
        elsewhere="take the path out of PRIME_SKILLS_PATH, if it is there",
        for_people=True,
    ),
    Command(
        name="trust",
        help="let this project's skills be installed and imported",
        run=_trust,
        takes="folder",
        options=options.TRUST,
        for_people=True,
    ),
    Command(
        name="untrust",
        help="take trust back",
        run=_untrust,
        takes="folder",
        for_people=True,
    ),
    Command(
        name="enable",
        help="undo disable",
        run=_enable,
        takes="skill",
        options=options.SCOPES,
        for_people=True,
    ),
    Command(
        name="disable",
        help="switch a skill off in the settings",
        run=_disable,
        takes="skill",
        options=options.SCOPES,
        for_people=True,
    ),
    Command(
        name="login",
        help="ask for a provider's key and keep it",
        run=_login,
        takes="provider",
        for_people=True,
    ),
    Command(
        name="logout",
        help="remove a provider's key",
        run=_logout,
        takes="provider",
        for_people=True,
    ),
    Command(
        name="doctor",
        help="what is wrong, where, and the command that fixes it",
        run=_doctor,
        options=(("--all", flag("every warning, however many of one kind")),),
    ),
    Command(
        name="timeline",
        help="where load time went: discover, select, install, import, bind",
        run=_timeline,
    ),
    Command(
        name="log",
        help="everything uv said about a skill that failed to install",
        run=_log,
        takes="skill",
    ),
    Command(
        name="check",
        help="judge skills as strictly as the standard: a NAME, a PATH, or all yours",
        run=_check,
        takes="target",
        options=(
            ("--fix", flag("show what can be corrected for certain, as a diff")),
            ("--write", flag("with --fix: correct it")),
        ),
    ),
    Command(
        name="sync",
        help="make the environment and install what is missing",
        run=_sync,
        options=(("--retry", flag("try again what failed before")),),
        doors=("prime-skills",),
        elsewhere="%reload_skills",
    ),
    Command(
        name="env",
        help="the environments that hold what skills need",
        run=_env,
        takes="env",
        options=options.ENV,
        details=options.ENV_HELP,
    ),
    Command(
        name="demo",
        help="run the quickstart in a real kernel, cell by cell",
        run=_demo,
        options=options.DEMO,
        doors=("prime-skills",),
        elsewhere="run `prime-skills demo` in a terminal",
    ),
    Command(
        name="kernelspec",
        help="the kernel Prime Skills, for Jupyter",
        run=_kernelspec,
        takes="action",
        options=options.PLACES,
        doors=("prime-skills",),
        elsewhere="run `prime-skills kernelspec install` in a terminal",
    ),
)
