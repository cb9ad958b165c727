"""A host that comes, changes and goes, and skills that follow it without a restart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import write_skill
from tests.integration.drivers import Kernel
from tests.integration.hosts import Answer, Channel, PlayedHost

pytestmark = pytest.mark.integration

GOAL = "import rlm\nasync def run():\n    return await rlm.host_request('goal.get')\n"
ALL_OF_GOAL = ("goal.get", "goal.create", "goal.complete")
INFO = (
    "---\nname: info\ndescription: x\nmetadata: {host: {requests: model.info}}\n---\n"
)
STATES = """
import json
manager = get_ipython().find_line_magic('skill').__self__.manager
def states():
    mine = [s for s in manager.catalogue.skills if s.source.kind != 'builtin']
    return json.dumps({s.name: s.state for s in mine})
"""


@pytest.fixture
def skills(home: Path) -> Path:
    """The user's: two that need a host, one that does not."""
    root = home / ".agents" / "skills"
    write_skill(root, "goal", python=GOAL)
    write_skill(root, "plain", python="VALUE = 1\ndef run(): return VALUE\n")
    (root / "info").mkdir()
    (root / "info" / "SKILL.md").write_text(INFO, encoding="utf-8")
    return root


@pytest.fixture
def host(skills: Path, any_kernel: Kernel) -> PlayedHost:
    """A host that did not say yet that it is there."""
    played = PlayedHost(any_kernel, lambda _: {"status": "ok", "goal": None})
    assert "" == played.run("%load_ext prime_skills_ext").stderr
    played.run(STATES)
    return played


def states(host: PlayedHost) -> dict[str, str]:
    """How each skill of the user stands, as the next cell sees it."""
    found = host.run("print(states())")
    assert ("", None) == (found.stderr, found.error)
    said: dict[str, str] = json.loads(found.stdout)
    return said


LONELY = {"goal": "needs-host", "info": "needs-host", "plain": "ready"}


@pytest.mark.parametrize("channel", ["control", "shell"])
def test_skills_follow_the_host_without_a_restart(
    host: PlayedHost, channel: Channel
) -> None:
    """It comes, says more, says less and goes; nothing is printed, nothing reloaded."""
    assert LONELY == states(host)
    assert "needs an agent host" in (host.run("await goal()").error or "")
    assert {"protocol": 1} == host.announce(ALL_OF_GOAL, on=channel)
    assert "{'goal': None}" == host.run("await goal()").result
    assert {**LONELY, "goal": "ready"} == states(host)
    host.announce([*ALL_OF_GOAL, "model.info"], on=channel)
    assert {"goal": "ready", "info": "instructions", "plain": "ready"} == states(host)
    host.run("held = goal")
    host.announce(["model.info", "goal.get"], on=channel)
    error = host.run("await goal()").error or ""
    assert "does not answer goal.create and goal.complete" in error or (
        "does not answer goal.complete and goal.create" in error
    )
    assert {**LONELY, "info": "instructions"} == states(host)
    host.announce(ALL_OF_GOAL, on=channel)
    # one object all the time: what somebody holds works again
    assert "True" == host.run("goal is held").result
    host.leave()
    assert LONELY == states(host)
    assert "none is connected" in (host.run("await goal()").error or "")


def test_what_a_cell_sees_does_not_change_under_it(host: PlayedHost) -> None:
    """The host may say something new at any moment; it counts from the next cell on."""

    def answer(data: dict[str, Any]) -> Answer:
        host.announce([*ALL_OF_GOAL, "model.info"])
        return {"status": "ok", "type": data["type"]}

    host.announce(ALL_OF_GOAL)
    host.run("import rlm")
    host.answer = answer
    seen = host.run("await rlm.host_request('goal.get'); print(states())")
    assert "needs-host" == json.loads(seen.stdout)["info"]
    assert "instructions" == states(host)["info"]


def test_a_silent_cell_is_told_as_it_is_too(host: PlayedHost) -> None:
    """Nobody is called before it, so the commands look for themselves."""
    host.announce(["model.info"])
    seen = host.run(
        "found = get_ipython().run_line_magic('skill', 'list --json')\n"
        "print({s['name']: s['state'] for s in found['skills']}['info'])",
        silent=True,
    )
    assert "instructions\n" == seen.stdout


