"""Environments as HTML: what there is, what was removed. Pure."""

from __future__ import annotations

from prime_skills_ext.environment.inventory import (
    EnvironmentInfo,
    EnvironmentPath,
    GenerationInfo,
    Inventory,
    Pruned,
    Rebuilt,
)
from prime_skills_ext.progress import counted
from prime_skills_ext.views import markup
from prime_skills_ext.views.text import NO_ENVIRONMENT_FIX
from prime_skills_ext.views.wording import (
    Tone,
    bytes_of,
    kept_for_a_while,
    purpose_of,
    roles_of,
    skills_of,
)

__all__ = ["inventory", "path", "pruned", "rebuilt"]


def path(value: EnvironmentPath) -> str:
    """Return the place of an environment as HTML."""
    return markup.card(f"<code>{markup.escaped(str(value.path))}</code>", small=True)


def inventory(value: Inventory) -> str:
    """Return every environment as HTML."""
    head = "<header><b>Environments</b></header>"
    if not value.environments:
        return markup.card(head, f"<p class='ps-lead'>None: {NO_ENVIRONMENT_FIX}.</p>")
    groups = "".join(_environment(each) for each in value.environments)
    return markup.card(head, f"<table aria-label='Environments'>{groups}</table>")


def pruned(value: Pruned) -> str:
    """Return what was removed as HTML."""
    verb = "Would free" if value.is_dry_run else "Freed"
    told = f"<span class='ps-muted'>{verb} {bytes_of(value.size_bytes)}</span>"
    rows = "".join(
        f"<tr><th scope='row'>{one.kind}</th><td>{bytes_of(one.size_bytes)}</td>"
        f"<td>{markup.escaped(one.why)}{_below(str(one.path))}</td></tr>"
        for one in value.removed
    )
    rows += "".join(
        f"<tr><th scope='row'>skipped</th><td></td><td>{markup.escaped(why)}</td></tr>"
        for why in value.skipped
    )
    table = f"<table aria-label='Pruned'><tbody>{rows}</tbody></table>" if rows else ""
    kept = "".join(f"<p>{told}</p>" for told in kept_for_a_while(value))
    return markup.card(f"<header><b>Prune</b>{told}</header>", table, kept)


def rebuilt(value: Rebuilt) -> str:
    """Return what was built anew as HTML."""
    told = f"Rebuilt with {counted(value.skills, 'skill')}: "
    failed = f"; still failing: {', '.join(value.failed)}" if value.failed else ""
    code = f"<code>{markup.escaped(str(value.directory))}</code>"
    return markup.card(
        f"{told}{code}{markup.escaped(failed)}{markup.fix_line(value.fix)}", small=True
    )


def _environment(value: EnvironmentInfo) -> str:
    here = markup.pill("good", "used here") if value.is_here else ""
    gone = (
        markup.pill("bad", "gone") + f" {markup.prose(value.gone)}"
        if value.gone
        else ""
    )
    facts = f"{purpose_of(value)} · {bytes_of(value.size_bytes)}"
    rows = "".join(_generation(one) for one in value.generations)
    return (
        "<tbody><tr class='ps-group ps-named'><th colspan='3' scope='rowgroup'>"
        f"<span class='ps-asis'>{markup.escaped(value.key)} {here}{gone}"
        f"{_below(facts)}{_below(str(value.directory))}</span>"
        f"{markup.fix_line(value.fix)}</th></tr>{rows}</tbody>"
    )


def _below(text: str) -> str:
    return f"<span class='ps-line ps-muted'>{markup.escaped(text)}</span>"


def _generation(value: GenerationInfo) -> str:
    tone: Tone = "good" if value.is_current else "quiet"
    pill = markup.pill("bad" if value.problem else tone, roles_of(value))
    problem = ""
    if value.problem:
        problem = f"<span class='ps-line'>{markup.prose(value.problem)}</span>"
    told = f"Python {value.python or '?'} · skills: {skills_of(value)} · "
    return (
        f"<tr><th scope='row'>{value.directory.name}</th><td>{pill}</td>"
        f"<td>{markup.escaped(told + bytes_of(value.size_bytes))}"
        f"{problem}</td></tr>"
    )
