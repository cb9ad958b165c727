"""The pieces that every view is made of in HTML: cards, badges, fixes, prose.

Pure. Whatever is given as text comes out escaped.
"""

from __future__ import annotations

import re
from html import escape
from typing import Final

from prime_skills_ext.views.theme import CLASS, STYLE
from prime_skills_ext.views.wording import Tone, clean, clean_block

__all__ = ["card", "command", "escaped", "fix_line", "pill", "prose"]

_SIGNS: Final[dict[Tone, str]] = {
    "good": "●",
    "plain": "◆",
    "todo": "▲",
    "bad": "✕",
    "quiet": "○",
}
_MAGIC: Final = re.compile(r"(?<!\S)%{1,2}[a-z_]+(?: --[a-z-]+)*")


def card(*parts: str, small: bool = False) -> str:
    """Return one value's frame, with the style that it needs."""
    extra = " ps-one" if small else ""
    return f"<div class='{CLASS}{extra}'>{STYLE}{''.join(parts)}</div>"


def pill(tone: Tone, word: str) -> str:
    """Return a badge: a sign and a tone that only repeat what the word says."""
    sign = f"<i aria-hidden='true'>{_SIGNS[tone]}</i>"
    return f"<span class='ps-badge ps-{tone}'>{sign}{word}</span>"


def fix_line(fix: str | None) -> str:
    """Return what to do, on a line of its own; nothing where there is nothing."""
    if not fix:
        return ""
    return f"<span class='ps-line ps-fix'><b>Fix</b>{command(fix)}</span>"


def command(fix: str) -> str:
    """Return a fix with what is to be typed set as code."""
    first, *added = clean_block(fix).splitlines() or [""]
    text = clean(first)
    is_typed = text.startswith(("%", "!")) and ", " not in text
    shown = f"<code>{escape(text)}</code>" if is_typed else prose(text)
    return shown + "".join(f"<br/><code>{escape(line)}</code>" for line in added)


def prose(text: str) -> str:
    """Return a sentence whose backquoted parts and magics are set as code."""
    parts = clean(text).split("`")
    if len(parts) % 2 == 0:  # an odd backquote is only a character
        return _plain(clean(text))
    return "".join(
        f"<code>{escape(part)}</code>" if index % 2 else _plain(part)
        for index, part in enumerate(parts)
    )


def _plain(text: str) -> str:
    return _MAGIC.sub(r"<code>\g<0></code>", escape(text))


def escaped(text: str) -> str:
    """Return a text of one line, cleaned and escaped."""
    return escape(clean(text))


def fold(title: str, content: str) -> str:
    """Return what can be folded away, open at first.

    An export and a print show what is in it, and the reader asked for it.
    """
    return (
        f"<details open='open'><summary>{title}</summary>"
        f"<div class='ps-body'>{content}</div></details>"
    )
