"""Wheels that need no build backend: a skill's editable one, the runtime's, ours.

Reads what goes in, writes content-addressed files, starts nothing.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import sys
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution
from pathlib import Path, PurePosixPath
from typing import final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from prime_skills_ext.environment.links import link_of
from prime_skills_ext.environment.ours import (
    OWN_NAME,
    PACKAGE,
    RUNTIME,
    RUNTIME_NAME,
    missing_runtime,
    running_distribution,
    tree,
)
from prime_skills_ext.errors import InstallError
from prime_skills_ext.skill import pyproject
from prime_skills_ext.skill.model import PythonPackage
from prime_skills_ext.skill.pyproject import Project

__all__ = [
    "OWN_NAME",
    "RUNTIME_NAME",
    "Wheel",
    "editable_wheel",
    "own_wheel",
    "required_names",
    "runtime_wheel",
]

_WHEEL = "Wheel-Version: 1.0\nGenerator: prime-skills-ext\nRoot-Is-Purelib: true\n"
_WHEEL += "Tag: py3-none-any\n"
_EPOCH = (1980, 1, 1, 0, 0, 0)


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Wheel:
    """What goes into a pure wheel.

    Attributes:
        name: Distribution name.
        version: As PEP 440 wants it.
        metadata: ``METADATA``.
        files: Everything outside ``.dist-info``, by path in the archive.
        entry_points: ``entry_points.txt``, possibly empty.
    """

    name: str
    version: str
    metadata: str
    files: Mapping[str, bytes]
    entry_points: str = ""

    @property
    def digest(self) -> str:
        """Digest of the content, the same on every machine."""
        digest = hashlib.sha256()
        for path, content in sorted(self._contents().items()):
            digest.update(os.fsencode(path) + b"\0" + hashlib.sha256(content).digest())
        return digest.hexdigest()

    def write(self, store: Path) -> Path:
        """Write it below ``store``, at a path that its content decides.

        Raises:
            OSError: The disk does not take it.
        """
        folder = store / self.digest[:16]
        path = folder / f"{_escaped(self.name)}-{self.version}-py3-none-any.whl"
        if path.is_file():
            return path
        folder.mkdir(parents=True, exist_ok=True)
        draft = folder / f".{os.getpid()}.draft"
        draft.write_bytes(self._archive())
        draft.replace(path)
        return path

    def _contents(self) -> dict[str, bytes]:
        info = f"{_escaped(self.name)}-{self.version}.dist-info"
        contents = {**self.files, f"{info}/METADATA": self.metadata.encode()}
        contents[f"{info}/WHEEL"] = _WHEEL.encode()
        if self.entry_points:
            contents[f"{info}/entry_points.txt"] = self.entry_points.encode()
        return contents

    def _archive(self) -> bytes:
        record = f"{_escaped(self.name)}-{self.version}.dist-info/RECORD"
        contents = self._contents()
        lines = [f"{path},{_hash(data)},{len(data)}" for path, data in contents.items()]
        contents[record] = "\n".join([*lines, f"{record},,", ""]).encode()
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, data in contents.items():
                archive.writestr(zipfile.ZipInfo(path, date_time=_EPOCH), data)
        return buffer.getvalue()


def editable_wheel(
    project: Project,
    *,
    package: PythonPackage,
    extra: Iterable[str] = (),
) -> Wheel:
    """The PEP 660 wheel of a skill in the standard ``src`` layout.

    Args:
        project: Its metadata, static.
        package: Where its code is.
        extra: Requirements to add to the declared ones.
    """
    name = project.name or package.import_name
    version = str(project.version or "0")
    requires = [
        *(str(item) for item in project.dependencies),
        *extra,
        *_optional(project.optional_dependencies),
    ]
    return Wheel(
        name=name,
        version=version,
        metadata=_metadata(
            name,
            version=version,
            requires=requires,
            extras=project.optional_dependencies,
            requires_python=str(project.requires_python or ""),
        ),
        files={link_of(canonicalize_name(name)): _pth(package.src)},
        entry_points=_entry_points(project),
    )


def runtime_wheel() -> Wheel:
    """The real wheel of ``prime-agent-runtime``, from the files that ship with us.

    Raises:
        InstallError: The files are not there.
    """
    try:
        text = (RUNTIME / "pyproject.toml").read_text(encoding="utf-8")
    except OSError as error:
        raise missing_runtime(error) from error
    project, problems = pyproject.parse(text, import_name="rlm")
    if project is None:
        raise InstallError(
            f"the runtime's pyproject.toml cannot be read: {problems[0].message}",
            fix="reinstall prime-skills-ext",
            path=RUNTIME,
        )
    version = str(project.version or "0")
    source = RUNTIME / "src"
    return Wheel(
        name=RUNTIME_NAME,
        version=version,
        metadata=_metadata(
            RUNTIME_NAME,
            version=version,
            requires=[str(item) for item in project.dependencies],
            extras=(),
            requires_python=str(project.requires_python or ""),
        ),
        files=_tree(source, below=source / "rlm"),
        entry_points=_entry_points(project),
    )


def required_names(made: Wheel) -> tuple[str, ...]:
    """Name the distributions that a wheel requires."""
    prefix = "Requires-Dist: "
    return tuple(
        canonicalize_name(Requirement(line.removeprefix(prefix)).name)
        for line in made.metadata.splitlines()
        if line.startswith(prefix)
    )


def own_wheel() -> Wheel:
    """This package as it runs now, whether it was installed normally or editable.

    Raises:
        InstallError: It runs from a folder that was never installed.
    """
    running = running_distribution()
    files = _recorded_files(running)
    if not files:  # an editable install records only its link
        files = _tree(PACKAGE.parent, below=PACKAGE)
    return Wheel(
        name=OWN_NAME,
        version=running.version,
        metadata=running.read_text("METADATA") or "",
        files=files,
        entry_points=running.read_text("entry_points.txt") or "",
    )


def _recorded_files(running: Distribution) -> dict[str, bytes]:
    """The package's files and shared data that RECORD lists."""
    root = Path(str(running.locate_file("")))
    data = f"{_escaped(OWN_NAME)}-{running.version}.data/data"
    share = Path(sys.prefix, "share").resolve()
    files: dict[str, bytes] = {}
    for item in running.files or ():
        path = Path(os.path.normpath(root / item))
        if "__pycache__" in item.parts or not path.is_file():
            continue
        if item.parts[0] == PACKAGE.name:
            files[item.as_posix()] = path.read_bytes()
        elif path.resolve().is_relative_to(share):
            inside = PurePosixPath("share", *path.resolve().relative_to(share).parts)
            files[f"{data}/{inside}"] = path.read_bytes()
    is_complete = any(path.startswith(f"{PACKAGE.name}/") for path in files)
    return files if is_complete else {}


