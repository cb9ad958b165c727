"""A listing as text: instructions, then one element of XML for each skill. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from prime_skills_ext.prompt.cleaning import clean, escaped, legible_path
from prime_skills_ext.prompt.entry import Entry
from prime_skills_ext.prompt.guidance import guidance, rest

__all__ = ["to_text"]


def to_text(
    entries: Sequence[Entry],
    names: Sequence[str],
    texts: Sequence[str | None],
    *,
    tools: Collection[str] | None,
) -> str:
    """Return what a model reads; ``""`` without entries.

    Args:
        entries: All skills, in their order.
        names: The name of each, cleaned.
        texts: What is told of each, cleaned: ``""`` tells its name only, ``None``
            leaves it out.
        tools: Names of the model's tools; ``None`` if nobody knows.
    """
    if not entries:
        return ""
    shown = [
        (entry, name, text)
        for entry, name, text in zip(entries, names, texts, strict=True)
        if text is not None
    ]
    lines = [
        guidance([entry for entry, _, _ in shown], tools=tools),
        "",
        "<available_skills>",
        *(_element(entry, name, text) for entry, name, text in shown),
    ]
    if left_out := len(entries) - len(shown):
        lines.append(f"  <more>{rest(left_out, tools=tools)}</more>")
    lines.append("</available_skills>")
    return "\n".join(lines)


def _element(entry: Entry, name: str, text: str) -> str:
    """Return one skill in XML; what it does not have leaves no element."""
    extra = ""
    if entry.python_import:
        extra += _line("python_import", clean(entry.python_import))
    if entry.command:
        extra += _line("command", clean(entry.command))
    if text:
        extra += _line("description", text)
    if entry.mark:
        extra += _line("note", clean(entry.mark))
    return (
        f"  <skill>\n    <name>{escaped(name)}</name>\n"
        f"    <type>{entry.kind}</type>\n{extra}"
        f"    <location>{escaped(legible_path(entry.location))}</location>\n  </skill>"
    )


def _line(tag: str, text: str) -> str:
    return f"    <{tag}>{escaped(text)}</{tag}>\n"
