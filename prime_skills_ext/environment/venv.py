"""Where an environment is, what a generation looks like, and whether it is well.

Reads the disk and computes paths. Makes nothing, removes nothing, starts nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple, final

from prime_skills_ext.catalog.looking import (
    expanded,
    is_folder,
    is_same,
    is_there,
)
from prime_skills_ext.catalog.reading import read_file
from prime_skills_ext.environment.bases import MARKER, find_base
from prime_skills_ext.skill.model import Diagnostic

__all__ = [
    "CURRENT",
    "RECORD_NAME",
    "Environment",
    "Generation",
    "Mode",
    "current",
    "find_mode",
    "generation_at",
    "home_of",
    "is_healthy",
    "is_pointed",
    "locate",
    "numbered",
    "pointed",
    "version_of",
]

Mode = Literal["overlay", "own", "custom"]

CURRENT = "current"
"""Pointer file of an environment: the number of its current generation."""
RECORD_NAME = ".bootstrap-version"
"""The record, inside a generation."""

_MAX_BYTES = 1 << 16


@final
class Environment(NamedTuple):
    """A series of generations that serve one kernel.

    Attributes:
        root: Directory of the generations.
        mode: How the kernel relates to it.
        interpreter: Python that generations are made with; in custom mode the one
            that is used as it is.
        kernel_prefix: ``sys.prefix`` of the kernel that is overlaid, else ``None``.
        project_root: The project it belongs to, ``None`` for everybody's.
        base: The directory that is asked whether it is ours before we write.
        diagnostics: What was found odd while locating it.
    """

    root: Path
    mode: Mode
    interpreter: Path
    kernel_prefix: Path | None = None
    project_root: Path | None = None
    base: Path | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def facts(self) -> dict[str, str | None]:
        """What the key covers, as the marker file keeps it."""
        return {
            "interpreter": _interpreter_identity(),
            "kernelPrefix": _text(self.kernel_prefix),
            "mode": self.mode,
            "projectRoot": _text(self.project_root),
        }


@final
class Generation(NamedTuple):
    """One virtual environment of a series.

    Attributes:
        directory: Its root; the record lies in it.
        python: Its interpreter.
        site_packages: Where distributions are installed.
        scripts: Where their commands are.
    """

    directory: Path
    python: Path
    site_packages: Path
    scripts: Path

    @property
    def record(self) -> Path:
        """Path of the record."""
        return self.directory / RECORD_NAME


def find_mode(environ: Mapping[str, str]) -> Mode:
    """How this process relates to an environment of ours."""
    custom = environ.get("PRIME_AGENT_KERNEL_PYTHON")
    if custom and _is_this_python(custom, environ=environ):
        return "custom"
    generation = environ.get("PRIME_SKILLS_GENERATION")
    if environ.get("PRIME_SKILLS_MODE") == "own" and generation:
        # a process that merely inherited the variables has another prefix
        return "own" if is_same(generation, sys.prefix) else "overlay"
    return "overlay"


def _is_this_python(named: str, *, environ: Mapping[str, str]) -> bool:
    # every venv links to the same program: the folder tells one from another
    found = shutil.which(expanded(named), path=environ.get("PATH", ""))
    return (
        found is not None
        and is_same(found, sys.executable)
        and is_same(Path(found).parent, Path(sys.executable).parent)
    )


def locate(
    *,
    mode: Mode,
    agent_directory: Path,
    environ: Mapping[str, str],
    project_root: Path | None = None,
) -> Environment:
    """The environment that this interpreter uses in ``mode``.

    A kernel that already runs inside a generation of ours gets that environment in
    own mode; if it was made for another project, the wanted one is overlaid on it.

    Args:
        mode: How the kernel relates to the environment.
        agent_directory: Where environments normally live.
        environ: Read for ``PRIME_AGENT_KERNEL_PYTHON``, ``PRIME_AGENT_KERNEL_VENV``,
            ``XDG_DATA_HOME`` and ``HOME``.
        project_root: The project that has trusted Python skills, if one has.
    """
    if mode == "custom":
        python = Path(environ.get("PRIME_AGENT_KERNEL_PYTHON") or sys.executable)
        return Environment(
            root=agent_directory / "prime-skills",
            mode="custom",
            interpreter=expanded(python),
            kernel_prefix=Path(sys.prefix),
        )
    inside = _inside()
    if mode == "own" and inside is not None:
        if inside.project_root == project_root:
            return inside
        mode = "overlay"
    prefix = Path(sys.prefix) if mode == "overlay" else None
    draft = Environment(
        root=Path(),
        mode=mode,
        interpreter=_interpreter(mode),
        kernel_prefix=prefix,
        project_root=project_root,
    )
    base, diagnostics = find_base(
        agent_directory, environ=environ, pointer=Path(_key(draft), CURRENT)
    )
    return Environment(
        root=base / _key(draft),
        mode=mode,
        interpreter=draft.interpreter,
        kernel_prefix=prefix,
        project_root=project_root,
        base=base,
        diagnostics=diagnostics,
    )


def current(environment: Environment) -> Generation | None:
    """The generation in use, ``None`` when there is none or it is not well."""
    if environment.mode == "custom":
        return None
    generation = pointed(environment.root)
    return generation if generation is not None and is_healthy(generation) else None


def pointed(root: Path) -> Generation | None:
    """The generation that the pointer in ``root`` names, whether or not it is well."""
    try:
        number = _text_of(root / CURRENT).strip()
    except (OSError, UnicodeDecodeError):
        return None
    if not number.isascii() or not number.isdigit():
        return None
    return generation_at(root / number)


def is_pointed(root: Path) -> bool:
    """Whether the pointer in ``root`` names a generation that is there."""
    generation = pointed(root)
    return generation is not None and is_folder(generation.directory)


def numbered(root: Path) -> list[Path]:
    """The directories of the generations in ``root``, oldest first."""
    try:
        found = [path for path in root.iterdir() if path.name.isdecimal()]
    except OSError:
        return []
    return sorted(found, key=lambda path: int(path.name))


def generation_at(
    directory: Path, *, system: str = os.name, version: str | None = None
) -> Generation:
    """The generation in ``directory``, whether or not it exists.

    Args:
        directory: Its root.
        system: ``"nt"`` for where Windows keeps things; else as POSIX does.
        version: ``"3.11"`` and the like; ``None`` means this interpreter's.
    """
    base = str(directory)
    scheme = "nt_venv" if system == "nt" else "posix_venv"
    values = {"base": base, "platbase": base}
    if version is not None:
        values["py_version_short"] = version
    paths = sysconfig.get_paths(scheme, vars=values)
    scripts = Path(paths["scripts"])
    return Generation(
        directory=directory,
        python=scripts / ("python.exe" if system == "nt" else "python"),
        site_packages=Path(paths["purelib"]),
        scripts=scripts,
    )


def is_healthy(generation: Generation) -> bool:
    """Whether it can be used, judged without starting a process.

    Its configuration must name this Python version and a base that still exists,
    and its interpreter and site-packages must be there.
    """
    home = home_of(generation.directory)
    return (
        version_of(generation.directory) == _version(sys.version_info)
        and home is not None
        and is_folder(home)
        and is_there(generation.python)
        and is_folder(generation.site_packages)
    )


def home_of(directory: Path) -> Path | None:
    """The folder of the base interpreter that a virtual environment was made with."""
    home = _pyvenv(directory).get("home")
    return Path(home) if home else None


def version_of(directory: Path) -> str | None:
    """The Python that a virtual environment is for, such as ``"3.11"``."""
    values = _pyvenv(directory)
    version = values.get("version_info") or values.get("version") or ""
    return ".".join(version.split(".")[:2]) or None


def _inside() -> Environment | None:
    """The own-mode environment that this process runs in, if it runs in one."""
    root = Path(sys.prefix).parent
    try:
        facts = json.loads(_text_of(root / MARKER))
    except (OSError, ValueError):
        return None
    if not isinstance(facts, dict) or facts.get("mode") != "own":
        return None
    project = facts.get("projectRoot")
    return Environment(
        root=root,
        mode="own",
        interpreter=_interpreter("own"),
        project_root=Path(project) if isinstance(project, str) else None,
        base=root.parent,
    )


def _interpreter(mode: Mode) -> Path:
    if mode == "own":
        # the launcher and the kernel that it starts must mean the same interpreter
        return Path(getattr(sys, "_base_executable", "") or sys.executable)
    return Path(sys.executable)


def _interpreter_identity() -> str:
    base = os.path.realpath(sys.base_prefix)
    return f"{base} {sys.implementation.cache_tag} {sysconfig.get_config_var('SOABI')}"


def _key(environment: Environment) -> str:
    facts = {
        **environment.facts,
        "platform": sysconfig.get_platform(),
        "machine": platform.machine(),
    }
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
    return f"{environment.mode}-{sys.implementation.cache_tag}-{digest[:12]}"


def _pyvenv(directory: Path) -> dict[str, str]:
    try:
        text = _text_of(directory / "pyvenv.cfg")
    except (OSError, UnicodeDecodeError):
        return {}
    pairs = (line.partition("=") for line in text.splitlines())
    return {key.strip().lower(): value.strip() for key, _, value in pairs}


def _version(info: tuple[object, ...]) -> str:
    return ".".join(map(str, info[:2]))


def _text_of(path: Path) -> str:
    # a FIFO, a device or a folder of that name is an error like any other
    return read_file(path, limit=_MAX_BYTES).decode("utf-8")


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
