"""The object ``skills`` of a kernel: a mapping to every skill. It loads nothing."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, final

__all__ = ["Lazy", "Skills", "run_sync"]

T = TypeVar("T")


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Lazy:
    """A value that is made when somebody asks for it, once."""

    make: Callable[[], object]


class Skills(Mapping[str, object]):
    """``skills["word-count"]``, ``skills["word_count"]``, ``skills.word_count``.

    Unknown keys raise ``UnknownSkillError`` (a ``KeyError`` too) with a suggestion.
    """

    def __getitem__(self, key: str) -> object:
        raise NotImplementedError

    def __iter__(self) -> Iterator[str]:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def run_sync(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on a loop of its own in a thread and wait for it."""
        return run_sync(coroutine)


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a loop of its own in a thread and wait for it."""
    raise NotImplementedError
