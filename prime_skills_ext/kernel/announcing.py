"""Tells each import that is about to begin: one that takes long is seen by its name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prime_skills_ext.kernel.placing import Placement
from prime_skills_ext.progress import Listener, ProgressEvent

__all__ = ["announced"]


def announced(
    placements: Sequence[Placement], *, tell: Listener | None
) -> Iterator[Placement]:
    """Yield all placements; tell before each that has still to be imported.

    Args:
        placements: What is gone through.
        tell: Who is told; ``None`` for nobody.
    """
    new = {
        placement.skill.identity
        for placement in placements
        if tell is not None
        and placement.problem is None
        and placement.tree.module is None
    }
    done = 0
    for placement in placements:
        if tell is not None and placement.skill.identity in new:
            name, total = placement.skill.name, len(new)
            where = f" · {done} of {total} imported" if total > 1 else ""
            tell(
                ProgressEvent(
                    stage="importing",
                    message=f"Importing {name}{where}",
                    done=done,
                    total=total,
                    skill=name,
                )
            )
            done += 1
        yield placement
