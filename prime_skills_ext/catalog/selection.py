"""Which candidate gets a name: pure, values in and values out.

The result depends on the candidates alone, never on the order they come in.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal, NamedTuple, final

from prime_skills_ext.catalog.discovery import Candidate, Discovery
from prime_skills_ext.catalog.sources import RANKS, SourceKind
from prime_skills_ext.skill.model import Diagnostic, Severity

__all__ = ["Disabled", "Disabling", "Precedence", "Selection", "Shadowed", "select"]

Precedence = Literal["project", "personal"]

_USER_FIRST: Final[Mapping[SourceKind, int]] = {
    **RANKS,
    "user-settings": 1,
    "user": 2,
    "project-settings": 3,
    "project": 4,
}
_RANKINGS: Final[Mapping[Precedence, Mapping[SourceKind, int]]] = {
    "project": RANKS,
    "personal": _USER_FIRST,
}

_Key = tuple[int, int, str, str]


@final
class Disabling(NamedTuple):
    """What switches a skill off.

    Attributes:
        reason: One sentence, without a full stop: which entry of which file.
        fix: One command or instruction that switches it on again.
    """

    reason: str
    fix: str


@final
class Disabled(NamedTuple):
    """A candidate that settings switch off; it takes no name from anybody.

    Attributes:
        candidate: The one that is off.
        by: What switches it off.
    """

    candidate: Candidate
    by: Disabling


@final
class Shadowed(NamedTuple):
    """A candidate that lost its name.

    Attributes:
        candidate: The one that lost.
        by: The winner.
        awaits_trust: It would be the winner if it were trusted.
    """

    candidate: Candidate
    by: Candidate
    awaits_trust: bool = False


@final
class Selection(NamedTuple):
    """Which candidate stands for each name.

    Attributes:
        winners: One per name, sorted by name. An untrusted one is among them only
            where no trusted one has its name.
        shadowed: Those that lost their name, sorted by name, then by precedence.
        disabled: Those that settings switch off, sorted likewise. A candidate is
            a winner, shadowed or disabled, and only one of them.
        untrusted: Identities of every candidate that is not trusted.
        diagnostics: Discovery's first, then collisions, then import names.
    """

    winners: tuple[Candidate, ...]
    shadowed: tuple[Shadowed, ...]
    untrusted: frozenset[Path]
    diagnostics: tuple[Diagnostic, ...]
    disabled: tuple[Disabled, ...] = ()

    def candidates(self) -> tuple[Candidate, ...]:
        """Return every candidate, however it stands."""
        return (
            *self.winners,
            *(item.candidate for item in self.shadowed),
            *(item.candidate for item in self.disabled),
        )

    def holders(self) -> tuple[Candidate, ...]:
        """Return who answers to each name, sorted by name.

        That is the winner, or where nobody won it the first who is disabled: its
        placeholder says so instead of a ``NameError``.
        """
        held = {_name(winner) for winner in self.winners}
        modules = {winner.skill.import_name for winner in self.winners}
        holders = list(self.winners)
        for item in self.disabled:
            name, module = _name(item.candidate), item.candidate.skill.import_name
            if name not in held and module not in modules:
                holders.append(item.candidate)
                held.add(name)
                modules.add(module)
        return tuple(sorted(holders, key=_name))

    def active(self) -> tuple[Candidate, ...]:
        """Return the winners that are trusted."""
        return tuple(
            winner
            for winner in self.winners
            if winner.skill.identity not in self.untrusted
        )


def select(
    discovery: Discovery,
    *,
    trusted: Callable[[Candidate], bool],
    disabled: Callable[[Candidate], Disabling | None] = lambda _: None,
    precedence: Precedence = "project",
) -> Selection:
    """Choose one winner for each name.

    Args:
        discovery: What was found.
        trusted: Whether a candidate may run.
        disabled: What switches a candidate off; ``None`` when nothing does.
        precedence: ``"personal"`` lets the user's skills win over the project's.
    """
    ranking = _RANKINGS[precedence]
    candidates: list[Candidate] = []
    untrusted: set[Path] = set()
    off: list[Disabled] = []
    for found in discovery.candidates:
        candidate, is_trusted, disabling = _best_way(
            found, trusted=trusted, disabled=disabled, ranking=ranking
        )
        if not is_trusted:
            untrusted.add(candidate.skill.identity)
        if disabling is None:
            candidates.append(candidate)
        else:
            off.append(Disabled(candidate=candidate, by=disabling))
    off.sort(key=lambda it: (_name(it.candidate), *_key(it.candidate, ranking=ranking)))

    winners: list[Candidate] = []
    shadowed: list[Shadowed] = []
    for group in _by_name(candidates, ranking=ranking):
        winner = min(group, key=lambda item: item.skill.identity in untrusted)
        winners.append(winner)
        # the group is sorted: whoever stands before the winner lacks only trust
        shadowed += [
            Shadowed(
                candidate=loser,
                by=winner,
                awaits_trust=loser is group[0] and winner is not loser,
            )
            for loser in group
            if loser is not winner
        ]
    collisions = [_collision(item, untrusted=untrusted) for item in shadowed]
    kept, clashes = _part_import_names(winners, untrusted=untrusted, ranking=ranking)
    return Selection(
        winners=tuple(kept),
        shadowed=tuple(shadowed),
        disabled=tuple(off),
        untrusted=frozenset(untrusted),
        diagnostics=(*discovery.diagnostics, *collisions, *clashes),
    )


def _best_way(
    candidate: Candidate,
    *,
    trusted: Callable[[Candidate], bool],
    disabled: Callable[[Candidate], Disabling | None],
    ranking: Mapping[SourceKind, int],
) -> tuple[Candidate, bool, Disabling | None]:
    """Pick the source that a skill counts under, with how it stands there.

    A trusted way beats an untrusted one of higher rank: a link in a repository
    must neither hide the user's own skill nor promote it. A way that is switched
    off comes last: it must not hide one that is on.
    """
    if not candidate.aliases:  # nearly always
        return candidate, trusted(candidate), disabled(candidate)
    ways = sorted(
        (candidate._replace(aliases=()), *candidate.aliases),
        key=lambda way: _key(way, ranking=ranking),
    )
    standings = ((way, trusted(way), disabled(way)) for way in ways)
    return min(standings, key=lambda it: (it[2] is not None, not it[1]))


def _key(candidate: Candidate, *, ranking: Mapping[SourceKind, int]) -> _Key:
    source = candidate.source
    return (
        ranking[source.kind],
        source.order,
        candidate.inside,
        str(candidate.skill.identity),
    )


def _name(candidate: Candidate) -> str:
    return unicodedata.normalize("NFC", candidate.skill.name)


def _by_name(
    candidates: Iterable[Candidate], *, ranking: Mapping[SourceKind, int]
) -> Iterator[list[Candidate]]:
    groups: dict[str, list[Candidate]] = {}
    for candidate in sorted(candidates, key=lambda item: _key(item, ranking=ranking)):
        groups.setdefault(_name(candidate), []).append(candidate)
    for _, group in sorted(groups.items()):
        yield group


def _collision(item: Shadowed, *, untrusted: set[Path]) -> Diagnostic:
    loser, winner = item.candidate, item.by
    name = winner.skill.name
    severity: Severity = "warning"
    reach = f"`%skill show {loser.qualified_name}`"
    loser_untrusted = loser.skill.identity in untrusted
    if loser_untrusted != (winner.skill.identity in untrusted):
        code = "untrusted-override"
        message = (
            f"The untrusted skill `{name}` ({loser.location}) has the name of the "
            f"trusted one ({winner.location}), which stays in force."
        )
        fix = f"Look at it with {reach}; rename it if both are wanted."
        if item.awaits_trust:
            fix = f"Look at it with {reach}; `%skill trust` lets it take over."
    elif loser.source.label == winner.source.label:
        code = "name-collision"
        message = (
            f"Two skills of one source are called `{name}`: {winner.location} wins "
            f"over {loser.location}."
        )
        fix = "Rename or remove one of the two."
    elif loser.source.rank == winner.source.rank:
        code = "name-collision"
        message = (
            f"Two skills of equal rank are called `{name}`: {winner.location} wins "
            f"over {loser.location}."
        )
        fix = f"Rename or remove one of the two; {reach} shows the other one."
    else:
        code, severity = "overrides", "info"
        message = f"`{name}` ({winner.location}) overrides {loser.location}."
        fix = f"Nothing, if that is meant; {reach} shows the other one."
    return Diagnostic(
        code=code, message=message, fix=fix, severity=severity, path=loser.skill.path
    )


def _part_import_names(
    winners: Iterable[Candidate],
    *,
    untrusted: set[Path],
    ranking: Mapping[SourceKind, int],
) -> tuple[list[Candidate], list[Diagnostic]]:
    """Leave each import name to one skill; the others become instructions."""
    holders: dict[str, Candidate] = {}
    in_order = sorted(
        (winner for winner in winners if winner.skill.python is not None),
        key=lambda item: (
            item.skill.identity in untrusted,
            *_key(item, ranking=ranking),
        ),
    )
    for winner in in_order:
        holders.setdefault(winner.skill.import_name, winner)

    kept: list[Candidate] = []
    clashes: list[Diagnostic] = []
    for winner in winners:
        holder = holders.get(winner.skill.import_name, winner)
        if winner.skill.python is None or holder is winner:
            kept.append(winner)
            continue
        kept.append(winner._replace(skill=replace(winner.skill, python=None)))
        clashes.append(_clash(winner, holder=holder))
    return kept, clashes


def _clash(loser: Candidate, *, holder: Candidate) -> Diagnostic:
    skill = loser.skill
    return Diagnostic(
        code="import-name-clash",
        message=(
            f"The skills `{holder.skill.name}` ({holder.location}) and `{skill.name}` "
            f"({loser.location}) share the import name {skill.import_name}: the "
            "second counts as instructions only."
        ),
        fix=f"Rename the skill `{skill.name}`, its folder and src/{skill.import_name}.",
        path=skill.path,
    )
