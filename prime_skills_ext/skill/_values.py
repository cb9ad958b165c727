"""From what a header holds to what a field means: words, lists, maps.

Each reader takes a value as ``frontmatter`` gives it (text, ``None``, lists, maps)
and returns the value of the field's type, or ``None`` when it has none. Judging
and reporting is ``validation``'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prime_skills_ext.skill.model import Requires
from prime_skills_ext.skill.text import folded, split_outside

__all__ = [
    "read_boolean",
    "read_hint",
    "read_items",
    "read_requires",
    "read_text",
    "read_words",
]

_BOOLEANS = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}


def read_boolean(value: object) -> bool | None:
    """Read ``yes no on off true false 1 0`` in any case; anything else is ``None``."""
    return _BOOLEANS.get(value.strip().lower()) if isinstance(value, str) else None


def read_text(value: object) -> str | None:
    """Read trimmed text; a list of texts is joined by commas, blank is ``None``."""
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, (list, tuple)):
        return ", ".join(_texts(value)) or None
    return None


def read_words(value: object) -> tuple[str, ...] | None:
    """Read names separated by blanks or commas, or a list of them, each once.

    What stands in parentheses stays together: ``Bash(git add *)`` is one.
    """
    return _read_list(value, separators=", \t\n")


def read_items(value: object) -> tuple[str, ...] | None:
    """Read items separated by commas or lines, or a list of them, each once."""
    return _read_list(value, separators=",\n")


def read_hint(value: object) -> str | None:
    """Read an argument hint; the list ``[a, b]`` is shown as ``[a] [b]``."""
    if isinstance(value, str):
        return folded(value) or None
    if isinstance(value, (list, tuple)):
        return " ".join(f"[{text}]" for text in _texts(value)) or None
    return None


def read_requires(value: object) -> Requires | None:
    """Read ``{env: …, bins: …}``; ``None`` if it is no such map."""
    if not isinstance(value, Mapping):
        return None
    return Requires(
        env=read_words(value.get("env")) or (),
        bins=read_words(value.get("bins")) or (),
    )


def _read_list(value: object, *, separators: str) -> tuple[str, ...] | None:
    if value is None:
        return ()
    if isinstance(value, str):
        found = split_outside(value, separators=separators)
    elif isinstance(value, (list, tuple)):
        found = tuple(
            part
            for text in _texts(value)
            for part in split_outside(text, separators=separators)
        )
    else:
        return None
    return tuple(dict.fromkeys(found))


def _texts(values: Iterable[object]) -> list[str]:
    """Return the texts in a list, nested ones too; ``a: b`` in it was one text."""
    texts: list[str] = []
    pending = [iter(values)]
    while pending:
        value = next(pending[-1], pending)
        if value is pending:
            pending.pop()
        elif isinstance(value, (list, tuple)):
            pending.append(iter(value))
        elif isinstance(value, Mapping):
            pending.append(
                iter(
                    [
                        f"{key}: {inner}" if isinstance(inner, str) else str(key)
                        for key, inner in value.items()
                    ]
                )
            )
        elif isinstance(value, str) and value.strip():
            texts.append(folded(value))
    return texts
