"""The one walker: which files in a source may be skills.

Looks at names and types of entries, and reads ignore files. What a file says is the
loader's business; the walker only hears whether it became a skill. Each real directory
is searched once, bounds are kept, and one bad entry is one diagnostic.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, final

from prime_skills_ext.catalog._entries import (
    holds_skill,
    is_file_entry,
    is_folder_entry,
    real_entry,
    skill_file_among,
)
from prime_skills_ext.catalog.ignores import (
    IgnoreRule,
    IgnoreRules,
    find_rule,
    read_rules,
)
from prime_skills_ext.catalog.looking import real_path
from prime_skills_ext.catalog.reading import explain
from prime_skills_ext.catalog.sources import Source
from prime_skills_ext.later import later
from prime_skills_ext.skill.model import Diagnostic, Severity
from prime_skills_ext.skill.names import SKILL_FILE, is_skill_file

if TYPE_CHECKING:
    from prime_skills_ext.skill import text
else:
    text = later("prime_skills_ext.skill.text")  # only what is odd is told

__all__ = ["MAX_DEPTH", "MAX_DIRECTORIES", "PRUNED", "Found", "walk"]

#: Folders deeper than this below the start of a walk are not searched.
MAX_DEPTH: Final = 6
#: Folders searched per source; a skill's own folder is found, not searched.
MAX_DIRECTORIES: Final = 2000

#: Folders that hold nobody's skills.
PRUNED: Final = frozenset({"node_modules", "venv", "__pycache__"})


class Found(NamedTuple):
    """A regular file that may be a skill.

    Attributes:
        path: As reached from the source.
        identity: Its real path.
        loose: A lone ``.md`` file, not a folder's ``SKILL.md``.
        named: The user named this very file.
        has_project: A ``pyproject.toml`` lies beside it.
        hidden_by: The line of an ignore file that hides it, if one does.
    """

    path: str
    identity: str
    loose: bool = False
    named: bool = False
    has_project: bool = False
    hidden_by: IgnoreRule | None = None


class _Folder(NamedTuple):
    path: str
    real: str
    depth: int
    rules: IgnoreRules = ()
    hidden_by: IgnoreRule | None = None


def walk(
    source: Source,
    *,
    take: Callable[[Found], bool],
    report: Callable[[Diagnostic], None],
) -> None:
    """Find the files of one source that may be skills.

    Args:
        source: Where to look.
        take: Called with each file; says whether it is a skill.
        report: Called with what somebody should know.
    """
    if source.file is not None:
        path = str(source.file)
        take(Found(path=path, identity=real_path(path), loose=True, named=True))
        return
    _Walk(source, take=take, report=report).run()


@final
class _Walk:
    """One walk: what is still to be searched and what was."""

    def __init__(
        self,
        source: Source,
        *,
        take: Callable[[Found], bool],
        report: Callable[[Diagnostic], None],
    ) -> None:
        self._source = source
        self._take = take
        self._report = report
        self._searched = 0
        self._seen: set[str] = set()
        self._too_deep = False
        self._loops = False
        self._quiet = False
        # what lies near the start comes before what lies deep, so that no large tree
        # takes a skill's turn; links wait until the real folders are done, so that a
        # skill is known by its real place; hidden folders come last
        self._plain: deque[_Folder] = deque()
        self._links: deque[_Folder] = deque()
        self._hidden: deque[_Folder] = deque()
        self._linked_files: list[Found] = []

    def run(self) -> None:
        start = str(self._source.directory)
        try:
            is_folder = stat.S_ISDIR(self._source.directory.stat().st_mode)
        except OSError as error:
            if os.path.lexists(start):
                self._tell("unreadable", start, explain(error))
            return
        if not is_folder:
            self._tell("not-a-folder", start, "it is not a folder")
            return
        self._plain.append(_Folder(path=start, real=real_path(start), depth=0))
        while (folder := self._next()) is not None:
            if folder.real in self._seen:
                continue
            if self._searched >= MAX_DIRECTORIES:
                self._stop(folder)
                break
            self._seen.add(folder.real)
            # what an ignore file hides is nobody's fault
            self._quiet = folder.hidden_by is not None
            self._visit(folder)
        for found in self._linked_files:
            self._take(found)

    def _next(self) -> _Folder | None:
        for waiting in (self._plain, self._links, self._hidden):
            if waiting:
                return waiting.popleft()
        return None

    def _visit(self, folder: _Folder) -> None:
        try:
            with os.scandir(folder.path) as entries:
                by_name = {entry.name: entry for entry in entries}
        except OSError as error:
            self._tell("unreadable", folder.path, explain(error))
            return
        rules, unreadable = read_rules(
            folder.path, names=by_name.keys(), above=folder.rules
        )
        for path, why in unreadable:
            self._tell("unreadable", path, explain(why))
        skill_file = skill_file_among(by_name)
        is_start = folder.depth == 0
        if skill_file is not None and self._is_skill(
            folder, by_name[skill_file], rules=rules, names=by_name
        ):
            if is_start:
                self._explain_siblings(by_name, path=folder.path)
            return
        if skill_file is not None and not is_start:
            # broken or hidden, it is still somebody's skill: what lies deeper is its
            return
        self._searched += 1
        self._search(folder, by_name, rules=rules)

    def _search(
        self,
        folder: _Folder,
        by_name: Mapping[str, os.DirEntry[str]],
        *,
        rules: IgnoreRules,
    ) -> None:
        loose = self._source.loose_files and folder.depth == 0
        for name in sorted(by_name):
            if name[0] == "." or name in PRUNED or is_skill_file(name):
                continue
            entry = by_name[name]
            if is_folder_entry(entry):
                self._queue(folder, entry, rules=rules)
            elif is_file_entry(entry):
                if loose and name.casefold().endswith(".md"):
                    self._offer(folder, entry, rules=rules, loose=True)
            elif entry.is_symlink() and ("." not in name or loose):
                self._dangling(entry)

    def _queue(
        self, folder: _Folder, entry: os.DirEntry[str], *, rules: IgnoreRules
    ) -> None:
        hidden_by = folder.hidden_by or find_rule(
            rules, path=entry.path, name=entry.name, is_folder=True
        )
        if folder.depth == MAX_DEPTH:
            if hidden_by is None:
                self._explain_depth(entry.path)
            return
        child = _Folder(
            path=entry.path,
            real=real_entry(entry, folder=folder.real),
            depth=folder.depth + 1,
            rules=rules,
            hidden_by=hidden_by,
        )
        if hidden_by is not None:
            self._hidden.append(child)
        elif not entry.is_symlink():
            self._plain.append(child)
        elif f"{folder.real}{os.sep}".startswith(
            f"{child.real.rstrip(os.sep)}{os.sep}"
        ):
            self._explain_loop(entry.path)
        else:
            self._links.append(child)

    def _is_skill(
        self,
        folder: _Folder,
        entry: os.DirEntry[str],
        *,
        rules: IgnoreRules,
        names: Mapping[str, os.DirEntry[str]],
    ) -> bool:
        """Offer a folder's ``SKILL.md``; say whether it settles the folder."""
        if not is_file_entry(entry):
            if entry.is_symlink() and not is_folder_entry(entry):
                self._dangling(entry)
            else:
                self._tell(
                    "skill-file-not-regular",
                    entry.path,
                    "it is not a regular file",
                    fix="Replace it with a text file.",
                )
            return False
        if entry.name != SKILL_FILE:
            self._tell(
                "skill-file-spelling",
                entry.path,
                "other systems would not find it under this spelling",
                fix=f"Rename `{entry.name}` to `{SKILL_FILE}`.",
                verb="is read, but",
            )
        return self._offer(
            folder, entry, rules=rules, has_project="pyproject.toml" in names
        )

    def _offer(
        self,
        folder: _Folder,
        entry: os.DirEntry[str],
        *,
        rules: IgnoreRules,
        loose: bool = False,
        has_project: bool = False,
    ) -> bool:
        found = Found(
            path=entry.path,
            identity=real_entry(entry, folder=folder.real),
            loose=loose,
            has_project=has_project,
            hidden_by=folder.hidden_by
            or find_rule(rules, path=entry.path, name=entry.name, is_folder=False),
        )
        if entry.is_symlink() and folder.depth > 0:
            # where a real file and a link to it both count, the real one names it
            self._linked_files.append(found)
            return True
        return self._take(found)

    def _stop(self, folder: _Folder) -> None:
        self._quiet = folder.hidden_by is not None
        self._tell(
            "walk-too-wide",
            folder.path,
            f"{MAX_DIRECTORIES} folders of this source were searched, the rest was not",
            fix="Move the skills into a folder of their own, "
            "or name the right one with %skill add.",
            verb="was not searched:",
        )

    def _explain_depth(self, path: str) -> None:
        if self._too_deep:
            return
        self._too_deep = not self._quiet
        self._tell(
            "walk-too-deep",
            path,
            f"skills are looked for at most {MAX_DEPTH} folders deep",
            fix="Move the skills up, or name their folder with %skill add.",
            verb="was not searched:",
        )

    def _explain_loop(self, path: str) -> None:
        if self._loops:
            return
        self._loops = not self._quiet
        self._tell(
            "link-loop",
            path,
            "this link leads back to a folder that it lies in",
            fix="Remove the link.",
            severity="info",
            verb="is not followed:",
        )

    def _explain_siblings(
        self, by_name: Mapping[str, os.DirEntry[str]], *, path: str
    ) -> None:
        hidden = [
            name
            for name, entry in sorted(by_name.items())
            if name[0] != "." and name not in PRUNED and holds_skill(entry)
        ]
        if not hidden:
            return
        # a skill that the user named may hold others; a place for skills is no skill
        is_own = self._source.kind in {"explicit", "registered"}
        self._tell(
            "skill-hides-others",
            f"{path}{os.sep}{SKILL_FILE}",
            f"it makes this whole folder one skill, so {text.few(hidden)} "
            f"{'is' if len(hidden) == 1 else 'are'} not looked at",
            fix="Move it into a folder of its own.",
            severity="info" if is_own else "warning",
            verb="counts alone:",
        )

    def _dangling(self, entry: os.DirEntry[str]) -> None:
        name = entry.name.casefold()
        # only what could be a skill is worth a word: other links are nobody's business
        if "." in name and not name.endswith(".md"):
            return
        self._tell(
            "dangling-link",
            entry.path,
            "this link points to nothing that can be read",
            fix="Correct or remove the link.",
        )

    def _tell(
        self,
        code: str,
        path: str,
        why: str,
        *,
        fix: str = "Make it readable or remove it, then run %reload_skills.",
        severity: Severity = "warning",
        verb: str = "is left out:",
    ) -> None:
        if self._quiet:
            return
        self._report(
            Diagnostic(
                code=code,
                message=f"{self._source.locate(path)} {verb} {why}.",
                fix=fix,
                severity=severity,
                path=Path(path),
            )
        )
