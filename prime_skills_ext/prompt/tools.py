"""Which of a model's tools let it use a skill. Data, and how names are compared."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

__all__ = ["CODE_TOOLS", "FILE_TOOLS", "SHELL_TOOLS", "can_use_skills", "tool_of"]

#: Names are compared without case, without what is no letter or digit, and without
#: what stands before the last double underscore, dot, colon or slash: `ReadFile`,
#: `read_file` and `mcp__files__read-file` are one.
CODE_TOOLS: Final = (
    *("ipython", "python", "jupyter", "notebook", "code", "codeinterpreter"),
    *("codeexecution", "executecode", "executepython", "executecell", "runcode"),
    *("runpython", "runcell", "pythonrepl", "repl"),
)
SHELL_TOOLS: Final = (
    *("bash", "shell", "sh", "zsh", "terminal", "exec", "execcommand"),
    *("executecommand", "localshell", "powershell", "runcommand", "runshellcommand"),
    "runterminalcommand",
)
FILE_TOOLS: Final = (
    *("read", "readfile", "readtextfile", "readfiles", "readmanyfiles", "view"),
    *("viewfile", "fileread", "openfile", "cat", "texteditor", "filesystem"),
    *("strreplaceeditor", "strreplacebasededittool"),
)

_PREFIX: Final = re.compile(r".*(?:__|[.:/])")
_SEPARATORS: Final = re.compile(r"[\W_]+")


def can_use_skills(tools: Collection[str] | None) -> bool:
    """Say whether a model with these tools can read a file or run code.

    Args:
        tools: Their names; ``None`` if nobody knows, which counts as yes.
    """
    every = (*CODE_TOOLS, *SHELL_TOOLS, *FILE_TOOLS)
    return tools is None or tool_of(tools, every) is not None


def tool_of(tools: Collection[str], kind: Collection[str]) -> str | None:
    """Return the name of the first tool of a kind, as its host spells it.

    Args:
        tools: Names of tools, in any order.
        kind: Names as in the tables of this module, the best first.
    """
    named = {_plain(tool): tool for tool in sorted(tools, reverse=True)}
    return next((named[name] for name in kind if name in named), None)


def _plain(tool: str) -> str:
    return _SEPARATORS.sub("", _PREFIX.sub("", tool)).casefold()
