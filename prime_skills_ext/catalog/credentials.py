"""Which providers have a key, and the key itself for the time of a call.

Reads ``auth.json`` in the agent directory and never writes it: ``credential_store``
does. A value leaves this module only by ``credential_value`` and ``lent_variables``,
and none ever stands in a message.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, final

from prime_skills_ext.catalog import system_keyring
from prime_skills_ext.catalog.hosts import MCP_INTEGRATION
from prime_skills_ext.catalog.reading import explain, read_file
from prime_skills_ext.errors import CredentialError
from prime_skills_ext.skill.model import Diagnostic, Skill

__all__ = [
    "CredentialNeed",
    "credential_value",
    "declared_credential",
    "find_credentials",
    "is_in_keyring",
    "is_met",
    "is_variable",
    "lent_variables",
    "loans",
    "needed_credential",
    "read_entries",
    "spoken_name",
]

_MAX_BYTES: Final = 1 << 20
#: Logins of servers are stored under this prefix.
_SERVER: Final = "mcp:"
_ANY_VARIABLE: Final = r"[A-Za-z_][A-Za-z0-9_]*"
#: What can only be meant as the name of a variable.
_VARIABLE: Final = r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"


@final
class CredentialNeed(NamedTuple):
    """The key that a skill says it needs.

    Attributes:
        provider: Whose key, as ``auth.json`` names it.
        variable: The environment variable that may hold it instead, if any.
    """

    provider: str
    variable: str | None = None

    @property
    def name(self) -> str:
        """What people call the provider."""
        return spoken_name(self.provider)


def spoken_name(provider: str) -> str:
    """Return what people call a provider: ``linear`` where it is ``mcp:linear``."""
    return provider.removeprefix(_SERVER)


def needed_credential(skill: Skill, *, uses: Collection[str]) -> CredentialNeed | None:
    """Return the key that a skill needs, declared or not.

    Args:
        skill: The skill.
        uses: What ``hosts.find_uses`` found in its code: the reference's skills
            for servers declare nothing.
    """
    declared = declared_credential(skill)
    if declared is None and MCP_INTEGRATION in uses:
        return CredentialNeed(provider=f"{_SERVER}{skill.name}")
    return declared


def declared_credential(skill: Skill) -> CredentialNeed | None:
    """Read ``metadata: {credential: {provider: …, variable: …}}``."""
    declared = skill.metadata.get("credential")
    if not isinstance(declared, Mapping):
        return None
    provider, variable = declared.get("provider"), declared.get("variable")
    if not isinstance(provider, str) or not provider.strip():
        return None
    named = variable.strip() if isinstance(variable, str) else ""
    return CredentialNeed(
        provider=provider.strip(),
        variable=named if re.fullmatch(_ANY_VARIABLE, named) else None,
    )


def is_met(
    need: CredentialNeed, *, stored: Collection[str], environ: Mapping[str, str]
) -> bool:
    """Say whether there is a key, in the environment or among the stored ones."""
    if need.variable and environ.get(need.variable, "").strip():
        return True
    return need.provider in stored


def find_credentials(
    *, agent_directory: Path, environ: Mapping[str, str]
) -> tuple[frozenset[str], tuple[Diagnostic, ...]]:
    """Name the providers for which ``auth.json`` holds a key.

    Args:
        agent_directory: Where ``auth.json`` lies.
        environ: Where keys are looked up that are stored as a variable's name.

    Returns:
        The providers, each also without the prefix ``mcp:``, and what is wrong with
        the file. A file that cannot be read holds no key.
    """
    entries, problem = read_entries(agent_directory)
    usable = {
        provider
        for provider, entry in entries.items()
        if _counts(entry, environ=environ)
    }
    usable |= {spoken_name(provider) for provider in usable}
    notes = [] if problem is None else [problem]
    kept = [name for name, entry in entries.items() if is_in_keyring(entry)]
    if kept and not system_keyring.is_installed():
        notes += [_lost(name, agent_directory / "auth.json") for name in kept]
    return frozenset(usable), tuple(notes)


def credential_value(
    need: CredentialNeed, *, agent_directory: Path, environ: Mapping[str, str]
) -> str | None:
    """Return the key for the time of a call; ``None`` if there is none.

    Read anew each time, so that a key counts from the moment it exists.
    """
    given = environ.get(need.variable, "").strip() if need.variable else ""
    if given:
        return given
    entries, _ = read_entries(agent_directory)
    for provider in (need.provider, f"{_SERVER}{need.provider}"):
        entry = entries.get(provider)
        if is_in_keyring(entry):
            value = system_keyring.fetch(provider, agent_directory=agent_directory)
        else:
            value = _value(entry, environ=environ)
        if value is not None:
            return value
    return None


def lent_variables(
    need: CredentialNeed, *, agent_directory: Path, environ: Mapping[str, str]
) -> Mapping[str, str]:
    """Return what a skill is lent for a call: its variable with the key.

    Nothing is lent where the user set the variable, or where no variable is named.

    Raises:
        CredentialError: There is no key now.
    """
    if need.variable is None or environ.get(need.variable, "").strip():
        return {}
    value = credential_value(need, agent_directory=agent_directory, environ=environ)
    if value is None:
        raise CredentialError(
            f"there is no key for {need.name}, or the keyring that holds it is locked",
            fix=f"`%skill login {need.name}`, or set the environment variable "
            f"{need.variable}",
        )
    return {need.variable: value}


def loans(
    skills: Iterable[Skill], *, agent_directory: Path, environ: Mapping[str, str]
) -> dict[Path, Callable[[], Mapping[str, str]]]:
    """Return what makes the variables that each skill is lent, by its ``src``."""
    found: dict[Path, Callable[[], Mapping[str, str]]] = {}
    for skill in skills:
        need = declared_credential(skill)
        if need is not None and skill.python is not None:
            found[skill.python.src] = partial(
                lent_variables, need, agent_directory=agent_directory, environ=environ
            )
    return found


def is_variable(text: str) -> bool:
    """Say whether a stored key can only be meant as the name of a variable."""
    return re.fullmatch(_VARIABLE, text) is not None


def is_in_keyring(entry: object) -> bool:
    """Say whether an entry only notes that the keyring holds the key."""
    return isinstance(entry, Mapping) and entry.get("type") == "keyring"


def read_entries(
    agent_directory: Path, *, for_writing: bool = False
) -> tuple[Mapping[str, object], Diagnostic | None]:
    """Read ``auth.json``: its entries, and what is wrong with it.

    Args:
        agent_directory: Where it lies.
        for_writing: Leave out what only whoever reads the file has to know. A
            problem then means that it must not be replaced.
    """
    path = agent_directory / "auth.json"
    try:
        content = json.loads(read_file(path, limit=_MAX_BYTES))
        mode = path.stat().st_mode
    except FileNotFoundError:
        return {}, None
    except OSError as error:
        return {}, _tell(path, f"cannot be read: {explain(error)}", "Correct it.")
    except (ValueError, RecursionError):
        # the decoder's own words could quote what stands in the file
        return {}, _tell(path, "is not valid JSON", "Correct or remove it.")
    if not isinstance(content, dict):
        return {}, _tell(path, "holds no object", "Correct or remove it.")
    is_open = os.name != "nt" and mode & (stat.S_IRWXG | stat.S_IRWXO)
    if is_open and not for_writing:
        return content, _tell(path, "can be read by others", "Run `chmod 600` on it.")
    return content, None


def _counts(entry: object, *, environ: Mapping[str, str]) -> bool:
    if is_in_keyring(entry):
        return system_keyring.is_installed()
    return _value(entry, environ=environ) is not None


def _value(entry: object, *, environ: Mapping[str, str]) -> str | None:
    """Return what an entry is worth: a token, a key, or the key that it names."""
    if not isinstance(entry, Mapping):
        return None
    if entry.get("type") == "oauth":
        access = entry.get("access")
        return access if isinstance(access, str) and _fits(access) else None
    key = entry.get("key") if entry.get("type") == "api_key" else None
    # "!…" is a command for the reference's host; nothing is run for a key here
    if not isinstance(key, str) or key.startswith("!"):
        return None
    key = key.strip()
    if not _fits(key):
        return None
    named = environ.get(key, "").strip()
    if named:
        return named
    return None if is_variable(key) else key


def _fits(key: str) -> bool:
    """Say whether an environment variable can hold it: not every text can."""
    try:
        return bool(os.fsencode(key)) and key.isprintable()
    except UnicodeEncodeError:
        return False


def _lost(provider: str, path: Path) -> Diagnostic:
    name = spoken_name(provider)
    return Diagnostic(
        code="keyring-missing",
        message=f"The key for {name} is in the system keyring, which cannot be read "
        "without the package keyring.",
        fix="Install prime-skills-ext[keyring] where the kernel runs, or run "
        f"%skill login {name} again.",
        path=path,
    )


def _tell(path: Path, what: str, fix: str) -> Diagnostic:
    return Diagnostic(
        code="auth-file",
        message=f"auth.json in the agent directory {what}.",
        fix=fix,
        path=path,
    )
