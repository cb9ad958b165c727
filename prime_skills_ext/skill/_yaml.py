"""YAML to plain values without any type coercion, within bounds.

It owns PyYAML. Every scalar stays the text that was written (``1.10``, ``007``,
``on``); an empty value, ``~`` and ``null`` are ``None``; tags and merge keys mean
nothing. The values are built from the parser's events with a stack of our own:
no nesting can exhaust Python's, and aliases cannot grow without being counted.
Nothing here knows what a skill is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

import yaml

__all__ = ["Document", "Entry", "Problem", "read"]

_LOADERS = (getattr(yaml, "CBaseLoader", yaml.BaseLoader), yaml.BaseLoader)
_MAX_DEPTH = 64
#: Characters plus nodes after aliases are written out; 64 KiB of plain text stay
#: below an eighth of it, so only aliases of aliases ever reach it.
_MAX_WEIGHT = 1 << 20
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
#: What escapes in double quotes may smuggle in and no terminal or file can hold.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]"
)
_NO_KEY: Any = object()


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """Where a field of the top-level mapping stands; lines and columns from 0.

    Attributes:
        line: Line of its key.
        plain: Its value is a scalar without quotes or block indicator.
        collection: Its value is a list or a mapping.
        end_line: Line in which a plain value ends.
        end_column: Column behind its last character.
    """

    line: int
    plain: bool
    collection: bool
    end_line: int
    end_column: int


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """What was read.

    Attributes:
        value: ``dict``, ``list``, ``str`` or ``None``.
        entries: For each key of a top-level mapping, where it stands.
        duplicates: Keys written twice in one mapping with the line of the
            later one, which is the one that counts.
    """

    value: object
    entries: Mapping[str, Entry]
    duplicates: tuple[tuple[str, int], ...]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """Why a text could not be read.

    Attributes:
        reason: In the parser's words or ours.
        line: From 0.
        column: From 0.
        is_bound: It may be valid, but is more than we are willing to read.
    """

    reason: str
    line: int = 0
    column: int = 0
    is_bound: bool = False


def read(text: str, *, pure: bool = False) -> Document | Problem:
    """Read one YAML document.

    Args:
        text: What to read; characters that YAML forbids must be gone.
        pure: Use the parser written in Python even if there is a faster one.
    """
    builder = _Builder()
    try:
        loader = _LOADERS[pure](text)
        while (event := loader.get_event()) is not None:
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = error.problem or error.context or "not valid YAML"
        line, column = (mark.line, mark.column) if mark else (0, 0)
        return Problem(reason=reason, line=line, column=column)
    except _RefusedError as error:
        return error.problem
    # ValueError: numbers in escapes and directives that are out of range
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        return Problem(reason=str(error).partition("\n")[0] or "not valid YAML")
    return Document(
        value=builder.root,
        entries=builder.entries,
        duplicates=tuple(builder.duplicates),
    )


class _RefusedError(Exception):
    """Valid YAML that we will not read."""

    def __init__(self, reason: str, event: Any, *, is_bound: bool = False) -> None:
        super().__init__(reason)
        mark = event.start_mark
        self.problem = Problem(
            reason=reason, line=mark.line, column=mark.column, is_bound=is_bound
        )


@dataclass(slots=True)
class _Frame:
    """A list or mapping that is not finished yet."""

    value: list[object] | dict[str, object]
    start: Any
    weight: int = 1
    key: Any = _NO_KEY
    key_line: int = 0


@dataclass(slots=True)
class _Builder:
    """Turns events into one value."""

    root: object = None
    entries: dict[str, Entry] = field(default_factory=dict)
    duplicates: list[tuple[str, int]] = field(default_factory=list)
    _stack: list[_Frame] = field(default_factory=list)
    _anchors: dict[str, tuple[object, int]] = field(default_factory=dict)
    _documents: int = 0

    def take(self, event: Any) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            self._open(event)
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            self._close()
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise _RefusedError("a second document starts here", event)

    def _scalar(self, event: Any) -> None:
        value: str | None = event.value
        if event.implicit[0] and value in _NULLS:
            value = None
        elif event.style == '"':
            value = _UNPRINTABLE.sub("", event.value)
        weight = 1 + len(event.value)
        if event.anchor:
            self._anchors[event.anchor] = (value, weight)
        # a key is always text: `~: x` is written with the key `~`
        waits_for_key = self._stack and self._stack[-1].key is _NO_KEY
        if waits_for_key and isinstance(self._stack[-1].value, dict):
            value = event.value if value is None else value
        self._add(value, weight=weight, event=event)

    def _open(self, event: Any) -> None:
        if len(self._stack) >= _MAX_DEPTH:
            raise _RefusedError(
                f"nested deeper than {_MAX_DEPTH} levels", event, is_bound=True
            )
        value: list[object] | dict[str, object]
        value = {} if isinstance(event, yaml.MappingStartEvent) else []
        self._stack.append(_Frame(value=value, start=event))

    def _close(self) -> None:
        frame = self._stack.pop()
        if frame.start.anchor:
            self._anchors[frame.start.anchor] = (frame.value, frame.weight)
        self._add(frame.value, weight=frame.weight, event=frame.start)

    def _alias(self, event: Any) -> None:
        # an anchor is known once its value is complete: nothing contains itself
        if event.anchor not in self._anchors:
            raise _RefusedError(f"nothing is called &{event.anchor}", event)
        value, weight = self._anchors[event.anchor]
        self._add(value, weight=weight, event=event)

    def _add(self, value: object, *, weight: int, event: Any) -> None:
        if not self._stack:
            self.root = value
            return
        frame = self._stack[-1]
        frame.weight += weight
        if frame.weight > _MAX_WEIGHT:
            raise _RefusedError("aliases make it too large", event, is_bound=True)
        if isinstance(frame.value, list):
            frame.value.append(value)
        elif frame.key is _NO_KEY:
            if not isinstance(value, str):
                raise _RefusedError("a key is not plain text", event)
            frame.key = value
            frame.key_line = event.start_mark.line
        else:
            self._pair(frame, value, event)

    def _pair(self, frame: _Frame, value: object, event: Any) -> None:
        key = frame.key
        frame.key = _NO_KEY
        values: Any = frame.value
        if key in values:
            self.duplicates.append((key, frame.key_line))
        values[key] = value
        if len(self._stack) == 1:
            self.entries[key] = Entry(
                line=frame.key_line,
                plain=isinstance(event, yaml.ScalarEvent) and event.implicit[0],
                collection=isinstance(value, (dict, list)),
                end_line=event.end_mark.line,
                end_column=event.end_mark.column,
            )
