"""Executing a skill's code for the first time: guarded, captured, measured.

It owns the loader and what happens when a skill's import fails. It decides
neither which skill is meant (``importing``) nor what is bound (``binding``).
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from importlib.machinery import BYTECODE_SUFFIXES, ModuleSpec, SourceFileLoader
from importlib.util import source_from_cache
from pathlib import Path
from types import FrameType, ModuleType, TracebackType
from typing import Any, NamedTuple, Protocol, final

from prime_skills_ext.kernel.names import PRIVATE

__all__ = [
    "Doubt",
    "ImportOutcome",
    "Session",
    "SkillLoader",
    "belongs",
    "check_run",
    "guarded",
    "is_source_only",
    "load_from_source_only",
    "loader_of",
    "watch_interrupts",
]

#: A ``.pyc`` records whole seconds, so younger sources cannot be told apart.
SETTLED_S = 2.0

# bit 1 of a .pyc's flags says that it is never compared with its source
_UNCHECKED_HASH = 0b01


@final
class ImportOutcome(NamedTuple):
    """How the import, or the reload, of a skill went.

    Attributes:
        seconds: Time it took.
        output: What it wrote to stdout and stderr, warnings among it.
        error: What it raised; ``None`` when it went well.
    """

    seconds: float
    output: str = ""
    error: BaseException | None = None


class Session(Protocol):
    """A reload that is going on: it has a say in what is executed, and where."""

    def covers(self, name: str, *, src: Path) -> bool:
        """Whether a module belongs to the tree that is reloaded."""

    def reuse(self, spec: ModuleSpec) -> ModuleType | None:
        """The module to execute again in place; ``None`` for a new one."""

    def execute(self, loader: SkillLoader, module: ModuleType) -> None:
        """Execute a module from its source."""


class SkillLoader(SourceFileLoader):
    """Loads one source file of a skill.

    Args:
        fullname: Name of the module.
        path: Its source.
        src: The ``src`` of the skill that it belongs to.
    """

    def __init__(self, fullname: str, path: str, *, src: Path) -> None:
        super().__init__(fullname, path)
        self.src = src
        #: Set on the skill's own top-level module: told how its import went.
        self.report: Callable[[ImportOutcome], None] | None = None
        #: Gives the module to execute the code in, where one was bound before.
        self.begin: Callable[[], ModuleType] | None = None
        #: The reload that this loader works for.
        self.session: Session | None = None
        #: Somebody else's reload asked for it: ``%autoreload``, ``importlib.reload``.
        self.is_again = False
        #: Names that the code of the module defined when it ran last.
        self.defined: frozenset[str] = frozenset()
        self._mtime: float | None = None
        #: What ``terms`` looked up for the calls of the module, and when.
        self.terms: tuple[object, Any] = (None, None)
        #: Calls of the module that nobody took note of yet.
        self.calls = 0

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Let Python make the module, unless there is one to use."""
        if self.session is not None:
            return self.session.reuse(spec)
        return None if self.begin is None else self.begin()

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module; a skill's top-level one under guard."""
        if self.session is not None:
            self.session.execute(self, module)
        elif self.report is None:
            self._execute(module)
        else:
            outcome = guarded(
                lambda: self._execute(module), root=module.__name__, src=self.src
            )
            self.report(outcome)  # raises where the outcome is an error

    def path_stats(self, path: str) -> Mapping[str, Any]:
        """Stat the source; Python asks just before it looks for bytecode."""
        found = super().path_stats(path)
        self._mtime = found["mtime"]
        return found

    def get_data(self, path: str) -> bytes:
        """Read a file, but no ``.pyc`` that may be older than its source."""
        is_bytecode = path.endswith(tuple(BYTECODE_SUFFIXES))
        if is_bytecode and is_source_only(self.src):
            raise OSError(f"{path} is not what was trusted")
        if not is_bytecode and (doubt := _doubt(self.src)):
            raise ImportError(doubt, name=self.name, path=path)
        data = super().get_data(path)
        if is_bytecode and not _trusted(path, data, source_mtime=self._mtime):
            raise OSError(f"{path} may be stale")
        return data

    def set_data(self, path: str, data: Any, *, _mode: int = 0o666) -> None:
        """Write a ``.pyc``, but none of a source that may still be edited."""
        is_settled = time.time() - _source_mtime(path) >= SETTLED_S
        if is_settled and not is_source_only(self.src):
            super().set_data(path, data, _mode=_mode)

    def _execute(self, module: ModuleType) -> None:
        before = dict(module.__dict__)
        try:
            super().exec_module(module)
            if "run" in module.__dict__ and self.report is not None:
                check_run(module)
        except BaseException:
            if self.begin is not None:  # it is bound: nothing half made is left in it
                module.__dict__.clear()
                module.__dict__.update(before)
            raise
        self.defined = frozenset(module.__dict__)


