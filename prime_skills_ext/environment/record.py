"""What is installed in a generation, as a file. One reader, one writer.

The record is cumulative: it knows every skill that was ever installed there. It may
be deleted at any time, and whatever cannot be read as a record counts as an empty one.
Each entry is sealed: what was changed by hand, or by a failing disk, costs that one
skill an install and misleads nobody.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, final

from prime_skills_ext.catalog.reading import read_file
from prime_skills_ext.writing import replace_text

__all__ = [
    "SCHEMA",
    "Command",
    "Record",
    "SkillRecord",
    "State",
    "read",
    "write",
]

SCHEMA = 102
"""Number of this form; the reference's own marker uses small numbers."""

MAX_LOG_CHARS = 64_000
"""How much of uv's output is kept for one failed skill, counted from its end."""

MAX_BYTES = 1 << 26
"""A file that is longer is no record of ours."""

State = Literal["installed", "partial", "failed"]


@final
class Command(NamedTuple):
    """A shell command of a skill.

    Attributes:
        name: What is typed.
        target: ``module:attribute`` that it calls.
        import_name: Import name of the skill that offers it.
    """

    name: str
    target: str
    import_name: str


@final
class SkillRecord(NamedTuple):
    """One skill, as it was when it was last installed or tried.

    Attributes:
        import_name: Its module.
        package_path: Real path of its folder; the key of the record.
        pyproject_path: Its ``pyproject.toml``.
        pyproject_hash: ``sha256:…`` of that file, or ``unreadable``.
        fingerprint: Digest of everything that decides how it is installed.
        state: ``installed``; ``partial`` when its requirements are met but uv could
            not install it, so that its commands are missing; or ``failed``.
        tool: Which uv it was tried with.
        project: Canonical name of its distribution.
        inputs: Files that its metadata names, relative to the folder.
        requirements: What it requires, in the words of PEP 508.
        extra: Requirements that were added for an import it did not declare.
        siblings: Package paths of the skills that it requires.
        line: What uv was given for it: a wheel or an editable URL.
        commands: What it offers to the shell.
        reason: Why it failed or is partial.
        fix: What to do about that.
        log: What uv said.
    """

    import_name: str
    package_path: str
    pyproject_path: str
    pyproject_hash: str
    fingerprint: str
    state: State
    tool: str = ""
    project: str | None = None
    inputs: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    siblings: tuple[str, ...] = ()
    line: str | None = None
    commands: tuple[Command, ...] = ()
    reason: str = ""
    fix: str = ""
    log: str = ""


@final
class Record(NamedTuple):
    """Everything known about a generation.

    Attributes:
        base: Identity of what it holds besides skills.
        kernel: Signature of the kernel's own packages when it was last checked.
        site: Signature of its site-packages after the last change of ours.
        runtime_complete: Whether the runtime's own requirements are met.
        rebuilt: It was built on request, to take the place of all that are older.
        skills: By package path.
    """

    base: str = ""
    kernel: str = ""
    site: str = ""
    runtime_complete: bool = False
    rebuilt: bool = False
    skills: Mapping[str, SkillRecord] = MappingProxyType({})


#: The record that was read last, and the file it was read from: one start asks four
#: times. We replace a record by another file; whoever restores one in place may put
#: back all but the time of that change.
_last: tuple[tuple[str, int, int, int, int], Record] | None = None


def read(path: Path) -> Record:
    """The record at ``path``; an empty one if there is none or it makes no sense."""
    global _last  # noqa: PLW0603  # one value, replaced as a whole
    try:
        status = path.stat()
        times = status.st_mtime_ns, status.st_ctime_ns
        mark = (str(path), status.st_ino, status.st_size, *times)
        if _last is not None and _last[0] == mark:
            return _last[1]
        # a FIFO, a device or a folder of that name is an error like any other
        data = read_file(path, limit=MAX_BYTES)
        found = _record(json.loads(data.decode("utf-8")))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return Record()
    _last = (mark, found)
    return found


def write(path: Path, *, record: Record) -> None:
    """Replace the record at ``path`` in one step.

    Raises:
        OSError: The disk does not take it; the old record is still there.
    """
    data = {
        "schema": SCHEMA,
        "base": record.base,
        "kernel": record.kernel,
        "site": record.site,
        "runtimeComplete": record.runtime_complete,
        "rebuilt": record.rebuilt,
        "pythonSkills": [
            _to_json(record.skills[path]) for path in sorted(record.skills)
        ],
    }
    replace_text(path, text=json.dumps(data, indent=1) + "\n")


_NAMES = {
    "import_name": "importName",
    "package_path": "packagePath",
    "pyproject_path": "pyprojectPath",
    "pyproject_hash": "pyprojectHash",
    "fingerprint": "fingerprint",
    "state": "state",
    "tool": "tool",
    "project": "project",
    "inputs": "inputs",
    "requirements": "requirements",
    "extra": "extra",
    "siblings": "siblings",
    "line": "line",
    "commands": "commands",
    "reason": "reason",
    "fix": "fix",
    "log": "log",
}
_SEAL = "seal"
_LISTS = ("inputs", "requirements", "extra", "siblings")


def _to_json(skill: SkillRecord) -> dict[str, Any]:
    kept = skill._replace(log=skill.log[-MAX_LOG_CHARS:])
    values = {key: getattr(kept, name) for name, key in _NAMES.items()}
    return {**values, _SEAL: _seal(values)}


def _seal(values: Mapping[str, Any]) -> str:
    """Digest of an entry, in whatever order its fields stand."""
    text = json.dumps([values[key] for key in _NAMES.values()])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _record(data: Any) -> Record:
    if data["schema"] != SCHEMA:
        return Record()
    skills = _skills(data["pythonSkills"])
    return Record(
        base=str(data["base"]),
        kernel=str(data["kernel"]),
        site=str(data["site"]),
        runtime_complete=data["runtimeComplete"] is True,
        rebuilt=data.get("rebuilt") is True,
        skills={skill.package_path: skill for skill in skills},
    )


def _skills(items: Iterable[Any]) -> list[SkillRecord]:
    found = []
    for item in items:
        # one entry that makes no sense costs one skill an install, not all of them
        with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError):
            found.append(_skill(item))
    return found


def _skill(item: Any) -> SkillRecord:
    if item[_SEAL] != _seal(item):
        raise ValueError("the entry is not as it was written")
    values = {name: item[key] for name, key in _NAMES.items()}
    for name in _LISTS:
        values[name] = tuple(str(element) for element in values[name])
    values["commands"] = tuple(Command(*map(str, row)) for row in values["commands"])
    return SkillRecord(**values)
