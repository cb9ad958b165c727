"""Switching a skill off and on: one entry of a settings file, then a reload.

Knows what an entry calls a skill and what to say afterwards; writing is
``settings_file``'s, and what an entry means is ``disabling``'s.
"""

from __future__ import annotations

from prime_skills_ext.catalog.settings import Scope
from prime_skills_ext.catalog.settings_file import SettingsFile
from prime_skills_ext.catalog.status import Catalogue, SkillStatus
from prime_skills_ext.errors import SettingsError, UnknownSkillError
from prime_skills_ext.kernel.reload_report import ReloadReport
from prime_skills_ext.manager import SkillManager
from prime_skills_ext.views.report import Message

__all__ = ["disable", "enable"]


def disable(
    manager: SkillManager, name: str, *, scope: Scope = "user"
) -> ReloadReport | Message:
    """Switch a skill off in a settings file; what the kernel holds says so.

    Args:
        manager: Whose skills they are.
        name: A skill's name or import name, which switches off whoever has it, or
            ``name@source``, which leaves the name to the next.
        scope: Whose settings.

    Raises:
        UnknownSkillError: There is none of that name.
        SettingsError: The file is damaged or cannot be written.
    """
    plain = _plain_name(manager.catalogue, name)
    changed = SettingsFile(manager.places, scope).disable(plain)
    how = "is disabled" if changed else "was disabled before"
    return manager.reload() or Message(text=f"{plain} {how} in the {scope}'s settings")


def enable(
    manager: SkillManager, name: str, *, scope: Scope = "user"
) -> ReloadReport | Message:
    """Undo ``disable``.

    Raises:
        UnknownSkillError: There is none of that name, nor an entry for one.
        SettingsError: That file does not disable it by name, is damaged or cannot be
            written.
    """
    file = SettingsFile(manager.places, scope)
    try:
        plain = _plain_name(manager.catalogue, name)
    except UnknownSkillError:
        # an entry may outlive the skill
        if not file.enable(name):
            raise
        return Message(text=f"-{name} is taken out of the {scope}'s settings")
    changed = file.enable(plain)
    report = manager.reload()
    off = _disabled(manager.catalogue, plain)
    if off is not None and changed:
        return Message(text=f"{plain} stays disabled: {off.reason}", fix=off.fix)
    if not changed:
        reason = f": {off.reason}" if off else ""
        raise SettingsError(
            f"the {scope}'s settings do not disable {plain} by name{reason}",
            fix=(off.fix if off else None) or f"%skill show {plain}",
        )
    return report or Message(text=f"{plain} is enabled")


def _plain_name(catalogue: Catalogue, name: str) -> str:
    """Return what an entry calls a skill."""
    status = catalogue.get(name)
    return status.qualified_name if "@" in name else status.name


def _disabled(catalogue: Catalogue, name: str) -> SkillStatus | None:
    for item in catalogue.skills:
        if item.state == "disabled" and name in (item.name, item.qualified_name):
            return item
    return None
