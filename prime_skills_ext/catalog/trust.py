"""Whom the user trusts: decisions about project roots, and the file they are in.

Owns ``<agent directory>/trust.json``. Whatever cannot be read for certain is not
trusted. Nothing here runs code of a skill; it hashes files where a decision is
pinned.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, final

from prime_skills_ext.catalog._trust_file import Entry, TrustFile
from prime_skills_ext.catalog.discovery import Candidate, discover
from prime_skills_ext.catalog.looking import is_folder, real_path
from prime_skills_ext.catalog.sources import project_sources
from prime_skills_ext.errors import TrustError
from prime_skills_ext.later import later
from prime_skills_ext.skill.model import Diagnostic, Skill

if TYPE_CHECKING:
    from prime_skills_ext.catalog import _worktree as worktrees
    from prime_skills_ext.catalog import content as contents
else:
    worktrees = later("prime_skills_ext.catalog._worktree")  # for projects with skills
    contents = later("prime_skills_ext.catalog.content")  # for those who --pin

__all__ = [
    "Decision",
    "Distrust",
    "Override",
    "TrustStore",
    "distrust",
    "find_override",
    "is_trusted",
    "lies_elsewhere",
    "needs_trust",
    "without_override",
]

Override = Literal["all", "none"]

_VARIABLE = "PRIME_SKILLS_TRUST"
_NOBODY = "you have not trusted it yet"


@final
class Decision(NamedTuple):
    """What was decided about a project root.

    Attributes:
        root: Its real path.
        trusted: Its skills may run, those that ``pins`` allow.
        reason: Why not; ``None`` when it is trusted.
        fix: What would make it trusted.
        pins: Content hash of each skill, by path inside the root (absolute where it
            lies elsewhere); ``None`` when the decision is not bound to content.
    """

    root: Path
    trusted: bool
    reason: str | None = None
    fix: str = "%skill trust"
    pins: Mapping[str, str] | None = None


@final
class Distrust(NamedTuple):
    """Why a skill is not trusted, and the way out.

    Attributes:
        reason: One sentence, without a full stop.
        fix: One command or instruction.
    """

    reason: str = f"it comes with this project; {_NOBODY}"
    fix: str = "%skill trust"


@final
class TrustStore:
    """The decisions of one user.

    Args:
        agent_directory: Where ``trust.json`` lies.
        uid: Whose decisions these are; ``None`` means the user of this process.
    """

    def __init__(self, agent_directory: Path, *, uid: int | None = None) -> None:
        self._file = TrustFile(agent_directory / "trust.json")
        self._uid = _process_user() if uid is None else uid

    @property
    def path(self) -> Path:
        """Where the decisions are written."""
        return self._file.path

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Say what is wrong with the store, if anything."""
        _, problem = self._file.read()
        return () if problem is None else (problem,)

    def decision(self, root: str | os.PathLike[str]) -> Decision:
        """Return what holds for a project root now.

        A git worktree without a decision of its own has that of its repository.
        """
        real = Path(real_path(root))
        entries, _ = self._file.read()
        entry = entries.get(str(real))
        if entry is None and (repository := worktrees.repository_of(real)) is not None:
            entry = entries.get(str(repository))
            if entry is not None and not self._is_accepted(repository, entry):
                entry = None
        if entry is None:
            return Decision(root=real, trusted=False, reason=_NOBODY)
        if not entry.trusted:
            return Decision(root=real, trusted=False, reason="its trust was taken back")
        if not self._is_accepted(real, entry):
            owner = _owner(real)
            return Decision(
                root=real,
                trusted=False,
                reason=f"it belongs to {owner}, whom nobody has named",
                fix=f"%skill trust --owner {owner}",
            )
        return Decision(root=real, trusted=True, pins=entry.pins)

    def trust(
        self,
        root: str | os.PathLike[str],
        *,
        pin: bool = False,
        skills: Iterable[Skill] | None = None,
        owner: str | None = None,
    ) -> Decision:
        """Trust the skills of a project root.

        Args:
            root: The project root.
            pin: Bind the decision to what the skills contain now.
            skills: Which skills to bind; ``None`` means those in the root's own
                skill folders.
            owner: Name of the root's owner, needed if that is somebody else.

        Raises:
            TrustError: The root is missing, belongs to somebody who was not named,
                cannot be bound to its content, or the store cannot be written.
        """
        real = _existing(root)
        uid = self._accepted_owner(real, owner=owner)
        pins = None
        if pin:
            if skills is None:
                found = discover(project_sources(real, working_directory=real))
                skills = [candidate.skill for candidate in found.candidates]
            pins = {_pin_key(skill, root=real): _pin(skill) for skill in skills}
        self._file.write(str(real), Entry(trusted=True, owner=uid, pins=pins))
        return self.decision(real)

    def untrust(self, root: str | os.PathLike[str]) -> Decision:
        """Take the trust in a project root back.

        Raises:
            TrustError: The store cannot be written.
        """
        real = Path(real_path(root))
        self._file.write(str(real), Entry(trusted=False))
        return self.decision(real)

    def owner_problem(self, skill: Skill, *, root: Path) -> Distrust | None:
        """Say whose a skill is that a link in a trusted root leads to.

        Whoever owns it can change it after the decision. The system's own files, and
        those of the root's owner, are as safe as the root.
        """
        content = Path(real_path(skill.content))
        if content.is_relative_to(root):
            return None
        uid = _owner_id(content)
        if uid in {None, 0, self._uid, _owner_id(root)}:
            return None
        return Distrust(
            reason=f"a link leads to it, out of this project, and it belongs to "
            f"{_owner(content)}",
            fix="put a copy into the project in place of the link",
        )

    def _is_accepted(self, root: Path, entry: Entry) -> bool:
        """Say whether the root still belongs to whom the decision was about."""
        uid = _owner_id(root)
        return uid is None or uid in {self._uid, entry.owner}

    def _accepted_owner(self, root: Path, *, owner: str | None) -> int | None:
        uid = _owner_id(root)
        if uid is None or uid == self._uid:
            return None
        name = _owner(root)
        if owner not in {name, str(uid)}:
            raise TrustError(
                f"The project belongs to {name}, not to you: its skills would run "
                f"as you and {name} can change them",
                fix=f"%skill trust --owner {name}",
                path=root,
            )
        return uid


