"""What a launch decided, kept for as long as nothing that it went by has changed.

One private JSON file per question: the same command in the same folder, of the same
interpreter. It holds the answer and the stamps of every file, folder and variable that
the plan looked at. A warm launcher reads it, looks at the stamps and becomes the
kernel; so this module imports nothing heavy. Whatever is wrong with a file, there is
no memo and the launcher plans. It may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, final

from prime_skills_ext.catalog.agent_directory import find_agent_directory, find_home

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
_PACKAGE: Final = str(Path(__file__).parent.parent)


@final
class Decision(NamedTuple):
    """Which kernel to become.

    Attributes:
        python: Its interpreter.
        variables: What its environment variables say about that, besides the others.
    """

    python: str
    variables: Mapping[str, str]


def recall(arguments: Sequence[str], *, environ: Mapping[str, str]) -> Decision | None:
    """Return what was decided, ``None`` if a plan is needed.

    Args:
        arguments: What ipykernel gets.
        environ: The environment variables of the kernel.
    """
    try:
        question = _question(arguments)
        for folder in _folders(environ):
            found = _answer(folder / _name(question), question, environ=environ)
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
    # what only a plan needs
    from prime_skills_ext.writing import replace_text  # noqa: PLC0415

    try:
        question = _question(arguments)
        names = sorted(names)
        content = {
            "schema": _SCHEMA,
            "question": question,
            "names": names,
            "environ": _digest([environ.get(name) for name in names]),
            "python": decision.python,
            "variables": dict(decision.variables),
            "stamps": stamps,
        }
        text = json.dumps(content, separators=(",", ":")) + "\n"
    except (OSError, ValueError):
        return
    for folder in _folders(environ):
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace_text(folder / _name(question), text=text, mode=0o600)
            forget_oldest(folder)
        except OSError:
            continue
        return


def forget_oldest(folder: Path) -> None:
    """Keep only the youngest memos of a folder."""
    files = sorted(folder.glob("*.json"), key=_changed, reverse=True)
    for path in files[MAX_KEPT:]:
        path.unlink(missing_ok=True)


def stamp(path: str) -> Stamp:
    """Return what must be the same for a path to be the same, links followed."""
    try:
        found = os.stat(path)  # noqa: PTH116 - hundreds of them at each start
    except (OSError, ValueError):
        return None
    return [found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino]


def _answer(
    path: Path, question: Sequence[str], *, environ: Mapping[str, str]
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
    python, variables = content["python"], content["variables"]
    if not os.access(python, os.X_OK):
        return None
    return Decision(python, {str(key): str(it) for key, it in variables.items()})


def _read(path: Path) -> Any:
    """Return what a file says that nobody else can have written."""
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode) or not _is_private(found):
                return None
            data = file.read(_MAX_BYTES + 1)
    except OSError:
        return None
    return json.loads(data) if len(data) <= _MAX_BYTES else None


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
        os.getcwd(),  # noqa: PTH109 - text
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


def _folders(environ: Mapping[str, str]) -> tuple[Path, Path]:
    """Return where memos lie: as environments do, and where that is read-only."""
    home = find_home(environ)
    shared = environ.get("XDG_DATA_HOME") or f"{home}/.local/share"
    places = find_agent_directory(environ, home=home), Path(shared, "prime", "agent")
    first, second = (place / "prime-skills" / _FOLDER for place in places)
    return first, second


def _name(question: Sequence[str]) -> str:
    return f"{_digest(question)[:24]}.json"


def _digest(values: object) -> str:
    # a digest: among the variables are keys, which no file of ours repeats
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
