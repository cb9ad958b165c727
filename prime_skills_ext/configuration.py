"""What a user sets: the traits of ``SkillManager``, as ``%config`` shows them.

Data only. What follows from a setting is the manager's.
"""

from __future__ import annotations

from traitlets import Bool, Enum, Float, List, Unicode
from traitlets.config import Configurable

__all__ = ["Configuration"]


class Configuration(Configurable):
    """The settings of one kernel's skills."""

    skill_paths = List(
        Unicode(),
        help="""Skill folders, or folders of them, that win every name.
        PRIME_SKILLS_PATH adds more.""",
    ).tag(config=True)
    no_skills = Bool(
        default_value=False,
        help="""Only explicit skills count: skill_paths, PRIME_SKILLS_PATH, %skill add.
        """,
    ).tag(config=True)
    project = Unicode(
        None,
        allow_none=True,
        help="""Folder whose project skills count. Default: the working directory,
        as it is at load.""",
    ).tag(config=True)
    precedence = Enum(
        ("project", "personal"),
        default_value="project",
        help="""Who wins a name: "project" skills, or the user's ("personal").""",
    ).tag(config=True)
    trust = Enum(
        (None, "all", "none"),
        default_value=None,
        allow_none=True,
        help="""Overrides what was decided with %skill trust: "all" or "none".
        Default: PRIME_SKILLS_TRUST.""",
    ).tag(config=True)
    imports = Enum(
        ("eager", "lazy"),
        default_value="eager",
        help="""When skills are imported: "eager" at load, or "lazy", each at its
        first use; what is wrong with its code is told then.""",
    ).tag(config=True)
    auto_reload = Bool(
        default_value=False,
        help="""Before each cell, look what changed on disk and take it up, as
        %reload_skills does; says one line when something did.""",
    ).tag(config=True)
    call_timeout_s = Float(
        None,
        allow_none=True,
        min=0,
        help="""Longest that one call of a skill may take, in seconds; then it raises
        TimeoutError. What a skill awaits is cancelled, its thread is left behind; a
        skill that computes on the loop cannot be stopped. Default: no limit.""",
    ).tag(config=True)
    hooks = Bool(
        default_value=True,
        help="""Run the hooks of skills around their calls and activations. Those of
        skills that came from a package, or that nobody trusts, never run.""",
    ).tag(config=True)
    nest_asyncio = Bool(
        help="""Allow asyncio.run inside cells, by patching asyncio for as long as the
        process lives: neither False nor %unload_ext takes it back. Default:
        PRIME_SKILLS_NEST_ASYNCIO=1.""",
    ).tag(config=True)