def find_override(
    environ: Mapping[str, str],
) -> tuple[Override | None, tuple[Diagnostic, ...]]:
    """Read ``PRIME_SKILLS_TRUST``; what it does not understand counts as ``none``."""
    value = environ.get(_VARIABLE, "").strip().lower()
    if value == "all":
        return "all", ()
    if value in {"", "none"}:
        return ("none" if value else None), ()
    diagnostic = Diagnostic(
        code="trust-override",
        message=f"{_VARIABLE} is neither `all` nor `none`: no project is trusted.",
        fix=f"Set {_VARIABLE} to `all` or `none`, or unset it.",
    )
    return "none", (diagnostic,)


def needs_trust(candidate: Candidate) -> bool:
    """Say whether a skill came with a project instead of from the user."""
    return candidate.source.kind in {"project", "project-settings"}


def is_trusted(
    candidate: Candidate, *, store: TrustStore, override: Override | None = None
) -> bool:
    """Say whether a skill may be built, imported and shown to a model.

    The arguments are those of ``distrust``.
    """
    return distrust(candidate, store=store, override=override) is None


def distrust(
    candidate: Candidate,
    *,
    store: TrustStore,
    override: Override | None = None,
    is_trait: bool = False,
) -> Distrust | None:
    """Say why a skill may not be used; ``None`` when it is trusted.

    Args:
        candidate: The skill and where it was found.
        store: The user's decisions.
        override: What ``PRIME_SKILLS_TRUST`` or the trait says instead of the store.
        is_trait: The override is the trait's.
    """
    if not needs_trust(candidate) or override == "all":
        return None
    if override is not None:
        said = "SkillManager.trust" if is_trait else _VARIABLE
        return Distrust(
            reason=f"it comes with this project, and {said} trusts none",
            fix=without_override(is_trait=is_trait),
        )
    if candidate.source.root is None:
        return Distrust()
    decision = store.decision(candidate.source.root)
    found: Distrust | None
    if not decision.trusted:
        origin = "it comes with this project"
        if lies_elsewhere(candidate):
            origin = "this project's settings name it, outside of the project"
        found = Distrust(reason=f"{origin}; {decision.reason}", fix=decision.fix)
    elif decision.pins is not None:
        found = _pin_problem(candidate.skill, decision=decision)
    else:
        found = store.owner_problem(candidate.skill, root=decision.root)
    if found is None or not lies_elsewhere(candidate):
        return found
    command = f"%skill trust {shlex.quote(str(decision.root))}"
    return Distrust(
        reason=found.reason, fix=found.fix.replace("%skill trust", command, 1)
    )


