"""Who gets a skill's instructions, and what comes with them."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prime_skills_ext.catalog.gates import State
from prime_skills_ext.catalog.sources import SourceKind
from prime_skills_ext.errors import (
    HostError,
    PrimeSkillsError,
    SkillPermissionError,
    SkillUnavailableError,
)
from prime_skills_ext.prompt.activation import Activation
from prime_skills_ext.prompt.block import parse
from tests.prompt.activating import activated, standing

NOT_FOR_MODELS = "disable-model-invocation: true\n"
NOT_FOR_USERS = "user-invocable: false\n"


def test_activation_is_the_block_and_what_the_user_says(tmp_path: Path) -> None:
    """What a cell gives is what a model reads."""
    folder = tmp_path / "skills/fix-issue"
    activation = activated(standing(tmp_path / "skills", "Do it."), "now ")
    assert str(activation) == activation.text
    assert (
        f'<skill name="fix-issue" location="{folder}/SKILL.md">\n'
        f"Relative paths in these instructions start from {folder}\n"
        "\n"
        "Do it.\n"
        "</skill>\n"
        "\n"
        "User: now"
    ) == activation.text


@pytest.mark.parametrize(
    ("body", "arguments", "message"),
    [
        ("Do it.", "", None),
        ("Do it.", "  ", None),
        ("Do it.", " 12 it's \n", "12 it's"),
        ("Do $ARGUMENTS.", "12", None),
        ("Do $0.", "12", None),
        ("Do $0.", "12 main", "12 main"),
        ("Do $1 and $0.", "12 main", None),
        ("Do !`echo $ARGUMENTS`", "12", None),
        ("Do !`echo '$ARGUMENTS'`", "12", "12"),
        ("Do !`echo $0` and !`echo $1`", "1 2", None),
        ("Do !`echo $0`", "1 2", "1 2"),
    ],
)
def test_arguments_that_nobody_shows_follow(
    tmp_path: Path, body: str, arguments: str, message: str | None
) -> None:
    """Nothing that the user wrote is lost."""
    activation = activated(standing(tmp_path / "skills", body), arguments)
    assert (arguments, message) == (activation.arguments, activation.message)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    body=st.text(st.characters(codec="utf-8")).map(
        lambda text: text.translate(dict.fromkeys(map(ord, "$`~{\r"))).strip()
    ),
    arguments=st.text(),
)
def test_block_gives_body_and_arguments_back(
    tmp_path: Path, body: str, arguments: str
) -> None:
    """Through the file, the text and the parser of a host."""
    status = standing(tmp_path / 'a & "b" <c>', body)
    activation = activated(status, arguments)
    block = parse(activation.text)
    assert block is not None
    origin, _, instructions = block.content.partition("\n\n")
    assert (status.name, str(status.skill.path)) == (block.name, block.location)
    assert origin.endswith(str(status.skill.directory))
    assert activation.body == instructions
    assert (arguments.strip() or None) == block.user_message


def test_instructions_are_read_now(tmp_path: Path) -> None:
    """What the file says at this moment, not what it said when it was found."""
    status = standing(tmp_path / "skills", "old")
    path = status.skill.path
    path.write_text(path.read_text().replace("old", "new"))
    assert "new" == activated(status).body


def test_instructions_that_are_gone_are_an_error_with_a_fix(tmp_path: Path) -> None:
    """Named as such, with the file."""
    status = standing(tmp_path / "skills")
    status.skill.path.unlink()
    with pytest.raises(PrimeSkillsError, match="instructions of fix-issue") as info:
        activated(status)
    assert status.skill.path == info.value.path
    assert "%reload_skills" in info.value.fix


def test_activation_carries_what_the_host_must_know(tmp_path: Path) -> None:
    """The fields of the header, as values."""
    header = (
        "allowed-tools: Bash(git add *), Read\ndisallowed-tools: Write\n"
        "model: big\neffort: high\nagent: explorer\nbackground: true\n"
    )
    activation = activated(standing(tmp_path / "skills", header=header))
    assert (
        ("Bash(git add *)", "Read"),
        ("Write",),
        ("big", "high", "explorer", True),
        ("inline", None, "user"),
    ) == (
        activation.allowed_tools,
        activation.disallowed_tools,
        (activation.model, activation.effort, activation.agent, activation.background),
        (activation.context, activation.result, activation.source),
    )
    with pytest.raises(FrozenInstanceError):
        activation.body = "x"  # type: ignore[misc]


def test_python_skill_is_its_instructions(tmp_path: Path) -> None:
    """No code of it runs for that."""
    root = tmp_path / "skills"
    status = standing(root, "Call it.", python="raise SystemExit\n")
    assert "python" == status.skill.kind
    assert "Call it." == activated(status).body


# PB-03: visibility and permission are two things, and so are their two directions


@pytest.mark.parametrize("caller", ["model", "user"])
@pytest.mark.parametrize(
    ("header", "allowed"),
    [
        ("", {"model", "user"}),
        (NOT_FOR_MODELS, {"user"}),
        (NOT_FOR_USERS, {"model"}),
        (NOT_FOR_MODELS + NOT_FOR_USERS, set()),
    ],
)
def test_pb03_caller_may_use_what_is_meant_for_them(
    tmp_path: Path, caller: str, header: str, allowed: set[str]
) -> None:
    """The table of model and user, in both directions."""
    # were it read, or run, the error would be another one
    status = standing(tmp_path / "skills", "!`touch ran`", header=header)
    if caller in allowed:
        assert "fix-issue" == activated(status, caller=caller).name
        return
    with pytest.raises(SkillPermissionError, match="fix-issue") as info:
        activated(status, caller=caller)
    assert ("ask the user" in info.value.fix) == (caller == "model")
    assert [] == list((tmp_path / "project").iterdir())


@pytest.mark.parametrize(
    "state", ["ready", "instructions", "stale", "name-taken", "shadowed"]
)
@pytest.mark.parametrize("caller", ["model", "user"])
def test_skill_that_works_is_given(tmp_path: Path, state: State, caller: str) -> None:
    """Also one that a person reaches as ``name@source``."""
    status = standing(tmp_path / "skills", state=state)
    assert "Do the thing." == activated(status, caller=caller).body


@pytest.mark.parametrize(
    "state",
    [
        *("disabled", "needs-credential", "needs-host", "needs-requirement"),
        *("install-failed", "import-failed", "removed"),
    ],
)
@pytest.mark.parametrize("caller", ["model", "user"])
def test_skill_that_does_not_work_says_why(
    tmp_path: Path, state: State, caller: str
) -> None:
    """Reason and fix are those of the table."""
    status = standing(tmp_path / "skills", state=state)
    with pytest.raises(SkillUnavailableError, match=r"fix-issue .*: it broke") as info:
        activated(status, caller=caller)
    assert "mend it" == info.value.fix


def test_se01_untrusted_skill_is_for_people(tmp_path: Path) -> None:
    """Who may look at it before they trust it; a model may not."""
    status = standing(tmp_path / "skills", kind="project", trusted=False)
    assert "untrusted" == status.state
    assert "Do the thing." == activated(status).body
    with pytest.raises(SkillPermissionError, match="not trusted") as info:
        activated(status, caller="model")
    assert "%skill trust" in info.value.fix


def test_se01_untrusted_skill_stays_so_in_every_state(tmp_path: Path) -> None:
    """One that lost its name to another untrusted one is *shadowed*, not trusted."""
    status = standing(
        tmp_path / "skills",
        "!`touch ran`",
        kind="project",
        trusted=False,
        state="shadowed",
    )
    assert "not trusted" in activated(status).body
    assert [] == list((tmp_path / "project").iterdir())
    with pytest.raises(SkillPermissionError, match="not trusted"):
        activated(status, caller="model")


# a skill for a sub-agent


def test_fork_gives_the_answer_alone(tmp_path: Path) -> None:
    """The sub-agent gets the finished text; the cell gives what it said."""
    status = standing(
        tmp_path / "skills", "Look at $0. !`echo hi`", header="context: fork\n"
    )
    asked: list[Activation] = []

    def fork(activation: Activation) -> str:
        asked.append(activation)
        return "found"

    activation = activated(status, "12", fork=fork)
    assert ("fork", "found", "found") == (
        activation.context,
        activation.result,
        str(activation),
    )
    assert ["Look at 12. hi"] == [item.body for item in asked]
    assert asked[0].text == activation.text


def test_fork_passes_the_hosts_error_on(tmp_path: Path) -> None:
    """A depth limit, for one."""
    status = standing(tmp_path / "skills", header="context: fork\n")

    def refuse(_: Activation) -> str:
        raise HostError("depth limit", fix="go up")

    with pytest.raises(HostError, match="depth limit"):
        activated(status, fork=refuse)


def test_fork_without_a_host_says_so_before_anything_runs(tmp_path: Path) -> None:
    """And never falls back to the model's own context."""
    status = standing(tmp_path / "skills", "!`touch ran`", header="context: fork\n")
    with pytest.raises(HostError, match="no agent host") as info:
        activated(status)
    assert "context: fork" in info.value.fix
    assert [] == list((tmp_path / "project").iterdir())


