"""Whether what is drawn can be read: contrast, and text that stays in its card."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator

__all__ = ["unreadable"]

#: What WCAG 2 asks of text of any size (level AA).
CONTRAST = 4.5
_SCRIPT = (Path(__file__).parent / "readable.js").read_text(encoding="utf-8")


def unreadable(card: Locator) -> list[str]:
    """Return the pieces of text in a card that are faint or stick out of it."""
    told = card.evaluate(f"(root, least) => ({_SCRIPT.strip()})(root, least)", CONTRAST)
    return [str(line) for line in told]
