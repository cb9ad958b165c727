"""What hooks are told and say, as text: JSON in, legible lines out. Pure.

Arguments and results are objects of any class. None of them breaks a use by how it is
written, and what a hook writes is shown to people and models.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Final

from prime_skills_ext.prompt.cleaning import clean
from prime_skills_ext.skill.text import cut_at_word

__all__ = ["MAX_CHARS", "as_json", "error_text", "legible"]

MAX_CHARS: Final = 2_000
"""How much is shown of what a hook says."""

#: Levels of lists and objects; below them everything is its ``repr``.
_MAX_DEPTH: Final = 50


def as_json(told: Mapping[str, object]) -> str:
    """Write an object as JSON; what JSON cannot hold is told as its ``repr``."""
    try:
        return json.dumps(told, allow_nan=False, default=_as_text)
    except Exception:  # noqa: BLE001  # objects of any class
        # keys of any type, numbers that are none, what contains itself
        return json.dumps(_plain(told, around=()))


def error_text(error: BaseException) -> str:
    """Return the kind of an error and what it says."""
    try:
        said = str(error)
    except Exception:  # noqa: BLE001  # an error of any class
        said = _as_text(error)
    return f"{type(error).__name__}: {said}"


def legible(text: str) -> str:
    """Return what a hook said without what nobody sees, and not at any length."""
    # four times, since what nobody sees does not count
    lines = text[: 4 * MAX_CHARS].splitlines()
    return cut_at_word("\n".join(map(clean, lines)).strip(), limit=MAX_CHARS)


def _plain(value: object, *, around: tuple[int, ...]) -> object:
    """Return a value of the types of JSON; ``around`` are what it is in."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else _as_text(value)
    try:
        if isinstance(value, int):
            json.dumps(value)  # a number of any length is no text
            return value
        if id(value) not in around and len(around) < _MAX_DEPTH:
            inside = (*around, id(value))
            if isinstance(value, Mapping):
                return {
                    key if isinstance(key, str) else _as_text(key): _plain(
                        item, around=inside
                    )
                    for key, item in value.items()
                }
            if isinstance(value, (list, tuple)):
                return [_plain(item, around=inside) for item in value]
    except Exception:  # noqa: BLE001, S110  # containers of any class
        pass
    return _as_text(value)


def _as_text(value: object) -> str:
    try:
        return repr(value)
    except Exception:  # noqa: BLE001  # an object of any class
        return object.__repr__(value)
