"""Taking note of the calls of a kernel's skills, for the numbers of their uses."""

from __future__ import annotations

from prime_skills_ext.kernel.terms import take_calls
from prime_skills_ext.snapshot import Snapshot

__all__ = ["take"]


def take(snapshot: Snapshot) -> dict[str, int]:
    """Return how often each skill was called since this was last asked, by name."""
    calls = {
        identity: count
        for identity, value in snapshot.bindings.values.items()
        if (count := take_calls(value))
    }
    if not calls:
        return {}
    found: dict[str, int] = {}
    for item in snapshot.catalogue.skills:
        if count := calls.get(item.skill.identity, 0):
            found[item.name] = found.get(item.name, 0) + count
    return found
