"""The commands of the selected skills, first on this process's ``PATH``.

It owns one directory with an unguessable name and one entry of ``PATH``. What the
directory holds is written by others; nothing else may lie in it, so that ``!python``
stays the one that it was.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path
from typing import final

__all__ = ["CommandPath"]


@final
class CommandPath:
    """A private directory on ``PATH``, from ``open`` to ``close``."""

    def __init__(self) -> None:
        self._directory: Path | None = None
        self._made_path = False

    @property
    def directory(self) -> Path | None:
        """Where the commands are; ``None`` while there are none."""
        return self._directory

    def open(self) -> Path:
        """Return the directory, made and put first on ``PATH`` where it is not yet."""
        if self._directory is None or not self._directory.is_dir():
            # removed under a long-lived kernel by a cleaner of temporary files
            self.close()
            # mkdtemp: this user's alone, made anew, no link followed
            self._directory = Path(tempfile.mkdtemp(prefix="prime-skills-commands-"))
            atexit.register(self.close)
        entry = str(self._directory)
        if "PATH" not in os.environ:
            # where programs are looked for without one: nothing may get lost
            os.environ["PATH"] = os.defpath
            self._made_path = True
        rest = [item for item in _entries() if item != entry]
        os.environ["PATH"] = os.pathsep.join([entry, *rest])
        return self._directory

    def close(self) -> None:
        """Take the entry off ``PATH`` and remove the directory; twice is fine."""
        if self._directory is None:
            return
        entry = str(self._directory)
        if entry in _entries():
            rest = os.pathsep.join(e for e in _entries() if e != entry)
            os.environ["PATH"] = rest
            if self._made_path and rest == os.defpath:
                del os.environ["PATH"]
        self._made_path = False
        shutil.rmtree(self._directory, ignore_errors=True)
        self._directory = None
        atexit.unregister(self.close)


def _entries() -> list[str]:
    path = os.environ.get("PATH", "")
    # an empty one has no entry; an empty entry would be the working directory
    return path.split(os.pathsep) if path else []
