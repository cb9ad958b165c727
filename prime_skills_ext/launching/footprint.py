"""What a plan looks at, so that a later start can tell whether it would plan the same.

Whatever is opened or listed is noted by Python itself, as audit events, whoever does
it; what is only looked at from outside has to be added by name. A variable is noted
when it is asked for. Nothing here knows what the plan is about.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Final, Self, final

from prime_skills_ext.catalog.looking import absolute, is_folder
from prime_skills_ext.launching.memo import Stamps, stamp

__all__ = ["Footprint"]

#: Clocks of file systems tick at least that often; some only every other second.
_TICK_NS: Final = 20 * 10**6
_COARSE_TICK_NS: Final = 2 * 10**9
_SECOND_NS: Final = 10**9
#: How files are opened that are changed and not read.
_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT
#: Files that are made up when they are read: they never look the same twice.
_MADE_UP: Final = ("/proc/", "/sys/", "/dev/")

_FOLLOWED: list[Footprint] = []
_HOOKED: list[bool] = []


@final
class Footprint:
    """Notes what is looked at while it is entered.

    Args:
        environ: The environment variables; ``environ`` is a copy that notes.

    Attributes:
        environ: What the plan is to go by.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = _Asked(environ)
        self._began = 0
        # True: only that something is there counts, not what it is like
        self._heard: dict[str, bool] = {}
        self._added: dict[str, bool] = {}
        self._made: set[str] = set()

    def __enter__(self) -> Self:
        if not _HOOKED:
            # it stays: Python has no way to take one back
            sys.addaudithook(_note)
            _HOOKED.append(True)
        self._began = time.time_ns()
        _FOLLOWED.append(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _FOLLOWED.remove(self)

    @property
    def names(self) -> frozenset[str]:
        """The variables that were asked for."""
        return frozenset(self.environ.asked)

    def hear(self, path: str, *, is_listed: bool) -> None:
        """Note a file that is read or a folder that is listed.

        Of a folder that is opened as files are, only that it is there.
        """
        if is_listed:
            self._heard[path] = False
        else:
            self._heard.setdefault(path, is_folder(path))

    def add(
        self,
        paths: Iterable[str | os.PathLike[str]],
        *,
        is_made: bool = False,
        is_presence: bool = False,
    ) -> None:
        """Note what was looked at in another way.

        Args:
            paths: Files and folders, whether they exist or not.
            is_made: The plan itself may just have written them, by rename.
            is_presence: Only whether something is there counts.
        """
        for path in paths:
            text = os.fspath(path)
            self._added[text] = is_presence
            if is_made:
                self._made.add(text)

    def drop(self, folders: Iterable[str | os.PathLike[str]], *, listed: bool) -> None:
        """Forget what was heard of folders that follow from everything else.

        Args:
            folders: Caches and records of ours, places where programs come and go.
            listed: Forget only what the folders hold, and not the files.
        """
        for folder in folders:
            start = os.path.join(folder, "")  # noqa: PTH118 - ends with a separator
            for path in [*self._heard]:
                if f"{path}{os.sep}".startswith(start) and (
                    not listed or is_folder(path)
                ):
                    del self._heard[path]

    def stamps(self) -> Stamps | None:
        """Say what everything looks like; ``None`` if it may be changing just now."""
        found: dict[str, list[int] | None] = {}
        imported = _imported()
        heard = {
            path: is_presence
            for path, is_presence in self._heard.items()
            if path not in imported and not path.startswith(_MADE_UP)
        }
        for path, is_presence in {**heard, **self._added}.items():
            now = stamp(path)
            if is_presence:
                found[path] = None if now is None else []
                continue
            if now is not None and path not in self._made:
                changed = max(now[:2])
                tick = _TICK_NS if changed % _SECOND_NS else _COARSE_TICK_NS
                if changed >= self._began - tick:
                    return None
            found[path] = now
        return found


class _Asked(dict[str, str]):
    """Variables that note which of them are asked for by name.

    Copying them all, as for a process that is started, asks for none.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        super().__init__(environ)
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self.asked.add(str(name))
        return super().__contains__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """Return a variable, and note its name."""
        self.asked.add(name)
        return super().get(name, default)


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    """Hear of everything that is opened; an error here would be the opener's."""
    if not _FOLLOWED:
        return
    match event, arguments:
        case ("os.listdir" | "os.scandir", (place, *_)):
            is_listed = True
        case "open", (place, _, int(flags)) if not flags & _WRITES:
            is_listed = False
        case _:
            return
    path = _text(place)
    if path is not None:
        for footprint in _FOLLOWED:
            footprint.hear(path, is_listed=is_listed)


def _text(path: object) -> str | None:
    if path is None:
        return os.fspath(absolute(os.curdir))
    # a number is a file that was opened before
    if not isinstance(path, str | bytes | os.PathLike):
        return None
    try:
        return os.fspath(absolute(os.fsdecode(path)))
    except (ValueError, TypeError):
        return None


def _imported() -> set[str]:
    """Return what was read to import modules: the code's own stamps stand for that."""
    specs = [getattr(module, "__spec__", None) for module in [*sys.modules.values()]]
    files = {
        file
        for spec in specs
        for file in (getattr(spec, "origin", None), getattr(spec, "cached", None))
        if isinstance(file, str)
    }
    return files.union(sys.path_importer_cache)
