"""A skill's page as Markdown: for terminals that draw it, and programs that read it.

Pure. What a stranger's file says keeps its words and loses what moves a cursor.
"""

from __future__ import annotations

from prime_skills_ext.views.card import SkillDetails
from prime_skills_ext.views.wording import (
    clean,
    clean_block,
    how_to_use,
    leads_elsewhere,
)

__all__ = ["render"]


def render(value: SkillDetails) -> str:
    """Return a skill as a page of Markdown: card, documentation, instructions."""
    status = value.status
    use = how_to_use(status, signature=value.signature or "(…)")
    parts = [
        f"# {clean(status.name)}",
        f"*{status.skill.kind}, {status.state}*",
        clean_block(status.skill.description),
    ]
    if use is not None and leads_elsewhere(use, status=status):
        parts.append(_fenced(clean(use), language="python"))
    facts = (
        ("Takes", status.skill.argument_hint),
        ("Where", status.location),
        ("Why", status.reason),
        ("Fix", status.fix if leads_elsewhere(status.fix, status=status) else None),
    )
    parts.append(
        "\n".join(f"- **{label}**: {clean(told)}" for label, told in facts if told)
    )
    if value.doc:
        parts += ["## Documentation", _fenced(clean_block(value.doc))]
    if value.body:
        parts += ["## Instructions", clean_block(value.body)]
    return "\n\n".join(parts) + "\n"


def _fenced(text: str, *, language: str = "") -> str:
    """Return text as a block of code, whatever backquotes are in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"
