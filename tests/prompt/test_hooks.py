"""Hooks around a use: what they are told, may refuse, and cannot break."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import warnings
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.catalog.sources import Source, SourceKind
from prime_skills_ext.catalog.status import SkillStatus, State
from prime_skills_ext.errors import SkillPermissionError
from prime_skills_ext.kernel.skills import run_sync
from prime_skills_ext.prompt.hook_text import MAX_CHARS
from prime_skills_ext.prompt.hooks import Hooks, Place, find_hooks, hooks_of
from prime_skills_ext.skill.model import Skill
from tests.conftest import as_skill, write_skill

TELL = "cat >> told; echo >> told"


@pytest.fixture
def skill(tmp_path: Path) -> Skill:
    """A skill in a folder of its own."""
    return as_skill(write_skill(tmp_path, "word-count"))


def group(command: str, *, matcher: str = "", **options: str) -> list[dict[str, Any]]:
    hook = {"type": "command", "command": command, **options}
    return [{"matcher": matcher, "hooks": [hook]}]


def make(skill: Skill, **events: Any) -> Hooks:
    """The hooks of ``skill``; they must be some."""
    found = find_hooks(dataclasses.replace(skill, hooks=events), place=place(skill))
    assert found is not None
    return found


def place(skill: Skill) -> Place:
    return Place(project=skill.directory.parent, environ=os.environ)


def use(hooks: Hooks, *, result: Any = 7, args: object = "a b") -> Any:
    """Use the skill with its hooks around it; an error is raised by it."""

    async def work() -> Any:
        if isinstance(result, Exception):
            raise result
        return result

    return asyncio.run(hooks.around(work, tool_input={"args": args}))


def told(skill: Skill) -> list[dict[str, Any]]:
    """What the hooks found on their stdin."""
    try:
        lines = (skill.directory / "told").read_text().splitlines()
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in lines]


def test_each_hook_is_told_what_happened(skill: Skill) -> None:
    """Before and after a use, or before and on its error, as JSON."""
    every = dict.fromkeys(
        ("PreToolUse", "PostToolUse", "PostToolUseFailure"), group(TELL)
    )
    hooks = make(skill, **every)
    assert 7 == use(hooks)
    with pytest.raises(KeyError):
        use(hooks, result=KeyError("k"))
    found = told(skill)
    assert ["PreToolUse", "PostToolUse", "PreToolUse", "PostToolUseFailure"] == [
        item["hook_event_name"] for item in found
    ]
    common = {
        "tool_name": "Skill",
        "tool_input": {"skill": "word-count", "args": "a b"},
        "cwd": str(Path.cwd()),
    }
    assert all(common.items() <= item.items() for item in found)
    assert 1 == len({item["session_id"] for item in found})
    assert 7 == found[1]["tool_response"]
    assert "KeyError: 'k'" == found[3]["error"]


def test_a_hook_runs_in_its_skill_s_folder_and_is_told_the_project(
    skill: Skill,
) -> None:
    """What ships with the skill is found, wherever the kernel was started."""
    command = 'pwd > told; echo "$CLAUDE_SKILL_DIR" "$CLAUDE_PROJECT_DIR" >> told'
    use(make(skill, PreToolUse=group(command)))
    here, project = skill.directory, skill.directory.parent
    said = (here / "told").read_text()
    assert f"{here.resolve()}\n{here} {project}\n" == said


@pytest.mark.parametrize("matcher", ["word-count", "word_count", "Skill", "w.*", "*"])
def test_a_hook_is_for_what_its_matcher_names(skill: Skill, matcher: str) -> None:
    """The skill by either name, or every skill."""
    use(make(skill, PreToolUse=group(TELL, matcher=matcher)))
    assert 1 == len(told(skill))


@pytest.mark.parametrize("matcher", ["Bash", "word", "Edit|Write"])
def test_hooks_for_other_tools_are_none_of_the_skill_s(
    skill: Skill, matcher: str
) -> None:
    """They are a host's."""
    hooks = {"PreToolUse": group(TELL, matcher=matcher), "Stop": group(TELL)}
    assert not find_hooks(dataclasses.replace(skill, hooks=hooks), place=place(skill))


REFUSALS = {
    "status": ("echo not now >&2; exit 2", "not now"),
    "status alone": ("exit 2", "it says no more"),
    "block": ('echo \'{"decision": "block", "reason": "late"}\'', "late"),
    "deny": (
        """echo '{"hookSpecificOutput": {"permissionDecision": "deny",'
        echo '"permissionDecisionReason": "no"}}'""",
        "no",
    ),
    "deny alone": ('echo \'{"permissionDecision": "deny"}\'', "it says no more"),
}


