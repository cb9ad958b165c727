"""What a kernel must not read or import, and what it says instead.

Translates what trust, the record and the installation found into the kernel's terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from prime_skills_ext.catalog.discovery import Candidate
from prime_skills_ext.catalog.status import Problem
from prime_skills_ext.catalog.survey import Survey
from prime_skills_ext.catalog.trust import Distrust, needs_trust
from prime_skills_ext.environment.installation import InstallReport
from prime_skills_ext.environment.record import SkillRecord
from prime_skills_ext.kernel.importing import Refusal
from prime_skills_ext.kernel.loading import Doubt
from prime_skills_ext.later import later
from prime_skills_ext.skill.model import Skill

if TYPE_CHECKING:
    from prime_skills_ext.environment import blame
else:
    blame = later("prime_skills_ext.environment.blame")  # asked about what has failed

__all__ = ["failures", "project_code", "refused"]


def project_code(found: Survey) -> dict[Path, Doubt]:
    """The code that came with a project, and why it may not be read when it is."""
    return {
        item.skill.python.src: partial(_doubt, item, explain=found.explain)
        for item in found.selection.candidates()
        if needs_trust(item) and item.skill.python is not None
    }


def _doubt(
    candidate: Candidate, *, explain: Callable[[Candidate], Distrust | None]
) -> str | None:
    found = explain(candidate)
    return found and f"{candidate.skill.name}: {found.reason}. Fix: {found.fix}"


def refused(
    skills: Iterable[Skill], links: Mapping[str, tuple[SkillRecord, ...]]
) -> dict[str, Refusal]:
    """Import names that are linked, but not to the skills of this kernel."""
    held = {skill.import_name for skill in skills if skill.python is not None}
    problem = Problem(
        state="removed",
        reason="it is installed, but no skill of this kernel has that name",
        fix="%skill list --all",
    )
    return {
        name: Refusal(problem=problem, src=Path(known[-1].package_path) / "src")
        for name, known in links.items()
        if name not in held
    }


def failures(installed: InstallReport) -> dict[Path, Problem]:
    """Skills whose requirements are not met, and the end of what uv said about it."""
    return {
        identity: Problem(
            state="install-failed",
            reason=it.reason,
            fix=it.fix,
            log=blame.excerpt(it.log),
        )
        for identity, it in installed.failed.items()
    }
