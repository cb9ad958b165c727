"""Where the time of a load and of a reload went, as a value.

Values only: how they look is ``chart`` and ``text``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, Literal, final

__all__ = ["SHOWN_IMPORTS", "Course", "Kind", "Span", "Timeline", "Title", "duration"]

Kind = Literal["look", "discover", "select", "install", "import", "bind"]
Title = Literal["Load", "Last reload", "Look"]

#: So many imports are drawn one by one, the slowest; the others are counted.
SHOWN_IMPORTS: Final = 12

_MS_PER_S: Final = 1000
_EXACT_BELOW: Final = 100


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """One piece of work.

    Attributes:
        kind: What was done.
        skill: Whose import it was; ``None`` for a whole stage.
        start_s: When it began, in seconds after the run did.
        seconds: How long it took.
    """

    kind: Kind
    skill: str | None = None
    start_s: float
    seconds: float


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Course:
    """One run, from its beginning to its end.

    Attributes:
        title: What kind of run it was.
        spans: In the order in which they began; a stage stands before its parts.
    """

    title: Title
    spans: tuple[Span, ...]

    @property
    def seconds(self) -> float:
        """How long it took as a whole."""
        return sum(span.seconds for span in self.spans if span.skill is None)

    @property
    def slowest(self) -> tuple[Span, ...]:
        """The imports of skills, the slowest first."""
        parts = (span for span in self.spans if span.skill is not None)
        return tuple(sorted(parts, key=lambda span: -span.seconds))

    @property
    def drawn(self) -> tuple[Span, ...]:
        """What is worth a row: the stages and the slowest imports, in order."""
        kept = {span.skill for span in self.slowest[:SHOWN_IMPORTS]}
        return tuple(s for s in self.spans if s.skill is None or s.skill in kept)

    @property
    def rest(self) -> tuple[Span, ...]:
        """The imports that have no row."""
        return self.slowest[SHOWN_IMPORTS:]

    @classmethod
    def of(
        cls,
        title: Title,
        *,
        stages: Iterable[tuple[Kind, float]],
        imports: Iterable[tuple[str, float]] = (),
    ) -> Course:
        """Lay stages end to end, with the imports as parts of the last one."""
        *first, last = stages
        parts = [*imports]
        importing = sum(seconds for _, seconds in parts)
        laid = [*first, ("import", importing)] if parts else first
        # the clock of the parts is not that of the whole
        laid = [*laid, (last[0], max(0.0, last[1] - importing))]
        spans: list[Span] = []
        for (kind, seconds), start in zip(laid, _starts(laid), strict=True):
            spans.append(Span(kind=kind, start_s=start, seconds=seconds))
            if kind == "import":
                spans += [
                    Span(kind=kind, skill=name, start_s=start + after, seconds=took)
                    for (name, took), after in zip(parts, _starts(parts), strict=True)
                ]
        return cls(title=title, spans=tuple(spans))


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Timeline:
    """Where time went.

    Attributes:
        courses: The load, and the last reload that found something to do.
        note: Where more is told; ``None`` where this is all.
    """

    courses: tuple[Course, ...] = ()
    note: str | None = None


def duration(seconds: float) -> str:
    """Return a time as people read it: ``"0.4 ms"``, ``"120 ms"``, ``"3.25 s"``."""
    if seconds >= 1:
        return f"{seconds:.2f} s"
    milliseconds = seconds * _MS_PER_S
    digits = 0 if round(milliseconds, 1) >= _EXACT_BELOW else 1
    return f"{milliseconds:.{digits}f} ms"


def _starts(laid: Iterable[tuple[object, float]]) -> list[float]:
    return list(accumulate((seconds for _, seconds in laid), initial=0.0))[:-1]