def lies_elsewhere(candidate: Candidate) -> bool:
    """Say whether a project's settings name a skill that is not in the project.

    Its trust is a decision of its own, keyed by the path that the settings name.
    """
    source = candidate.source
    if source.kind != "project-settings" or source.root is None:
        return False
    return real_path(source.directory) == str(source.root)


def without_override(*, is_trait: bool) -> str:
    """Return the fix that makes the stored decisions count again."""
    if is_trait:
        return "%config SkillManager.trust = None, then %reload_skills"
    return f"`%env {_VARIABLE}=`, then %reload_skills"


def _pin_problem(skill: Skill, *, decision: Decision) -> Distrust | None:
    if decision.pins is None:
        return None
    pinned = decision.pins.get(_pin_key(skill, root=decision.root))
    if pinned is None:
        return Distrust(
            reason="it is new since this project was trusted with --pin",
            fix="%skill trust --pin",
        )
    try:
        if pinned == _pin(skill):
            return None
        reason = "a file of it changed since this project was trusted with --pin"
    except (OSError, TrustError):
        reason = "it cannot be compared any more with what was trusted with --pin"
    return Distrust(reason=reason, fix="%skill trust --pin")


def _pin_key(skill: Skill, *, root: Path) -> str:
    content = Path(real_path(skill.content))
    if content.is_relative_to(root):
        # relative, so that a worktree with the same content has the same pins
        return content.relative_to(root).as_posix()
    return str(content)


def _pin(skill: Skill) -> str:
    content = Path(real_path(skill.content))
    try:
        links = contents.leaving_links(content)
        if not links:
            return contents.content_hash(content)
    except OSError as error:
        raise TrustError(
            f"The skill {skill.name} cannot be pinned: a file of it cannot be read",
            fix="make its files readable, or run %skill trust without --pin",
            path=content,
        ) from error
    raise TrustError(
        f"The skill {skill.name} cannot be pinned: its link {links[0].name} leads out "
        "of its folder, where any change would go unseen",
        fix="replace the link with a copy, or run %skill trust without --pin",
        path=links[0],
    )


def _existing(root: str | os.PathLike[str]) -> Path:
    real = Path(real_path(root))
    if not is_folder(real):
        raise TrustError(
            f"There is no folder {os.fspath(root)} to trust",
            fix="name the project's root folder",
            path=real,
        )
    return real


def _process_user() -> int | None:
    return os.geteuid() if hasattr(os, "geteuid") else None


def _owner_id(root: Path) -> int | None:
    """Return who owns a folder; ``None`` where the system has no such numbers."""
    if _process_user() is None:
        return None
    try:
        return root.stat().st_uid
    except OSError:
        return -1


def _owner(root: Path) -> str:
    try:
        return root.owner()
    except (KeyError, OSError, NotImplementedError):
        # the number has no name on this machine, as in a container
        return str(_owner_id(root))
