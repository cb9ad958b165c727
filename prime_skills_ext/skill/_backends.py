"""What is known about build backends: who needs to run, what they read and expect.

The *fast lane* of an install writes the editable wheel itself. That is right only
where the backend would have done exactly the same: static metadata, modules below
``src``, nothing generated. The rules list what is harmless; everything else, known
or not, is a reason to run the backend.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, final

__all__ = [
    "DEFAULT",
    "Facts",
    "check_naming",
    "find_inputs",
    "find_slow_lane",
    "is_refused_for_naming",
]

#: What builds a project that names no backend (PEP 517).
DEFAULT = "setuptools.build_meta:__legacy__"

#: Files whose mere presence changes a build, whatever the metadata names.
_ALWAYS = ("setup.py", "setup.cfg", "uv.lock")
#: Those of them that run, or that backends read metadata from.
_TAKE_PART = ("setup.py", "setup.cfg", "pdm_build.py")
_IF_PRESENT = ("MANIFEST.in", "hatch_build.py", "pdm_build.py")
#: Keys of backends' own tables behind which the names of files stand.
_FILE_KEYS = frozenset({"file", "files", "path", "filename"})
_FILE_TOOLS = ("setuptools", "hatch", "flit", "pdm", "maturin", "scikit-build")
_GLOB = frozenset("*?[")

_HATCH_HARMLESS = frozenset(
    {
        "artifacts",
        "bypass-selection",
        "core-metadata-version",
        "directory",
        "exclude",
        "hooks",
        "ignore-vcs",
        "include",
        "only-packages",
        "reproducible",
        "skip-excluded-dirs",
        "strict-naming",
        "targets",
    }
)
_SETUPTOOLS_HARMLESS = frozenset(
    {
        "exclude-package-data",
        "include-package-data",
        "license-files",
        "obsoletes",
        "package-data",
        "platforms",
        "provides",
        "zip-safe",
    }
)
_UV_HARMLESS = frozenset(
    {"default-excludes", "source-exclude", "source-include", "wheel-exclude"}
)
_PDM_HARMLESS = frozenset({"excludes", "includes", "source-includes"})


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """What decides how a project is built; values of the wrong type are gone.

    Attributes:
        backend: Its build backend or ``DEFAULT``.
        has_backend_path: The backend is part of the project.
        build_requires: Canonical names of what building requires.
        import_name: What the skill is imported as.
        name: Canonical name of the distribution.
        project: The table ``[project]``.
        tool: The table ``[tool]``.
        dynamic: Fields that only the backend knows.
        files: What lies in the folder, relative with ``/``.
    """

    backend: str
    has_backend_path: bool
    build_requires: tuple[str, ...]
    import_name: str
    name: str | None
    project: Mapping[str, Any]
    tool: Mapping[str, Any]
    dynamic: tuple[str, ...]
    files: frozenset[str]


def find_slow_lane(facts: Facts) -> str | None:
    """Say why a project needs its own backend, in half a sentence."""
    general = _slow_metadata(facts) or _slow_build(facts)
    if general is not None or facts.backend not in _BACKENDS:
        return general or f"its backend is {facts.backend}"
    distribution, explain = _BACKENDS[facts.backend]
    usual = {distribution, "wheel"}
    others = [name for name in facts.build_requires if name not in usual]
    if others:
        return f"its build requires {', '.join(others)}"
    return explain(facts)


def _slow_metadata(facts: Facts) -> str | None:
    if facts.name is None:
        return "it has no static [project] name"
    if facts.dynamic:
        return f"it has dynamic fields ({', '.join(facts.dynamic)})"
    return None


def _slow_build(facts: Facts) -> str | None:
    present = [name for name in _TAKE_PART if name in facts.files]
    if present:
        return f"it has a {present[0]}"
    if _table(facts.tool, "uv", "sources"):
        return "it sets tool.uv.sources"
    return "it brings its own build backend" if facts.has_backend_path else None


def _slow_hatchling(facts: Facts) -> str | None:
    hatch = _table(facts.tool, "hatch")
    build = _table(hatch, "build")
    wheel = _table(build, "targets", "wheel")
    hooks = (_table(table, "hooks") for table in (build, wheel))
    if any(hooks) or _table(hatch, "metadata", "hooks"):
        return "it has build hooks"
    for where, table in (("build", build), ("build.targets.wheel", wheel)):
        for key, value in table.items():
            if key not in _HATCH_HARMLESS and not _is_src(key, value):
                return f"it sets tool.hatch.{where}.{key}"
    return None


def _is_src(key: str, value: object) -> bool:
    """Tell whether a setting of hatchling says no more than that ``src`` is used."""
    if not isinstance(value, list):
        return False
    if key in {"sources", "dev-mode-dirs"}:
        return value == ["src"]
    return key in {"packages", "only-include"} and all(
        isinstance(item, str)
        and item.strip("/").startswith("src/")
        and item.strip("/").count("/") == 1
        for item in value
    )


def _slow_setuptools(facts: Facts) -> str | None:
    for key, value in _table(facts.tool, "setuptools").items():
        if key in _SETUPTOOLS_HARMLESS:
            continue
        find = value.get("find") if isinstance(value, Mapping) else None
        is_src = isinstance(find, Mapping) and find.get("where") == ["src"]
        if key != "packages" or not is_src:
            return f"it sets tool.setuptools.{key}"
    return None


def _slow_uv_build(facts: Facts) -> str | None:
    expected = {"module-root": "src", "module-name": facts.import_name}
    return _find_unusual(
        _table(facts.tool, "uv", "build-backend"),
        where="tool.uv.build-backend",
        harmless=_UV_HARMLESS,
        expected=expected,
    )


def _slow_flit(facts: Facts) -> str | None:
    if "external-data" in _table(facts.tool, "flit"):
        return "it sets tool.flit.external-data"
    return _find_unusual(
        _table(facts.tool, "flit", "module"),
        where="tool.flit.module",
        harmless=frozenset(),
        expected={"name": facts.import_name},
    )


def _slow_pdm(facts: Facts) -> str | None:
    return _find_unusual(
        _table(facts.tool, "pdm", "build"),
        where="tool.pdm.build",
        harmless=_PDM_HARMLESS,
        expected={"package-dir": "src", "is-purelib": True},
    )


def _find_unusual(
    table: Mapping[str, Any],
    *,
    where: str,
    harmless: frozenset[str],
    expected: Mapping[str, object],
) -> str | None:
    for key, value in table.items():
        if key not in harmless and (key not in expected or expected[key] != value):
            return f"it sets {where}.{key}"
    return None


#: Backend to the distribution it comes from and what makes it do more than we do.
_BACKENDS: Mapping[str, tuple[str, Callable[[Facts], str | None]]] = {
    "hatchling.build": ("hatchling", _slow_hatchling),
    "setuptools.build_meta": ("setuptools", _slow_setuptools),
    DEFAULT: ("setuptools", _slow_setuptools),
    "uv_build": ("uv-build", _slow_uv_build),
    "flit_core.buildapi": ("flit-core", _slow_flit),
    "pdm.backend": ("pdm-backend", _slow_pdm),
}


def check_naming(facts: Facts) -> tuple[str, str] | None:
    """Tell whether the backend will look for a package that is not there.

    Some backends derive the package's name from the distribution's unless a
    table says otherwise.

    Returns:
        What is wrong, and the fix; ``None`` when all is well.
    """
    derived = (facts.name or facts.import_name).replace("-", "_")
    if derived == facts.import_name.lower():
        return None
    package = f"src/{facts.import_name}"
    if facts.backend == "hatchling.build" and not _selects_files(facts):
        lines = f'[tool.hatch.build.targets.wheel]\npackages = ["{package}"]'
    elif facts.backend == "uv_build" and not _table(facts.tool, "uv", "build-backend"):
        lines = f'[tool.uv.build-backend]\nmodule-name = "{facts.import_name}"'
    elif facts.backend == "flit_core.buildapi" and not _table(
        facts.tool, "flit", "module"
    ):
        lines = f'[tool.flit.module]\nname = "{facts.import_name}"'
    else:
        return None
    message = (
        f"The backend {facts.backend} looks for a package named like the project, "
        f"`{derived}`, and will not find {package}."
    )
    return message, f"Add these two lines to pyproject.toml:\n{lines}"


def is_refused_for_naming(facts: Facts) -> bool:
    """Tell whether the backend has to run and will stop for want of its package.

    Where something of the derived name lies elsewhere, it may be what is meant.
    """
    if check_naming(facts) is None or find_slow_lane(facts) is None:
        return False
    derived = (facts.name or "").replace("-", "_")
    parts = {part for file in facts.files for part in file.lower().split("/")}
    return parts.isdisjoint({derived, f"{derived}.py"})


def _selects_files(facts: Facts) -> bool:
    build = _table(facts.tool, "hatch", "build")
    selecting = {"packages", "include", "only-include", "force-include"}
    return any(
        selecting & set(table) for table in (build, _table(build, "targets", "wheel"))
    )


def find_inputs(facts: Facts) -> tuple[str, ...]:
    """Name the files that a build reads, those inside the folder only, sorted."""
    found = {*_ALWAYS, *(name for name in _IF_PRESENT if name in facts.files)}
    found.update(_metadata_files(facts))
    for tool in _FILE_TOOLS:
        found.update(_named_files(_table(facts.tool, tool)))
    for field in _table(facts.tool, "setuptools", "dynamic").values():
        attribute = field.get("attr") if isinstance(field, Mapping) else None
        if isinstance(attribute, str):
            module = attribute.rpartition(".")[0].replace(".", "/")
            found.update({f"src/{module}.py", f"src/{module}/__init__.py"})
    if facts.backend == "flit_core.buildapi" and facts.dynamic:
        found.add(f"src/{facts.import_name}/__init__.py")
    return tuple(sorted(name for name in found if _is_inside(name)))


def _metadata_files(facts: Facts) -> Iterator[str]:
    """Yield what ``[project]`` names: the readme and the licences."""
    for key in ("readme", "license"):
        value = facts.project.get(key)
        if isinstance(value, Mapping):
            value = value.get("file")
        elif key == "license":
            continue  # an SPDX expression, no file
        if isinstance(value, str):
            yield value
    patterns = facts.project.get("license-files")
    for pattern in patterns if isinstance(patterns, list) else ():
        if not isinstance(pattern, str):
            continue
        if not _GLOB & set(pattern):
            yield pattern
        yield from fnmatch.filter(sorted(facts.files), pattern)


def _named_files(table: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts behind ``file``, ``path`` and their like at any depth."""
    pending: list[object] = [table]
    while pending:
        current = pending.pop()
        if isinstance(current, list):
            pending += current
        elif isinstance(current, Mapping):
            pending += current.values()
            for key in _FILE_KEYS & set(current):
                value = current[key]
                names = value if isinstance(value, list) else [value]
                yield from (name for name in names if isinstance(name, str))


def _is_inside(name: str) -> bool:
    """Tell whether a relative path stays in the folder on every system."""
    path = PurePosixPath(name)
    return (
        bool(path.parts)
        and not path.is_absolute()
        and ".." not in path.parts
        and not set(name) & set("\\:\0")
    )


def _table(table: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    """Return a table inside tables; an empty one when it is no table."""
    current: Any = table
    for key in keys:
        current = current.get(key) if isinstance(current, Mapping) else None
    return current if isinstance(current, Mapping) else {}
