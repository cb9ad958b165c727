"""Pure: what uv's words say about a batch that failed.

uv has no machine-readable errors; its sentences are read here and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from itertools import pairwise

from packaging.utils import canonicalize_name

from prime_skills_ext.errors import ProcessError

__all__ = [
    "blamed",
    "clash",
    "did_not_run",
    "excerpt",
    "is_network",
    "mentions",
    "missing_backend",
    "shortened",
    "summary",
]

EXCERPT_LINES = 20
"""How many lines of a failure are told where the whole of it is not asked for."""


#: Only whole words are tried: uv also repeats what compilers say, in any length.
_NAME = r"(?<![A-Za-z0-9._-])([A-Za-z0-9](?:[A-Za-z0-9._-]{0,200}[A-Za-z0-9])?)"
_BLAMES = (
    re.compile(rf"Failed to [^`\n]{{0,200}}`{_NAME}(?: @ |==|`)"),
    re.compile(rf"because `{_NAME}` \([^)]{{0,200}}\) depends on"),
    re.compile(rf"{_NAME}(?:==[^\s,]+)? depends on"),
    re.compile(rf"all versions of {_NAME}"),
    re.compile(rf"{_NAME}(?:==[^\s,]+)? cannot be used"),
    re.compile(rf"only {_NAME}==[^\s,]+ is available"),
)
_CLAUSE = re.compile(
    rf"{_NAME}(?:==[^\s,]+)? depends? on ({_NAME}[^\s,]*(?:,[<>=!~][^\s,]*)*)"
)
_NETWORK = re.compile(
    r"the network was disabled|network connectivity is disabled|Failed to fetch"
    r"|error sending request|dns error|tcp connect error|Connection refused"
    r"|Request failed after|timed out|operation timed out",
    re.IGNORECASE,
)
_BACKEND = re.compile(
    r"requirements from `build-system\.requires` cause: No solution found when "
    r"resolving: ((?:`[^`]+`(?:, )?)+)"
)
_QUOTED = re.compile(r"`([^`]+)`")
#: ``process`` words it so.
_NOT_RUN = re.compile(r" (?:did not end within|said nothing for|could not be started)")
#: What uv was doing; the reason is what it states next.
_WRAPPERS = (
    "Couldn't parse metadata of",
    "Failed to resolve requirements from",
    "Git operation failed",
    "failed to fetch into",
    "No solution found when resolving",
)
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
        pin in text and re.search(rf"(?<![\w.-]){re.escape(pin)}(?![\w.]*\w)", text)
        for pin in pins
    )


def missing_backend(words: str) -> str | None:
    """What building requires and uv could not get, as it was asked for, if so."""
    found = _BACKEND.search(" ".join(words.split()))
    return ", ".join(_QUOTED.findall(found[1])) if found else None


def clash(words: str, *, name: str) -> tuple[str, str] | None:
    """Which requirement of ``name`` contradicts whose, if uv says that.

    Returns:
        A sentence, and the other's name.
    """
    clauses = (
        (canonicalize_name(match[1]), match[2].rstrip("."), canonicalize_name(match[3]))
        for match in _CLAUSE.finditer(" ".join(words.split()))
    )
    # of those that are repeated the last time counts
    found = [*dict.fromkeys(reversed([*clauses]))][::-1]
    # the last is the one that uv concluded, whatever led to it
    for _, own, wanted in reversed([clause for clause in found if clause[0] == name]):
        for other, theirs, rival in found:
            if rival == wanted and other != name and theirs != own:
                return f"{name} needs {own}, and {other} needs {theirs}", other
    return None


def is_network(words: str) -> bool:
    """Whether it failed because something could not be fetched."""
    return _NETWORK.search(words) is not None


def did_not_run(words: str) -> bool:
    """Whether uv did not start or did not end by itself."""
    return _NOT_RUN.search(words) is not None


def excerpt(words: str) -> str:
    """The last lines of uv's output, from its error on: no times, no progress."""
    lines = words.splitlines()
    start = next((i for i, line in enumerate(lines) if _LEAD.match(line)), 0)
    return "\n".join(lines[start:][-EXCERPT_LINES:]).rstrip()


def shortened(error: ProcessError) -> str:
    """What happened to uv, without its arguments: names of drafts differ each time."""
    what = error.message.partition("\n")[0]
    return what.replace(" ".join(error.argv), error.argv[0]).rstrip(":")


def summary(words: str) -> str:
    """One sentence out of uv's output: the first cause that says more than *where*."""
    lines = _sentences(words)
    start = next((i for i, line in enumerate(lines) if _LEAD.match(line)), None)
    if start is None:
        return lines[-1].strip() if lines else "uv gave no reason"
    causes = [i for i in range(start, len(lines)) if "cause:" in lines[i]] or [start]
    telling = [i for i in causes if not _is_wrapper(lines[i])]
    first = (telling or causes)[0]
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
        told = told.removeprefix("Because ").partition(", we can conclude")[0]
        headline = "" if headline.startswith("No solution found") else headline
    return told if told.startswith(headline) else f"{headline}: {told}"


def _sentences(words: str) -> list[str]:
    """The lines that say something: not the place, nor a source underlined with ^."""
    lines = [line for line in _PLACE.sub("", words).splitlines() if line.strip()]
    return [
        line
        for line, after in pairwise([*lines, ""])
        if {"^"} not in (set(line.strip()), set(after.strip()))
    ]


def _is_wrapper(line: str) -> bool:
    return _LEAD.sub("", line).startswith(_WRAPPERS)
