"""Hands the views to a shell, by type, and takes exactly them back.

The one module of this room that touches a shell. It changes nothing but the entries
of our own types in two formatters.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CoroutineType
from typing import Any, Final
from weakref import WeakKeyDictionary

from IPython.core.interactiveshell import InteractiveShell

from prime_skills_ext.catalog.check_report import CheckReport
from prime_skills_ext.catalog.status import Catalogue, SkillStatus
from prime_skills_ext.kernel.callable_module import pretty_call
from prime_skills_ext.kernel.reload_report import ReloadReport
from prime_skills_ext.views import hypertext, text
from prime_skills_ext.views.card import SkillDetails
from prime_skills_ext.views.report import Check, Doctor, Message

__all__ = ["TYPES", "register", "unregister"]

#: The types that display themselves.
TYPES: Final[tuple[type, ...]] = (
    Catalogue,
    SkillStatus,
    SkillDetails,
    Doctor,
    Check,
    Message,
    ReloadReport,
    CheckReport,
)

#: What stood in a formatter before: absent is told from ``None``.
_ABSENT: Final = object()
_Entries = dict[tuple[str, type], object]
_before: WeakKeyDictionary[InteractiveShell, _Entries] = WeakKeyDictionary()


def register(ip: InteractiveShell) -> Callable[[], None]:
    """Let a shell display our values and return what undoes it.

    A second call changes nothing.
    """

    def undo() -> None:
        unregister(ip)

    if ip in _before:
        return undo
    entries: _Entries = {}
    for (mime, each), function in _FUNCTIONS.items():
        printers = _printers(ip, mime=mime)
        entries[mime, each] = printers.get(each, _ABSENT)
        printers[each] = function
    _before[ip] = entries
    return undo


def unregister(ip: InteractiveShell) -> None:
    """Put back what the shell had; what somebody else set since is theirs."""
    for (mime, each), former in _before.pop(ip, {}).items():
        printers = _printers(ip, mime=mime)
        if printers.get(each) is not _FUNCTIONS[mime, each]:
            continue
        if former is _ABSENT:
            del printers[each]
        else:
            printers[each] = former


def _print_text(value: object, printer: Any, cycle: bool) -> None:  # noqa: FBT001 - IPython's form
    del cycle
    printer.text(text.render(value))


_FUNCTIONS: Final[dict[tuple[str, type], Any]] = {
    **{("text/plain", each): _print_text for each in TYPES},
    **{("text/html", each): hypertext.render for each in TYPES},
    # a skill's call that was displayed instead of awaited says so
    ("text/plain", CoroutineType): pretty_call,
}


def _printers(ip: InteractiveShell, *, mime: str) -> dict[type, Any]:
    formatter = ip.display_formatter.formatters[mime]  # type: ignore[union-attr]  # a trait that may be None in no shell
    found: dict[type, Any] = formatter.type_printers
    return found
