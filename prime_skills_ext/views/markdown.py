"""Instructions as HTML: Markdown whose raw HTML stays text.

Pure. The text is a stranger's: no markup of its own passes, no image is fetched by
merely showing it, and a link may not carry a script.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

__all__ = ["render"]


def render(markdown: str) -> str:
    """Return Markdown as well-formed HTML without any element of the text's own."""
    return str(_reader().render(markdown))


@cache
def _reader() -> MarkdownIt:
    # sixty modules: a load of the extension shows no instructions
    from markdown_it import MarkdownIt  # noqa: PLC0415

    # xhtmlOut: a line break is closed, so that the whole page can be parsed strictly
    options = {"html": False, "linkify": False, "xhtmlOut": True}
    return MarkdownIt("commonmark", options).enable("table").disable("image")
