"""``settings.json``: what the user and the project say about skills.

Reads one file or both, never raises for what is in them, and remembers what a file
last disabled, so that a typing error switches nothing on. What follows for a skill is
``disabling``'s business, what becomes a source is ``configured``'s, and writing is
``settings_file``'s.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, final

from prime_skills_ext.catalog._settings_memory import SettingsMemory
from prime_skills_ext.catalog.looking import real_path
from prime_skills_ext.catalog.places import Places
from prime_skills_ext.catalog.reading import explain, read_file
from prime_skills_ext.later import later
from prime_skills_ext.skill.model import Diagnostic

if TYPE_CHECKING:
    from prime_skills_ext.catalog import patterns
    from prime_skills_ext.catalog.patterns import Pattern
else:
    patterns = later("prime_skills_ext.catalog.patterns")  # few files have entries

__all__ = [
    "MAX_BYTES",
    "MAX_ENTRIES",
    "SWITCHES",
    "Scope",
    "Settings",
    "decode",
    "find_settings",
    "parse_settings",
    "read_settings",
    "settings_path",
    "shown",
]

Scope = Literal["user", "project"]

#: A larger file is no settings file.
MAX_BYTES: Final = 1 << 20
#: Paths, and likewise exclusions, that count in one file: each costs a walk or a look
#: at every skill, and a project's file comes from strangers. Names are free.
MAX_ENTRIES: Final = 200
#: Skills that have a switch of their own besides the list: its object and key.
SWITCHES: Final = {
    "websearch": ("bundledSkills", "websearch"),
    "compact": ("compaction", "agentCallable"),
}
_SHOWN_CHARACTERS: Final = 60
_COSTLY: Final = {"path": "paths", "exclude": "exclusions"}
_WORDS_FOR_FALSE: Final = frozenset({"false", "no", "off", "0"})
_KINDS: Final = {
    dict: "an object",
    list: "a list",
    str: "a text",
    bool: "true or false",
}


@final
class Settings(NamedTuple):
    """What one file says about skills; the defaults say nothing.

    Attributes:
        scope: Whose file it is.
        path: Where it lies; entries are relative to its folder.
        skills: The entries of ``skills`` that mean something, in order.
        enable_builtin: ``enableBuiltinSkills``: the skills that ship count.
        websearch: ``bundledSkills.websearch``: the one of that name that ships counts.
        compact: ``compaction.agentCallable``: the skill ``compact`` counts.
        enable_skill_commands: ``enableSkillCommands``: ``/skill:`` is offered.
        packages: ``packages`` as written; for those who bring packages in.
    """

    scope: Scope
    path: Path
    skills: tuple[Pattern, ...] = ()
    enable_builtin: bool = True
    websearch: bool = True
    compact: bool = True
    enable_skill_commands: bool = True
    packages: tuple[object, ...] = ()

    @property
    def label(self) -> str:
        """What the file is called on every machine."""
        return f"the {self.scope}'s settings.json"

    def narrowing(self) -> dict[str, object]:
        """Return what of the file only takes away, in the form of the file."""
        found: dict[str, object] = {}
        if not self.enable_builtin:
            found["enableBuiltinSkills"] = False
        if not self.websearch:
            found["bundledSkills"] = {"websearch": False}
        if not self.compact:
            found["compaction"] = {"agentCallable": False}
        # what "+" brings back only makes sense beside what "!" takes away
        texts = [item.text for item in self.skills if item.kind != "path"]
        if any(item.kind in {"exclude", "disable"} for item in self.skills):
            found["skills"] = texts
        return found


def settings_path(places: Places, scope: Scope) -> Path:
    """Return where the settings of a scope lie, whether they exist or not."""
    if scope == "user":
        return places.agent_directory / "settings.json"
    return places.project_root / ".prime" / "agent" / "settings.json"


def find_settings(
    places: Places,
) -> tuple[tuple[Settings, ...], tuple[Diagnostic, ...]]:
    """Read the user's settings, then the project's.

    Returns:
        One value per file, and what is wrong with them. Where both are one file, as
        in a home directory that is the project, it is the user's.
    """
    memory = SettingsMemory(places.agent_directory)
    found: list[Settings] = []
    diagnostics: list[Diagnostic] = []
    seen: set[str] = set()
    scopes: tuple[Scope, ...] = ("user", "project")
    for scope in scopes:
        path = settings_path(places, scope)
        real = real_path(path)
        if real in seen:
            continue
        seen.add(real)
        settings, problems = read_settings(path, scope=scope, memory=memory)
        found.append(settings)
        diagnostics += problems
    return tuple(found), tuple(diagnostics)


def read_settings(
    path: Path, *, scope: Scope, memory: SettingsMemory | None = None
) -> tuple[Settings, tuple[Diagnostic, ...]]:
    """Read one file.

    Args:
        path: The file; one that does not exist says nothing.
        scope: Whose it is.
        memory: Where to remember what it disables; ``None`` forgets. A file that
            cannot be read counts as what it disabled when it last could.
    """
    label = Settings(scope=scope, path=path).label
    try:
        content = decode(read_file(path, limit=MAX_BYTES + 1))
    except (FileNotFoundError, NotADirectoryError):
        if not os.path.lexists(path):
            if memory is not None:
                memory.keep(path, {})
            return Settings(scope=scope, path=path), ()
        reason, line, column = "is a link to nothing", None, None
    except json.JSONDecodeError as error:
        reason, line, column = "is not valid JSON", error.lineno, error.colno
    except OSError as error:
        reason, line, column = f"cannot be read: {explain(error)}", None, None
    except (ValueError, RecursionError) as error:
        reason, line, column = _words(error), None, None
    else:
        settings, diagnostics = parse_settings(content, scope=scope, path=path)
        if memory is not None:
            memory.keep(path, settings.narrowing())
        return settings, diagnostics

    kept = None if memory is None else memory.recall(path)
    settings, _ = parse_settings(kept or {}, scope=scope, path=path)
    what = "what it disabled before stays disabled"
    if kept is None:
        what = "nothing is known of what it disables"
    problem = Diagnostic(
        code="settings-damaged",
        message=f"{label[0].upper()}{label[1:]} {reason}: {what}, the rest of it is "
        "ignored.",
        fix="Correct the file, then run %reload_skills.",
        severity="error",
        path=path,
        line=line,
        column=column,
    )
    return settings, (problem,)


def decode(data: bytes) -> dict[str, object]:
    """Return what the bytes of a settings file say.

    Raises:
        ValueError: They are no JSON object.
        RecursionError: They are nested beyond reason.
    """
    if len(data) > MAX_BYTES:
        raise ValueError("is larger than a settings file can be")
    content = json.loads(data.decode("utf-8-sig"))
    if not isinstance(content, dict):
        raise ValueError("holds no JSON object")  # noqa: TRY004 - one error for all
    return content


def parse_settings(
    content: Mapping[str, object], *, scope: Scope, path: Path
) -> tuple[Settings, tuple[Diagnostic, ...]]:
    """Make settings of an object; what means nothing is left out and reported."""
    reader = _Reader(content, scope=scope, path=path)
    skills = content.get("skills")
    flag_holder = content
    if isinstance(skills, dict):
        flag_holder = {**skills, **content}
        skills = skills.get("customDirectories")
        reader.tell(
            "settings-legacy",
            "`skills` is an object",
            "Write its `customDirectories` as the list `skills`, and its "
            "`enableSkillCommands` beside it.",
        )
    settings = Settings(
        scope=scope,
        path=path,
        skills=tuple(reader.entries(skills)),
        enable_builtin=reader.flag(content, "enableBuiltinSkills"),
        websearch=reader.inner_flag(*SWITCHES["websearch"]),
        compact=reader.inner_flag(*SWITCHES["compact"]),
        enable_skill_commands=reader.flag(flag_holder, "enableSkillCommands"),
        packages=tuple(reader.packages(content.get("packages"))),
    )
    return settings, tuple(reader.diagnostics)


@final
class _Reader:
    """Takes values out of an object and notes those that mean nothing."""

    def __init__(
        self, content: Mapping[str, object], *, scope: Scope, path: Path
    ) -> None:
        self.diagnostics: list[Diagnostic] = []
        self._content = content
        self._label = Settings(scope=scope, path=path).label
        self._path = path

    def tell(self, code: str, what: str, fix: str) -> None:
        self.diagnostics.append(
            Diagnostic(
                code=code,
                message=f"In {self._label}, {what}.",
                fix=fix,
                path=self._path,
            )
        )

    def entries(self, value: object) -> Iterator[Pattern]:
        if value is None:
            return
        if isinstance(value, str):
            self.tell(
                "settings-value",
                "`skills` is a text, read as a list of one entry",
                f'Write it as a list: "skills": [{shown(value)}].',
            )
            value = [value]
        if not isinstance(value, list):
            self.tell(
                "settings-value",
                f"`skills` is {_kind(value)} and is ignored",
                'Write a list of texts: "skills": ["path/to/skills"].',
            )
            return
        counts = Counter[str]()
        for number, entry in enumerate(value, start=1):
            pattern = self._entry(entry, number=number)
            if pattern is None:
                continue
            counts[pattern.kind] += 1
            if counts[pattern.kind] <= MAX_ENTRIES or pattern.kind not in _COSTLY:
                yield pattern
        for kind, what in _COSTLY.items():
            if counts[kind] > MAX_ENTRIES:
                self.tell(
                    "settings-too-many",
                    f"`skills` holds {counts[kind]} {what}, of which the first "
                    f"{MAX_ENTRIES} count",
                    "Name folders that hold several skills, or write fewer globs.",
                )

    def packages(self, value: object) -> Iterable[object]:
        if value is None or isinstance(value, list):
            return value or ()
        self.tell(
            "settings-value",
            f"`packages` is {_kind(value)} and is ignored",
            "Write a list.",
        )
        return ()

    def flag(self, holder: Mapping[str, object], key: str, *, name: str = "") -> bool:
        value = holder.get(key)
        if value is None or isinstance(value, bool):
            return value is not False
        # when in doubt, what reads as a "no" is one
        means_no = str(value).strip().lower() in _WORDS_FOR_FALSE
        self.tell(
            "settings-value",
            f"`{name or key}` is neither true nor false"
            + (", read as false" if means_no else " and is ignored"),
            "Write true or false, without quotation marks.",
        )
        return not means_no

    def inner_flag(self, outer: str, key: str) -> bool:
        holder = self._content.get(outer)
        if holder is None:
            return True
        if isinstance(holder, dict):
            return self.flag(holder, key, name=f"{outer}.{key}")
        self.tell(
            "settings-value",
            f"`{outer}` is {_kind(holder)} and is ignored",
            f'Write an object: "{outer}": {{"{key}": false}}.',
        )
        return True

    def _entry(self, entry: object, *, number: int) -> Pattern | None:
        where = f"entry {number} of `skills`"
        if not isinstance(entry, str):
            what = f"{where} is {_kind(entry)} and is ignored"
        elif (pattern := patterns.parse_entry(entry)) is None:
            what = f"{where} names nothing"
        elif not _is_path(pattern.value):
            what = f"{where} holds characters that no path has"
        else:
            return pattern
        self.tell("settings-entry", what, "Correct or remove the entry.")
        return None


def shown(text: str) -> str:
    """Return a text from a settings file in quotation marks, fit to be printed."""
    if len(text) > _SHOWN_CHARACTERS:
        text = f"{text[: _SHOWN_CHARACTERS - 1]}…"
    printable = "".join(it if it.isprintable() else "\ufffd" for it in text)
    return f'"{printable}"'


def _is_path(text: str) -> bool:
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "a number" if value is not None else "null")


def _words(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "is not UTF-8"
    # ours start with a verb; the decoder's own could quote what stands in the file
    told = str(error)
    return told if told.startswith(("is larger", "holds no")) else "is not valid JSON"
