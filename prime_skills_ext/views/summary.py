"""The one line that a load may say.

Apart from the other views, because every load asks for it and needs none of them.
"""

from __future__ import annotations

from prime_skills_ext.catalog.status import FAILED, Catalogue
from prime_skills_ext.progress import counted

__all__ = ["summarise"]


def summarise(catalogue: Catalogue) -> str | None:
    """Say in one line what somebody should look at; ``None`` when all is well.

    This is all that a load may say, so warnings are counted, not listed.
    """
    failed = [item.name for item in catalogue.skills if item.state in FAILED]
    waiting = sum(item.state == "untrusted" for item in catalogue.skills)
    warnings = sum(item.severity != "info" for item in catalogue.diagnostics)
    parts = []
    if failed:
        parts.append(f"{counted(len(failed), 'skill')} failed ({', '.join(failed)})")
    if waiting:
        parts.append(f"{counted(waiting, 'project skill')} not trusted")
    if warnings:
        parts.append(counted(warnings, "warning"))
    return f"Skills: {', '.join(parts)}. See %skill doctor" if parts else None
