"""Install a batch with as few calls of uv as possible, and isolate what breaks it.

Knows uv and its words, but neither the record nor skills: it is given items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

from prime_skills_ext.environment.blame import (
    blamed,
    clash,
    did_not_run,
    is_network,
    mentions,
    missing_backend,
    shortened,
    summary,
)
from prime_skills_ext.environment.failure import NOT_RUN_FIX, RETRY_FIX, Failure
from prime_skills_ext.environment.uv import Uv
from prime_skills_ext.environment.venv import Generation
from prime_skills_ext.environment.wheel import RUNTIME_NAME
from prime_skills_ext.errors import ProcessError
from prime_skills_ext.process import Completed

__all__ = ["Batch", "Item", "Outcome", "install"]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One skill, as uv sees it.

    Attributes:
        key: Its package path.
        name: Canonical name of its distribution.
        lines: Requirement lines for it.
        siblings: Keys of what it requires.
        is_known: It has been installed before.
        is_installed: It is already there, and may not be dropped.
        is_selected: This kernel wants it.
        is_built: Its own backend builds it; uv would not notice all that changed.
    """

    key: str
    name: str
    lines: tuple[str, ...]
    siblings: tuple[str, ...] = ()
    is_known: bool = False
    is_installed: bool = False
    is_selected: bool = True
    is_built: bool = False


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What became of a batch.

    Attributes:
        installed: Keys that are in.
        failed: Keys that are not, and why.
        cut_off: Those of ``failed`` that failed for want of a network or a uv.
        base_failure: Why not even what is not a skill could be installed.
        needs_replacement: Only replacing what is there would do; nothing was done.
    """

    installed: tuple[str, ...] = ()
    failed: Mapping[str, Failure] = field(default_factory=dict)
    cut_off: frozenset[str] = frozenset()
    base_failure: Failure | None = None
    needs_replacement: bool = False


@final
@dataclass(kw_only=True, slots=True)
class Batch:
    """Everything that stays the same from one attempt to the next.

    Attributes:
        uv: What to call.
        generation: Where to install.
        cwd: Where uv runs: the environment's directory.
        base: Lines that are no skill's: the runtime, in own mode the kernel.
        constraints: Exact pins of what is there.
        overrides: What the kernel has and nobody may install.
        spare: Names that are given up if they cannot be had: the runtime's needs.
        on_line: Called with every line that uv writes.
        is_bare: ``spare`` was given up.
        is_cut_off: There turned out to be no network.
    """

    uv: Uv
    generation: Generation
    cwd: Path
    base: Sequence[str] = ()
    constraints: Sequence[str] = ()
    overrides: Sequence[str] = ()
    spare: Sequence[str] = ()
    on_line: Callable[[str], None] | None = None
    is_bare: bool = False
    is_cut_off: bool = False
    _online: bool = False

    def attempt(self, items: Sequence[Item], *, dry_run: bool = False) -> Completed:
        """One try, offline first; a uv that does not run is a failure, too."""
        if not self._online:
            done = self._call(items, offline=True, dry_run=dry_run)
            if done.returncode == 0 or self.uv.offline or self.is_cut_off:
                return done
            if done.returncode < 0:  # it did not even end: no use to ask it again
                return done
        self._online = True
        return self._call(items, offline=False, dry_run=dry_run)

    def cut_off(self) -> None:
        """There is no network: do not try it again."""
        self._online, self.is_cut_off = False, True

    def _call(
        self, items: Sequence[Item], *, offline: bool, dry_run: bool
    ) -> Completed:
        overrides = [*self.overrides, *_given(items)]
        if self.is_bare:
            overrides += [f'{name} ; python_version < "0"' for name in self.spare]
        lines = [*self.base, *(line for item in items for line in item.lines)]
        try:
            return self.uv.install(
                self.generation,
                cwd=self.cwd,
                lines=list(dict.fromkeys(lines)),
                constraints=self.constraints,
                overrides=overrides,
                again=[item.name for item in items if item.is_built],
                offline=offline,
                dry_run=dry_run,
                on_line=self.on_line,
            )
        except ProcessError as error:
            said = f"{error.stderr_tail}\nerror: {shortened(error)}\n".lstrip("\n")
            return Completed(argv=error.argv, returncode=-1, stdout="", stderr=said)


def _given(items: Sequence[Item]) -> Iterator[str]:
    """Wheels that are meant wherever a backend names the folder of their skill.

    Its ``tool.uv.sources`` may: uv takes two places of one name for a contradiction.
    """
    required = {key for item in items if item.is_built for key in item.siblings}
    for item in items:
        if item.key in required and " @ " in item.lines[0]:
            yield item.lines[0]


def install(batch: Batch, *, items: Sequence[Item]) -> Outcome:
    """Install as many of ``items`` as go together.

    Args:
        batch: Where and how.
        items: Highest precedence first.
    """
    tally = _Tally(rest=list(items), offline_by=batch.uv.offline_by)
    done = batch.attempt(tally.rest)
    # every round drops a skill or gives up one of two hopes: it ends
    while True:
        if done.returncode == 0:
            return tally.outcome()
        if done.returncode < 0:
            return tally.give_up(done.stderr)
        names = {item.name: item for item in tally.rest}
        named = blamed(done.stderr, names={*names, RUNTIME_NAME})
        victim = _victim([names[name] for name in named if name in names])
        if is_network(done.stderr) and not (batch.is_cut_off or batch.uv.offline):
            batch.cut_off()
        elif RUNTIME_NAME in named and batch.spare and not batch.is_bare:
            batch.is_bare = True
        elif mentions(done.stderr, pins=batch.constraints):
            return tally.outcome(needs_replacement=True)
        elif victim is None:
            break
        elif victim.is_installed:
            return tally.outcome(needs_replacement=True)
        else:
            tally.drop(victim, words=done.stderr)
        done = batch.attempt(tally.rest)
    return _one_by_one(batch, tally=tally, last=done)


@dataclass(kw_only=True, slots=True)
class _Tally:
    """Who is still in, and who is out for which reason."""

    rest: list[Item]
    offline_by: tuple[str, ...]
    failed: dict[str, Failure] = field(default_factory=dict)
    cut_off: set[str] = field(default_factory=set)

    def drop(self, item: Item, *, words: str) -> None:
        """Take one out; whoever requires it fails with it, which is told later."""
        skills = frozenset(one.name for one in self.rest)
        self.failed[item.key] = _failure(
            words, offline_by=self.offline_by, name=item.name, skills=skills
        )
        if is_network(words) or did_not_run(words):
            self.cut_off.add(item.key)
        gone = {item.key}
        while True:
            self.rest = [one for one in self.rest if one.key not in gone]
            more = {one.key for one in self.rest if gone.intersection(one.siblings)}
            if not more:
                return
            gone |= more

    def give_up(self, words: str) -> Outcome:
        """Nothing can be installed, whoever is to blame."""
        failure = _failure(words, offline_by=self.offline_by)
        for item in self.rest:
            if not item.is_installed:
                self.failed[item.key] = failure
                self.cut_off.add(item.key)
        self.rest = [item for item in self.rest if item.is_installed]
        return self.outcome(base_failure=failure)

    def outcome(
        self, *, base_failure: Failure | None = None, needs_replacement: bool = False
    ) -> Outcome:
        """What has become of the batch."""
        return Outcome(
            installed=tuple(item.key for item in self.rest),
            failed=self.failed,
            cut_off=frozenset(self.cut_off),
            base_failure=base_failure,
            needs_replacement=needs_replacement,
        )


def _one_by_one(batch: Batch, *, tally: _Tally, last: Completed) -> Outcome:
    """The last resort: ask uv about every skill alone, then install what passed."""
    settled = [item for item in tally.rest if item.is_installed]
    base = batch.attempt(settled, dry_run=True)
    if base.returncode != 0:
        return tally.give_up(base.stderr)
    for item in [item for item in tally.rest if not item.is_installed]:
        if item not in tally.rest:
            continue  # what it requires has just been dropped
        done = batch.attempt(_with_siblings(item, items=tally.rest), dry_run=True)
        if done.returncode != 0:
            tally.drop(item, words=done.stderr)
    done = batch.attempt(tally.rest)
    while done.returncode != 0:
        # only now they are built, which uv says of whom it fails for; or each is fine
        # alone but not with the others: the last in precedence goes
        movable = {item.name: item for item in tally.rest if not item.is_installed}
        if not movable:
            return tally.give_up(done.stderr or last.stderr)
        named = [movable[name] for name in blamed(done.stderr, names={*movable})]
        victim = _victim(named or [*movable.values()])
        if victim is None:
            break
        tally.drop(victim, words=done.stderr)
        done = batch.attempt(tally.rest)
    return tally.outcome()


def _victim(named: Sequence[Item]) -> Item | None:
    """Who has to go: not who merely requires another one that is named.

    Before all others those that only another kernel wants, then what is new; among
    equals the lowest in precedence.
    """
    keys = {item.key for item in named}
    roots = [item for item in named if not keys.intersection(item.siblings)]
    order = {item.key: place for place, item in enumerate(named)}
    return max(
        roots or named,
        key=lambda item: (not item.is_selected, not item.is_known, order[item.key]),
        default=None,
    )


def _with_siblings(item: Item, *, items: Sequence[Item]) -> list[Item]:
    wanted, size = {item.key}, 0
    while len(wanted) > size:
        size = len(wanted)
        wanted.update(key for one in items if one.key in wanted for key in one.siblings)
    return [one for one in items if one.key in wanted]


def _failure(
    words: str,
    *,
    offline_by: Sequence[str],
    name: str = "",
    skills: frozenset[str] = frozenset(),
) -> Failure:
    sentence = summary(words)
    backend = missing_backend(words)
    if backend is not None and is_network(words):
        without = f", without {' and '.join(offline_by)}" if offline_by else ""
        return Failure(
            reason=f"offline: the build backend {backend} is not in uv's cache",
            fix=f"run `prime-skills sync` in a terminal once you are online{without}, "
            f"then {RETRY_FIX}",
            log=words,
        )
    if did_not_run(words):
        return Failure(
            reason=sentence, fix=f"{NOT_RUN_FIX}, then {RETRY_FIX}", log=words
        )
    contradiction = clash(words, name=name)
    if contradiction is not None:
        reason, rival = contradiction
        # what a library requires is not the user's to change
        what = "one of the two in its pyproject.toml"
        if rival not in skills:
            what = f"it in the pyproject.toml of {name}"
        return Failure(reason=reason, fix=f"relax {what}, then {RETRY_FIX}", log=words)
    if is_network(words) and offline_by:
        unset = ", ".join(f"%env {name}=0" for name in offline_by)
        return Failure(
            reason=f"not on this machine, and {offline_by[0]} forbids to fetch it: "
            f"{sentence}",
            fix=f"{unset}, then {RETRY_FIX}",
            log=words,
        )
    if is_network(words):
        return Failure(
            reason=f"not on this machine, and no network to fetch it: {sentence}",
            fix=f"go online once, then {RETRY_FIX}",
            log=words,
        )
    return Failure(
        reason=sentence, fix=f"correct its pyproject.toml, then {RETRY_FIX}", log=words
    )