def test_a_host_that_comes_reloads_and_installs_nothing(
    host: PlayedHost, skills: Path
) -> None:
    """An edit waits for who asks; requirements for ``%reload_skills``."""
    write_skill(
        skills,
        "hungry",
        python=GOAL,
        frontmatter="name: hungry\ndescription: x\n"
        "metadata: {host: {requests: goal.get}}\n",
        dependencies=("no-such-dist-prime-skills-xyz",),
    )
    source = skills / "plain" / "src" / "plain" / "__init__.py"
    source.write_text("VALUE = 2\ndef run(): return VALUE\n", encoding="utf-8")
    host.announce(ALL_OF_GOAL)
    assert "install-failed" == states(host)["hungry"]
    assert "it is not installed yet" in (host.run("%skill show hungry").result or "")
    assert "1" == host.run("await plain()").result
    assert "~" in (host.run("%reload_skills").result or "")
    assert "2" == host.run("await plain()").result


MISUNDERSTOOD: tuple[tuple[dict[str, object], str], ...] = (
    ({"protocol": 2, "handlers": []}, "this kernel speaks protocol 1, not 2"),
    ({"protocol": True, "handlers": []}, "this kernel speaks protocol 1, not True"),
    ({"handlers": ["a"]}, "this kernel speaks protocol 1, not None"),
    ({"protocol": 1}, "handlers is a list of request types"),
    ({"protocol": 1, "handlers": "goal.get"}, "handlers is a list of request types"),
    ({"protocol": 1, "handlers": [1]}, "handlers is a list of request types"),
)


def test_what_cannot_be_understood_is_no_host(host: PlayedHost) -> None:
    """It is told why, and closed; also when it was there before."""
    for data, error in MISUNDERSTOOD:
        assert {"error": error, "protocol": 1} == host.announce([], data=data)
        host.announce(ALL_OF_GOAL)
        assert {"error": error, "protocol": 1} == host.announce([], data=data)
    assert LONELY == states(host)
    host.announce(ALL_OF_GOAL)
    assert "ready" == states(host)["goal"]
    host.announce([], data=MISUNDERSTOOD[0][0])
    assert LONELY == states(host)


def test_unload_tells_the_host_and_a_load_hears_it_again(host: PlayedHost) -> None:
    """What was registered with the kernel is gone in between."""
    host.announce(ALL_OF_GOAL)
    before = len(host.heard)
    host.run("%unload_ext prime_skills_ext")
    assert [("comm_close", {})] == host.heard[before:]
    left = host.run(
        "kernel = get_ipython().kernel\nprint(['prime_skills.host' in "
        "kernel.comm_manager.targets, *sorted({'comm_open', 'comm_msg', 'comm_close'}"
        " & kernel.control_handlers.keys())])"
    )
    assert "[False]\n" == left.stdout
    host._comm = ""
    host.run("%load_ext prime_skills_ext")
    host.announce(ALL_OF_GOAL)
    assert "{'goal': None}" == host.run("await goal()").result


def test_a_skill_is_forked_through_the_host(host: PlayedHost, skills: Path) -> None:
    """A cell that blocks gets the sub-agent's answer, or the host's refusal."""
    host.announce(["rlm.run"])
    host.run("plain_one = manager.catalogue.get('info').skill")
    host.answer = lambda _: {"status": "ok", "result": "It is done."}
    call = "manager.host.fork('Do it.', skill=plain_one)"
    assert "'It is done.'" == host.run(call).result
    assert [
        {
            "prompt": "Do it.",
            "kwargs": {"name": "info", "background": False},
            "type": "rlm.run",
        }
    ] == host.requests
    refusal = {"error": "sub-agents are 3 deep already", "code": "depth"}
    host.answer = lambda _: {"status": "error", **refusal}
    caught = host.run(f"try:\n    {call}\nexcept Exception as e:\n    error = e\nerror")
    assert "sub-agents are 3 deep already" in (caught.result or "")
    assert (
        "('HostError', 'depth')" == host.run("type(error).__name__, error.code").result
    )
    host.leave()
    error = host.run(call).error or ""
    assert error.startswith("HostError:")
    assert "no agent host is connected" in error


def test_the_references_host_is_taken_at_its_variable(
    project: Path, skills: Path
) -> None:
    """Its handlers are known; one that announces itself counts instead."""
    with Kernel(project, environ={"RLM_SESSION_DIR": str(project)}) as kernel:
        host = PlayedHost(
            kernel, lambda _: {"status": "ok", "name": "info", "rlm_child_id": "c"}
        )
        host.run("%load_ext prime_skills_ext")
        host.run(STATES)
        every = {"goal": "ready", "info": "instructions", "plain": "ready"}
        assert every == states(host)
        said = host.run(
            "manager.host.fork('Do it.', skill=manager.catalogue.get('info').skill)"
        )
        assert 'runs in the sub-agent "info"' in (said.result or "")
        assert [
            {"prompt": "Do it.", "kwargs": {"name": "info"}, "type": "rlm.run"}
        ] == host.requests
        host.announce(["model.info"])
        assert {**every, "goal": "needs-host"} == states(host)
        host.leave()
        assert every == states(host)
