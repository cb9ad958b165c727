"""The text of a settings file: one entry in, one entry out, all else untouched.

Pure. The file's own indentation, order, spacing and line ends are kept, and taking
an entry out again gives back the very text that it was put into.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, final

__all__ = ["NoListError", "switch_on", "with_entry", "without_entries"]

# a byte order mark stands before the first bracket and stays there
_SPACE = re.compile(r"[\ufeff \t\n\r]*")
_DECODER: Final = json.JSONDecoder()
_LIST: Final = "skills"
_LEGACY_LIST: Final = "customDirectories"


class NoListError(ValueError):
    """``skills`` is there and no list: nothing can be added to it."""


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class _Member:
    """A member of an object, or an element of a list (then ``key`` is empty)."""

    key: str
    value: object
    start: int
    value_start: int
    end: int


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class _Group:
    """An object or a list: where its bracket opens, and what is in it."""

    start: int
    members: tuple[_Member, ...]

    def last(self, key: str) -> _Member | None:
        """Return the member that counts: of two with one key, JSON takes the last."""
        return next((it for it in reversed(self.members) if it.key == key), None)


def with_entry(text: str | None, entry: str) -> str:
    """Put an entry at the end of the ``skills`` list.

    Args:
        text: Valid JSON whose value is an object; ``None`` where there is no file.
        entry: What to add.

    Raises:
        NoListError: ``skills`` has another type.
    """
    if text is None:
        return _fresh(entry)
    quoted = _quoted(entry)
    group, key, depth = _holder(text)
    member = group.last(key)
    if member is None:
        return _with_member(text, group, key=key, quoted=quoted, depth=depth)
    if not isinstance(member.value, list):
        raise NoListError
    elements = _elements(text, member.value_start).members
    if not elements:
        at = member.value_start + 1
        return f"{text[:at]}{quoted}{text[at:]}"
    at = elements[-1].end
    if len(elements) > 1:
        separator = text[elements[-2].end : elements[-1].start]
    else:
        before = text[member.value_start + 1 : elements[0].start]
        separator = f",{before}" if "\n" in before else ", "
    return f"{text[:at]}{separator}{quoted}{text[at:]}"


def without_entries(text: str, *, is_meant: Callable[[str], bool]) -> str | None:
    """Take entries out of the ``skills`` list.

    Args:
        text: Valid JSON whose value is an object.
        is_meant: Says which entries go.

    Returns:
        The text without them, as it was before ``with_entry``; ``None`` when the file
        itself was made for the entry.
    """
    while True:
        group, key, _ = _holder(text)
        member = group.last(key)
        if member is None or not isinstance(member.value, list):
            return text
        elements = _elements(text, member.value_start).members
        meant = [
            index
            for index, element in enumerate(elements)
            if isinstance(element.value, str) and is_meant(element.value)
        ]
        if not meant:
            return text
        shorter = _without(text, group, member, elements, index=meant[-1])
        if shorter is None:
            return None
        text = shorter


def switch_on(text: str, path: tuple[str, str]) -> str:
    """Replace ``false`` by ``true`` where it stands under two keys."""
    outer = _members(text, _skip(text, 0)).last(path[0])
    if outer is None or not isinstance(outer.value, dict):
        return text
    inner = _members(text, outer.value_start).last(path[1])
    if inner is None or inner.value is not False:
        return text
    return f"{text[: inner.value_start]}true{text[inner.end :]}"


def _without(
    text: str,
    group: _Group,
    member: _Member,
    elements: Sequence[_Member],
    *,
    index: int,
) -> str | None:
    element = elements[index]
    if index > 0:
        return text[: elements[index - 1].end] + text[element.end :]
    if len(elements) > 1:
        return text[: element.start] + text[elements[1].start :]
    entry = str(element.value)
    if text == _fresh(entry):
        return None
    emptied = text[: element.start] + text[element.end :]
    others = group.members[:-1]
    if group.members[-1] is not member or any(it.key == member.key for it in others):
        return emptied
    # the list may have been made for the entry: what would make it again tells
    start = others[-1].end if others else group.start + 1
    shorter = text[:start] + text[member.end :]
    return shorter if with_entry(shorter, entry) == text else emptied


def _holder(text: str) -> tuple[_Group, str, int]:
    """Return the object that holds the list, the list's key in it, and its depth."""
    top = _members(text, _skip(text, 0))
    member = top.last(_LIST)
    if member is not None and isinstance(member.value, dict):
        # the older form, in which the list is a member of an object
        return _members(text, member.value_start), _LEGACY_LIST, 2
    return top, _LIST, 1


def _with_member(text: str, group: _Group, *, key: str, quoted: str, depth: int) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    if group.members:
        before = text[group.start + 1 : group.members[0].start]
        at = group.members[-1].end
    else:
        at = group.start + 1
        before = text[at : _skip(text, at)]
        if "\n" in before:
            # not the indentation of a file that we make: that one goes again
            before = newline + " " * 4 * depth
    comma = "," if group.members else ""
    if "\n" in before:
        indent = before.rpartition("\n")[2]
        unit = indent[: max(1, len(indent) // depth)] if indent else "  "
        inner = f"{newline}{indent}{unit}{quoted}{newline}{indent}"
        made = f'{comma}{newline}{indent}"{key}": [{inner}]'
    else:
        gap = " " if comma else ""
        # the spaces tell this list from an empty one that was there before
        made = f'{comma}{gap}"{key}": [ {quoted} ]'
    return f"{text[:at]}{made}{text[at:]}"


def _fresh(entry: str) -> str:
    return f'{{\n  "{_LIST}": [\n    {_quoted(entry)}\n  ]\n}}\n'


def _quoted(entry: str) -> str:
    # a folder's name that is no UTF-8 must not spoil the file's encoding
    is_text = entry.isascii() or not any("\ud800" <= it <= "\udfff" for it in entry)
    return json.dumps(entry, ensure_ascii=not is_text)


def _members(text: str, start: int) -> _Group:
    """Read the object that opens at ``start`` of valid JSON."""
    return _read(text, start, keyed=True)


def _elements(text: str, start: int) -> _Group:
    """Read the list that opens at ``start`` of valid JSON."""
    return _read(text, start, keyed=False)


def _read(text: str, start: int, *, keyed: bool) -> _Group:
    members: list[_Member] = []
    at = _skip(text, start + 1)
    while text[at] not in "}]":
        begin, key = at, ""
        if keyed:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        value, end = _DECODER.raw_decode(text, at)
        members.append(
            _Member(key=key, value=value, start=begin, value_start=at, end=end)
        )
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return _Group(start=start, members=tuple(members))


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return at if match is None else match.end()
