"""Hands the views to a shell, by type, and takes exactly them back.

The one module of this room that touches a shell. It changes nothing but the entries
of our own types in two formatters. The types are named, not imported: neither they
nor what renders them is loaded before one of them is displayed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from IPython.core.interactiveshell import InteractiveShell

from prime_skills_ext.kernel.callable_module import pretty_call
from prime_skills_ext.later import later

if TYPE_CHECKING:
    from prime_skills_ext.views import hypertext, page, text
    from prime_skills_ext.views.card import SkillDetails
else:
    hypertext = later("prime_skills_ext.views.hypertext")
    page = later("prime_skills_ext.views.page")
    text = later("prime_skills_ext.views.text")

__all__ = ["TYPES", "register", "unregister"]

#: What is a page of Markdown, too.
_PAGE: Final = ("prime_skills_ext.views.card", "SkillDetails")
#: The types that display themselves: module and name.
TYPES: Final[tuple[tuple[str, str], ...]] = (
    ("prime_skills_ext.catalog.status", "Catalogue"),
    ("prime_skills_ext.catalog.status", "SkillStatus"),
    _PAGE,
    ("prime_skills_ext.views.report", "Doctor"),
    ("prime_skills_ext.views.report", "Check"),
    ("prime_skills_ext.views.report", "Message"),
    ("prime_skills_ext.views.timeline", "Timeline"),
    ("prime_skills_ext.views.budget", "BudgetReport"),
    ("prime_skills_ext.views.statistics", "Statistics"),
    ("prime_skills_ext.prompt.listing", "Listing"),
    ("prime_skills_ext.prompt.activation", "Activation"),
    ("prime_skills_ext.kernel.reload_report", "ReloadReport"),
    ("prime_skills_ext.catalog.check_report", "CheckReport"),
    ("prime_skills_ext.environment.inventory", "Inventory"),
    ("prime_skills_ext.environment.inventory", "EnvironmentPath"),
    ("prime_skills_ext.environment.inventory", "Pruned"),
    ("prime_skills_ext.environment.inventory", "Rebuilt"),
)

_Type = type | tuple[str, str]
_before: WeakKeyDictionary[InteractiveShell, list[Callable[[], None]]] = (
    WeakKeyDictionary()
)


def register(ip: InteractiveShell) -> Callable[[], None]:
    """Let a shell display our values and return what undoes it.

    A second call changes nothing.
    """

    def undo() -> None:
        unregister(ip)

    if ip not in _before:
        _before[ip] = [
            _replace(_formatter(ip, mime=mime), each, function=function)
            for (mime, each), function in _FUNCTIONS.items()
        ]
    return undo


def unregister(ip: InteractiveShell) -> None:
    """Put back what the shell had; what somebody else set since is theirs."""
    for put_back in _before.pop(ip, ()):
        put_back()


def _replace(formatter: Any, each: _Type, *, function: Any) -> Callable[[], None]:
    """Let ``function`` show values of a type; return what undoes it."""
    former = [(table, key, table.pop(key)) for table, key in _places(formatter, each)]
    is_named = isinstance(each, tuple)
    table = formatter.deferred_printers if is_named else formatter.type_printers
    table[each] = function

    def undo() -> None:
        # IPython moves an entry of a name once a value of the type is displayed
        places = _places(formatter, each)
        if [table[key] for table, key in places] != [function]:
            return
        for table, key in places:
            del table[key]
        for table, key, before in former:
            table[key] = before

    return undo


def _places(formatter: Any, each: _Type) -> list[tuple[dict[Any, Any], Any]]:
    """Where a formatter has an entry for a type: each table, and the key in it."""
    loaded: type | None
    if isinstance(each, tuple):
        loaded = getattr(sys.modules.get(each[0]), each[1], None)
    else:
        loaded = each
    tables = ((formatter.type_printers, loaded), (formatter.deferred_printers, each))
    return [(table, key) for table, key in tables if key in table]


def _print_text(value: object, printer: Any, cycle: bool) -> None:  # noqa: FBT001 - IPython's form
    del cycle
    printer.text(text.render(value))


def _render_page(value: SkillDetails) -> str:
    return page.render(value)


def _render_html(value: object) -> str | None:
    return hypertext.render(value)


_FUNCTIONS: Final[dict[tuple[str, _Type], Any]] = {
    **{("text/plain", each): _print_text for each in TYPES},
    **{("text/html", each): _render_html for each in TYPES},
    ("text/markdown", _PAGE): _render_page,
    # a skill's call that was displayed instead of awaited says so
    ("text/plain", CoroutineType): pretty_call,
}


def _formatter(ip: InteractiveShell, *, mime: str) -> Any:
    return ip.display_formatter.formatters[mime]  # type: ignore[union-attr]  # a trait that may be None in no shell
