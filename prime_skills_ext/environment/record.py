"""What is installed in a generation, as a file. One reader, one writer."""

from __future__ import annotations

from typing import NamedTuple, final

__all__ = ["Command"]


@final
class Command(NamedTuple):
    """A shell command of a skill.

    Attributes:
        name: What is typed.
        target: ``module:attribute`` that it calls.
        import_name: Import name of the skill that offers it.
    """

    name: str
    target: str
    import_name: str
