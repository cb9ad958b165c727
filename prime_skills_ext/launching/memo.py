"""What a launch decided, kept for as long as nothing that it went by has changed.

One private JSON file per question: the same command in the same folder, of the same
interpreter. It holds the answer and the stamps of every file, folder and variable that
the plan looked at. A warm launcher reads it, looks at the stamps and becomes the
kernel; so this module imports nothing heavy. Whatever is wrong with a file, there is
no memo and the launcher plans. It may be deleted at any time.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import zlib
from collections.abc import Collection, Mapping, Sequence

from prime_skills_ext.catalog.agent_directory import find_agent_directory, find_home

# see the package's own: this module is a warm launcher's whole work
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

__all__ = [
    "MAX_KEPT",
    "MAX_STAMPS",
    "Decision",
    "Stamps",
    "forget_oldest",
    "recall",
    "remember",
    "stamp",
]

#: Which kernel to become: its interpreter, and what its environment variables say
#: about that besides the others.
Decision = tuple[str, Mapping[str, str]]

#: What a path looked like: times, size and number of the file; ``None`` where nothing
#: was, empty where it only matters that something is.
Stamp = list[int] | None
Stamps = Mapping[str, Stamp]

#: How many questions are remembered, and of how many paths each.
MAX_KEPT: Final = 50
MAX_STAMPS: Final = 10_000

_FOLDER: Final = "launches"
_SCHEMA: Final = 1
_MAX_BYTES: Final = 1 << 22
_PACKAGE: Final = os.path.dirname(os.path.dirname(__file__))


def recall(arguments: Sequence[str], *, environ: Mapping[str, str]) -> Decision | None:
    """Return what was decided, ``None`` if a plan is needed.

    Args:
        arguments: What ipykernel gets.
        environ: The environment variables of the kernel.
    """
    try:
        question = _question(arguments)
        for folder in _folders(environ):
            found = _answer(os.path.join(folder, _name(question)), question, environ)
            if found is not None:
                return found
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        # a doubt is as good as no memo
        pass
    return None


def remember(
    arguments: Sequence[str],
    decision: Decision,
    *,
    environ: Mapping[str, str],
    names: Collection[str],
    stamps: Stamps,
) -> None:
    """Keep a decision; a disk that refuses is no misfortune.

    Args:
        arguments: As for ``recall``.
        decision: What was decided.
        environ: As for ``recall``.
        names: The variables that the plan asked for.
        stamps: What each path that the plan looked at was like.
    """
    if len(stamps) > MAX_STAMPS:
        return
    try:
        question = _question(arguments)
        names = sorted(names)
        content = {
            "schema": _SCHEMA,
            "question": question,
            "names": names,
            "environ": _digest([environ.get(name) for name in names]),
            "decision": decision,
            "stamps": stamps,
        }
        text = json.dumps(content, separators=(",", ":")) + "\n"
    except (OSError, ValueError):
        return
    for folder in _folders(environ):
        try:
            _write(folder, _name(question), text=text)
        except OSError:
            continue
        return


def _write(folder: str, name: str, *, text: str) -> None:
    # what only a plan needs
    import contextlib  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415

    from prime_skills_ext.writing import replace_text  # noqa: PLC0415

    os.makedirs(folder, mode=0o700, exist_ok=True)
    replace_text(Path(folder, name), text=text, mode=0o600)
    with contextlib.suppress(OSError):  # another start may be doing the same
        forget_oldest(folder)


def forget_oldest(folder: str) -> None:
    """Keep only the youngest memos of a folder."""
    with os.scandir(folder) as entries:
        files = [entry for entry in entries if entry.name.endswith(".json")]
    files.sort(key=lambda entry: entry.stat().st_mtime_ns, reverse=True)
    for entry in files[MAX_KEPT:]:
        os.remove(entry.path)


def stamp(path: str) -> Stamp:
    """Return what must be the same for a path to be the same, links followed."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    # of a file that uv shares, it tells when another environment was made
    is_shared = found.st_nlink > 1 and not stat.S_ISDIR(found.st_mode)
    changed = 0 if is_shared else found.st_ctime_ns
    return [found.st_mtime_ns, changed, found.st_size, found.st_ino]


def _answer(
    path: str, question: Sequence[str], environ: Mapping[str, str]
) -> Decision | None:
    content = _read(path)
    if content is None or content["schema"] != _SCHEMA:
        return None
    if content["question"] != question:
        return None
    asked = [environ.get(name) for name in content["names"]]
    if content["environ"] != _digest(asked):
        return None
    for place, kept in content["stamps"].items():
        found = stamp(place)
        # an empty one only says that something is there
        if found != kept and (found is None or kept != []):
            return None
    python, variables = content["decision"]
    if not os.access(python, os.X_OK):
        return None
    return python, {str(key): str(it) for key, it in variables.items()}


def _read(path: str) -> Any:
    """Return what a file says that nobody else can have written."""
    try:
        with open(path, "rb", opener=_open) as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode) or not _is_private(found):
                return None
            data = file.read(_MAX_BYTES + 1)
    except OSError:
        return None
    return json.loads(data) if len(data) <= _MAX_BYTES else None


def _open(path: str, flags: int) -> int:
    # opening a FIFO of that name must not wait for a writer
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _is_private(found: os.stat_result) -> bool:
    if os.name == "nt":
        return True
    others = stat.S_IWGRP | stat.S_IWOTH
    return found.st_uid == os.geteuid() and not found.st_mode & others


def _question(arguments: Sequence[str]) -> list[str]:
    """Return what distinguishes one launch from another, apart from variables.

    Raises:
        OSError: The working directory was deleted.
    """
    return [
        os.getcwd(),
        sys.executable,
        sys.prefix,
        sys.version,
        _PACKAGE,
        *_lasting(arguments),
    ]


def _lasting(arguments: Sequence[str]) -> list[str]:
    """Return the arguments without the connection file, which is new each time."""
    words = list(arguments)
    if "-f" in words:
        place = words.index("-f")
        del words[place : place + 2]
    return [word for word in words if not word.startswith(("-f=", "--f="))]


def _folders(environ: Mapping[str, str]) -> Sequence[str]:
    """Return where memos lie: as environments do, and where that is read-only."""
    home = find_home(environ)
    shared = environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
    agent = find_agent_directory(environ, home=home)
    return [
        os.path.join(place, "prime-skills", _FOLDER)
        for place in (agent, os.path.join(shared, "prime", "agent"))
    ]


def _name(question: Sequence[str]) -> str:
    # two questions of one name take turns: the question stands in the file as well
    return f"{_digest(question):08x}.json"


def _digest(values: object) -> int:
    # short, because among the variables are keys, of which no file of ours tells
    return zlib.crc32(json.dumps(values).encode())
