"""Which entry of which settings file switches a skill off.

Every file can switch off, none can switch on what another one switched off: the most
restrictive wins. A name works in any scope and for every source; paths and globs work
for all but the paths that the user named for this very kernel.
"""

from __future__ import annotations

import os
import shlex
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, final

from prime_skills_ext.catalog.discovery import Candidate
from prime_skills_ext.catalog.selection import Disabling
from prime_skills_ext.catalog.settings import SWITCHES, Settings, shown
from prime_skills_ext.later import later

if TYPE_CHECKING:
    from prime_skills_ext.catalog import patterns as matching
    from prime_skills_ext.catalog.patterns import Pattern, Subject
else:
    matching = later("prime_skills_ext.catalog.patterns")  # few files have entries

__all__ = ["Disabler"]

#: Paths inside these sources count as written from the source's folder, too.
_OWN_BASE = frozenset({"builtin", "package"})


@final
class Disabler:
    """Answers for one reading of the settings.

    Args:
        settings: The files, in the order in which a reason is looked for.
        home: What ``~`` stands for.
    """

    def __init__(self, settings: Sequence[Settings], *, home: Path) -> None:
        self._files = [
            (item, tuple(_expanded(entry, home=home) for entry in item.skills))
            for item in settings
        ]

    def __call__(self, candidate: Candidate) -> Disabling | None:
        """Return what switches a candidate off; ``None`` when nothing does."""
        for settings, patterns in self._files:
            found = _by_flag(candidate, settings) or _by_pattern(
                candidate, settings, patterns
            )
            if found is not None:
                return found
        return None


def _by_flag(candidate: Candidate, settings: Settings) -> Disabling | None:
    name, is_builtin = candidate.skill.name, candidate.source.kind == "builtin"
    if is_builtin and not settings.enable_builtin:
        return _flag(settings, "enableBuiltinSkills")
    if is_builtin and name == "websearch" and not settings.websearch:
        return _flag(settings, ".".join(SWITCHES[name]), enable=name)
    if name == "compact" and not settings.compact:
        return _flag(settings, ".".join(SWITCHES[name]), enable=name)
    return None


def _flag(settings: Settings, key: str, *, enable: str | None = None) -> Disabling:
    return Disabling(
        reason=f"{key} is false in {settings.label}",
        fix=_enable(enable, settings)
        if enable
        else f"set {key} to true in {settings.label}, then run %reload_skills",
    )


def _by_pattern(
    candidate: Candidate, settings: Settings, patterns: Sequence[Pattern]
) -> Disabling | None:
    if all(pattern.kind == "path" for pattern in patterns):
        return None
    by_name = _names(candidate)
    if candidate.source.kind == "explicit":
        patterns = [pattern for pattern in patterns if pattern.kind == "disable"]
        subject = matching.Subject(names=by_name)
    else:
        subject = _subject(candidate, base=settings.path.parent, names=by_name)
    pattern = matching.find_disabling(patterns, subject)
    if pattern is None:
        return None
    entry = shown(pattern.text)
    if pattern.kind == "disable" and pattern.value in by_name:
        fix = _enable(pattern.value, settings)
    else:
        fix = f"remove {entry} from {settings.label}, then run %reload_skills"
    return Disabling(reason=f"{entry} in {settings.label} disables it", fix=fix)


def _enable(name: str, settings: Settings) -> str:
    where = " --project" if settings.scope == "project" else ""
    return f"%skill enable {shlex.quote(name)}{where}"


def _names(candidate: Candidate) -> frozenset[str]:
    name = unicodedata.normalize("NFC", candidate.skill.name)
    labels = {candidate.source.label, candidate.source.kind}
    return frozenset({name, *(f"{name}@{label}" for label in labels)})


def _subject(candidate: Candidate, *, base: Path, names: frozenset[str]) -> Subject:
    skill, source = candidate.skill, candidate.source
    places = {skill.path, skill.content}
    bases = [base, source.root, source.directory if source.kind in _OWN_BASE else None]
    paths = {_slashed(str(place)) for place in places}
    paths |= {
        _slashed(os.path.relpath(place, start))
        for place in places
        for start in bases
        if start is not None
    }
    return matching.Subject(
        names=names,
        paths=frozenset(paths),
        base_names=frozenset(place.name for place in places),
    )


def _expanded(pattern: Pattern, *, home: Path) -> Pattern:
    value = unicodedata.normalize("NFC", pattern.value)
    if value.startswith("~/"):
        value = _slashed(str(home / value[2:]))
    elif "/" in value and pattern.kind in {"include", "disable"}:
        value = _slashed(os.path.normpath(value))
    return replace(pattern, value=value)


def _slashed(path: str) -> str:
    return path.replace(os.sep, "/")
