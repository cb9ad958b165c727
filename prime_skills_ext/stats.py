"""The answer of ``%skill stats``: how often each skill was used on this machine."""

from __future__ import annotations

from prime_skills_ext.errors import SettingsError
from prime_skills_ext.manager import SkillManager
from prime_skills_ext.views.report import Message
from prime_skills_ext.views.statistics import SkillUses, Statistics

__all__ = ["clear", "tell"]


def tell(manager: SkillManager) -> Statistics:
    """Say what was counted, the most used first."""
    manager.counting.take_note()
    known = manager.catalogue.in_force()
    found = [
        SkillUses(
            name=name,
            calls=uses.calls,
            activations=uses.activations,
            is_here=name in known,
        )
        for name, uses in manager.counting.usage.now().items()
    ]
    found.sort(key=lambda each: (-each.calls - each.activations, each.name))
    return Statistics(skills=tuple(found), is_counting=manager.usage_counts)


def clear(manager: SkillManager) -> Message:
    """Forget every number.

    Raises:
        SettingsError: They cannot be removed.
    """
    manager.counting.take_note()
    usage = manager.counting.usage
    try:
        was_there = usage.clear()
    except OSError as error:
        raise SettingsError(
            f"the numbers cannot be removed: {error.strerror or error}",
            fix=f"remove {usage.path}",
            path=usage.path,
        ) from error
    return Message(text="The numbers are gone" if was_there else "There were none")
