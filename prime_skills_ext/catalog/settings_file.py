"""Writing ``settings.json``: switching one skill off and on by its name.

The only writer of these files. What cannot be read for certain is never overwritten,
everything that is not the entry stays byte for byte, and nobody ever sees half a file.
"""

from __future__ import annotations

import stat
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import final

from prime_skills_ext.catalog._settings_text import (
    NoListError,
    switch_on,
    with_entry,
    without_entries,
)
from prime_skills_ext.catalog.looking import is_same, is_within, real_path
from prime_skills_ext.catalog.patterns import parse_entry
from prime_skills_ext.catalog.places import Places
from prime_skills_ext.catalog.reading import explain, read_file
from prime_skills_ext.catalog.settings import (
    MAX_BYTES,
    SWITCHES,
    Scope,
    Settings,
    decode,
    settings_path,
)
from prime_skills_ext.errors import SettingsError
from prime_skills_ext.writing import exclusive, replace_text

__all__ = ["SettingsFile"]


@final
class SettingsFile:
    """The settings of one scope.

    Args:
        places: Where settings lie.
        scope: Whose they are.

    Raises:
        SettingsError: The project has no settings of its own: they are the user's.
    """

    def __init__(self, places: Places, scope: Scope) -> None:
        self.path = settings_path(places, scope)
        self._places = places
        self._scope = scope
        self._label = Settings(scope=scope, path=self.path).label
        if scope == "project":
            self._check_project()

    def disable(self, name: str) -> bool:
        """Add the entry ``-name``; say whether that changed anything.

        Args:
            name: A skill's plain name, or ``name@source``.

        Raises:
            SettingsError: The file cannot be read for certain, or not be written.
        """

        def change(text: str | None) -> str | None:
            if (
                text is not None
                and without_entries(text, is_meant=_means(name)) != text
            ):
                return text
            return with_entry(text, f"-{name}")

        return self._change(change)

    def enable(self, name: str) -> bool:
        """Take every entry ``-name`` out; say whether that changed anything.

        The switches ``bundledSkills.websearch`` and ``compaction.agentCallable`` are
        entries of their skills, too.

        Raises:
            SettingsError: The file cannot be read for certain, or not be written.
        """

        def change(text: str | None) -> str | None:
            if text is None:
                return None
            if name in SWITCHES:
                text = switch_on(text, SWITCHES[name])
            return without_entries(text, is_meant=_means(name))

        return self._change(change)

    def _change(self, change: Callable[[str | None], str | None]) -> bool:
        lock = self._places.agent_directory / "prime-skills" / "settings.lock"
        try:
            with exclusive(lock):
                before = self._read()
                after = self._changed(before, change)
                if after != before:
                    self._write(after)
                return after != before
        except OSError as error:
            raise SettingsError(
                f"{self._label} cannot be written: {explain(error)}",
                fix=f"make {self.path.parent} writable, or let other kernels finish",
                path=self.path,
            ) from error

    def _changed(
        self, before: str | None, change: Callable[[str | None], str | None]
    ) -> str | None:
        try:
            return change(before)
        except NoListError:
            raise SettingsError(
                f"`skills` in {self._label} is no list, so nothing can be added to it",
                fix=f'write it as a list in {self.path}: "skills": []',
                path=self.path,
            ) from None

    def _read(self) -> str | None:
        """Return the text of the file; ``None`` if there is none."""
        try:
            data = read_file(self.path, limit=MAX_BYTES + 1)
        except FileNotFoundError:
            return None
        try:
            decode(data)
        except (ValueError, RecursionError) as error:
            raise SettingsError(
                f"{self._label} is damaged and is not overwritten",
                fix=f"correct {self.path}; %skill doctor names the place",
                path=self.path,
            ) from error
        return data.decode("utf-8")

    def _write(self, text: str | None) -> None:
        # through a link: dotfiles often are links, and stay so
        target = Path(real_path(self.path))
        if text is None:
            target.unlink(missing_ok=True)
            return
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = self._shared_mode(target)
        replace_text(target, text=text, durable=True, mode=mode)

    def _shared_mode(self, target: Path) -> int | None:
        """Return the mode of a project's file: others may have to read it."""
        if self._scope == "user":
            return None
        try:
            return stat.S_IMODE(target.stat().st_mode)
        except FileNotFoundError:
            return None

    def _check_project(self) -> None:
        if is_same(self.path, settings_path(self._places, "user")):
            raise SettingsError(
                "the project is your home directory: its settings are yours",
                fix="leave --project away",
                path=self.path,
            )
        if not is_within(self.path, self._places.project_root):
            raise SettingsError(
                f"{self._label} is a link that leaves the project, and is not written",
                fix=f"replace {self.path} with a file of the project",
                path=self.path,
            )


def _means(name: str) -> Callable[[str], bool]:
    plain = unicodedata.normalize("NFC", name)

    def is_meant(entry: str) -> bool:
        pattern = parse_entry(entry)
        return (
            pattern is not None
            and pattern.kind == "disable"
            and unicodedata.normalize("NFC", pattern.value) == plain
        )

    return is_meant
