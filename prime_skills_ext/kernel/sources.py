"""What the source of a module says about itself, without executing it."""

from __future__ import annotations

import ast
import dis
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import resolve_name
from types import CodeType
from typing import final

from prime_skills_ext.kernel.loading import SkillLoader

__all__ = ["ModuleSource", "read_source"]

_DYNAMIC_IMPORTS = frozenset({"import_module", "__import__"})
_DYNAMIC_NAMES = frozenset({"exec", "eval", "globals", "locals", "setattr", "vars"})


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class ModuleSource:
    """A compiled module.

    Attributes:
        code: Compiled from the text on disk, never from a cache.
        imports: Full names of modules that it may import.
        imports_anything: It computes names of modules when it runs.
        stores: Global names that its statements assign.
        stores_anything: It may define names that no statement spells.
    """

    code: CodeType
    imports: frozenset[str]
    imports_anything: bool
    stores: frozenset[str]
    stores_anything: bool


def read_source(loader: SkillLoader, *, is_package: bool) -> ModuleSource:
    """Read and compile the text of a module.

    Raises:
        SyntaxError: It does not compile.
        OSError: It cannot be read.
    """
    path = loader.get_filename(loader.name)
    data = loader.get_data(path)
    code: CodeType = loader.source_to_code(data, path)
    nodes = list(ast.walk(ast.parse(data)))
    package = loader.name if is_package else loader.name.rpartition(".")[0]
    used = frozenset(_used(code))
    star = any(
        alias.name == "*"
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    )
    return ModuleSource(
        code=code,
        imports=frozenset(_imports(nodes, package=package)),
        imports_anything=bool(used & _DYNAMIC_IMPORTS),
        stores=frozenset(_stores(code, top=True)),
        stores_anything=star or bool(used & _DYNAMIC_NAMES),
    )


def _imports(nodes: list[ast.AST], *, package: str) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
        elif isinstance(node, ast.ImportFrom):
            try:
                base = resolve_name("." * node.level + (node.module or ""), package)
            except ImportError:  # a relative import that leaves the package
                continue
            yield base
            for alias in node.names:
                yield f"{base}.{alias.name}"


def _used(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _used(constant)


def _stores(code: CodeType, *, top: bool) -> Iterator[str]:
    operations = {"STORE_NAME", "STORE_GLOBAL"} if top else {"STORE_GLOBAL"}
    for instruction in dis.get_instructions(code):
        if instruction.opname in operations:
            yield str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _stores(constant, top=False)