#: Says why code may not be read just now; ``None`` when it may.
Doubt = Callable[[], str | None]
#: By who said so; one per shell.
_SOURCE_ONLY: dict[int, Mapping[Path, Doubt]] = {}


def load_from_source_only(owner: object, sources: Mapping[Path, Doubt]) -> None:
    """Never use the bytecode beside some skills' code, and ask before each file.

    Bytecode can come with a repository, where no reader sees it and no hash binds
    it. A module may be imported long after its skill was looked at.

    Args:
        owner: Who says so; takes the place of what it said before.
        sources: The ``src`` of each such skill, and what is asked before a file of it
            is read; none at all forgets ``owner``.
    """
    _SOURCE_ONLY.pop(id(owner), None)
    if sources:
        _SOURCE_ONLY[id(owner)] = dict(sources)


def is_source_only(src: Path) -> bool:
    """Say whether the bytecode beside some skill's code is never used."""
    return any(src in sources for sources in [*_SOURCE_ONLY.values()])


def _doubt(src: Path) -> str | None:
    asked = [named[src] for named in [*_SOURCE_ONLY.values()] if src in named]
    return next((reason for ask in asked if (reason := ask())), None)


def check_run(module: ModuleType) -> None:
    """Refuse a ``run`` that cannot be called; a submodule of that name is none.

    Raises:
        TypeError: Saying what ``run`` is instead.
    """
    run = module.__dict__.get("run")
    if run is not None and not callable(run) and not isinstance(run, ModuleType):
        raise TypeError(f"`run` is not a function but {run!r}")


def loader_of(module: object) -> SkillLoader | None:
    """The loader of a module that came from a skill's ``src``."""
    loader = getattr(_spec_of(module), "loader", None)
    return loader if isinstance(loader, SkillLoader) else None


def _spec_of(module: object) -> object:
    """The ``__spec__`` of whatever lies in ``sys.modules``: that may be anything."""
    try:
        return getattr(module, "__spec__", None)
    except Exception:  # noqa: BLE001  # an object of a stranger's class
        return None


def belongs(name: str, module: object, *, root: str, src: Path) -> bool:
    """Whether an entry of ``sys.modules`` is part of a skill's module tree."""
    if name == root or name.startswith(f"{root}."):
        return True
    loader = loader_of(module)
    return loader is not None and loader.src == src and not _is_private(name)


def guarded(execute: Callable[[], None], *, root: str, src: Path) -> ImportOutcome:
    """Run a skill's import so that nothing of it remains when it fails.

    Everything is caught, ``SystemExit`` included, but a ``KeyboardInterrupt`` that
    a signal caused. One that the skill itself raises is a failure like others.

    Args:
        execute: Runs the skill's code.
        root: Name of the skill's top-level module.
        src: Where the skill is loaded from.
    """
    before = sys.modules.copy()
    error: BaseException | None = None
    start = time.perf_counter()
    with capture_output() as output, watch_interrupts() as interrupts:
        try:
            execute()
        except BaseException as caught:  # a stranger's code runs here
            _roll_back(before, root=root, src=src)
            if isinstance(caught, KeyboardInterrupt) and interrupts.real:
                raise
            error = caught.with_traceback(_without_ours(caught.__traceback__))
    return ImportOutcome(
        seconds=time.perf_counter() - start, output="".join(output), error=error
    )


