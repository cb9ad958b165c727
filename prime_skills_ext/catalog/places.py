"""The directories that everything else is found from.

Owns the words of design section 3: agent directory, working directory, project root.
Looks at what lies where, never inside a file.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, final

from prime_skills_ext.catalog.agent_directory import (
    expand_home,
    find_agent_directory,
    find_home,
)
from prime_skills_ext.catalog.looking import absolute, is_there, real_path

__all__ = ["Places", "file_type", "find_places", "path_of"]


@final
class Places(NamedTuple):
    """The directories that everything else is found from.

    Attributes:
        working_directory: The notebook's.
        project_root: See design section 3.
        agent_directory: Where the user's skills, settings and stores live.
        home: The user's home directory, as the user spells it.
        builtin: The skills that ship with this package.
    """

    working_directory: Path
    project_root: Path
    agent_directory: Path
    home: Path
    builtin: Path


def find_places(
    *,
    environ: Mapping[str, str],
    project: str | os.PathLike[str] | None = None,
    home: str | os.PathLike[str] | None = None,
) -> Places:
    """Find the directories that everything else is found from.

    Args:
        environ: The environment variables to go by.
        project: Working directory; ``None`` means that of this process.
        home: Home directory; ``None`` means the environment's.
    """
    home_path = absolute(home or find_home(environ))
    # the way up must be the real one: a link's lexical parents are other folders
    working = Path(real_path(project or _current_directory(environ, home=home_path)))
    return Places(
        working_directory=working,
        project_root=_project_root(working, home=home_path),
        agent_directory=Path(find_agent_directory(environ, home=str(home_path))),
        home=home_path,
        builtin=Path(__file__).parent.parent / "builtin_skills",
    )


def path_of(text: str, *, home: Path, base: Path) -> Path:
    """Return the absolute path that somebody wrote."""
    return absolute(base / expand_home(text, home=str(home)))


def file_type(path: Path) -> int | None:
    """Return what sort of thing lies there; ``None`` if nothing can be seen."""
    try:
        return stat.S_IFMT(path.stat().st_mode)
    except (OSError, ValueError):
        # ValueError: a null character, which no file has in its name
        return None


def _current_directory(environ: Mapping[str, str], *, home: Path) -> str:
    try:
        return str(Path.cwd())
    except OSError:
        # the folder was deleted under us; the shell's note of it still tells the way
        # up, and without one the home directory has no project in it. A note of a
        # folder that is there is somebody else's: the server's that started a kernel
        noted = environ.get("PWD", "")
        is_ours = Path(noted).is_absolute() and not is_there(noted)
        return noted if is_ours else str(home)


def _project_root(working: Path, *, home: Path) -> Path:
    ancestors = (working, *working.parents)
    # the filesystem alone decides: a worktree's .git file ends the search as a
    # directory does, wherever its shared repository lies
    for directory in ancestors:
        if os.path.lexists(directory / ".git"):
            return directory
    real_home = real_path(home)
    for directory in ancestors:
        if (
            file_type(directory / ".prime") == stat.S_IFDIR
            and str(directory) != real_home
        ):
            return directory
    return working
