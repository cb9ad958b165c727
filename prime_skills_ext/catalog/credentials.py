"""Which providers have a key, and the key itself for the time of a call.

Reads ``auth.json`` in the agent directory (``reference``: ``api_key`` and ``oauth``
entries) and never writes it. No value leaves this module but by
``credential_value``, and none ever stands in a message.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from prime_skills_ext.skill.model import Skill

__all__ = ["CredentialNeed", "declared_credential"]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class CredentialNeed:
    """The key that a skill says it needs.

    Attributes:
        provider: Whose key, as ``auth.json`` names it.
        variable: The environment variable that may hold it instead, if any.
    """

    provider: str
    variable: str | None = None


def declared_credential(skill: Skill) -> CredentialNeed | None:
    """Read ``metadata: {credential: {provider: …, variable: …}}``."""
    declared = skill.metadata.get("credential")
    if not isinstance(declared, dict):
        return None
    provider, variable = declared.get("provider"), declared.get("variable")
    if not isinstance(provider, str) or not provider.strip():
        return None
    return CredentialNeed(
        provider=provider.strip(),
        variable=variable.strip() or None if isinstance(variable, str) else None,
    )