def test_inline_skill_never_forks(tmp_path: Path) -> None:
    """Where there is a host as well."""
    status = standing(tmp_path / "skills")
    activation = activated(status, fork=lambda _: "answer")
    assert (None, activation.text) == (activation.result, str(activation))


# assets of built-ins


def test_built_in_with_assets_points_to_a_copy(tmp_path: Path) -> None:
    """The block's location stays the one of the listing."""
    status = standing(
        tmp_path / "skills",
        "Read {baseDir}/references/more.md "
        "!`cat ${CLAUDE_SKILL_DIR}/references/more.md`",
        kind="builtin",
        files={"references/more.md": "more"},
    )
    activation = activated(status)
    directory = activation.directory
    assert status.skill.path == activation.location
    assert status.skill.directory not in (directory, *directory.parents)
    assert f"Read {directory}/references/more.md more" == activation.body
    assert f"start from {directory}\n" in activation.text
    assert "more" == (directory / "references/more.md").read_text()


@pytest.mark.parametrize("kind", ["builtin", "user"])
def test_others_point_to_their_own_folder(tmp_path: Path, kind: SourceKind) -> None:
    """The user's skills, and built-ins that have nothing but instructions and code."""
    files = {} if kind == "builtin" else {"references/more.md": "more"}
    status = standing(tmp_path / "skills", kind=kind, files=files, python="")
    assert status.skill.directory == activated(status).directory
