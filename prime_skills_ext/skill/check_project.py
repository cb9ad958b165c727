"""The strict reading of a skill's Python half: the contract of a callable module.

The package ``src/<import_name>`` is there, is what the wheel packs, imports nothing
undeclared, and has its command. Pure: texts and the names of files in, findings out;
none of the code runs.
"""

from __future__ import annotations

import builtins
import keyword
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, final

from packaging.utils import canonicalize_name

from prime_skills_ext.skill._toml import TableReader, load
from prime_skills_ext.skill.check_imports import (
    Missing,
    Slip,
    find_imports,
    find_missing,
    has_run,
)
from prime_skills_ext.skill.distributions import Distributions
from prime_skills_ext.skill.finding import Finding, Sheet
from prime_skills_ext.skill.model import Severity
from prime_skills_ext.skill.pyproject import Project, parse

__all__ = ["COMMAND_TARGET", "PythonFiles", "check_project"]

#: What the command of a skill is: the runtime makes it of ``run``'s signature.
COMMAND_TARGET: Final = "rlm.skill:cli"
_RUNTIME: Final = "prime-agent-runtime"
_BUILTINS: Final = frozenset(dir(builtins))
#: Where hatchling is told what a wheel packs.
_PACKING: Final = ("packages", "only-include")


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class PythonFiles:
    """The Python half of a skill, as it lies in its folder.

    Attributes:
        directory: The skill's folder.
        document: Its ``SKILL.md``, which findings about what is not there name.
        import_name: What its name is imported as; ``None`` if that is no identifier.
        files: What lies in the folder, relative with ``/``.
        pyproject: The text of ``pyproject.toml``; ``None`` without one.
        sources: The Python files below ``src``: relative path with ``/`` to text.
        siblings: Import names of other skills.
        distributions: What is known of installed distributions.
    """

    directory: Path
    document: Path
    import_name: str | None
    files: frozenset[str] = frozenset()
    pyproject: str | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    siblings: frozenset[str] = frozenset()
    distributions: Distributions = field(default_factory=Distributions)

    @property
    def package(self) -> str:
        """The package's folder, relative to the skill's."""
        return f"src/{self.import_name}"

    @property
    def init(self) -> str:
        """The file that is imported."""
        return f"{self.package}/__init__.py"


def check_project(python: PythonFiles) -> Iterator[Finding]:
    """Judge the Python half of a skill; a markdown skill gives no finding."""
    document = Sheet(path=python.document, lines=())
    has_package = python.init in python.files
    if python.pyproject is None:
        if has_package:
            yield document.note(
                "pyproject-missing",
                f"There is `{python.init}` but no `pyproject.toml`: the skill counts "
                "as instructions only.",
                fix="Add a `pyproject.toml`; %skill show skill-creator has a template.",
            )
        return
    if python.import_name is None:
        yield document.note(
            "import-name-invalid",
            "The skill's name gives no Python identifier, so it cannot be imported.",
            fix="Rename the skill and its folder: start with a letter, use letters, "
            "digits and hyphens.",
        )
        return
    if not has_package:
        yield _package_missing(document, python)
    yield from _import_name(document, python.import_name)
    yield from _project(python)


def _package_missing(document: Sheet, python: PythonFiles) -> Finding:
    others = sorted(
        {
            file.split("/")[1]
            for file in python.files
            if file.startswith("src/") and file.endswith("/__init__.py")
        }
    )
    flat = f"{python.import_name}/__init__.py"
    fix = f"Write `{python.init}` with an `async def run(…)`."
    if flat in python.files:
        fix = f"Move `{python.import_name}` into `src`."
    elif len(others) == 1:
        fix = f"Rename `src/{others[0]}` to `{python.package}`."
    return document.note(
        "python-package-missing",
        f"There is a `pyproject.toml` but no `{python.init}`: the skill counts as "
        "instructions only.",
        fix=fix,
    )


