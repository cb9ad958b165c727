"""What a user sets: the traits of ``SkillManager``, as ``%config`` shows them.

Data only. What follows from a setting is the manager's.
"""

from __future__ import annotations

from traitlets import Bool, Callable, Enum, Float, Int, List, Unicode
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

    # what a model is told
    listing = Enum(
        ("claude", "claude-1536", "codex", "none"),
        default_value="claude",
        help="""How descriptions give way where the listing is longer than its budget:
        "claude" drops whole ones, the least used first, "claude-1536" lets each be
        longer, "codex" shortens all evenly, "none" has no budget.""",
    ).tag(config=True)
    listing_chars = Int(
        None,
        allow_none=True,
        help="""The budget in characters of names and descriptions; wins over
        listing_share. Default: SLASH_COMMAND_TOOL_CHAR_BUDGET.""",
    ).tag(config=True)
    listing_entry_chars = Int(
        None,
        allow_none=True,
        help="""Longest description of one skill, in characters. Default: 250 with
        "claude", 1536 with "claude-1536", else as long as the budget allows.""",
    ).tag(config=True)
    listing_share = Float(
        None,
        allow_none=True,
        min=0,
        max=1,
        help="""Share of the context window that the budget is. Default: 0.01 with
        "claude", 0.02 with "codex".""",
    ).tag(config=True)
    context_tokens = Int(
        None,
        allow_none=True,
        min=0,
        help="""Size of the model's context window in tokens. Default: unknown, and
        the budget is 8,000 characters.""",
    ).tag(config=True)
    tokenizer = Callable(
        None,
        allow_none=True,
        help="""Function from a text to its number of tokens; the budget is counted in
        tokens with it, where the window is known. Default: estimated.""",
    ).tag(config=True)
    list_restricted = Bool(
        default_value=False,
        help="""Name skills that a model may not call to it, with a mark that says so.
        """,
    ).tag(config=True)
    usage_counts = Bool(
        help="""Count calls and activations by skill, in the agent directory on this
        machine: a listing cuts the least used first. Default: PRIME_SKILLS_USAGE=0
        counts nothing.""",
    ).tag(config=True)

    # using a skill by its instructions
    inline_shell = Enum(
        ("run", "notice"),
        default_value="run",
        help="""Commands in the instructions of your own skills: "run" puts in what
        they print, "notice" a note instead. Those that came with a package or are not
        trusted never run.""",
    ).tag(config=True)
    inline_shell_timeout_s = Float(
        120.0,
        min=0,
        help="""Longest that one such command may take, in seconds.""",
    ).tag(config=True)
    fork_timeout_s = Float(
        None,
        allow_none=True,
        min=0,
        help="""Longest to wait for the answer of a skill with "context: fork", in
        seconds. Default: as long as the host is there.""",
    ).tag(config=True)
