"""From a file that was found to a skill, its Python half included.

Reads the header and looks for ``pyproject.toml`` and the package beside it. The body
is never read here, no content of ``pyproject.toml`` is judged, and no Python runs.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, final

from prime_skills_ext.catalog._cached import with_python
from prime_skills_ext.catalog.cache import SkillCache, Stamp, stamp
from prime_skills_ext.catalog.looking import is_file
from prime_skills_ext.catalog.reading import explain, read_header
from prime_skills_ext.catalog.walking import Found
from prime_skills_ext.later import later
from prime_skills_ext.skill.model import Diagnostic, PythonPackage, Skill
from prime_skills_ext.skill.names import import_name

if TYPE_CHECKING:
    from prime_skills_ext.skill import frontmatter, validation
else:
    # the cache knows what they said about files that did not change
    frontmatter = later("prime_skills_ext.skill.frontmatter")
    validation = later("prime_skills_ext.skill.validation")

__all__ = ["Loader"]

_Loaded = tuple[Skill | None, tuple[Diagnostic, ...]]


@final
class Loader:
    """Makes skills of files; each is read once however many ways lead to it.

    Args:
        cache: What earlier runs read; ``None`` if they do not count.
    """

    def __init__(self, cache: SkillCache | None) -> None:
        self._cache = cache
        # by identity, with the file's stamp from before it was read
        self._headers: dict[str, tuple[bytes, Stamp]] = {}

    def load(self, found: Found) -> _Loaded:
        """Make a skill of a file.

        Returns:
            The skill, ``None`` if the file is none, and what somebody should know. A
            lone file that the user did not name and that describes no skill is passed
            over in silence: READMEs lie everywhere.
        """
        path = Path(found.path)
        identity = path if found.identity == found.path else Path(found.identity)
        outcome = None
        if self._cache is not None:
            outcome = self._cache.get(found, path=path, identity=identity)
        if outcome is None:
            try:
                outcome = self._read(found, path=path, identity=identity)
            except OSError as error:
                return None, (_unreadable(path, error, loose=found.loose),)
        skill, diagnostics = outcome
        if skill is None:
            silent = found.loose and not found.named
            return None, () if silent else diagnostics
        if found.has_project:
            python, problem = _find_package(skill)
            skill = with_python(skill, python)
            diagnostics += () if problem is None else (problem,)
        return skill, diagnostics

    def _read(self, found: Found, *, path: Path, identity: Path) -> _Loaded:
        known = self._headers.get(found.identity)
        if known is None:
            data, status = read_header(found.path)
            known = self._headers[found.identity] = data, stamp(status)
        data, taken = known
        header = frontmatter.parse(data, path=path)
        outcome = validation.to_skill(
            header, path=path, identity=identity, loose=found.loose
        )
        if self._cache is not None:
            self._cache.put(found, outcome, stamp=taken, size=len(data))
        return outcome


def _find_package(skill: Skill) -> tuple[PythonPackage | None, Diagnostic | None]:
    """Look for the module of a skill that has a ``pyproject.toml``."""
    name = import_name(skill.name, fallback=skill.directory.name)
    pyproject = skill.directory / "pyproject.toml"
    if not is_file(pyproject):
        return None, _half(
            skill,
            code="pyproject-not-a-file",
            why="`pyproject.toml` is not a regular file",
            fix="Replace it with a text file, or remove it.",
        )
    if name is None:
        return None, _half(
            skill,
            code="import-name-invalid",
            why=f"the name `{skill.name}` gives no Python identifier",
            fix="Rename the skill and its folder: start with a letter, "
            "use letters, digits and hyphens.",
        )
    src = skill.directory / "src"
    wanted = src / name / "__init__.py"
    if is_file(wanted):
        return PythonPackage(
            import_name=name, directory=skill.directory, pyproject=pyproject, src=src
        ), None
    return None, _half(
        skill,
        code="python-package-missing",
        why=f"`src/{name}/__init__.py` is missing",
        fix=_package_fix(src, name=name),
    )


def _package_fix(src: Path, *, name: str) -> str:
    """Suggest renaming the one package there is; else writing one."""
    try:
        with os.scandir(src) as entries:
            others = sorted(
                entry.name
                for entry in entries
                if is_file(Path(entry.path, "__init__.py"))
            )
    except OSError:
        others = []
    if len(others) == 1:
        return f"Rename `src/{others[0]}` to `src/{name}`."
    return (
        f"Write `src/{name}/__init__.py` with an `async def run(...)`, "
        "or remove `pyproject.toml`."
    )


def _half(skill: Skill, *, code: str, why: str, fix: str) -> Diagnostic:
    return Diagnostic(
        code=code,
        message=f"The skill `{skill.name}` counts as instructions only: {why}.",
        fix=fix,
        path=skill.path,
    )


def _unreadable(path: Path, error: OSError, *, loose: bool) -> Diagnostic:
    name = path.name if loose else path.parent.name
    return Diagnostic(
        code="unreadable",
        message=f"The skill in `{name}` is left out: {explain(error)}.",
        fix="Make the file readable or remove it, then run %reload_skills.",
        severity="error",
        path=path,
    )