def _import_name(document: Sheet, name: str) -> Iterator[Finding]:
    taken = None
    if keyword.iskeyword(name):
        taken = "a keyword of Python"
    elif name in sys.stdlib_module_names:
        taken = "a module of Python"
    elif name in _BUILTINS:
        taken = "a builtin of Python"
    if taken is not None:
        yield document.note(
            "import-name-taken",
            f"`{name}` is {taken}: the skill is not bound under that name and is "
            f'called as `skills["{name}"]`.',
            fix="Rename the skill and its folder.",
            severity="warning",
        )


def _project(python: PythonFiles) -> Iterator[Finding]:
    text, name = python.pyproject or "", python.import_name or ""
    path = python.directory / "pyproject.toml"
    sheet = Sheet(path=path, lines=tuple(text.split("\n")))
    project, diagnostics = parse(text, import_name=name, path=path, files=python.files)
    yield from (
        # a name that its backend does not look for breaks the build elsewhere
        sheet.quote(
            item, severity="error" if item.code == "project-package" else item.severity
        )
        for item in diagnostics
    )
    table, _ = load(text.removeprefix("\ufeff"), path=path)
    if project is None or table is None:
        return
    contract = _Contract(
        python=python, sheet=sheet, project=project, table=table, name=name
    )
    yield from contract.build()
    yield from contract.command()
    yield from contract.requirements()
    yield from contract.imports()


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class _Contract:
    """One ``pyproject.toml`` and the code beside it."""

    python: PythonFiles
    sheet: Sheet
    project: Project
    table: Mapping[str, Any]
    name: str

    def build(self) -> Iterator[Finding]:
        """It names a backend, and the wheel packs the package."""
        if self.project.backend is None:
            yield self._note(
                "build-system-missing",
                "There is no [build-system]: what builds it is left to whoever does.",
                fix='Write `[build-system]`, `requires = ["hatchling"]` and '
                '`build-backend = "hatchling.build"`.',
                where="build-system",
                severity="warning",
            )
        build = _table(self.table, "tool", "hatch", "build")
        for where, table in (
            ("tool.hatch.build.targets.wheel", _table(build, "targets", "wheel")),
            ("tool.hatch.build", build),
        ):
            key = next((each for each in _PACKING if each in table), None)
            if key is None:
                continue
            packed = table[key] if isinstance(table[key], list) else []
            if not any(self._is_packed(item) for item in packed):
                yield self._packs_other(where, key)
            return

    def _is_packed(self, item: object) -> bool:
        return isinstance(item, str) and item.strip("/") in {"src", self.python.package}

    def _packs_other(self, where: str, key: str) -> Finding:
        line = f'{key} = ["{self.python.package}"]'
        return self._note(
            "wheel-packages",
            f"The wheel does not pack `{self.python.package}`.",
            fix=f"Write `{line}` below [{where}].",
            where=where,
            key=key,
            corrected=line,
        )

    def command(self) -> Iterator[Finding]:
        """A skill with ``run`` has a command of the import name."""
        source = self.python.sources.get(self.python.init)
        if source is None:
            return
        callable_ = has_run(source)
        if not callable_:
            init = Sheet(path=self.python.directory / self.python.init, lines=())
            yield init.note(
                "run-missing",
                f"There is no function `run`: `{self.name}` is bound as a module, "
                "not as something to call.",
                fix="Write `async def run(…)`, unless the skill is several functions.",
                severity="info",
            )
        line = f'{self.name} = "{COMMAND_TARGET}"'
        target = self.project.scripts.get(self.name)
        ours = [key for key, to in self.project.scripts.items() if to == COMMAND_TARGET]
        for other in (key for key in ours if key != self.name):
            yield self._note(
                "script-name",
                f"The script `{other}` finds its skill by its own name, which is not "
                f"the import name `{self.name}`.",
                fix=f"Write `{line}`.",
                where="project.scripts",
                key=other,
                corrected=line,
            )
        if target is not None and target != COMMAND_TARGET:
            yield self._note(
                "script-target",
                f"The script `{self.name}` starts `{target}` instead of the command "
                "line that is made of `run`.",
                fix=f"Write `{line}`, unless that is meant.",
                where="project.scripts",
                key=self.name,
                corrected=line,
                severity="warning",
            )
        elif target is None and not ours and callable_:
            yield self._note(
                "script-missing",
                f"There is no script, so `!{self.name} …` works in no cell.",
                fix=f"Write `{line}` below [project.scripts].",
                where="project.scripts",
                severity="warning",
            )

    def requirements(self) -> Iterator[Finding]:
        """The runtime is brought along, and no index has it."""
        if any(
            canonicalize_name(x.name) == _RUNTIME for x in self.project.dependencies
        ):
            yield self._note(
                "runtime-declared",
                f"`{_RUNTIME}` is declared: the kernel brings it along, and no index "
                "has it.",
                fix=f"Delete `{_RUNTIME}` from `dependencies`.",
                where="project",
                key="dependencies",
                severity="warning",
            )

    def imports(self) -> Iterator[Finding]:
        """Every file is Python, and what it imports is declared."""
        first: dict[str, tuple[Sheet, int, int]] = {}
        for file, source in sorted(self.python.sources.items()):
            sheet = Sheet(
                path=self.python.directory / file, lines=tuple(source.split("\n"))
            )
            imports = find_imports(source)
            if isinstance(imports, Slip):
                yield _syntax(sheet, imports)
                continue
            for item in imports:
                first.setdefault(item.name, (sheet, item.line, item.column))
        missing = find_missing(
            first,
            known=self._own_names() | self.python.siblings,
            declared=frozenset(
                canonicalize_name(item.name) for item in self.project.dependencies
            ),
            distributions=self.python.distributions,
        )
        for name, lacking in missing.items():
            sheet, line, column = first[name]
            yield self._undeclared(lacking, sheet, line=line, column=column)

    def _own_names(self) -> frozenset[str]:
        inside = (file.split("/") for file in self.python.files)
        return frozenset(
            parts[1].removesuffix(".py")
            for parts in inside
            if parts[0] == "src" and len(parts) > 1 and parts[-1].endswith(".py")
        )

    def _undeclared(
        self, item: Missing, sheet: Sheet, *, line: int, column: int
    ) -> Finding:
        why = item.why
        if why is None and "dependencies" in self.project.dynamic:
            why = "unless its dynamic dependencies hold it"
        return sheet.note(
            "import-undeclared",
            f"`{item.name}` is imported and not declared"
            + (f"; {why}." if why else ": it fails where nothing else brings it."),
            fix=f'Add "{item.requirement}" to `dependencies` in pyproject.toml.',
            severity="warning" if why else "error",
            line=line,
            column=column,
        )

    def _note(
        self,
        code: str,
        reason: str,
        *,
        fix: str,
        where: str,
        key: str | None = None,
        corrected: str | None = None,
        severity: Severity = "error",
    ) -> Finding:
        reader = TableReader(text=self.python.pyproject or "", path=self.sheet.path)
        reader.report(code, reason, fix=fix, where=where, key=key, severity=severity)
        found = self.sheet.quote(reader.diagnostics[0], corrected=corrected)
        # what is missing has no line to quote
        return found if key is not None else replace(found, written=None)


def _syntax(sheet: Sheet, slip: Slip) -> Finding:
    return sheet.note(
        "python-syntax",
        f"The file is not valid Python: {slip.reason}.",
        fix="Correct it: a skill whose import fails is bound to a placeholder.",
        line=slip.line,
        column=slip.column,
    )


def _table(table: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    """Return a table inside tables; an empty one when it is no table."""
    current: Any = table
    for key in keys:
        current = current.get(key) if isinstance(current, Mapping) else None
    return current if isinstance(current, Mapping) else {}
