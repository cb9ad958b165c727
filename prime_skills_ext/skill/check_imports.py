"""What a skill's code imports, found without running it, and who brings it.

An import that may fail without harm is left out: one inside ``try`` with a handler
for it, one for type checkers, one that depends on the version or the system. Pure.
"""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, final

from prime_skills_ext.skill.distributions import (
    DEFAULT_PACKAGES,
    IMPORT_NAMES,
    Distributions,
    looks_like,
)

__all__ = ["Import", "Missing", "Slip", "find_imports", "find_missing", "has_run"]

_TOLERANT: Final = frozenset(
    {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
)
_CONDITIONS: Final = frozenset(
    {"TYPE_CHECKING", "version_info", "platform", "implementation", "name", "system"}
)
#: Brought along by the kernel, never declared.
_RUNTIME: Final = frozenset({"rlm"})


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Import:
    """An import: the top-level name, and where it stands (column from 1)."""

    name: str
    line: int
    column: int


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Slip:
    """Why a file is no Python; line and column from 1."""

    reason: str
    line: int | None = None
    column: int | None = None


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Missing:
    """An import that no declared requirement is known to bring.

    Attributes:
        name: What is imported.
        requirement: What would bring it, as far as that is known.
        why: Half a sentence on how sure that is; ``None`` when it will fail.
    """

    name: str
    requirement: str
    why: str | None = None


def find_imports(source: str) -> tuple[Import, ...] | Slip:
    """Return the absolute imports that a module's code cannot do without."""
    tree = _parse(source)
    return tree if isinstance(tree, Slip) else tuple(_imports(tree.body))


def has_run(source: str) -> bool:
    """Tell whether a module has a top-level ``run``, or may have one."""
    tree = _parse(source)
    return isinstance(tree, Slip) or any(_binds_run(node) for node in _flat(tree.body))


def find_missing(
    names: Iterable[str],
    *,
    known: frozenset[str],
    declared: frozenset[str],
    distributions: Distributions,
) -> Mapping[str, Missing]:
    """Return the imports that nothing declared brings.

    Args:
        names: What is imported.
        known: Names that need no declaration: the skill's own, its siblings'.
        declared: Canonical names of the declared distributions.
        distributions: What is known of those that are installed.
    """
    asked = set(names) - known - sys.stdlib_module_names - _RUNTIME
    brought = {item: _brings(item, distributions) for item in declared}
    left = sorted(asked - {name for found in brought.values() for name in found})
    unexplained = sorted(item for item, found in brought.items() if not found)
    missing = {}
    for name in left:
        alike = next((item for item in unexplained if looks_like(item, name)), None)
        if alike is not None:
            continue
        missing[name] = _explain(
            name, declared=declared, unexplained=unexplained, known=distributions
        )
    return missing


def _brings(distribution: str, distributions: Distributions) -> frozenset[str]:
    """Return the import names of a distribution, none where they are not known."""
    found = distributions.provides.get(distribution)
    if found:  # of an editable install the names are not listed
        return found
    name = IMPORT_NAMES.get(distribution)
    return frozenset() if name is None else frozenset({name})


def _explain(
    name: str,
    *,
    declared: frozenset[str],
    unexplained: list[str],
    known: Distributions,
) -> Missing:
    provider = known.provider(name)
    table = next((item for item, each in IMPORT_NAMES.items() if each == name), None)
    requirement = DEFAULT_PACKAGES.get(name) or provider or table
    requirement = requirement or name.replace("_", "-").lower()
    why = None
    if name in DEFAULT_PACKAGES:
        why = "it is added when the import fails, here and nowhere else"
    elif provider is not None and provider in known.reach(declared):
        why = "it comes only because something else requires it"
    elif unexplained:
        why = f"unless {' or '.join(unexplained)} brings it"
    return Missing(name=name, requirement=requirement, why=why)


def _parse(source: str) -> ast.Module | Slip:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except SyntaxError as error:
        return Slip(reason=error.msg, line=error.lineno, column=error.offset)
    except (ValueError, RecursionError, MemoryError) as error:
        return Slip(reason=str(error) or "it is nested too deeply")


def _imports(nodes: Iterable[ast.AST]) -> Iterator[Import]:
    pending = list(nodes)[::-1]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield _import(alias.name, node)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield _import(node.module, node)
        pending += list(_needed(node))[::-1]


def _import(module: str, node: ast.stmt) -> Import:
    name = module.partition(".")[0]
    return Import(name=name, line=node.lineno, column=node.col_offset + 1)


def _needed(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a node in which an import must not fail."""
    if isinstance(node, ast.Try) and any(map(_is_tolerant, node.handlers)):
        # the handlers are the plan for the failure: one of both is needed, not both
        yield from (*node.orelse, *node.finalbody)
    elif isinstance(node, ast.If) and _depends_on_surroundings(node.test):
        return
    else:
        yield from ast.iter_child_nodes(node)


def _is_tolerant(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(kind, ast.Name) and kind.id in _TOLERANT for kind in kinds)


def _depends_on_surroundings(test: ast.expr) -> bool:
    return any(
        (isinstance(node, ast.Name) and node.id == "TYPE_CHECKING")
        or (isinstance(node, ast.Attribute) and node.attr in _CONDITIONS)
        for node in ast.walk(test)
    )


def _flat(nodes: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that run when the module is imported."""
    for node in nodes:
        yield node
        if isinstance(node, (ast.If, ast.Try, ast.With)):
            for field in ("body", "orelse", "finalbody"):
                yield from _flat(getattr(node, field, ()))
            for handler in getattr(node, "handlers", ()):
                yield from _flat(handler.body)


def _binds_run(node: ast.stmt) -> bool:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return node.name == "run"
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return any((item.asname or item.name) in {"run", "*"} for item in node.names)
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    return any(
        isinstance(part, ast.Name) and part.id == "run"
        for target in targets
        if isinstance(target, ast.AST)
        for part in ast.walk(target)
    )
