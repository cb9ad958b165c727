"""Which distributions brought skills when their folder was last looked through.

Owns ``<agent directory>/prime-skills/packages.json``. Looking through a folder of
installed distributions opens a file of each of them, and nearly none brings skills.
The file may be deleted at any time; what it does not hold, it does not know. Nothing
here raises.
"""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path
from typing import Any, Final, final

from prime_skills_ext.catalog.reading import read_private
from prime_skills_ext.writing import replace_text

__all__ = ["Brought", "PackageMemory", "Stamp"]

#: A folder, and when it changed last: installing or removing a distribution adds or
#: removes an entry of it.
Stamp = tuple[str, int, int]
#: By distribution: its name, and the folder of its skills.
Brought = tuple[tuple[str, str], ...]

_SCHEMA: Final = 1
_MAX_BYTES: Final = 1 << 20
#: Environments come and go; the oldest are forgotten first.
_MAX_SITES: Final = 64
#: Clocks of file systems tick once in two seconds at worst.
_SAFE_AGE_NS: Final = 3 * 10**9


@final
class PackageMemory:
    """The memory of one user, for one run.

    Args:
        agent_directory: Where the file lies.
    """

    def __init__(self, agent_directory: Path) -> None:
        self.path = agent_directory / "prime-skills" / "packages.json"
        # taken before any folder is looked at: it makes them look younger, not older
        self._now = time.time_ns()
        self._sites: dict[str, Any] | None = None

    def recall(self, stamp: Stamp) -> Brought | None:
        """Return what a folder held; ``None`` if it must be looked through."""
        path, *change = stamp
        try:
            *kept, brought = self._read()[path]
            if kept == change:
                return tuple((str(name), str(inside)) for name, inside in brought)
        except (KeyError, TypeError, ValueError):
            pass
        return None

    def keep(self, stamp: Stamp, brought: Brought) -> None:
        """Remember what a folder holds; one that changed just now may change again."""
        path, *change = stamp
        if self._now - change[0] < _SAFE_AGE_NS:
            return
        sites = self._read()
        sites.pop(path, None)
        sites[path] = [*change, brought]
        kept = dict(list(sites.items())[-_MAX_SITES:])
        text = json.dumps({"schema": _SCHEMA, "sites": kept}) + "\n"
        # a disk that cannot be written to costs time, not skills
        with contextlib.suppress(OSError):
            # not its parents: whoever only looks gets no agent directory
            self.path.parent.mkdir(mode=0o700, exist_ok=True)
            replace_text(self.path, text=text)

    def _read(self) -> dict[str, Any]:
        if self._sites is None:
            self._sites = {}
            with contextlib.suppress(OSError, ValueError, RecursionError):
                content = json.loads(read_private(self.path, limit=_MAX_BYTES))
                if isinstance(content, dict) and content.get("schema") == _SCHEMA:
                    sites = content.get("sites")
                    self._sites = sites if isinstance(sites, dict) else {}
        return self._sites
