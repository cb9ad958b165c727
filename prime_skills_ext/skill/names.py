"""Rules of names: how a skill may be called and which identifier that gives.

Names are compared in Unicode form NFC, identifiers in NFKC, which is what Python
makes of them. Letters of any script are letters; only those that have case must
be lower case.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = [
    "MAX_NAME_CHARS",
    "SKILL_FILE",
    "NameFault",
    "canonical_project",
    "find_faults",
    "import_name",
    "is_skill_file",
    "normalized",
    "slug",
    "suggested",
]

MAX_NAME_CHARS = 64
#: What the file of a skill is called, in the spelling of the standard.
SKILL_FILE = "SKILL.md"

#: What nearly every name looks like; nothing about it needs a closer look.
_USUAL = re.compile("[a-z0-9]+(?:-[a-z0-9]+)*")

#: Code of the rule and what is wrong, as the end of a sentence.
NameFault = tuple[str, str]


def normalized(name: str) -> str:
    """Return ``name`` trimmed, on one line and in NFC."""
    return unicodedata.normalize("NFC", " ".join(name.split()))


def canonical_project(name: str) -> str:
    """Return the name by which an index knows a project, as ``packaging`` does.

    Whose import takes longer than a load that only looks through names of folders.
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def is_skill_file(name: str) -> bool:
    """Say whether a file of that name is its folder's skill, however it is spelled."""
    return name.casefold() == "skill.md"


def find_faults(name: str) -> tuple[NameFault, ...]:
    """Return which rules of the standard a name breaks."""
    if len(name) <= MAX_NAME_CHARS and _USUAL.fullmatch(name):
        return ()
    faults = []
    if len(name) > MAX_NAME_CHARS:
        faults.append(
            ("name-length", f"exceeds {MAX_NAME_CHARS} characters ({len(name)})")
        )
    if not all(_is_allowed(character) for character in name):
        valid = "only lowercase letters, digits and hyphens are valid"
        faults.append(("name-characters", f"contains invalid characters ({valid})"))
    if name.startswith("-") or name.endswith("-"):
        faults.append(("name-edges", "must not start or end with a hyphen"))
    if "--" in name:
        faults.append(("name-doubles", "must not contain consecutive hyphens"))
    return tuple(faults)


def import_name(name: str, *, fallback: str) -> str | None:
    """Return the identifier a skill is bound under.

    Args:
        name: The skill's name; hyphens become underscores.
        fallback: The name of its directory, which serves when ``name`` is a
            title: one with capitals or blanks.

    Returns:
        The identifier in NFKC, keywords included, or ``None`` if the name gives
        none: such a skill stays a markdown skill.
    """
    candidate = name.strip().replace("-", "_")
    if not _USUAL.fullmatch(name) and _is_title(name):
        candidate = slug(fallback)
    candidate = unicodedata.normalize("NFKC", candidate)
    return candidate if candidate.isidentifier() else None


def slug(name: str) -> str:
    """Return ``name`` in lower case with ``_`` for all that is no letter or digit."""
    lowered = unicodedata.normalize("NFKC", name).lower()
    return unicodedata.normalize("NFKC", re.sub(r"[\W_]+", "_", lowered).strip("_"))


def suggested(name: str) -> str:
    """Return a valid name that is close to ``name``."""
    return slug(name).replace("_", "-")[:MAX_NAME_CHARS].strip("-")


def _is_allowed(character: str) -> bool:
    return character == "-" or (
        (character.isalnum() or unicodedata.combining(character) > 0)
        and character == character.lower()
    )


def _is_title(name: str) -> bool:
    return any(character.isspace() or character.isupper() for character in name)