def _is_private(name: str) -> bool:
    return name.startswith(f"{PRIVATE}.")


def _roll_back(before: dict[str, ModuleType], *, root: str, src: Path) -> None:
    """Bring ``sys.modules`` back.

    Modules of other packages that were imported on the way stay: C extensions
    cannot be loaded twice, and other threads may already hold them.
    """
    for name, module in sys.modules.copy().items():
        if name in before:
            sys.modules[name] = before[name]
        elif belongs(name, module, root=root, src=src) or _spec_of(module) is None:
            sys.modules.pop(name, None)
    for name, module in before.items():
        sys.modules.setdefault(name, module)


def _without_ours(traceback: TracebackType | None) -> TracebackType | None:
    """Drop the leading frames that are import machinery, ours and Python's."""
    kept = traceback
    while kept is not None:
        file = kept.tb_frame.f_code.co_filename
        if file != __file__ and not file.startswith("<frozen importlib"):
            return kept
        kept = kept.tb_next
    return None


def _source_mtime(bytecode: str) -> float:
    try:
        return Path(source_from_cache(bytecode)).stat().st_mtime
    except (OSError, ValueError):
        return time.time()


def _trusted(bytecode: str, data: bytes, *, source_mtime: float | None) -> bool:
    if int.from_bytes(data[4:8], "little") == _UNCHECKED_HASH:
        return False
    if source_mtime is None:
        source_mtime = _source_mtime(bytecode)
    # written while the source was young, it may be of an earlier text
    written = os.stat(bytecode).st_mtime  # noqa: PTH116  # one per module
    return written - source_mtime >= SETTLED_S


@final
class _Recorder:
    """Stands for stdout or stderr while a skill is imported.

    A logging handler made meanwhile keeps it, and other threads write to it, so
    it passes on what does not belong to the import.
    """

    def __init__(self, target: Any, *, name: str, chunks: list[str]) -> None:
        self.target = target
        self.name = name
        self.chunks = chunks
        self.thread = threading.get_ident()
        self.recording = True

    def write(self, text: Any) -> int:
        if not isinstance(text, str):
            kind = type(text).__name__
            raise TypeError(f"write() argument must be str, not {kind}")
        if self.recording and threading.get_ident() == self.thread:
            self.chunks.append(text)
            return len(text)
        self._now().write(text)
        return len(text)

    def flush(self) -> None:
        if not self.recording:
            self._now().flush()

    def close(self) -> None:
        """Leave the kernel its stream; a skill closes only its own."""

    def _now(self) -> Any:
        stream = getattr(sys, self.name)
        return self.target if isinstance(stream, _Recorder) else stream

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self._now(), attribute)


@contextlib.contextmanager
def capture_output() -> Iterator[list[str]]:
    """Collect what this thread writes to stdout and stderr, in order."""
    chunks: list[str] = []
    recorders = [
        _Recorder(getattr(sys, name), name=name, chunks=chunks)
        for name in ("stdout", "stderr")
    ]
    for recorder in recorders:
        setattr(sys, recorder.name, recorder)
    try:
        yield chunks
    finally:
        for recorder in recorders:
            recorder.recording = False
            # a skill that put a stream of its own there keeps it
            stream = getattr(sys, recorder.name, None)
            if stream is recorder or stream is None:
                setattr(sys, recorder.name, recorder.target)


@final
class _Interrupts:
    def __init__(self, *, real: bool = False) -> None:
        self.real = real


@contextlib.contextmanager
def watch_interrupts() -> Iterator[_Interrupts]:
    """Tell a ``KeyboardInterrupt`` that a signal caused from one that was raised."""
    interrupts = _Interrupts()
    previous = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread():
        yield interrupts  # signals are never handled here
        return
    if not callable(previous):
        # handled in C or ignored: nothing can be told, so it counts as real
        yield _Interrupts(real=True)
        return

    def note(number: int, frame: FrameType | None) -> Any:
        interrupts.real = True
        return previous(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield interrupts
    finally:
        # a skill that installed a handler of its own keeps it
        if signal.getsignal(signal.SIGINT) is note:
            signal.signal(signal.SIGINT, previous)
