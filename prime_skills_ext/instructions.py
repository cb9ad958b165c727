"""One skill with its instructions, read when somebody asks."""

from __future__ import annotations

import inspect
from dataclasses import replace

from prime_skills_ext.catalog.reading import read_file
from prime_skills_ext.catalog.status import SkillStatus
from prime_skills_ext.errors import PrimeSkillsError
from prime_skills_ext.skill import frontmatter
from prime_skills_ext.views.card import SkillDetails

__all__ = ["read_details"]

#: How much of a skill's file is shown at most.
MAX_BODY_BYTES = 1 << 24


def read_details(status: SkillStatus, *, value: object) -> SkillDetails:
    """Return a skill with its instructions, and its signature where it can be called.

    Args:
        status: How it stands.
        value: What the kernel holds for it; ``None`` when that is nothing.

    Raises:
        PrimeSkillsError: Its file cannot be read.
    """
    try:
        text = read_file(status.skill.path, limit=MAX_BODY_BYTES)
    except OSError as error:
        raise PrimeSkillsError(
            f"the instructions of {status.name} cannot be read: {error.strerror}",
            fix="put the file back, then run %reload_skills",
            path=status.skill.path,
        ) from error
    details = SkillDetails(
        status=status, body=frontmatter.parse(text, path=status.skill.path).body
    )
    if status.state not in ("ready", "stale", "name-taken") or not callable(value):
        return details
    return replace(details, signature=_signature(value), doc=inspect.getdoc(value))


def _signature(value: object) -> str | None:
    try:
        return str(inspect.signature(value))  # type: ignore[arg-type]  # or TypeError
    except Exception:  # noqa: BLE001  # defaults and annotations of any class
        return None