@pytest.mark.parametrize("kind", REFUSALS)
def test_a_hook_before_a_use_can_refuse_it(skill: Skill, kind: str) -> None:
    """Nothing is used then, and no later hook is asked or told."""
    command, reason = REFUSALS[kind]
    before = [*group(command), *group(TELL)]
    hooks = make(skill, PreToolUse=before, PostToolUseFailure=group(TELL))
    used: list[int] = []

    async def work() -> None:
        used.append(1)

    with pytest.raises(SkillPermissionError) as caught:
        asyncio.run(hooks.around(work, tool_input={}))
    message = f"A hook of skill 'word-count' refused: {reason}"
    assert (message, [], []) == (caught.value.message, used, told(skill))


@pytest.mark.parametrize(
    "output",
    ["", "[]", "block", '{"decision": "approve"}', '{"hookSpecificOutput": 1}'],
)
def test_whatever_else_a_hook_prints_refuses_nothing(skill: Skill, output: str) -> None:
    """Only a clear no is one."""
    assert 7 == use(make(skill, PreToolUse=group(f"echo '{output}'")))


BROKEN = {
    "status": ("echo oh >&2; exit 1", "`echo oh >&2; exit 1` failed with exit status"),
    "no such command": ("no-such-command", "failed with exit status 127"),
    "time": ("sleep 600", "sleep 600 did not end within 0.1 s"),
    "block and fail": ('echo \'{"decision": "block"}\'; exit 1', "exit status 1"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_hook_breaks_no_use_and_is_told_once(skill: Skill, kind: str) -> None:
    """Twice used, one warning; it names the skill's file."""
    command, said = BROKEN[kind]
    timeout = "0.1" if kind == "time" else "60"
    hooks = make(skill, PreToolUse=group(command, timeout=timeout))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert [7, 7] == [use(hooks), use(hooks)]
    warned = [item for item in caught if item.category is RuntimeWarning]
    assert 1 == len(warned)
    assert str(skill.path) == warned[0].filename
    assert "a PreToolUse hook of skill 'word-count': " in str(warned[0].message)
    assert said in str(warned[0].message)


def test_a_hook_after_a_use_refuses_nothing(skill: Skill) -> None:
    """It happened; what the hook says about it is shown."""
    hooks = make(skill, PostToolUse=group("echo too long >&2; exit 2"))
    with pytest.warns(RuntimeWarning, match="exit status 2: too long"):
        assert 7 == use(hooks)


def test_a_hook_that_is_for_once_runs_once(skill: Skill) -> None:
    """However often the skill is used, and read anew; an edited one is another."""
    for command in (TELL, f"true; {TELL}"):
        for _ in range(2):
            hooks = make(skill, PreToolUse=group(command, once="true"))
            use(hooks)
            use(hooks)
    assert 2 == len(told(skill))


class Rude:
    """Says nothing of itself."""

    def __repr__(self) -> str:
        raise ValueError


class RudeError(Exception):
    """Says nothing of itself."""

    def __str__(self) -> str:
        raise KeyError


class Torn(dict[str, int]):
    """Cannot be looked through, as what another thread changes."""

    def items(self) -> Any:
        raise RuntimeError("dictionary changed size during iteration")


def test_what_json_cannot_hold_is_told_as_text(skill: Skill) -> None:
    """Objects of any class, what contains itself, keys of any type, half a sign."""
    hooks = make(skill, PostToolUse=group(TELL))
    endless: list[object] = []
    endless.append(endless)
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    said = {
        "{1}": {1},
        "nan": float("nan"),
        "-inf": float("-inf"),
        "\ud800": "\ud800",
    }
    for expected, value in said.items():
        use(hooks, result=value)
        assert expected == told(skill)[-1]["tool_response"]
    for value in (Rude(), 10**6000, Torn(a=1)):
        assert use(hooks, result=value) is value
        assert isinstance(told(skill)[-1]["tool_response"], str)
    use(hooks, result=[1.5, float("nan"), {(1, 2): True, "a": None}, endless])
    assert [1.5, "nan", {"(1, 2)": True, "a": None}, ["[[...]]"]] == (
        told(skill)[-1]["tool_response"]
    )
    use(hooks, result=deep)
    assert isinstance(told(skill)[-1]["tool_response"], list)


@pytest.mark.parametrize("value", [float("nan"), {(1, 2): 3}, Rude(), Torn(a=1)])
def test_the_input_is_an_object_with_the_skill_s_name_whatever_is_in_it(
    skill: Skill, value: object
) -> None:
    """A hook finds its fields, in JSON as every program reads it."""
    use(make(skill, PreToolUse=group(TELL)), args=[value])
    text = (skill.directory / "told").read_text()
    found = json.loads(text, parse_constant=pytest.fail)["tool_input"]
    assert "word-count" == found["skill"]
    assert 1 == len(found["args"])


def test_an_error_that_cannot_say_what_it_is_reaches_who_called(skill: Skill) -> None:
    """And the hook, as far as there are words."""
    error = RudeError(1)
    with pytest.raises(RudeError) as caught:
        use(make(skill, PostToolUseFailure=group(TELL)), result=error)
    assert caught.value is error
    assert "RudeError: RudeError(1)" == told(skill)[0]["error"]


def test_what_a_hook_says_is_shown_as_people_can_read_it(skill: Skill) -> None:
    """No escapes, nothing hidden, no half signs, which no kernel can send; no flood."""
    said = '{"decision": "block", "reason": "a\\u001b[31mb\\u202e\\ud800\\nc"}'
    with pytest.raises(SkillPermissionError) as refused:
        use(make(skill, PreToolUse=group(f"echo '{said}'")))
    assert refused.value.message.endswith(" refused: a[31mb\nc")
    flood = "yes word | head -c 100000 >&2; printf '\\033[2J' >&2; exit"
    with pytest.raises(SkillPermissionError) as refused:
        use(make(skill, PreToolUse=group(f"{flood} 2")))
    begin = "A hook of skill 'word-count' refused: word"
    assert refused.value.message.startswith(begin)
    assert len(refused.value.message) <= MAX_CHARS + len(begin)
    with pytest.warns(RuntimeWarning) as warned:
        use(make(skill, PreToolUse=group(f"{flood} 1")))
    shown = str(warned[0].message)
    assert len(shown) < MAX_CHARS + 200
    assert "\x1b" not in shown


def test_the_switch_counts_at_each_use(skill: Skill) -> None:
    """Off is off from then on, and on again."""
    on = [False]
    changed = dataclasses.replace(skill, hooks={"PreToolUse": group(TELL)})
    switched = dataclasses.replace(place(skill), is_on=lambda: on[0])
    hooks = find_hooks(changed, place=switched)
    assert hooks is not None
    use(hooks)
    assert [] == told(skill)
    on[0] = True
    use(hooks)
    assert 1 == len(told(skill))


def test_a_use_that_cannot_await_has_the_same_hooks(skill: Skill) -> None:
    """Before, after, on an error, and the veto."""
    events = dict.fromkeys(("PreToolUse", "PostToolUse"), group(TELL))
    hooks = make(skill, **events, PostToolUseFailure=group(TELL))
    assert 7 == hooks.around_sync(lambda: 7, tool_input={"args": ""}, wait=run_sync)
    with pytest.raises(ZeroDivisionError):
        hooks.around_sync(lambda: 1 / 0, tool_input={"args": ""}, wait=run_sync)
    assert ["PreToolUse", "PostToolUse", "PreToolUse", "PostToolUseFailure"] == [
        item["hook_event_name"] for item in told(skill)
    ]
    refusing = make(skill, PreToolUse=group("exit 2"))
    with pytest.raises(SkillPermissionError):
        refusing.around_sync(lambda: 7, tool_input={}, wait=run_sync)


@pytest.mark.parametrize(
    ("kind", "state", "may"),
    [
        ("user", "instructions", True),
        ("builtin", "ready", True),
        ("project", "ready", True),
        ("project", "untrusted", False),
        ("package", "ready", False),
    ],
)
def test_hooks_of_remote_and_untrusted_skills_are_none(
    skill: Skill,
    kind: SourceKind,
    state: State,
    may: bool,  # noqa: FBT001
) -> None:
    """Whatever their folder claims."""
    source = Source(directory=skill.directory.parent, kind=kind, label=kind)
    hooked = dataclasses.replace(skill, hooks={"PreToolUse": group(TELL)})
    status = SkillStatus(skill=hooked, source=source, location="", state=state)
    assert (hooks_of(status, place=place(skill)) is not None) is may
