"""YAML to plain values without any type coercion, within bounds.

It owns PyYAML. Every scalar stays the text that was written (``1.10``, ``007``,
``on``); an empty value, ``~`` and ``null`` are ``None``; tags and merge keys mean
nothing. The values are built from the parser's events with a stack of our own:
no nesting can exhaust Python's, and aliases cannot grow without being counted.
Nothing here knows what a skill is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from prime_skills_ext.skill._document import NULLS, Document, Entry, Problem

__all__ = ["read"]

_LOADERS = (getattr(yaml, "CBaseLoader", yaml.BaseLoader), yaml.BaseLoader)
_MAX_DEPTH = 64
#: Characters plus nodes after aliases are written out; 64 KiB of plain text stay
#: below an eighth of it, so only aliases of aliases ever reach it.
_MAX_WEIGHT = 1 << 20
#: What escapes in double quotes may smuggle in and no terminal or file can hold.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]"
)
_NO_KEY: Any = object()


def read(text: str, *, pure: bool = False) -> Document | Problem:
    """Read one YAML document.

    Args:
        text: What to read; characters that YAML forbids must be gone.
        pure: Use the parser written in Python even if there is a faster one.
    """
    builder = _Builder()
    try:
        next_event = _LOADERS[pure](text).get_event
        while (event := next_event()) is not None:
            take = _TAKERS.get(type(event))
            if take is not None:
                take(builder, event)
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

    def start(self, event: Any) -> None:
        self._documents += 1
        if self._documents > 1:
            raise _RefusedError("a second document starts here", event)

    def scalar(self, event: Any) -> None:
        text: str = event.value
        value: str | None = text
        if text in NULLS and event.implicit[0]:
            value = None
        elif event.style == '"':
            value = _UNPRINTABLE.sub("", text)
        weight = 1 + len(text)
        if event.anchor:
            self._anchors[event.anchor] = (value, weight)
        if value is None and self._stack:
            frame = self._stack[-1]
            # a key is always text: `~: x` is written with the key `~`
            if frame.key is _NO_KEY and isinstance(frame.value, dict):
                value = text
        self._add(value, weight, event)

    def open(self, event: Any) -> None:
        if len(self._stack) >= _MAX_DEPTH:
            raise _RefusedError(
                f"nested deeper than {_MAX_DEPTH} levels", event, is_bound=True
            )
        value: list[object] | dict[str, object]
        value = {} if isinstance(event, yaml.MappingStartEvent) else []
        self._stack.append(_Frame(value, event))

    def close(self, _: Any) -> None:
        frame = self._stack.pop()
        if frame.start.anchor:
            self._anchors[frame.start.anchor] = (frame.value, frame.weight)
        self._add(frame.value, frame.weight, frame.start)

    def alias(self, event: Any) -> None:
        # an anchor is known once its value is complete: nothing contains itself
        if event.anchor not in self._anchors:
            raise _RefusedError(f"nothing is called &{event.anchor}", event)
        value, weight = self._anchors[event.anchor]
        self._add(value, weight, event)

    # positional from here on: this runs for every word of every header
    def _add(self, value: object, weight: int, event: Any) -> None:
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
            end = event.end_mark
            self.entries[key] = Entry(
                frame.key_line,
                isinstance(event, yaml.ScalarEvent) and event.implicit[0],
                isinstance(value, (dict, list)),
                end.line,
                end.column,
            )


#: What each event does to the value; the others say nothing.
_TAKERS: Final[Mapping[type, Callable[[_Builder, Any], None]]] = {
    yaml.ScalarEvent: _Builder.scalar,
    yaml.MappingStartEvent: _Builder.open,
    yaml.SequenceStartEvent: _Builder.open,
    yaml.MappingEndEvent: _Builder.close,
    yaml.SequenceEndEvent: _Builder.close,
    yaml.AliasEvent: _Builder.alias,
    yaml.DocumentStartEvent: _Builder.start,
}
