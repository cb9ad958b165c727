"""Values to look at: one catalogue with a skill of every kind of state."""

from __future__ import annotations

from pathlib import Path

from prime_skills_ext.catalog.sources import Source, SourceKind
from prime_skills_ext.catalog.status import Catalogue, SkillStatus, State
from prime_skills_ext.skill.model import Diagnostic, PythonPackage, Skill

#: As different from one machine to the next as a path can be.
ROOT = Path("/home/somebody/tmp1234").absolute()


def status(
    name: str,
    state: State,
    *,
    description: str = "Does a thing. Use when a thing is to be done.",
    source: SourceKind = "user",
    label: str | None = None,
    is_python: bool = True,
    reason: str | None = None,
    fix: str | None = None,
    bound_as: str | None = None,
    overrides: tuple[str, ...] = (),
) -> SkillStatus:
    """Return how a skill stands that is in ``ROOT / source / name``."""
    directory = ROOT / source / name
    module = name.replace("-", "_")
    package = PythonPackage(
        import_name=module,
        directory=directory,
        pyproject=directory / "pyproject.toml",
        src=directory / "src",
    )
    skill = Skill(
        name=name,
        description=description,
        path=directory / "SKILL.md",
        directory=directory,
        identity=directory / "SKILL.md",
        import_name=module,
        python=package if is_python else None,
    )
    return SkillStatus(
        skill=skill,
        source=Source(kind=source, label=label or source, directory=ROOT / source),
        location=f"{label or source}: {name}",
        state=state,
        reason=reason,
        fix=fix,
        bound_as=bound_as,
        overrides=overrides,
    )


EDIT = status(
    "edit",
    "ready",
    description="Replace text in files, byte for byte. Use when a file changes.",
    source="builtin",
    bound_as="edit",
    overrides=("edit@user",),
)
CREATOR = status(
    "skill-creator",
    "instructions",
    description="Write a new\n  skill",
    source="builtin",
    is_python=False,
)
JSON = status("json", "ready", bound_as='skills["json"]', source="explicit")
BROKEN = status(
    "broken",
    "import-failed",
    source="explicit",
    reason="SyntaxError: <b>bad</b> & worse (src/broken/__init__.py, line 3), which is"
    " told here at such a length that the line has to be broken",
    fix="correct src/broken/__init__.py, then run `%reload_skills`",
)
DEPLOY = status(
    "deploy",
    "untrusted",
    source="project",
    label="project:.agents/skills",
    reason="this project is not trusted",
    fix="%skill trust",
)
SHADOWED = status(
    "edit", "shadowed", reason="builtin: edit has its name", fix="%skill show edit@user"
)
NOTE = Diagnostic(
    code="yaml-colon",
    message="the description holds a colon",
    fix="put it in quotes",
    path=ROOT / "user" / "edit" / "SKILL.md",
    line=3,
)
CATALOGUE = Catalogue(
    skills=(BROKEN, DEPLOY, EDIT, SHADOWED, JSON, CREATOR), diagnostics=(NOTE,)
)
