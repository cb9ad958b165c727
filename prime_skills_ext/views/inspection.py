"""What ``skill?`` and Shift-Tab show: the skill's own words, nothing of its wrapper.

IPython describes a callable object twice, by itself and by the ``__call__`` of its
class, which every skill shares. Its hooks for mime types say what is shown of a skill.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from IPython.core.interactiveshell import InteractiveShell

from prime_skills_ext.kernel.callable_module import CallableSkill

__all__ = ["register"]

_MIMES: Final = ("text/plain", "text/html")
#: Heads and keys of what is shown, in the order in which IPython shows functions.
_SECTIONS: Final = (
    ("Signature", "definition"),
    ("Docstring", "docstring"),
    ("Source", "source"),
    ("File", "file"),
    ("Type", "type_name"),
)
_CODE: Final = frozenset({"definition", "source"})


def register(ip: InteractiveShell) -> Callable[[], None]:
    """Clean what a shell shows of skills and return what undoes it."""
    hooks: dict[str, Any] = ip.inspector.mime_hooks
    before = {mime: hooks.get(mime) for mime in _MIMES}
    ours = {mime: _hook(ip, mime=mime, before=before[mime]) for mime in _MIMES}
    hooks.update(ours)

    def undo() -> None:
        for mime, hook in ours.items():
            if hooks.get(mime) is not hook:
                continue  # somebody else's by now
            del hooks[mime]
            if before[mime] is not None:
                hooks[mime] = before[mime]

    return undo


def _hook(ip: InteractiveShell, *, mime: str, before: Any) -> Callable[..., Any]:
    def hook(data: Any) -> Any:
        if isinstance(getattr(data, "obj", None), CallableSkill):
            return [
                (head, _format(ip, data.info_dict[key], key=key, mime=mime))
                for head, key in _SECTIONS
                if data.info_dict[key] and not {head, key} & {*data.omit_sections}
            ]
        return None if before is None else before(data)

    return hook


def _format(ip: InteractiveShell, text: str, *, key: str, mime: str) -> str:
    if mime == "text/html":
        from html import escape  # noqa: PLC0415  # a load needs none of it

        return f"<pre>{escape(text)}</pre>"
    inspector: Any = ip.inspector  # untyped
    return str(inspector.format(text)) if key in _CODE else text
