"""The report of a reload: for a person one line, for a model a few sentences.

Pure: two pictures of the skills in, one value out.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Self, final

from prime_skills_ext.catalog.status import FAILED, SkillStatus, State
from prime_skills_ext.skill.text import cut_at_word, folded, without_invisible

__all__ = [
    "FailedSkill",
    "ReloadReport",
    "ReplacedDistribution",
    "WaitingSkill",
    "tell_model",
]

#: States in which a skill does something for a model.
_WORKS: Final[frozenset[State]] = frozenset(
    {"ready", "instructions", "name-taken", "stale"}
)
_MAX_REASON_CHARS: Final = 300


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class FailedSkill:
    """A skill that a reload could not bring in.

    Attributes:
        name: Its name.
        state: How it stands now.
        reason: One sentence, without a full stop.
        fix: One command or instruction.
    """

    name: str
    state: State
    reason: str
    fix: str


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class WaitingSkill:
    """A skill whose edit takes effect later.

    Attributes:
        name: Its name.
        calls: How many calls in threads must end before.
    """

    name: str
    calls: int

    @property
    def reason(self) -> str:
        """What it waits for."""
        calls = "a call in a thread ends"
        if self.calls > 1:
            calls = f"{self.calls} calls in threads end"
        return f"it reloads when {calls}"

    @property
    def fix(self) -> str:
        """How not to wait."""
        return "Wait, or %reload_skills --now"


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class ReplacedDistribution:
    """What this process goes on using in the version before.

    Attributes:
        name: Its name.
    """

    name: str

    @property
    def reason(self) -> str:
        """Why the new one does not count yet."""
        return "this kernel has another version of it loaded"

    @property
    def fix(self) -> str:
        """What to do."""
        return "restart the kernel"


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class ReloadReport:
    """What ``%reload_skills`` did, by skill name.

    Its repr is one line, such as ``+1 word-count ~1 edit !1 broken``.

    Attributes:
        added: New ones.
        changed: Those whose code or standing is another one now.
        removed: Those that are gone.
        failed: Those that do not load or install, or did not in a new way.
        waiting: Those that were edited while calls of them run in threads.
        restart: Distributions that were replaced while this process uses them.
        failures: Why each of ``failed`` did, and what to do.
        note: The same for a model, beside a new listing: a few sentences about what
            it may use, empty when that did not change.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    waiting: tuple[WaitingSkill, ...] = ()
    restart: tuple[ReplacedDistribution, ...] = ()
    failures: tuple[FailedSkill, ...] = ()
    note: str = ""

    def __bool__(self) -> bool:
        """Whether anything happened; an empty report is returned as ``None``."""
        return bool(
            self.added or self.changed or self.removed or self.failed or self.unsettled
        )

    def __repr__(self) -> str:
        parts = (
            ("+", self.added),
            ("~", self.changed),
            ("-", self.removed),
            ("!", self.failed),
            ("later ", [item.name for item in self.waiting]),
            ("restart ", [item.name for item in self.restart]),
        )
        return " ".join(
            f"{sign}{len(names)} {', '.join(names)}" for sign, names in parts if names
        )

    @property
    def unsettled(
        self,
    ) -> tuple[FailedSkill | WaitingSkill | ReplacedDistribution, ...]:
        """What has a reason and a fix: failed, waiting or replaced, in this order."""
        return (*self.failures, *self.waiting, *self.restart)

    @classmethod
    def between(
        cls,
        before: Mapping[str, SkillStatus],
        after: Mapping[str, SkillStatus],
        *,
        changed: Collection[str] = (),
        waiting: Mapping[str, int] | None = None,
        restart: Iterable[str] = (),
    ) -> Self:
        """Compare two pictures of the skills.

        Args:
            before: Who had each name.
            after: Who has it now.
            changed: Names whose code was executed again.
            waiting: Names whose code could not be yet, because so many calls in
                threads execute it.
            restart: Distributions that were replaced while this process uses them.
        """
        differs = {
            name
            for name, status in after.items()
            if name not in before
            or _standing(before[name]) != _standing(status)
            or name in changed
        }
        # those that stand as badly as they stood are not reported again
        failed = {name for name in differs if after[name].state in FAILED}
        good = differs - failed
        return cls(
            added=tuple(sorted(good - set(before))),
            changed=tuple(sorted(good & set(before))),
            removed=tuple(sorted(set(before) - set(after))),
            failed=tuple(sorted(failed)),
            waiting=tuple(
                WaitingSkill(name=name, calls=calls)
                for name, calls in sorted((waiting or {}).items())
            ),
            restart=tuple(ReplacedDistribution(name=name) for name in sorted(restart)),
            failures=tuple(
                FailedSkill(
                    name=name,
                    state=after[name].state,
                    reason=after[name].reason or "",
                    fix=after[name].fix or "",
                )
                for name in sorted(failed)
            ),
            note=tell_model(before, after, differs=differs, waiting=waiting or ()),
        )


def tell_model(
    before: Mapping[str, SkillStatus],
    after: Mapping[str, SkillStatus],
    *,
    differs: Collection[str],
    waiting: Collection[str] = (),
) -> str:
    """Say in a few sentences what a model may use now, and what no longer.

    What was never offered to it and is not offered now is not mentioned, unless it
    failed: whoever wrote the skill has to know.

    Args:
        before: Who had each name.
        after: Who has it now.
        differs: Names that are new or stand otherwise.
        waiting: Names that still run the code before the last edit.
    """
    offered = {name for name, status in before.items() if _is_offered(status)}
    works = {
        name for name in differs if _is_offered(after[name]) and name not in waiting
    }
    failed = {
        name
        for name in differs
        if after[name].state in FAILED
        and not after[name].skill.disable_model_invocation
    }
    fine = works - failed
    gone = offered - {name for name in after if _is_offered(after[name])} - failed
    return " ".join(
        (
            *_sentence("New: {}.", after, fine - offered),
            *_sentence("Changed, in effect now: {}.", after, fine & offered),
            *_sentence("No longer available: {}.", before, gone),
            *_sentence("Changed, in effect later: {}.", after, waiting),
            *(_failure(after[name]) for name in sorted(failed)),
        )
    )


def _is_offered(status: SkillStatus) -> bool:
    return status.state in _WORKS and not status.skill.disable_model_invocation


def _sentence(
    form: str, skills: Mapping[str, SkillStatus], names: Iterable[str]
) -> Iterator[str]:
    found = [_reached(skills[name]) for name in sorted(names)]
    if found:
        yield form.format(", ".join(found))


def _failure(status: SkillStatus) -> str:
    reason = cut_at_word(_clean(status.reason or ""), limit=_MAX_REASON_CHARS)
    means = "it cannot be used"
    if status.state == "stale":
        means = "the version before it still answers"
    return f"Failed: {_reached(status)}; {means}: {reason}."


def _reached(status: SkillStatus) -> str:
    """Name a skill and say what it is called in Python, if it is anything there."""
    name = _clean(status.name)
    if status.skill.python is None:
        return f"{name} (instructions only)"
    bound = status.bound_as or status.skill.import_name
    if not bound.isidentifier():
        return f"{name} (reached as {_clean(bound)})"
    return f"{name} (import name {bound})"


def _clean(text: str) -> str:
    """A skill's words on one line, without what nobody sees."""
    shown = without_invisible(folded(text))
    return "".join(each for each in shown if unicodedata.category(each) != "Cc")


def _standing(status: SkillStatus) -> object:
    # not the label of its source: that counts the folders before it
    return (status.skill, status.state, status.reason, status.fix, status.bound_as)
