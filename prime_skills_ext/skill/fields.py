"""The vocabulary of a skill's header: which fields we know and what shape they have.

It owns names only. Reading is ``frontmatter``'s job, meaning is ``validation``'s.
"""

from __future__ import annotations

__all__ = [
    "BOOLEAN_FIELDS",
    "HEADER_BYTES",
    "KNOWN_FIELDS",
    "LIST_FIELDS",
    "MAP_FIELDS",
    "PROSE_FIELDS",
    "STANDARD_FIELDS",
    "TEXT_FIELDS",
]

#: The header must end within this many bytes from the start of the file: that is
#: all that discovery reads of one.
HEADER_BYTES = 65536

#: The fields of the Agent Skills standard.
STANDARD_FIELDS = frozenset(
    {
        "name",
        "description",
        "license",
        "compatibility",
        "metadata",
        "allowed-tools",
    }
)
#: Free text: a ``#`` in there is meant to be read, not a comment.
PROSE_FIELDS = frozenset(
    {"description", "when_to_use", "compatibility", "argument-hint"}
)
#: Always text, whatever YAML makes of it.
TEXT_FIELDS = frozenset({"name", "description", "when_to_use"})
#: Text or a list, one tuple in the end.
LIST_FIELDS = frozenset({"allowed-tools", "disallowed-tools", "arguments", "paths"})
BOOLEAN_FIELDS = frozenset({"disable-model-invocation", "user-invocable", "background"})
MAP_FIELDS = frozenset({"metadata", "hooks", "requires"})
KNOWN_FIELDS = (
    PROSE_FIELDS
    | TEXT_FIELDS
    | LIST_FIELDS
    | BOOLEAN_FIELDS
    | MAP_FIELDS
    | frozenset({"license", "context", "agent", "model", "effort", "shell"})
)
