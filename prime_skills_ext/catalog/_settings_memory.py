"""What each settings file disabled when it could last be read.

Owns ``<agent directory>/prime-skills/last-settings.json``. It may be deleted at any
time; what it does not hold, it does not know. Nothing here raises.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final, final

from prime_skills_ext.catalog.looking import real_path
from prime_skills_ext.catalog.reading import read_file
from prime_skills_ext.writing import replace_text

__all__ = ["SettingsMemory"]

_SCHEMA: Final = 1
_MAX_BYTES: Final = 1 << 24
#: Projects come and go; the oldest are forgotten first.
_MAX_FILES: Final = 256

_Entries = dict[str, dict[str, object]]


@final
class SettingsMemory:
    """The memory of one user."""

    def __init__(self, agent_directory: Path) -> None:
        self.path = agent_directory / "prime-skills" / "last-settings.json"

    def recall(self, path: Path) -> dict[str, object] | None:
        """Return what a file disabled; ``None`` where nothing is known of it."""
        return self._read().get(real_path(path))

    def keep(self, path: Path, narrowing: Mapping[str, object]) -> None:
        """Remember what a file disables; one that disables nothing costs no write."""
        entries = self._read()
        key = real_path(path)
        if entries.get(key, {}) == dict(narrowing):
            return
        entries.pop(key, None)
        if narrowing:
            entries[key] = dict(narrowing)
        files = dict(list(entries.items())[-_MAX_FILES:])
        text = json.dumps({"schema": _SCHEMA, "files": files}, indent=2) + "\n"
        # a disk that cannot be written to costs the memory, not the skills
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace_text(self.path, text=text)

    def _read(self) -> _Entries:
        try:
            content = json.loads(read_file(self.path, limit=_MAX_BYTES))
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(content, dict) or content.get("schema") != _SCHEMA:
            return {}
        files = content.get("files")
        if not isinstance(files, dict):
            return {}
        return {key: value for key, value in files.items() if isinstance(value, dict)}
