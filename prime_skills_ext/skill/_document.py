"""What a reader makes of a header's text, whichever reader it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, final

__all__ = ["NULLS", "Document", "Entry", "Problem"]

#: A plain scalar that is one of these is no value at all.
NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})


class Entry(NamedTuple):
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
