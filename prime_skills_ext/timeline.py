"""The answer of ``%skill timeline``: from the manager's runs to a value to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from prime_skills_ext.views.timeline import Course, Timeline

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prime_skills_ext.manager import SkillManager
    from prime_skills_ext.snapshot import Run
    from prime_skills_ext.views.timeline import Kind, Title

__all__ = ["tell"]

#: What a terminal imports nothing for.
_IN_KERNEL = "In a kernel `%skill timeline` shows the imports, too."


def tell(manager: SkillManager) -> Timeline:
    """Say where the time of the load and of the last reload went."""
    if manager.load_run is None:
        look = _course("Look", manager.snapshot.run, manager=manager)
        return Timeline(courses=(look,), note=_IN_KERNEL)
    courses = [_course("Load", manager.load_run, manager=manager)]
    if manager.reload_run is not None:
        courses.append(_course("Last reload", manager.reload_run, manager=manager))
    return Timeline(courses=tuple(courses))


def _course(title: Title, run: Run, *, manager: SkillManager) -> Course:
    names = {item.skill.identity: item.name for item in manager.catalogue.skills}
    # what is gone by now had its folder's name
    imports = (
        (names.get(identity, identity.parent.name), seconds)
        for identity, seconds in run.imports.items()
    )
    stages = cast("Iterable[tuple[Kind, float]]", run.stages)
    return Course.of(title, stages=stages, imports=imports)
