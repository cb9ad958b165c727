"""Modules that are loaded at their first use.

A start that finds nothing to do must not pay for what only an install, a reload or a
displayed value needs. Such a module stands among the imports like every other, where
readers and type checkers see it, and costs nothing until something of it is used::

    if TYPE_CHECKING:
        from prime_skills_ext import commands
    else:
        commands = later("prime_skills_ext.commands")
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, final

__all__ = ["later"]


@final
class _Later:
    """Stands for a module: each attribute is the module's own, as it is now."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)

    def __repr__(self) -> str:
        return f"<module {self._name!r}, loaded at its first use>"


def later(name: str) -> Any:
    """Return what stands for a module until it is needed.

    Args:
        name: Its absolute name; it need not be imported yet.
    """
    return _Later(name)
