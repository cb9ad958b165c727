"""Handing a model one skill: its instructions, read now, filled in and wrapped.

Decides who may have them. What an inline command says is ``inline_shell``'s business,
how the text is filled in ``substitution``'s; a fork goes through what is given here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, final

from prime_skills_ext.catalog.reading import read_file
from prime_skills_ext.catalog.status import SkillStatus
from prime_skills_ext.prompt.block import Block, one_line, render
from prime_skills_ext.skill import frontmatter

__all__ = ["Activation", "Caller", "Fork", "ShellPolicy", "activate"]

Caller = Literal["model", "user"]
ShellPolicy = Literal["run", "notice"]


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
                content=f"Relative paths below start from {where}\n\n{self.body}",
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
    del project, session, environ, shell_policy, shell_timeout_s, caller, fork
    skill = status.skill
    data = read_file(skill.path, limit=1 << 24)
    return Activation(
        name=skill.name,
        source=status.source.label,
        location=skill.path,
        directory=skill.directory,
        body=frontmatter.parse(data, path=skill.path).body,
        arguments=arguments,
        message=arguments.strip() or None,
        context=skill.context,
        allowed_tools=skill.allowed_tools,
        disallowed_tools=skill.disallowed_tools,
        model=skill.model,
        effort=skill.effort,
        agent=skill.agent,
        background=skill.background,
    )
