"""The command line of every skill: ``word_count = "rlm.skill:cli"``.

This module owns how a skill's ``run`` is found, called and printed when a shell
starts it. How its parameters look on a command line is ``rlm._arguments``. It never
changes what ``run`` does, and it is the only part of ``rlm`` that needs ``tyro``.

What a shell sees:

* stdout: the result and nothing else. Text as it is, bytes as they are, ``None`` as
  nothing; numbers, booleans, lists, dicts, sets and dataclasses as one line of JSON;
  anything else as ``str`` shows it. What a generator yields is printed item by item.
* stderr and status: 0 after a result or ``--help``; 2 for a command line that does
  not fit ``run``; 1 when something raised, with the exception's type and text and
  its notes. ``RLM_TRACEBACK=1`` adds the traceback, which is for authors.
"""

from __future__ import annotations

import asyncio
import dataclasses
import importlib
import inspect
import json
import os
import sys
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

__all__ = ["cli"]

_SIGPIPE_STATUS = 141  # what a shell reports for a program that a closed pipe ended


def cli() -> None:
    """Run the skill that is named like this program, with the shell's arguments.

    Raises:
        RuntimeError: There is no module of exactly that name, or it has no callable
            ``run``, or ``tyro`` is missing.
        SystemExit: Status 2 for a usage error, 0 after ``--help``.
        Exception: Whatever the skill raises, unchanged.
    """
    # a console script is this process: what leaves here is shown by our hook
    sys.excepthook = _show_exception
    program = Path(sys.argv[0]).stem
    run = _find_run(_import_skill(program), program=program)
    arguments, keywords = _parse(run, program=program)
    _print_outcome(run(*arguments, **keywords))


def _import_skill(program: str) -> ModuleType:
    expected = (
        f"the command {program!r} has no skill: a script that points to rlm.skill:cli "
        "must be named like the module it runs, the skill's import name, with "
        "underscores for hyphens.\nFix: in [project.scripts] write "
        f'{program.replace("-", "_")} = "rlm.skill:cli" and keep the code in '
        f"src/{program.replace('-', '_')}/__init__.py"
    )
    if not program.isidentifier():
        raise RuntimeError(expected)
    try:
        return importlib.import_module(program)
    except ModuleNotFoundError as error:
        # a missing dependency of the skill is the skill's own error, not a wrong name
        if error.name != program:
            raise
        raise RuntimeError(expected) from error


def _find_run(module: ModuleType, *, program: str) -> Callable[..., Any]:
    run = getattr(module, "run", None)
    if callable(run):
        return run  # type: ignore[no-any-return]
    origin = getattr(module, "__file__", None) or "a namespace package"
    message = (
        f"the skill {program!r} ({origin}) has no function run, so it has no command "
        "line.\nFix: define run in it, or remove its line from [project.scripts]"
    )
    raise RuntimeError(message)


def _parse(
    run: Callable[..., Any], *, program: str
) -> tuple[list[Any], dict[str, Any]]:
    try:
        from rlm._arguments import parse  # noqa: PLC0415 - tyro is needed only here
    except ModuleNotFoundError as error:
        if error.name != "tyro":
            raise
        message = (
            f"the command {program!r} needs the package tyro, which this Python does "
            "not have.\nFix: install 'tyro>=0.9.1' beside the skill"
        )
        raise RuntimeError(message) from error
    return parse(run, program=program, argv=sys.argv[1:])


def _print_outcome(outcome: Any) -> None:
    """Print what ``run`` returned, whatever kind of function it is."""
    if isinstance(outcome, Awaitable):
        outcome = asyncio.run(_awaited(outcome))
    elif isinstance(outcome, AsyncIterator):
        asyncio.run(_print_items(outcome))
        return
    if isinstance(outcome, Iterator):
        for item in outcome:
            _print(item)
        return
    _print(outcome)


async def _awaited(outcome: Awaitable[Any]) -> Any:
    value = await outcome
    if isinstance(value, AsyncIterator):
        # it belongs to this loop, so it is printed before the loop ends
        await _print_items(value)
        return None
    return value


async def _print_items(items: AsyncIterator[Any]) -> None:
    async for item in items:
        _print(item)


def _print(value: Any) -> None:
    if value is None:
        return
    try:
        if isinstance(value, (bytes, bytearray)):
            sys.stdout.flush()
            sys.stdout.buffer.write(value)
        else:
            # a terminal that lacks a character shows its escape; nothing is lost
            encoding = sys.stdout.encoding or "utf-8"
            text = _as_text(value).encode(encoding, "backslashreplace")
            sys.stdout.write(text.decode(encoding) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # `word_count … | head -1`: the reader has what it wanted
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(_SIGPIPE_STATUS) from None


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    plain = (bool, int, float, list, tuple, dict, set, frozenset)
    if not isinstance(value, plain) and not _is_record(value):
        return str(value)
    try:
        return json.dumps(
            value, ensure_ascii=False, allow_nan=False, default=_json_default
        )
    except (TypeError, ValueError):  # NaN, keys that are no text, a cycle
        return str(value)


def _json_default(value: Any) -> Any:
    if _is_record(value):
        return dataclasses.asdict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)  # a set has no order, its output has one
    return str(value)


def _is_record(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not inspect.isclass(value)


def _show_exception(
    kind: type[BaseException],
    error: BaseException,
    trace: TracebackType | None,
) -> None:
    """Write an exception to stderr as a shell's user reads it."""
    if issubclass(kind, KeyboardInterrupt):
        return  # the status says it
    if os.environ.get("RLM_TRACEBACK", "0") not in {"", "0"}:
        traceback.print_exception(kind, error, trace)
        return
    sys.stderr.write(_summary(error))


def _summary(error: BaseException, indent: str = "") -> str:
    lines = "".join(traceback.format_exception_only(type(error), error)).splitlines()
    text = "".join(f"{indent}{line}\n" for line in lines)
    # of a group, the text alone would only say how many there are
    for part in getattr(error, "exceptions", ()):
        if isinstance(part, BaseException):
            text += _summary(part, indent + "  ")
    return text