def _tree(root: Path, *, below: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes() for path in tree(below)
    }


def _metadata(
    name: str,
    *,
    version: str,
    requires: Iterable[str],
    extras: Iterable[str],
    requires_python: str,
) -> str:
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    if requires_python:
        lines.append(f"Requires-Python: {requires_python}")
    lines += [f"Provides-Extra: {extra}" for extra in extras]
    lines += [f"Requires-Dist: {line}" for line in requires]
    return "\n".join(lines) + "\n"


def _optional(groups: Mapping[str, Iterable[Requirement]]) -> Iterable[str]:
    for extra, requirements in groups.items():
        for requirement in requirements:
            bare = Requirement(str(requirement))
            marker, bare.marker = bare.marker, None
            condition = f'extra == "{extra}"'
            if marker is not None:
                condition = f"({marker}) and {condition}"
            yield f"{bare} ; {condition}"


def _entry_points(project: Project) -> str:
    groups = {"console_scripts": project.scripts, **project.entry_points}
    lines: list[str] = []
    for group, entries in groups.items():
        if entries:
            lines += [f"[{group}]", *(f"{k} = {v}" for k, v in entries.items()), ""]
    return "\n".join(lines)


def _pth(src: Path) -> bytes:
    text = str(src)
    if text.isascii() and text.isprintable():
        return f"{text}\n".encode()
    # Python 3.11 decodes these files with the locale: only ASCII is safe
    return f"import sys; sys.path.append({text!a})\n".encode()


def _escaped(name: str) -> str:
    return re.sub(r"[-_.]+", "_", canonicalize_name(name))


def _hash(data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
    return f"sha256={digest.decode().rstrip('=')}"
