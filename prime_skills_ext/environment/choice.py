"""Which of an environment's generations could serve, and in what order to ask.

Selections that contradict each other each have a generation; whoever switches between
them finds the one that was built for it. Reads the disk; installs nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from prime_skills_ext.environment import record as records
from prime_skills_ext.environment.activation import active
from prime_skills_ext.environment.facts import is_inside
from prime_skills_ext.environment.record import Record
from prime_skills_ext.environment.venv import (
    Environment,
    Generation,
    generation_at,
    is_healthy,
    is_pointed,
    numbered,
)
from prime_skills_ext.later import later

if TYPE_CHECKING:
    from prime_skills_ext.environment import assessment
else:
    # only a kernel that moves on compares: a start does not load what looks inside
    assessment = later("prime_skills_ext.environment.assessment")

__all__ = ["candidates", "changed_under", "in_use_here", "is_usable"]


def candidates(
    environment: Environment, *, current: Generation | None
) -> Iterator[Generation]:
    """Healthy generations in the order in which they are asked.

    First what this process uses, so that a kernel keeps its own while that does; then
    the current one; then the others, newest first, down to one that was rebuilt on
    request: that was asked for because of what is older. Each is looked at only when
    it is its turn: a start where the current one fits looks at nothing else.
    """
    seen: set[Path] = set()
    for generation in _in_order(environment, current=current):
        if generation.directory in seen:
            continue
        seen.add(generation.directory)
        if generation == current or is_healthy(generation):
            yield generation


def in_use_here(environment: Environment) -> tuple[Generation, ...]:
    """The generations of ``environment`` that this process runs in or overlays."""
    used = [one for one in active() if one.directory.parent == environment.root]
    prefix = Path(sys.prefix)
    if environment.mode == "own" and prefix.parent == environment.root:
        used.append(generation_at(prefix))
    return tuple(used)


def is_usable(
    generation: Generation,
    *,
    failed: Collection[str],
    environment: Environment,
    current: Generation | None,
) -> bool:
    """Whether a generation besides the current one is as good as building another.

    What failed there may have failed because of skills that are not selected now. It
    counts if this process lives with it already, or if the current generation, which
    was built later, knows the very same failure.

    Args:
        generation: The one in question.
        failed: Keys of the selected skills that failed in it.
        environment: Whose generation it is.
        current: The current one.
    """
    if not failed or generation in in_use_here(environment):
        return True
    if current is None:
        return False
    here, there = records.read(current.record), records.read(generation.record)
    return all(_failure(here, key=key) == _failure(there, key=key) for key in failed)


def changed_under(
    generation: Generation, *, environment: Environment
) -> tuple[str, ...]:
    """What this process already uses in another version than ``generation`` has.

    Args:
        generation: What is to be used from now on.
        environment: Whose generation it is.
    """
    used = {*active(), *in_use_here(environment)} - {generation}
    if not used:
        return ()
    new = assessment.look((), generation=generation).installed
    changed = {
        there.name
        for one in used
        for name, there in assessment.look((), generation=one).installed.items()
        if name in new
        and new[name].version != there.version
        # what an overlay holds and nobody imported yet comes from the new one at once;
        # where the kernel runs inside, the old one comes first until it starts again
        and (is_inside(one) or assessment.is_loaded(there))
    }
    return tuple(sorted(changed))


def _in_order(
    environment: Environment, *, current: Generation | None
) -> Iterator[Generation]:
    yield from in_use_here(environment)
    if current is not None:
        yield current
    if is_pointed(environment.root):  # else it is mended first, under the lock
        for directory in reversed(numbered(environment.root)):
            generation = generation_at(directory)
            yield generation
            if records.read(generation.record).rebuilt:
                return


def _failure(record: Record, *, key: str) -> str | None:
    known = record.skills.get(key)
    return known.fingerprint if known is not None and known.state == "failed" else None
