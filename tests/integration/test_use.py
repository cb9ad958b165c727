"""Using skills by their instructions in real shells, the host played by the test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import write_skill
from tests.integration.drivers import Driver, Kernel, Outcome
from tests.integration.hosts import PlayedHost

pytestmark = pytest.mark.integration

KINDS = {
    "for-all": "",
    "for-people": "disable-model-invocation: true\n",
    "for-models": "user-invocable: false\n",
    "for-nobody": "disable-model-invocation: true\nuser-invocable: false\n",
}
#: The 2x2 table of design §7, for what is used by its instructions.
MAY_USE = {
    (name, caller): not (
        (caller == "model" and "disable-model" in header)
        or (caller == "user" and "user-invocable" in header)
    )
    for name, header in KINDS.items()
    for caller in ("model", "user")
}


def _write(root: Path, name: str, header: str = "", *, body: str = "Do it.\n") -> Path:
    front = f"name: {name}\ndescription: Does it. Use it.\n{header}"
    return write_skill(root, name, frontmatter=front, body=body)


@pytest.fixture
def skills(home: Path) -> Path:
    """The user's folder of skills."""
    return home / ".agents" / "skills"


def _refusal(done: Outcome) -> str:
    """What was said instead of a result; a magic's error has no traceback."""
    said = done.error or ""
    return said or ("UsageError" in done.stderr and done.stderr) or ""


@pytest.mark.parametrize("kind", ["markdown", "python"])
def test_use_follows_the_table_of_model_and_user(
    skills: Path, any_kernel: Kernel, kind: str
) -> None:
    """Each kind of skill, used by each caller, through each way in."""
    for name, header in KINDS.items():
        folder = _write(skills, name, header)
        if kind == "python":
            module = folder / "src" / name.replace("-", "_") / "__init__.py"
            module.parent.mkdir(parents=True)
            module.write_text("def run(): return 1\n")
            (folder / "pyproject.toml").write_text(
                f'[project]\nname = "{name}"\nversion = "0"\n'
            )
    any_kernel.run("%load_ext prime_skills_ext")
    any_kernel.run("manager = get_ipython().find_line_magic('skill').__self__.manager")
    for (name, caller), may in MAY_USE.items():
        for code in (
            f"%skill use {name} now",
            f"%%skill use {name}\nnow",
            f"/skill:{name} now",
            f"manager.activate({name!r}, 'now')",
        ):
            done = any_kernel.run(code, caller=caller)
            said = _refusal(done)
            assert (not said) is may, (code, caller, said)
            if may:
                assert (done.result or "").endswith("</skill>\n\nUser: now"), code
            else:
                assert f"Error: the skill {name} is " in said, code
                assert "\nFix: " in said, code


def test_model_is_told_of_what_it_may_use(skills: Path, any_kernel: Kernel) -> None:
    """The listing and the table agree, for either caller."""
    for name, header in KINDS.items():
        _write(skills, name, header)
    any_kernel.run("%load_ext prime_skills_ext")
    for caller in ("model", "user"):
        told = any_kernel.run(
            f"found = %skill prompt --caller {caller}\nprint(found.text)"
        )
        for name in KINDS:
            is_told = f"<name>{name}</name>" in told.stdout
            assert is_told is MAY_USE[name, caller], (name, caller)


def test_slash_line_works_in_every_shell(skills: Path, shell: Driver) -> None:
    """A terminal takes it at once; its text is nobody else's to read."""
    _write(skills, "pdf", body="Merge $ARGUMENTS.\n")
    shell.run("%load_ext prime_skills_ext")
    done = shell.run("/skill:pdf a.pdf {b} what?")
    assert done.error is None
    assert "Merge a.pdf {b} what?." in f"{done.result}{done.stdout}"


def _host(kernel: Kernel, answer: dict[str, Any]) -> PlayedHost:
    return PlayedHost(kernel, lambda _data: answer)


def test_fork_goes_to_the_host_and_gives_its_answer(
    skills: Path, any_kernel: Kernel
) -> None:
    """Body and text to a sub-agent, nothing but its result back; no host says so."""
    header = "context: fork\nmodel: small\neffort: low\nagent: Explore\n"
    _write(skills, "deep", header, body="Look at $ARGUMENTS.\n")
    any_kernel.run("%load_ext prime_skills_ext")
    refused = any_kernel.run("%skill use deep this")
    assert "no agent host" in _refusal(refused)
    host = _host(
        any_kernel, {"status": "ok", "name": "deep", "result": "It is *fine*."}
    )
    host.announce(["rlm.run"])
    done = host.run("/skill:deep this")
    assert (None, "It is *fine*.") == (done.error, done.result)
    (request,) = host.requests
    assert "rlm.run" == request["type"]
    assert "Look at this." in request["prompt"]
    expected = {"name": "deep", "model": "small", "thinking": "low", "agent": "Explore"}
    assert expected.items() <= request["kwargs"].items()
    denied = _host(any_kernel, {"status": "error", "error": "depth limit reached"})
    denied._comm = host._comm
    assert "depth limit reached" in _refusal(denied.run("%skill use deep x"))


def test_hooks_run_around_a_use_and_can_refuse_it(
    skills: Path, any_kernel: Kernel, tmp_path: Path
) -> None:
    """They are told the text, and what came of it; the trait switches them off."""
    log = tmp_path / "log"
    header = (
        "hooks:\n  PreToolUse:\n    - hooks:\n        - type: command\n"
        f"          command: 'cat >> {log}; echo >> {log}; "
        f"! grep -q secret {log} || {{ echo not that >&2; exit 2; }}'\n"
        "  PostToolUse:\n    - hooks:\n        - type: command\n"
        f"          command: 'cat >> {log}; echo >> {log}'\n"
    )
    _write(skills, "watched", header)
    any_kernel.run("%load_ext prime_skills_ext")
    done = any_kernel.run("%skill use watched openly")
    assert (None, "") == (done.error, done.stderr)
    before, after = map(json.loads, log.read_text().splitlines())
    assert ("PreToolUse", {"skill": "watched", "args": "openly"}) == (
        before["hook_event_name"],
        before["tool_input"],
    )
    assert ("PostToolUse", done.result) == (
        after["hook_event_name"],
        after["tool_response"],
    )
    refused = any_kernel.run("%skill use watched the secret")
    assert "refused: not that" in _refusal(refused)
    any_kernel.run("%config SkillManager.hooks = False")
    assert "secret" in (any_kernel.run("%skill use watched a secret").result or "")


def test_no_hook_runs_for_who_may_not_use_the_skill(
    skills: Path, any_kernel: Kernel, tmp_path: Path
) -> None:
    """A model has nothing done by asking for what is for people, and vice versa."""
    log = tmp_path / "log"
    hook = "hooks:\n  {}:\n    - hooks:\n        - type: command\n          command: {}"
    for event in ("PreToolUse", "PostToolUseFailure"):
        told = hook.format(event, f"echo >> {log}\n")
        _write(skills, f"p-{event.lower()}", f"{told}disable-model-invocation: true\n")
        _write(skills, f"m-{event.lower()}", f"{told}user-invocable: false\n")
    any_kernel.run("%load_ext prime_skills_ext")
    for name in ("pretooluse", "posttoolusefailure"):
        _refusal(any_kernel.run(f"%skill use p-{name}", caller="model"))
        _refusal(any_kernel.run(f"%skill use m-{name}"))
    assert not log.exists()
    assert None is any_kernel.run("%skill use p-pretooluse").error
    assert log.exists()
