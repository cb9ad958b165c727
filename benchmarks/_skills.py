"""Skills to measure with: built by hatchling, without requirements."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def write_skill(folder: Path, name: str, *, modules: Mapping[str, str]) -> None:
    """Write one skill.

    Args:
        folder: That of all skills.
        name: Its name.
        modules: The code of its package, by module.
    """
    skill = folder / name
    package = skill / "src" / name.replace("-", "_")
    package.mkdir(parents=True)
    for module, code in modules.items():
        (package / f"{module}.py").write_text(code, encoding="utf-8")
    (skill / "SKILL.md").write_text(
        f"---\nname: {name}\ndescription: Does what {name} does.\n---\n\n"
        f"# {name}\n\nCall it.\n",
        encoding="utf-8",
    )
    (skill / "pyproject.toml").write_text(
        f'[project]\nname = "{name}"\nversion = "0.1.0"\n\n'
        '[build-system]\nrequires = ["hatchling"]\n'
        'build-backend = "hatchling.build"\n\n'
        f'[tool.hatch.build.targets.wheel]\npackages = ["src/{package.name}"]\n',
        encoding="utf-8",
    )
