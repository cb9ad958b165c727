"""Pure: what uv's words say about a batch that failed.

uv has no machine-readable errors; its sentences are read here and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from packaging.utils import canonicalize_name

__all__ = ["blamed", "is_network", "mentions", "missing_backend", "summary"]

_NAME = r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)"
_BLAMES = (
    re.compile(rf"Failed to [^`\n]*`{_NAME}(?: @ |==|`)"),
    re.compile(rf"because `{_NAME}` \([^)]*\) depends on"),
    re.compile(rf"{_NAME}(?:==[^\s,]+)? depends on"),
    re.compile(rf"all versions of {_NAME}"),
    re.compile(rf"{_NAME}(?:==[^\s,]+)? cannot be used"),
    re.compile(rf"only {_NAME}==[^\s,]+ is available"),
)
_NETWORK = re.compile(
    r"the network was disabled|Failed to fetch|error sending request|dns error"
    r"|tcp connect error|Connection refused|Request failed after|timed out"
    r"|operation timed out|did not end within|could not be started",
    re.IGNORECASE,
)
_BACKEND = re.compile(
    r"requirements from `build-system\.requires` cause: No solution found when "
    r"resolving: ((?:`[^`]+`(?:, )?)+)"
)
_QUOTED = re.compile(r"`([^`]+)`")
#: Where a folder lies is not the same on every machine, and its name is enough.
_PLACE = re.compile(r" @ file://[^`\s]+")
_LEAD = re.compile(r"^\s*(?:error|cause)\s*:?\s*")


def blamed(words: str, *, names: Collection[str]) -> tuple[str, ...]:
    """Which of ``names`` (canonical) uv holds responsible, first named first."""
    text = " ".join(words.split())
    hits: list[tuple[int, str]] = []
    for pattern in _BLAMES:
        for match in pattern.finditer(text):
            name = canonicalize_name(match[1])
            if name in names:
                hits.append((match.start(), name))
    return tuple(dict.fromkeys(name for _, name in sorted(hits)))


def mentions(words: str, *, pins: Iterable[str]) -> bool:
    """Whether one of the exact ``pins`` (``name==version``) stands in the way."""
    text = " ".join(words.split())
    return any(
        re.search(rf"(?<![\w.-]){re.escape(pin)}(?![\w.]*\w)", text) for pin in pins
    )


def missing_backend(words: str) -> str | None:
    """What building requires and uv could not get, as it was asked for, if so."""
    found = _BACKEND.search(" ".join(words.split()))
    return ", ".join(_QUOTED.findall(found[1])) if found else None


def is_network(words: str) -> bool:
    """Whether it failed because something could not be fetched or uv did not run."""
    return _NETWORK.search(words) is not None


def summary(words: str) -> str:
    """One sentence out of uv's output: the innermost cause that it states first."""
    lines = [line for line in _PLACE.sub("", words).splitlines() if line.strip()]
    start = next((i for i, line in enumerate(lines) if _LEAD.match(line)), None)
    if start is None:
        return lines[-1].strip() if lines else "uv gave no reason"
    causes = [i for i in range(start, len(lines)) if "cause:" in lines[i]]
    first = causes[0] if causes else start
    sentence = [_LEAD.sub("", lines[first])]
    for line in lines[first + 1 :]:
        if not line.startswith("  ") or "cause:" in line:
            break
        if line.strip().startswith(("[", "And because")):
            break
        sentence.append(line)
    headline = _LEAD.sub("", lines[start]).strip()
    told = " ".join(" ".join(sentence).split())
    if told.startswith("Because "):  # uv's conclusion adds nothing to its premises
        return told.removeprefix("Because ").partition(", we can conclude")[0]
    return told if told.startswith(headline) else f"{headline}: {told}"
