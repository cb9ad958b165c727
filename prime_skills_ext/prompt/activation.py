"""Handing a model one skill: its instructions, read now, filled in and wrapped.

Decides who may have them. What an inline command says is ``inline_shell``'s business,
how the text is filled in ``substitution``'s; a fork goes through what is given here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal, final

from prime_skills_ext.catalog.body import read_body
from prime_skills_ext.catalog.origin import may_run_commands
from prime_skills_ext.catalog.status import SkillStatus, State
from prime_skills_ext.errors import (
    HostError,
    SkillPermissionError,
    SkillUnavailableError,
)
from prime_skills_ext.prompt import assets
from prime_skills_ext.prompt.arguments import Values, split
from prime_skills_ext.prompt.block import Block, one_line, render
from prime_skills_ext.prompt.inline_shell import NOT_ALLOWED, SWITCHED_OFF, Shell, run
from prime_skills_ext.prompt.shell_script import prepare
from prime_skills_ext.prompt.substitution import substitute
from prime_skills_ext.skill.model import Caller

__all__ = ["Activation", "Fork", "ShellPolicy", "activate", "permit"]

ShellPolicy = Literal["run", "notice"]

_ORIGIN: Final = "Relative paths in these instructions start from "

#: States in which instructions are worth reading. Of two skills with one name each is
#: reached as ``name@source``, and a person may read what nobody trusts yet.
_USABLE: Final[frozenset[State]] = frozenset(
    {"ready", "instructions", "stale", "name-taken", "shadowed", "untrusted"}
)


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Activation:
    """A skill's instructions, ready for a model.

    Attributes:
        name: The skill's name.
        source: Label of the source that it was found in.
        location: Its file.
        directory: What relative paths in its instructions start from.
        body: The instructions, filled in.
        arguments: What was given with it, as written.
        message: The arguments, where the body does not use them all; ``None`` when
            it does, or there are none.
        context: ``"fork"`` when an isolated sub-agent is to follow them.
        result: What the sub-agent answered; ``None`` inline.
        allowed_tools: Tools that the skill pre-approves, for the host.
        disallowed_tools: Tools that it asks the host to withhold.
        model: For the host.
        effort: For the host.
        agent: For the host.
        background: For the host.
    """

    name: str
    source: str
    location: Path
    directory: Path
    body: str
    arguments: str = ""
    message: str | None = None
    context: Literal["inline", "fork"] = "inline"
    result: str | None = None
    allowed_tools: tuple[str, ...] = ()
    disallowed_tools: tuple[str, ...] = ()
    model: str | None = None
    effort: str | None = None
    agent: str | None = None
    background: bool | None = None

    @property
    def text(self) -> str:
        """What a model reads: the block, and after it what the user says."""
        where = one_line(str(self.directory))
        return render(
            Block(
                name=self.name,
                location=str(self.location),
                content=f"{_ORIGIN}{where}\n\n{self.body}",
                user_message=self.message,
            )
        )

    def __str__(self) -> str:
        """What the cell gives: the sub-agent's answer, or the text."""
        return self.text if self.result is None else self.result


#: Hands an activation to a sub-agent and returns its answer.
Fork = Callable[[Activation], str]


