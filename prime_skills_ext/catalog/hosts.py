"""What skills ask of an agent host, and which host this kernel has.

A skill says what it needs in its header, ``metadata: {host: {requests: …}}``. Those
of the reference system say nothing and are known by name, as long as their code
asks a host at all: a user's own skill called ``compact`` is nobody else's business.
Reads source files as text; runs nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Final

from prime_skills_ext.catalog.reading import read_file
from prime_skills_ext.skill.model import Skill

__all__ = [
    "HOST_REQUEST",
    "MCP_INTEGRATION",
    "REFERENCE_HANDLERS",
    "find_handlers",
    "find_uses",
    "needed_requests",
    "reads_code_of",
]

#: What a skill's code uses of ``rlm`` when it asks a host something.
HOST_REQUEST: Final = "host_request"
#: What it uses when it talks to a server through the user's login.
MCP_INTEGRATION: Final = "McpIntegration"

#: Requests of the reference's skills, which do not declare what they ask.
_BY_NAME: Final[Mapping[str, tuple[str, ...]]] = {
    "agent-message": ("agent_message.list_agents", "agent_message.send"),
    "agent-observe": (
        "agent_observe.get",
        "agent_observe.list",
        "agent_observe.recent",
    ),
    "compact": ("compact.run", "compact.status"),
    "goal": ("goal.complete", "goal.create", "goal.get"),
    "refine": ("refine.run", "refine.status"),
    "rlm-heartbeat": (
        "rlm_heartbeat.create",
        "rlm_heartbeat.delete",
        "rlm_heartbeat.list",
        "rlm_heartbeat.update",
    ),
}
_SERVERS: Final = frozenset({"linear", "notion"})

#: What a kernel that the reference's host started can ask.
REFERENCE_HANDLERS: Final = frozenset(
    {
        "mcp.begin_login",
        "mcp.config",
        "mcp.refresh",
        "model.info",
        "rlm.delete_subagent",
        "rlm.find_models",
        "rlm.list_subagents",
        "rlm.run",
        *(request for requests in _BY_NAME.values() for request in requests),
    }
)

_MAX_BYTES: Final = 1 << 18
_MAX_FILES: Final = 50
_WORD: Final = rf"\b(?:{HOST_REQUEST}|{MCP_INTEGRATION})\b".encode()


def find_handlers(
    environ: Mapping[str, str], *, announced: frozenset[str] | None = None
) -> frozenset[str] | None:
    """Say what an agent host answers here; ``None`` when there is no host.

    Args:
        environ: The reference's host is known by a variable, and says nothing.
        announced: What a host said of itself; that counts.
    """
    if announced is not None:
        return announced
    return REFERENCE_HANDLERS if environ.get("RLM_SESSION_DIR", "").strip() else None


def needed_requests(skill: Skill, *, uses: Collection[str]) -> tuple[str, ...]:
    """Name the requests that a host must answer for a skill to work.

    Args:
        skill: The skill.
        uses: What ``find_uses`` found in its code.
    """
    declared = skill.metadata.get("host")
    if isinstance(declared, Mapping):
        return tuple(dict.fromkeys(_words(declared.get("requests"))))
    return _BY_NAME.get(skill.name, ()) if HOST_REQUEST in uses else ()


def find_uses(skill: Skill) -> frozenset[str]:
    """Find what a skill's code uses of the bridge to a host, as far as text tells.

    Looks only at skills of names whose needs the code decides.

    Returns:
        Some of ``HOST_REQUEST`` and ``MCP_INTEGRATION``. A file that cannot be read
        uses nothing.
    """
    package = skill.python
    if package is None or not reads_code_of(skill):
        return frozenset()
    found: set[str] = set()
    for path in _sources(package.src / package.import_name):
        try:
            data = read_file(path, limit=_MAX_BYTES)
        except OSError:
            continue
        found |= {match.decode() for match in re.findall(_WORD, data)}
    return frozenset(found)


def reads_code_of(skill: Skill) -> bool:
    """Say whether the code of a skill decides what it asks a host."""
    return skill.name in _BY_NAME or skill.name in _SERVERS


def _sources(folder: Path) -> Iterator[str]:
    seen = 0
    for directory, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".py"):
                yield os.path.join(directory, name)  # noqa: PTH118 - as os.walk gives it
                seen += 1
                if seen == _MAX_FILES:
                    return


def _words(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield from re.findall(r"[^\s,]+", value)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _words(item)
