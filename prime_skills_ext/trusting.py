"""``%skill trust`` and ``untrust``: a decision about a folder, and what follows.

Who is believed is decided in ``catalog.trust``; here it is stored and taken up.
"""

from __future__ import annotations

from pathlib import Path

from prime_skills_ext.catalog.looking import is_same
from prime_skills_ext.catalog.sources import Source
from prime_skills_ext.catalog.trust import TrustStore, without_override
from prime_skills_ext.kernel.reload_report import ReloadReport
from prime_skills_ext.manager import SkillManager
from prime_skills_ext.named_paths import absolute_path
from prime_skills_ext.views.report import Message

__all__ = ["trust", "untrust"]


def trust(
    manager: SkillManager,
    path: Path | None = None,
    *,
    pin: bool = False,
    owner: str | None = None,
) -> ReloadReport | Message:
    """Trust the skills of a folder, then install and bind those that count here.

    Args:
        manager: Whose skills and agent directory.
        path: Another folder than this project, such as one outside of it that its
            settings name; ``None`` means this project.
        pin: Ask again when the content of any of them changes.
        owner: Name of the user who owns the folder, where it is not yours.

    Raises:
        TrustError: The folder is missing or somebody else's, its skills cannot be
            pinned, or the store cannot be written.
    """
    root = _root(manager, path)
    candidates = manager.snapshot.selection.candidates()
    skills = [item.skill for item in candidates if _is_of(item.source, root)]
    _store(manager).trust(
        root,
        pin=pin,
        owner=owner,
        # another project's own folders are looked at when none of them counts here
        skills=skills if skills or path is None else None,
    )
    report = manager.reload()
    for item in manager.catalogue.skills:
        if item.state == "untrusted" and item.reason and _is_of(item.source, root):
            # the decision is kept, but something else stands against it
            return Message(text=f"{item.name}: {item.reason}", fix=item.fix)
    what = path or "this project"
    return report or Message(
        text=f"{what} is trusted; no skill of it was waiting for that"
    )


def untrust(manager: SkillManager, path: Path | None = None) -> ReloadReport | Message:
    """Take trust back; what the kernel imported becomes a placeholder.

    Args:
        manager: Whose skills and agent directory.
        path: As for ``trust``.

    Raises:
        TrustError: The store cannot be written.
    """
    root = _root(manager, path)
    _ = manager.snapshot  # what was there before, for the report
    _store(manager).untrust(root)
    report = manager.reload()
    active = manager.snapshot.selection.active()
    if any(_is_of(item.source, root) for item in active):
        said = "SkillManager.trust" if manager.trust else "PRIME_SKILLS_TRUST"
        return Message(
            text=f"this project's skills stay in use: {said} trusts all",
            fix=without_override(is_trait=manager.trust is not None),
        )
    return report or Message(text=f"{path or 'this project'} is not trusted")


def _root(manager: SkillManager, path: Path | None) -> Path:
    return manager.places.project_root if path is None else absolute_path(path)


def _is_of(source: Source, root: Path) -> bool:
    """Whether the trust in a source's skills is keyed by ``root``."""
    return source.root is not None and is_same(source.root, root)


def _store(manager: SkillManager) -> TrustStore:
    return TrustStore(manager.places.agent_directory)
