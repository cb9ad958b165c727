"""How each skill stands: one state per skill, computed once.

Pure. The table, the placeholder, the listing, ``doctor`` and the JSON read what
this module returns and decide nothing themselves.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

from prime_skills_ext.catalog.discovery import Candidate
from prime_skills_ext.catalog.gates import Facts, Problem, State, gates
from prime_skills_ext.catalog.selection import Selection, Shadowed
from prime_skills_ext.catalog.sources import Source
from prime_skills_ext.errors import UnknownSkillError
from prime_skills_ext.later import later
from prime_skills_ext.skill.model import Diagnostic, Skill

if TYPE_CHECKING:
    import difflib
else:
    difflib = later("difflib")  # for names that are not known

__all__ = [
    "FAILED",
    "Catalogue",
    "Facts",
    "Problem",
    "SkillStatus",
    "State",
    "statuses",
    "suggestion",
]

#: States in which somebody has to do something before a skill works again.
FAILED: Final = frozenset({"install-failed", "import-failed", "stale"})


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class SkillStatus:
    """How one skill stands.

    Attributes:
        skill: The skill.
        source: Where it was found.
        location: Source label and path inside it.
        state: One word for how it stands.
        reason: One sentence; ``None`` when all is well.
        fix: One command or instruction; ``None`` when all is well.
        bound_as: What to type to reach it: ``word_count`` or ``skills["json"]``;
            ``None`` when it is not bound.
        overrides: Qualified names of the skills that lost their name to it.
        is_trusted: Whether anything of it may run, whatever its state is: one that
            is shadowed may be untrusted as well.
    """

    skill: Skill
    source: Source
    location: str
    state: State
    reason: str | None = None
    fix: str | None = None
    bound_as: str | None = None
    overrides: tuple[str, ...] = ()
    is_trusted: bool = True

    @property
    def name(self) -> str:
        """The skill's name."""
        return self.skill.name

    @property
    def qualified_name(self) -> str:
        """``"edit@builtin"``: reaches this one even when another wins its name."""
        return f"{self.skill.name}@{self.source.label}"


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Catalogue:
    """Every skill and how it stands.

    Attributes:
        skills: Sorted by name, the one in force before those it overrides.
        diagnostics: What else somebody should know.
    """

    skills: tuple[SkillStatus, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    def get(self, name: str) -> SkillStatus:
        """Return the skill that a person means.

        Args:
            name: A skill's name, its import name, or ``name@source`` with the label
                or the kind of its source.

        Raises:
            UnknownSkillError: There is none; the nearest name is suggested.
        """
        for matches in _READINGS:
            for status in self.skills:
                if matches(status, unicodedata.normalize("NFC", name)):
                    return status
        raise UnknownSkillError(
            f'There is no skill "{name}"', fix=self._suggestion(name)
        )

    def in_force(self) -> dict[str, SkillStatus]:
        """Return who has each name."""
        return {
            status.name: status
            for status in reversed(self.skills)  # the first of a name is the last here
            if status.state not in ("shadowed", "removed")
        }

    def _suggestion(self, name: str) -> str:
        # a skill's own name is the better answer where both are near
        names = {status.name for status in self.skills}
        others = {spelling for status in self.skills for spelling in _others(status)}
        return suggestion(name, *((others, names) if "@" in name else (names, others)))


def suggestion(name: str, *known: Iterable[str]) -> str:
    """Say which known name may be meant; one of an earlier group is better."""
    for names in known:
        close = difflib.get_close_matches(name, sorted(names), n=1)
        if close:
            return f'did you mean "{close[0]}"? %skill lists them all'
    return "%skill lists them all"


def statuses(
    selection: Selection,
    *,
    installed: Mapping[Path, Problem],
    bound: Mapping[Path, Problem],
    names: Mapping[Path, str],
    facts: Facts,
    removed: Iterable[SkillStatus] = (),
) -> Catalogue:
    """Say how every skill stands.

    A gate speaks before a failed installation, and that before a failed import.

    Args:
        selection: Who stands for each name.
        installed: What installing had to say, by identity.
        bound: What importing and binding had to say, by identity.
        names: What each bound skill is reached as, by identity.
        facts: What only the world knows.
        removed: Skills of an earlier catalogue whose folder is gone while the
            kernel still holds them.
    """
    problems = {**bound, **installed, **gates(selection, facts=facts)}
    losers: dict[Path, list[Shadowed]] = {}
    for item in selection.shadowed:
        losers.setdefault(item.by.skill.identity, []).append(item)

    skills: list[SkillStatus] = []
    untrusted = selection.untrusted
    stand = partial(_winner, problems=problems, names=names, untrusted=untrusted)
    for winner in selection.winners:
        lost = losers.get(winner.skill.identity, [])
        skills.append(stand(winner, lost=lost))
        skills += [_shadowed(item, names=names, untrusted=untrusted) for item in lost]
    skills += [stand(off.candidate, lost=()) for off in selection.disabled]
    skills += [_removed(status) for status in removed]
    skills.sort(key=lambda status: unicodedata.normalize("NFC", status.skill.name))
    return Catalogue(skills=tuple(skills), diagnostics=selection.diagnostics)


def _winner(
    candidate: Candidate,
    *,
    problems: Mapping[Path, Problem],
    names: Mapping[Path, str],
    untrusted: frozenset[Path],
    lost: Iterable[Shadowed],
) -> SkillStatus:
    problem = problems.get(candidate.skill.identity)
    fine: State = "instructions" if candidate.skill.python is None else "ready"
    return SkillStatus(
        skill=candidate.skill,
        source=candidate.source,
        location=candidate.location,
        state=problem.state if problem else fine,
        reason=problem.reason if problem else None,
        fix=problem.fix if problem else None,
        bound_as=names.get(candidate.skill.identity),
        overrides=tuple(
            item.candidate.qualified_name for item in lost if not item.awaits_trust
        ),
        is_trusted=candidate.skill.identity not in untrusted,
    )


def _shadowed(
    item: Shadowed, *, names: Mapping[Path, str], untrusted: frozenset[Path]
) -> SkillStatus:
    candidate = item.candidate
    state: State = "shadowed"
    reason = f"{item.by.location} has its name"
    fix = f"%skill show {candidate.qualified_name}"
    if item.awaits_trust:
        state = "untrusted"
        reason = f"would override {candidate.skill.name} after `%skill trust`"
        fix = "%skill trust"
    return SkillStatus(
        skill=candidate.skill,
        source=candidate.source,
        location=candidate.location,
        state=state,
        reason=reason,
        fix=fix,
        bound_as=names.get(candidate.skill.identity),
        is_trusted=candidate.skill.identity not in untrusted,
    )


def _removed(status: SkillStatus) -> SkillStatus:
    return replace(
        status,
        state="removed",
        reason="its folder is gone",
        fix="put the folder back, then run %reload_skills",
        bound_as=None,
        overrides=(),
    )


def _named(status: SkillStatus, name: str) -> bool:
    return unicodedata.normalize("NFC", status.skill.name) == name


def _imported(status: SkillStatus, name: str) -> bool:
    return status.skill.import_name == name


def _labelled(status: SkillStatus, name: str) -> bool:
    plain, _, label = name.rpartition("@")
    return label == status.source.label and _answers(status, plain)


def _of_kind(status: SkillStatus, name: str) -> bool:
    plain, _, kind = name.rpartition("@")
    return kind == status.source.kind and _answers(status, plain)


def _answers(status: SkillStatus, name: str) -> bool:
    return _named(status, name) or _imported(status, name)


#: How a name may be meant, the most literal reading first.
_READINGS = (_named, _imported, _labelled, _of_kind)


def _others(status: SkillStatus) -> Iterator[str]:
    yield status.skill.import_name
    yield status.qualified_name
