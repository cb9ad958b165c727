"""The schema of ``hooks`` in a header.

::

    hooks:
      PreToolUse:                 # an event
        - matcher: Bash           # optional: a pattern that names tools
          hooks:                  # what is run, at least one
            - type: command       # or prompt, agent, http
              command: ./check.sh # command: `command`; prompt, agent: `prompt`;
              timeout: 30         # http: `url`; optional: seconds, more than 0

A kernel runs the commands of ``PreToolUse``, ``PostToolUse`` and
``PostToolUseFailure`` around the uses of their own skill: ``prompt/hooks.py`` says
how. Everything else, further options too, is kept for the host. Pure; values come from
``frontmatter``, YAML is only asked where they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, final

from prime_skills_ext.skill._positions import Path, find_position
from prime_skills_ext.skill.finding import Finding, Sheet
from prime_skills_ext.skill.frontmatter import Frontmatter
from prime_skills_ext.skill.hooks import (
    BOOLEANS,
    is_boolean,
    is_seconds,
    pattern_problem,
)
from prime_skills_ext.skill.model import Severity

__all__ = ["EVENTS", "check_hooks"]

EVENTS: Final = (
    "Notification",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "PreToolUse",
    "SessionEnd",
    "SessionStart",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "UserPromptSubmit",
)
#: Type of a hook to the option that it cannot do without.
_NEEDS: Final = {
    "command": "command",
    "prompt": "prompt",
    "agent": "prompt",
    "http": "url",
}
_GROUP_KEYS: Final = frozenset({"matcher", "hooks"})
_KEY: Final = re.compile(r"^hooks(?=[ \t]*:)", re.IGNORECASE | re.MULTILINE)


def check_hooks(
    sheet: Sheet, front: Frontmatter, *, header: range
) -> Iterator[Finding]:
    """Judge the hooks of a header.

    Args:
        sheet: The file.
        front: What the reader made of it.
        header: The 1-based lines that are YAML.
    """
    hooks = front.fields.get("hooks")
    if not isinstance(hooks, Mapping):
        return
    text = "\n".join(sheet.line(number) for number in header)
    key = _KEY.search(text)
    checks = _Hooks(
        sheet=sheet,
        header=text,
        key="hooks" if key is None else key.group(),
        start=header.start,
        fallback=front.lines.get("hooks", header.start),
    )
    yield from checks.events(hooks)


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class _Hooks:
    """The hooks of one header and what is asked of them."""

    sheet: Sheet
    header: str
    key: str
    start: int
    fallback: int

    def events(self, hooks: Mapping[str, Any]) -> Iterator[Finding]:
        for event, groups in hooks.items():
            if event not in EVENTS:
                guess = get_close_matches(event, EVENTS, 1, 0.6)
                yield self._note(
                    (event,),
                    "hooks-event",
                    f"No host is known to send the event `{event}`.",
                    fix=f"Write `{guess[0]}:`."
                    if guess
                    else f"Use one of {', '.join(EVENTS)}.",
                    severity="warning",
                )
            if not isinstance(groups, list) or not groups:
                yield self._note(
                    (event,),
                    "hooks-groups",
                    f"`{event}` holds {_kind(groups)} where a list of groups is "
                    "expected.",
                    fix="Write `- hooks: […]` below it, with a `matcher` where it is "
                    "not for every tool.",
                )
                continue
            for at, group in enumerate(groups):
                yield from self._group((event, at), group)

    def _group(self, path: Path, group: object) -> Iterator[Finding]:
        if not isinstance(group, Mapping):
            yield self._note(
                path,
                "hooks-group",
                f"A group of `{path[0]}` is {_kind(group)} where a map is expected.",
                fix="Write `matcher:` and `hooks:`.",
            )
            return
        yield from self._matcher(path, group.get("matcher", ""))
        for key in sorted(set(group) - _GROUP_KEYS):
            yield self._note(
                (*path, key),
                "hooks-option",
                f"A group has no option `{key}`; it has `matcher` and `hooks`.",
                fix=f"Delete `{key}`, or move it into one of its hooks.",
                severity="warning",
            )
        hooks = group.get("hooks")
        if not isinstance(hooks, list) or not hooks:
            yield self._note(
                (*path, "hooks") if "hooks" in group else path,
                "hooks-list",
                f"`hooks` of a group is {_kind(hooks)} where a list is expected.",
                fix="Write `- type: command` and `command: …` below `hooks:`.",
            )
            return
        for at, hook in enumerate(hooks):
            yield from self._hook((*path, "hooks", at), hook)

    def _matcher(self, path: Path, matcher: object) -> Iterator[Finding]:
        reason = None
        if matcher is not None and not isinstance(matcher, str):
            reason = f"`matcher` is {_kind(matcher)} where text is expected"
        elif isinstance(matcher, str):
            problem = pattern_problem(matcher)
            reason = problem and f"`{matcher}` is no pattern: {problem}"
        if reason is not None:
            yield self._note(
                (*path, "matcher"),
                "hooks-matcher",
                f"{reason}.",
                fix="Write names of tools, several with `|` between them.",
            )

    def _hook(self, path: Path, hook: object) -> Iterator[Finding]:
        if not isinstance(hook, Mapping):
            yield self._note(
                path,
                "hooks-hook",
                f"A hook is {_kind(hook)} where a map is expected.",
                fix="Write `type: command` and `command: …`.",
            )
            return
        kind = hook.get("type")
        if not isinstance(kind, str) or kind not in _NEEDS:
            yield self._note(
                (*path, "type") if "type" in hook else path,
                "hooks-type",
                "A hook has no `type`."
                if kind is None
                else f"`{kind}` is no type of hook.",
                fix=f"Write `type:` and one of {', '.join(_NEEDS)}.",
            )
            return
        needed = hook.get(_NEEDS[kind])
        if not isinstance(needed, str) or not needed.strip():
            yield self._note(
                (*path, _NEEDS[kind]) if _NEEDS[kind] in hook else path,
                "hooks-missing",
                f"A hook of type `{kind}` needs text behind `{_NEEDS[kind]}`.",
                fix=f"Write `{_NEEDS[kind]}: …` beside its `type`.",
            )
        yield from self._options(path, hook)

    def _options(self, path: Path, hook: Mapping[str, Any]) -> Iterator[Finding]:
        if "timeout" in hook and not is_seconds(hook["timeout"]):
            yield self._note(
                (*path, "timeout"),
                "hooks-timeout",
                f"`timeout` is {_kind(hook['timeout'])} where seconds are expected.",
                fix="Write a number above 0.",
            )
        for key in sorted(BOOLEANS & set(hook)):
            if not is_boolean(hook[key]):
                yield self._note(
                    (*path, key),
                    "hooks-option",
                    f"`{key}` is {_kind(hook[key])} where true or false is expected.",
                    fix=f"Write `{key}: true`, or delete it.",
                )

    def _note(
        self,
        path: Path,
        code: str,
        reason: str,
        *,
        fix: str,
        severity: Severity = "error",
    ) -> Finding:
        found = find_position(self.header, (self.key, *path))
        line = self.fallback if found is None else self.start + found[0]
        return self.sheet.note(
            code,
            reason,
            fix=fix,
            severity=severity,
            line=line,
            column=None if found is None else found[1] + 1,
        )


def _kind(value: object) -> str:
    if value is None or value == []:
        return "nothing"
    if isinstance(value, str):
        return f"`{' '.join(value.split())[:40]}`"
    return "a map" if isinstance(value, Mapping) else "a list"
