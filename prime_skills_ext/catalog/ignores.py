"""Ignore files with git's own semantics, one entry at a time.

``pathspec`` translates the globs. Everything around them is git's documented rule:
the last match of the nearest file decides, patterns without a slash match names,
others match from the file's folder on, and nothing inside an ignored folder comes
back.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple, final

from prime_skills_ext.catalog.reading import read_file

__all__ = [
    "IGNORE_FILES",
    "IgnoreFile",
    "IgnoreRule",
    "IgnoreRules",
    "find_rule",
    "read_rules",
]

#: Later ones win over earlier ones of the same folder, as in ripgrep and fd.
IGNORE_FILES: Final = (".gitignore", ".ignore", ".fdignore")

_IGNORE_FILES: Final = frozenset(IGNORE_FILES)
_MAX_BYTES: Final = 1 << 20


@final
class IgnoreRule(NamedTuple):
    """One line of an ignore file.

    Attributes:
        file: Path of the ignore file.
        line: 1-based line.
        text: The pattern as written.
        expression: What it matches.
        negated: It brings back what an earlier line ignores.
        folders_only: It ends with a slash.
        anchored: It is matched against the path below the file's folder, not
            against the name alone.
    """

    file: str
    line: int
    text: str
    expression: re.Pattern[str]
    negated: bool
    folders_only: bool
    anchored: bool

    def matches(self, inside: str, *, name: str, is_folder: bool) -> bool:
        """Say whether this line speaks of the entry itself, not of its parents."""
        if self.folders_only and not is_folder:
            return False
        match = self.expression.match(inside if self.anchored else name)
        # "ps_d" is set when the pattern ended at a folder above the entry
        return match is not None and match.groupdict().get("ps_d") is None


@final
class IgnoreFile(NamedTuple):
    """The rules of one ignore file, those that decide first in front."""

    folder: str
    rules: tuple[IgnoreRule, ...]


#: The files that speak of a folder's entries, nearest first.
IgnoreRules = tuple[IgnoreFile, ...]


def read_rules(
    folder: str, *, names: Collection[str], above: IgnoreRules
) -> tuple[IgnoreRules, tuple[tuple[str, OSError], ...]]:
    """Read the ignore files among a folder's ``names``.

    Returns:
        All rules that hold in the folder, and the files that cannot be read.
    """
    # most folders have none, and every folder is asked
    if _IGNORE_FILES.isdisjoint(names):
        return above, ()
    files: list[IgnoreFile] = []
    unreadable: list[tuple[str, OSError]] = []
    for name in IGNORE_FILES:
        if name not in names:
            continue
        path = os.path.join(folder, name)  # noqa: PTH118 - the walk's inner loop
        try:
            data = read_file(path, limit=_MAX_BYTES)
        except OSError as error:
            unreadable.append((path, error))
            continue
        rules = tuple(_parse(data, file=path))
        files.insert(0, IgnoreFile(folder=folder, rules=rules[::-1]))
    return (*files, *above), tuple(unreadable)


def find_rule(
    rules: IgnoreRules, *, path: str, name: str, is_folder: bool
) -> IgnoreRule | None:
    """Return the line that ignores an entry, ``None`` if none does."""
    for file in rules:
        inside = path[len(file.folder) :].lstrip(os.sep).replace(os.sep, "/")
        for rule in file.rules:
            if rule.matches(inside, name=name, is_folder=is_folder):
                return None if rule.negated else rule
    return None


def _parse(data: bytes, *, file: str) -> Iterator[IgnoreRule]:
    # the import costs more than a walk, and most folders have no ignore file
    from pathspec import GitIgnoreSpec  # noqa: PLC0415

    text = data.decode("utf-8-sig", "surrogateescape")
    for number, written in enumerate(text.split("\n"), start=1):
        line = _trimmed(written.removesuffix("\r"))
        if not line or line.startswith("#"):
            continue
        negated = line.startswith("!")
        glob = line[negated:]
        folders_only = glob.endswith("/")
        glob = glob.removesuffix("/")
        if not glob.strip("/"):
            continue
        # a name alone never needs the anchor, and "\!" and "\#" stay literal
        try:
            (pattern,) = GitIgnoreSpec.from_lines([glob]).patterns
        except ValueError:
            # git, too, lets a line that is no pattern match nothing
            continue
        expression = getattr(pattern, "regex", None)
        if isinstance(expression, re.Pattern):
            yield IgnoreRule(
                file=file,
                line=number,
                text=line,
                expression=expression,
                negated=negated,
                folders_only=folders_only,
                anchored="/" in glob,
            )


def _trimmed(line: str) -> str:
    """Drop trailing spaces, but for one that a backslash protects."""
    bare = line.rstrip(" \t")
    backslashes = len(bare) - len(bare.rstrip("\\"))
    return bare + line[len(bare) : len(bare) + 1] if backslashes % 2 else bare
