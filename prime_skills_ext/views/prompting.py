"""What a model is told, for people: listings and activations as HTML.

Pure. As text they are what the model reads, to the letter; here they are cards that
show what is the skill's, what is ours and what is the user's own.
"""

from __future__ import annotations

from html import escape

from prime_skills_ext.progress import counted
from prime_skills_ext.prompt.activation import Activation
from prime_skills_ext.prompt.listing import Listing
from prime_skills_ext.views import markdown, markup
from prime_skills_ext.views.wording import clean_block

__all__ = ["activation", "listing"]


def listing(value: Listing) -> str:
    """Return a listing: how much it says, and every word of it."""
    if not value.items:
        return markup.card(
            "A model is told nothing: there is nothing to list", small=True
        )
    of = "" if value.limit is None else f" of {value.limit:,}"
    cut = sum(item.cut != "whole" for item in value.items)
    pills = (
        markup.pill("plain", counted(len(value.items), "skill")),
        markup.pill("quiet", f"{value.counted:,}{of} {value.unit}"),
        markup.pill("todo", f"{cut:,} cut") if cut else "",
    )
    lead = (
        "<p class='ps-lead'><code>%skill budget</code> shows what is cut, and why.</p>"
    )
    text = f"<pre>{escape(clean_block(value.text))}</pre>"
    return markup.card(
        f"<header><b>What a model is told</b>{''.join(pills)}</header>",
        lead if cut else "",
        markup.fold(f"Text · {value.total_chars:,} characters", text),
    )


def activation(value: Activation) -> str:
    """Return an activation: the skill folded away, the user's own text beside it."""
    is_fork = value.context == "fork"
    kind = markup.pill("plain", "sub-agent" if is_fork else "instructions")
    title = (
        f"<b>{markup.escaped(value.name)}</b>{kind}"
        f"<span class='ps-muted'>{markup.escaped(value.source)}</span>"
    )
    body = markdown.render(clean_block(value.body)) if value.body else ""
    # folded: the model reads it, and whoever wants to may open it
    content = f"{_facts(value)}<div class='ps-body'>{body}</div>"
    parts = [
        f"<details class='ps-skill'><summary>{title}</summary>{content}</details>",
    ]
    said = value.arguments.strip()
    if said:
        parts.append(_said("You", f"<pre>{escape(clean_block(said))}</pre>"))
    if value.result is not None:
        answer = markdown.render(clean_block(value.result))
        parts.append(_said("Answer", answer))
    return markup.card(*parts)


def _facts(value: Activation) -> str:
    """Return what the skill asks of the host, as far as it asks anything."""
    background = None if value.background is None else str(value.background).lower()
    told = (
        ("Allows", value.allowed_tools),
        ("Withholds", value.disallowed_tools),
        ("Agent", (value.agent,)),
        ("Model", (value.model,)),
        ("Effort", (value.effort,)),
        ("Background", (background,)),
    )
    rows = "".join(
        f"<dt>{term}</dt><dd>{' '.join(_code(each) for each in values if each)}</dd>"
        for term, values in told
        if any(values)
    )
    return f"<dl>{rows}</dl>" if rows else ""


def _said(who: str, content: str) -> str:
    body = f"<div class='ps-body'>{content}</div>"
    return f"<section class='ps-said'><h4>{who}</h4>{body}</section>"


def _code(text: str) -> str:
    return f"<code>{markup.escaped(text)}</code>"
