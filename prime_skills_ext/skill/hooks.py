"""The hooks of a header that run around the uses of its skill.

``check_hooks`` documents the schema and says what is wrong; here, what is wrong is
left out. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, cast, final, get_args

__all__ = [
    "BOOLEANS",
    "Event",
    "Hook",
    "is_boolean",
    "is_seconds",
    "parse_hooks",
    "pattern_problem",
]

Event = Literal["PreToolUse", "PostToolUse", "PostToolUseFailure"]
"""What a skill's own hooks can hear of here: before, after, and on an error."""

#: Options that are yes or no.
BOOLEANS: Final = frozenset({"once", "async"})
_TRUE: Final = frozenset({"true", "yes", "on"})
_WORDS: Final = _TRUE | {"false", "no", "off"}
_TIMEOUT_S: Final = 60.0


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Hook:
    """A command that runs when something happens to its skill.

    Attributes:
        event: When it runs.
        command: What a shell runs.
        matcher: A pattern that one of the skill's names must match as a whole;
            ``""`` is for all.
        timeout_s: Longest that it may take, in seconds.
        once: It runs at the first such event alone.
    """

    event: Event
    command: str
    matcher: str = ""
    timeout_s: float = _TIMEOUT_S
    once: bool = False

    def concerns(self, names: Iterable[str]) -> bool:
        """Say whether it is for something that has these names."""
        return not self.matcher or any(
            re.fullmatch(self.matcher, name) for name in names
        )


def parse_hooks(hooks: Mapping[str, object] | None) -> tuple[Hook, ...]:
    """Return the commands among some hooks that can run here, in their order.

    Args:
        hooks: ``Skill.hooks``: as written, scalars as text.
    """
    return tuple(
        hook
        for event, groups in (hooks or {}).items()
        if event in get_args(Event)
        for hook in _of_event(cast("Event", event), groups)
    )


def is_seconds(value: object) -> bool:
    """Say whether an option is a time: text of a number above 0."""
    try:
        return float(value) > 0 if isinstance(value, str) else False
    except ValueError:
        return False


def is_boolean(value: object) -> bool:
    """Say whether an option is a yes or a no."""
    return str(value).lower() in _WORDS


def pattern_problem(matcher: str) -> str | None:
    """Say why a matcher is no pattern; ``None`` when it is one."""
    try:
        re.compile("" if matcher == "*" else matcher)
    except (re.error, RecursionError, OverflowError) as error:
        return str(error)
    return None


def _of_event(event: Event, groups: object) -> Iterator[Hook]:
    for group in groups if isinstance(groups, list) else ():
        if not isinstance(group, Mapping):
            continue
        matcher = group.get("matcher") or ""
        if not isinstance(matcher, str) or pattern_problem(matcher):
            continue
        listed = group.get("hooks")
        for hook in listed if isinstance(listed, list) else ():
            if isinstance(hook, Mapping) and _is_valid(hook):
                yield Hook(
                    event=event,
                    command=hook["command"].strip(),
                    matcher="" if matcher == "*" else matcher,
                    timeout_s=float(hook.get("timeout", _TIMEOUT_S)),
                    once=str(hook.get("once")).lower() in _TRUE,
                )


def _is_valid(hook: Mapping[str, object]) -> bool:
    command = hook.get("command")
    return (
        hook.get("type") == "command"
        and isinstance(command, str)
        and bool(command.strip())
        and ("timeout" not in hook or is_seconds(hook["timeout"]))
        and all(is_boolean(hook[key]) for key in BOOLEANS & set(hook))
    )