def activate(
    status: SkillStatus,
    *,
    arguments: str = "",
    project: Path,
    session: str,
    environ: Mapping[str, str],
    shell_policy: ShellPolicy = "run",
    shell_timeout_s: float = 120.0,
    caller: Caller = "user",
    fork: Fork | None = None,
) -> Activation:
    """Read a skill's instructions and make them ready for a model.

    Blocks while inline commands run and while a sub-agent works: call it where no
    loop waits.

    Args:
        status: The skill and how it stands.
        arguments: What is given with it, as written.
        project: The project's root: where inline commands run.
        session: The session's id.
        environ: What inline commands get as their environment.
        shell_policy: ``"notice"`` puts a notice in the place of each inline command.
        shell_timeout_s: Longest that one inline command may take, in seconds.
        caller: Who asks.
        fork: Hands the activation of a ``context: fork`` skill to a sub-agent and
            returns its answer; ``None`` when there is no host.

    Raises:
        SkillPermissionError: It is not meant for this caller.
        SkillUnavailableError: It does not work here.
        ProcessError: An inline command failed or took too long.
        HostError: It needs a host, and there is none or it refused.
        PrimeSkillsError: Its file cannot be read.
    """
    skill = status.skill
    permit(status, caller=caller)
    if skill.context == "inline":
        fork = None
    elif fork is None:
        raise HostError(
            f"the skill {skill.name} is for a sub-agent (context: fork), and no agent "
            "host is connected to this kernel",
            fix="use it in a kernel that an agent host has started, or remove "
            "`context: fork` from its SKILL.md",
            path=skill.path,
        )
    given = split(arguments, names=skill.arguments)
    directory = _directory(status)
    values = Values.of(
        given, directory=str(directory), project=str(project), session=session
    )
    shell = Shell(
        skill=skill.name,
        kind=skill.shell,
        directory=project,
        environ=environ,
        timeout_s=shell_timeout_s,
    )
    notice = None if may_run_commands(status) else NOT_ALLOWED
    if notice is None and shell_policy == "notice":
        notice = SWITCHED_OFF
    body, seen = _fill(read_body(skill), values=values, shell=shell, notice=notice)
    words = set(range(len(given.words)))
    activation = Activation(
        name=skill.name,
        source=status.source.label,
        location=skill.path,
        directory=directory,
        body=body.strip(),
        arguments=arguments,
        message=None if words <= seen else arguments.strip() or None,
        context=skill.context,
        allowed_tools=skill.allowed_tools,
        disallowed_tools=skill.disallowed_tools,
        model=skill.model,
        effort=skill.effort,
        agent=skill.agent,
        background=skill.background,
    )
    return activation if fork is None else replace(activation, result=fork(activation))


def permit(status: SkillStatus, *, caller: Caller) -> None:
    """Refuse whoever may not use a skill, and what does not work.

    Args:
        status: The skill and how it stands.
        caller: Who asks.

    Raises:
        SkillPermissionError: It is not meant for this caller.
        SkillUnavailableError: It does not work here.
    """
    skill = status.skill
    if caller == "model" and skill.disable_model_invocation:
        raise SkillPermissionError(
            f"the skill {skill.name} is for people alone "
            "(disable-model-invocation: true)",
            fix=f"ask the user to run `%skill use {skill.name}` in a cell of their own",
            path=skill.path,
        )
    if caller == "user" and not skill.user_invocable:
        raise SkillPermissionError(
            f"the skill {skill.name} is for models alone (user-invocable: false)",
            fix="leave it to the model, or remove `user-invocable` from its SKILL.md",
            path=skill.path,
        )
    is_untrusted = status.state == "untrusted" or not status.is_trusted
    if caller == "model" and is_untrusted:
        raise SkillPermissionError(
            f"the skill {skill.name} is not trusted",
            fix="ask the user to look at it, and to run `%skill trust` if it is good",
            path=skill.path,
        )
    if status.state not in _USABLE:
        raise SkillUnavailableError(
            f"the skill {skill.name} cannot be used: {status.reason or status.state}",
            fix=status.fix or f"%skill show {skill.name} says more",
            path=skill.path,
        )


def _directory(status: SkillStatus) -> Path:
    """Return what relative paths start from."""
    directory = status.skill.directory
    if status.source.kind == "builtin" and assets.has_assets(directory):
        return assets.extract(directory)
    return directory


def _fill(
    body: str, *, values: Values, shell: Shell, notice: str | None
) -> tuple[str, frozenset[int]]:
    """Return the finished instructions, and which words a model can see in them."""
    filled = substitute(body, values=values)
    used = filled.used
    texts: list[str] = []
    for part in filled.parts:
        if isinstance(part, str):
            texts.append(part)
        elif notice is not None:
            texts.append(notice)
        else:
            script = prepare(part.script, values=values, shell=shell.kind)
            used |= script.used
            texts.append(run(script, written=part.script, shell=shell))
    return "".join(texts), used
