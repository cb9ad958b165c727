"""One skill with its instructions, read when somebody asks."""

from __future__ import annotations

import inspect
from dataclasses import replace

from prime_skills_ext.catalog.body import read_body
from prime_skills_ext.catalog.status import SkillStatus
from prime_skills_ext.views.card import SkillDetails

__all__ = ["read_details"]


def read_details(status: SkillStatus, *, value: object) -> SkillDetails:
    """Return a skill with its instructions, and its signature where it can be called.

    Args:
        status: How it stands.
        value: What the kernel holds for it; ``None`` when that is nothing.

    Raises:
        PrimeSkillsError: Its file cannot be read.
    """
    details = SkillDetails(status=status, body=read_body(status.skill))
    if status.state not in ("ready", "stale", "name-taken") or not callable(value):
        return details
    return replace(details, signature=_signature(value), doc=inspect.getdoc(value))


def _signature(value: object) -> str | None:
    try:
        return str(inspect.signature(value))  # type: ignore[arg-type]  # or TypeError
    except Exception:  # noqa: BLE001  # defaults and annotations of any class
        return None
