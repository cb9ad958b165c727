"""The shell commands of the selected skills, in a directory of their own.

Writes scripts that run the winner's code with a generation's python; starts nothing.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from prime_skills_ext.environment.record import Command
from prime_skills_ext.writing import replace_text

__all__ = ["write_scripts"]

_SAFE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_TARGET = re.compile(
    r"\s*(?P<module>\w+(?:\.\w+)*)\s*:\s*(?P<attribute>\w+(?:\.\w+)*)\s*(?:\[.*\])?\s*"
)

_BODY = """\
import functools
import importlib
import os
import sys

own, others = {own}, {others}
# the directory of this script holds commands, not modules
sys.path[:] = [entry for entry in sys.path if entry != os.path.dirname(__file__)]
sys.path.insert(0, own)
at = next((i for i, entry in enumerate(sys.path) if "-packages" in entry), None)
at = len(sys.path) if at is None else at
sys.path[at:at] = [entry for entry in others if entry not in sys.path]
if {bytecode}:  # what lies beside the code is not what was trusted
    sys.pycache_prefix = {bytecode}
sys.argv[0] = {name}
module = importlib.import_module({module})
sys.exit(functools.reduce(getattr, {attribute}.split("."), module)())
"""


def write_scripts(
    directory: Path,
    *,
    python: Path,
    commands: Iterable[Command],
    sources: Mapping[str, Path],
    bytecode: Path | None = None,
    system: str = os.name,
) -> None:
    """Make ``directory`` hold exactly the scripts of ``commands``.

    What is there already and right is not written again.

    Args:
        directory: Created if missing; whatever else lies in it is removed.
        python: Interpreter that runs the scripts.
        commands: First of a name wins; those whose import name is not in
            ``sources`` are left out, and so is what is no plain file name.
        sources: Import name to ``src`` of the winning skills.
        bytecode: Where Python keeps bytecode instead of beside the code; ``None``
            leaves that to Python.
        system: ``"nt"`` writes for Windows.

    Raises:
        OSError: The directory cannot be written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    wanted: dict[str, str] = {}
    taken: set[str] = set()
    for command in commands:
        body = _body(command, sources=sources, bytecode=bytecode)
        if body is None or command.name.casefold() in taken:
            continue
        taken.add(command.name.casefold())
        wanted.update(_files(command.name, body=body, python=python, system=system))
    for path in directory.iterdir():
        if path.name not in wanted and (path.is_file() or path.is_symlink()):
            path.unlink()
    for name, text in wanted.items():
        _write(directory / name, text=text)


def _body(
    command: Command, *, sources: Mapping[str, Path], bytecode: Path | None
) -> str | None:
    target = _TARGET.fullmatch(command.target)
    own = sources.get(command.import_name)
    if own is None or target is None or not _SAFE_NAME.fullmatch(command.name):
        return None
    others = [str(source) for name, source in sorted(sources.items()) if source != own]
    return _BODY.format(
        own=ascii(str(own)),
        others=ascii(others),
        bytecode=None if bytecode is None else ascii(str(bytecode)),
        # rlm.skill:cli finds the module by the name of the program
        name=ascii(command.name),
        module=ascii(target["module"]),
        attribute=ascii(target["attribute"]),
    )


def _files(name: str, *, body: str, python: Path, system: str) -> dict[str, str]:
    if system == "nt":
        call = f'@"{python}" "%~dp0{name}-script.py" %*\r\n'
        return {f"{name}.cmd": call, f"{name}-script.py": body}
    # shell and Python both read this: no limit on the path, and spaces do no harm
    head = f"#!/bin/sh\n'''exec' {shlex.quote(str(python))} \"$0\" \"$@\"\n' '''\n"
    return {name: head + body}


def _write(path: Path, *, text: str) -> None:
    try:
        same = path.read_bytes() == os.fsencode(text)
    except OSError:
        same = False
    if not same:
        replace_text(path, text=text)
        mode = stat.S_IRWXU | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH
        path.chmod(mode)
