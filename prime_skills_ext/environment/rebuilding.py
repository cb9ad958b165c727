"""Build an environment anew on request, while kernels go on using what they have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from prime_skills_ext.environment.choice import in_use_here
from prime_skills_ext.environment.facts import Request, facts
from prime_skills_ext.environment.generations import mend, prepare
from prime_skills_ext.environment.inventory import Rebuilt
from prime_skills_ext.environment.locking import locked
from prime_skills_ext.environment.renewal import rebuild as build_anew
from prime_skills_ext.environment.uv import open_uv
from prime_skills_ext.environment.venv import Environment, current
from prime_skills_ext.errors import InstallError
from prime_skills_ext.progress import Listener
from prime_skills_ext.skill.model import Skill

__all__ = ["rebuild"]


def rebuild(
    skills: Sequence[Skill],
    *,
    environment: Environment,
    environ: Mapping[str, str],
    progress: Listener | None = None,
    unavailable: Sequence[Skill] = (),
) -> Rebuilt:
    """Build a fresh generation beside the current one, verify it, and point to it.

    Args:
        skills: The selected skills, highest precedence first.
        environment: What to rebuild.
        environ: Where uv is looked for and what it sees.
        progress: Told every step.
        unavailable: Skills that exist but are not selected.

    Raises:
        InstallError: It cannot be had, or would lack a skill; nothing changed.
        ProcessError: uv failed; nothing changed.
        UvNotFoundError: There is no uv.
    """
    if environment.mode == "custom":
        raise InstallError(
            "PRIME_AGENT_KERNEL_PYTHON forbids to install: there is no environment "
            "of ours here",
            fix="unset PRIME_AGENT_KERNEL_PYTHON, then restart the kernel",
        )
    request = Request(
        skills=[skill for skill in skills if skill.python is not None],
        environment=environment,
        environ=environ,
        progress=progress,
        unavailable=unavailable,
    )
    uv = open_uv(environ)
    used = in_use_here(environment)
    try:
        prepare(environment)
        with locked(environment.root, progress=progress):
            mend(environment)
            world = facts(environment, current=current(environment))
            result = build_anew(request, world=world, uv=uv)
    except OSError as error:
        raise InstallError(
            f"the environment in {environment.root} cannot be changed: "
            f"{error.strerror or error}",
            fix="make room and make it writable, then %skill env rebuild",
            path=environment.root,
        ) from error
    names = {skill.identity: skill.name for skill in skills}
    return Rebuilt(
        directory=result.generation.directory,
        skills=sum(one.state != "failed" for one in result.record.skills.values()),
        failed=tuple(names[identity] for identity in result.failed),
        fix="restart the kernel: it goes on with the environment it has"
        if used
        else None,
    )
