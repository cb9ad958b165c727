"""What the subcommands take: their options, and what else their help says.

Data for the table in ``commands``; nothing is done here.
"""

from __future__ import annotations

from typing import Final

from prime_skills_ext.grammar import Option, flag

__all__ = [
    "DEMO",
    "ENV",
    "ENV_HELP",
    "LISTING",
    "PLACES",
    "RELOAD",
    "SCOPES",
    "STATS",
    "TRUST",
    "USE_HELP",
]

RELOAD: Final[tuple[Option, ...]] = (
    ("--retry", flag("try again what failed to install before")),
    ("--now", flag("do not wait for calls in threads")),
    ("--json", flag("plain data")),
)
SCOPES: Final[tuple[Option, ...]] = (
    ("--user", flag("in your settings, for every project (the default)")),
    ("--project", flag("in the project's settings, for everybody who works there")),
)
PLACES: Final[tuple[Option, ...]] = (
    ("--user", flag("for you, in any Jupyter (the default)")),
    ("--sys-prefix", flag("in this Python's environment")),
    ("--prefix", {"metavar": "PATH", "help": "below PATH/share/jupyter/kernels"}),
)

ENV_HELP: Final = """\
actions:
  list      every environment of ours: for whom, generations, size, health (default)
  path      where the environment used here is, and nothing else, for scripts
  prune     remove what nobody uses: superseded generations, leftovers, wheels, and
            environments whose Python, kernels or project are gone
  rebuild   build the environment used here anew and switch to it when it is well;
            kernels that run keep theirs until they restart"""

DEMO: Final[tuple[Option, ...]] = (
    ("--notebook", {"metavar": "PATH", "help": "another notebook"}),
    (
        "--output",
        {
            "metavar": "FOLDER",
            "default": "demo-output",
            "help": "where the executed copy goes (default: demo-output)",
        },
    ),
)

TRUST: Final[tuple[Option, ...]] = (
    ("--pin", flag("ask again when any file of theirs changes")),
    (
        "--owner",
        {
            "metavar": "USER",
            "help": "say whose folder it is, where it is not yours",
        },
    ),
)

ENV: Final[tuple[Option, ...]] = (
    ("--python", flag("with path: the interpreter, not the directory")),
    ("--dry-run", flag("with prune: only say what would go")),
    ("--all", flag("with prune: also what is kept for a while")),
)

LISTING: Final[tuple[Option, ...]] = (
    (
        "--budget",
        {"metavar": "N", "type": int, "help": "characters instead of the set budget"},
    ),
    (
        "--context",
        {"metavar": "TOKENS", "type": int, "help": "size of the context window"},
    ),
    (
        "--caller",
        {
            "choices": ("model", "user"),
            "default": "model",
            "help": "what a model may call (default), or what a person may use",
        },
    ),
)

STATS: Final[tuple[Option, ...]] = (("--clear", flag("forget every number")),)

USE_HELP: Final = """\
Everything behind NAME belongs to the skill as it is typed: quotation marks, braces,
dollar signs and options too, so --json and --help stand before NAME. In a notebook
`%%skill use NAME` takes the whole cell, and so does a cell that begins with
/skill:NAME. A line that ends in a question mark is IPython's help and never gets
here: those two forms take it."""
