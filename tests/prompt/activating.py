"""A skill on a disk, and what activating it gives, for the tests of activation."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from prime_skills_ext.catalog.discovery import discover
from prime_skills_ext.catalog.gates import Facts, State
from prime_skills_ext.catalog.selection import select
from prime_skills_ext.catalog.sources import Source, SourceKind
from prime_skills_ext.catalog.status import SkillStatus, statuses
from prime_skills_ext.prompt.activation import Activation, activate
from tests.conftest import write_skill

__all__ = ["activated", "standing"]


def standing(
    root: Path,
    body: str = "Do the thing.",
    *,
    header: str = "",
    kind: SourceKind = "user",
    state: State | None = None,
    trusted: bool = True,
    name: str = "fix-issue",
    **options: Any,
) -> SkillStatus:
    """Write a skill, find it, and say how it stands."""
    front = f"name: {name}\ndescription: d\n{header}"
    write_skill(root, name, frontmatter=front, body=f"{body}\n", **options)
    source = Source(kind=kind, label=kind, directory=root)
    selection = select(discover([source]), trusted=lambda _: trusted)
    catalogue = statuses(selection, installed={}, bound={}, names={}, facts=Facts())
    status = catalogue.get(name)
    if state is not None:
        status = replace(status, state=state, reason="it broke", fix="mend it")
    return status


def activated(status: SkillStatus, arguments: str = "", **options: Any) -> Activation:
    """Activate a skill in the folder ``project`` beside its source."""
    project = status.source.directory.parent / "project"
    project.mkdir(exist_ok=True)
    settings = {
        "project": project,
        "session": "s-1",
        "environ": {"PATH": os.environ["PATH"]},
        **options,
    }
    return activate(status, arguments=arguments, **settings)
