"""Requests to an agent host, which is played here, in every kernel."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import write_skill
from tests.integration.drivers import Kernel, Outcome
from tests.integration.hosts import CLOSES, MUTE, SILENT, Answer, PlayedHost

pytestmark = pytest.mark.integration

#: Asks, and tells what came: the answer, or the error with its structure.
ASK = """
import asyncio, json, rlm
async def ask(*words, **options):
    try:
        return await rlm.host_request(*words, **options)
    except Exception as error:
        kinds = [one.__name__ for one in type(error).__mro__]
        return {"kinds": kinds, "text": str(error), **vars(error)}
"""


def value(outcome: Outcome) -> Any:
    """What a cell printed as JSON, and nothing beside it."""
    assert (None, "") == (outcome.error, outcome.stderr)
    return json.loads(outcome.stdout)


def told(host: PlayedHost, expression: str) -> Any:
    """The value of an expression in the kernel."""
    return value(host.run(f"print(json.dumps({expression}))"))


@pytest.fixture
def host(any_kernel: Kernel) -> Iterator[PlayedHost]:
    """A host that announced itself to a kernel and echoes what it is asked."""

    def echo(data: dict[str, Any]) -> Answer:
        return {"status": "ok", "echo": data}

    played = PlayedHost(any_kernel, echo)
    assert "" == played.run("%load_ext prime_skills_ext").stderr
    assert {"protocol": 1} == played.announce(["echo"])
    assert played.run(ASK).error is None
    yield played
    # the kernel answers still, whatever the host did
    assert "2" == played.run("1 + 1").result


def test_a_request_is_answered_while_its_cell_waits(host: PlayedHost) -> None:
    """§6.1: the fields come back without the status, and the comm is closed."""
    assert {"echo": {"a": 1, "type": "echo"}} == told(
        host, "await ask('echo', {'a': 1})"
    )
    assert [{"a": 1, "type": "echo"}] == host.requests
    assert 1 == len(host.closed)


def test_a_field_named_type_does_not_redirect_a_request(host: PlayedHost) -> None:
    """§6.1: the type is written last."""
    told(host, "await ask('echo', {'type': 'rlm.delete_subagent'})")
    assert [{"type": "echo"}] == host.requests


def test_two_requests_at_once_get_their_own_answers(host: PlayedHost) -> None:
    """Each has a comm of its own."""
    found = told(
        host,
        "await asyncio.gather(*(ask('echo', {'n': n}) for n in range(9)))",
    )
    assert list(range(9)) == [one["echo"]["n"] for one in found]


def test_a_detached_task_is_answered_after_its_cell(host: PlayedHost) -> None:
    """§6.1: the host hears requests whose cell is over."""
    host.run(
        "async def late():\n"
        "    await gate.wait()\n    return await ask('echo')\n"
        "gate = asyncio.Event(); task = asyncio.create_task(late())"
    )
    assert [] == host.requests
    host.run("asyncio.get_running_loop().call_soon(gate.set)")
    host.serve(lambda: bool(host.requests and host.closed))
    assert {"echo": {"type": "echo"}} == told(host, "await task")


def test_a_loop_in_a_thread_is_answered_while_the_cell_blocks(host: PlayedHost) -> None:
    """``skills.run_sync``: nothing but the control channel is read meanwhile."""
    found = told(host, "skills.run_sync(ask('echo', {'a': 1}))")
    assert {"echo": {"a": 1, "type": "echo"}} == found


CLOSED = "the request 'echo' was closed without an answer: the agent host refused it "
CLOSED += "or is gone."
DEEP = "sub-agents are 3 deep already"
#: What a host says, and what is raised: text, code, details.
ERRORS: tuple[tuple[dict[str, object], tuple[object, ...]], ...] = (
    ({"error": DEEP}, (DEEP, None, None)),
    ({"error": DEEP, "code": "depth", "details": [3]}, (DEEP, "depth", [3])),
    ({"error": {"message": DEEP, "code": "depth"}}, (DEEP, "depth", None)),
    (
        {"error": 5, "code": 5},
        ("'echo' failed, and the agent host does not say why", None, None),
    ),
)


def test_w62_an_error_of_the_host_is_raised_in_its_words(host: PlayedHost) -> None:
    """And what it says beside them is kept."""
    for answer, raised in ERRORS:
        host.answer = lambda _, answer=answer: {"status": "error", **answer}  # type: ignore[misc]
        found = told(host, "await ask('echo')")
        assert "RuntimeError" in found["kinds"]
        assert "echo" == found["request"]
        assert raised == (found["text"], found["code"], found["details"])


def test_w59_what_is_no_answer_is_an_error(host: PlayedHost) -> None:
    """Nothing waits for what cannot come any more."""
    answers: tuple[tuple[Answer, str], ...] = (
        ({"status": "fine"}, "'echo' returned unexpected status: 'fine'"),
        ({"a": 1}, "'echo' returned unexpected status: None"),
        (CLOSES, CLOSED),
        (MUTE, "the answer to 'echo' is no object: None"),
    )
    for answer, text in answers:
        host.answer = lambda _, answer=answer: answer  # type: ignore[misc]
        found = told(host, "await ask('echo', timeout_s=None)")
        assert text == found["text"].splitlines()[0]
        assert "HostRequestError" == found["kinds"][0]


def test_an_error_of_any_text_can_be_shown(host: PlayedHost) -> None:
    """Half a sign is what no kernel can send: its cell would never be answered."""
    host.client.session.pack = lambda message: json.dumps(message, default=str).encode()
    text = "half \ud800, whole \ud83d\ude00"
    host.answer = lambda _: {"status": "error", "error": text}
    failed = host.run("await rlm.host_request('echo')").error
    assert "HostRequestError: half \ufffd, whole \U0001f600" == failed


def test_what_json_cannot_hold_is_not_asked(host: PlayedHost) -> None:
    """It is said of the payload, before anything is sent; nothing stays behind."""
    comms = "len(get_ipython().kernel.comm_manager.comms)"
    host.run("endless = []; endless.append(endless)")
    before = told(host, comms)
    for value_ in ("ask", "'\\ud800'", "endless"):
        found = told(host, f"await ask('echo', {{'a': {value_}}})")
        assert "TypeError" == found["kinds"][0], value_
        assert "payload of 'echo' cannot be sent as JSON: " in found["text"]
    assert [] == host.requests
    assert before == told(host, comms)


def test_w59_a_host_that_says_nothing_has_a_limit(host: PlayedHost) -> None:
    """The comm is closed then, and an answer that is too late does no harm."""
    host.answer = lambda _: SILENT
    found = told(host, "await ask('echo', timeout_s=0.01)")
    first = "the agent host did not answer 'echo' within 0.01 s."
    assert first == found["text"].splitlines()[0]
    assert {"TimeoutError", "RuntimeError"} <= {*found["kinds"]}
    (late,) = host.closed
    host._reply(late, {"status": "ok"})
    host.answer = lambda _: {"status": "ok", "n": 2}
    assert {"n": 2} == told(host, "await ask('echo')")


def test_no_cell_seems_to_end_when_an_answer_comes(host: PlayedHost) -> None:
    """Plots of the cell that waits would be shown, by another thread."""
    host.run(
        "ended = []\ndef note(): ended.append(1)\n"
        "get_ipython().events.register('post_execute', note)"
    )
    found = told(host, "[len(ended), await ask('echo') and len(ended)]")
    assert found[0] == found[1]


def test_a_host_that_is_gone_is_an_immediate_error(host: PlayedHost) -> None:
    """Closed means gone; one that comes back is asked again."""
    host.leave()
    found = told(host, "await ask('echo', timeout_s=None)")
    assert found["text"].startswith("no agent host is connected to this kernel")
    assert [] == host.requests
    host.announce(["echo"])
    assert {"echo": {"type": "echo"}} == told(host, "await ask('echo')")


def test_nothing_waits_for_a_host_that_went_while_it_was_asked(
    host: PlayedHost,
) -> None:
    """Even without a limit."""

    def go(_data: dict[str, Any]) -> Answer:
        host.leave(on="control")
        return SILENT

    host.answer = go
    found = told(host, "await ask('echo', timeout_s=None)")
    assert CLOSED == found["text"].splitlines()[0]


def test_nothing_waits_for_an_answer_that_an_unload_made_unheard(
    host: PlayedHost,
) -> None:
    """The control channel hears no comms any more."""
    host.answer = lambda _: SILENT
    host.run("task = asyncio.create_task(ask('echo', timeout_s=None))")
    host.serve(lambda: bool(host.requests))
    host.run("%unload_ext prime_skills_ext")
    assert CLOSED == told(host, "await task")["text"].splitlines()[0]


def test_an_interrupt_ends_a_request_that_blocks_its_cell(
    host: PlayedHost, any_kernel: Kernel
) -> None:
    """And the host hears that nobody waits any more."""

    def interrupt(_data: dict[str, Any]) -> Answer:
        any_kernel.interrupt()
        return SILENT

    host.answer = interrupt
    host.run("manager = get_ipython().find_line_magic('skill').__self__.manager")
    error = host.run("manager.host.ask('echo')").error or ""
    assert error.startswith("KeyboardInterrupt")
    host.serve(lambda: bool(host.closed))


def test_without_a_host_nothing_is_sent_and_nothing_waits(any_kernel: Kernel) -> None:
    """Jupyter's front ends answer no request, and many never would."""
    host = PlayedHost(any_kernel)
    host.run("%load_ext prime_skills_ext")
    host.run(ASK)
    found = told(host, "await ask('model.info', timeout_s=None)")
    assert "nobody can answer 'model.info'" in found["text"]
    assert "Fix: " in found["text"]
    assert [] == host.requests


def test_the_references_host_is_asked_unannounced(project: Path, home: Path) -> None:
    """It sets a variable, says nothing, and needs no extension of ours."""
    with Kernel(project, environ={"RLM_SESSION_DIR": str(project)}) as kernel:
        host = PlayedHost(kernel, lambda data: {"status": "ok", "id": data["type"]})
        host.run("%load_ext prime_skills_ext")
        host.run(ASK)
        assert {"id": "model.info"} == told(host, "await ask('model.info')")
        # a command is another process: it has no way to the host
        code = "import rlm, asyncio; asyncio.run(rlm.host_request('model.info'))"
        said = host.run(
            "import sys, os\nos.environ['PYTHONPATH'] = os.path.dirname("
            f'os.path.dirname(rlm.__file__))\n!{{sys.executable}} -c "{code}"'
        )
        assert "the agent host answers its kernel only" in said.stdout


def test_sub_agents_are_started_found_listed_and_deleted(host: PlayedHost) -> None:
    """§6.3, §6.4: what is sent, and what becomes of the answers."""
    agent = {
        "rlm_child_id": "c1",
        "session_name": "one",
        "session_dir": "/s/one",
        "status": "running",
    }
    model = {"provider": "p", "id": "m", "name": "M", "selector": "p/m"}
    answers: dict[str, dict[str, object]] = {
        "rlm.run": {
            "rlm_child_id": "c1",
            "name": "one",
            "session_dir": "/s/one",
            "model": "p/m",
        },
        "rlm.find_models": {"models": [model]},
        "rlm.list_subagents": {"subagents": [agent]},
        "rlm.delete_subagent": {"subagent": agent, "outcome": "stopped"},
    }
    host.answer = lambda data: {"status": "ok", **answers[data["type"]]}
    handle = "RLMSpawnHandle(rlm_child_id='c1', name='one', session_dir="
    handle += "PosixPath('/s/one'), model='p/m')"
    for call in (
        "rlm.rlm('do it', name='one', thinking=None)",
        "rlm('do it', name='one')",
        "rlm.run('do it', name='one')",
    ):
        assert handle == host.run(f"await {call}").result
        asked = {"prompt": "do it", "kwargs": {"name": "one"}, "type": "rlm.run"}
        assert asked == host.requests.pop()
    found = "[RLMModel(provider='p', id='m', name='M', selector='p/m')]"
    assert found == host.run("await rlm.find_models('m')").result
    known = "RLMSubagent(rlm_child_id='c1', active_session_id=None, session_id=None, "
    known += "session_name='one', session_dir=PosixPath('/s/one'), status='running')"
    assert f"[{known}]" == host.run("(agents := await rlm.list_subagents())").result
    assert known == host.run("await rlm.delete_subagent(agents[0])").result
    assert known == host.run("await rlm.delete_subagent(' one ')").result
    assert [
        {"query": "m", "limit": 8, "type": "rlm.find_models"},
        {"type": "rlm.list_subagents"},
        {"target": "c1", "type": "rlm.delete_subagent"},
        {"target": "one", "type": "rlm.delete_subagent"},
    ] == host.requests


def test_an_answer_that_cannot_be_read_is_the_hosts_mistake(host: PlayedHost) -> None:
    """§6.4: malformed replies are a RuntimeError, never an AttributeError later."""
    host.answer = lambda _: {"status": "ok", "models": "m", "subagents": [5]}
    for call in (
        "rlm('x')",
        "rlm.find_models('x')",
        "rlm.list_subagents()",
        "rlm.delete_subagent('x')",
    ):
        error = host.run(f"await {call}").error or ""
        assert error.startswith("HostRequestError: the agent host's answer to 'rlm.")


def test_a_skill_asks_the_host(project: Path, home: Path) -> None:
    """As skills do it, from a file of theirs."""
    write_skill(
        home / ".agents" / "skills",
        "who-am-i",
        python="import rlm\nasync def run():\n"
        "    return (await rlm.host_request('model.info'))['id']\n",
    )
    with Kernel(project) as kernel:
        host = PlayedHost(kernel, lambda _: {"status": "ok", "id": "m-1"})
        host.run("%load_ext prime_skills_ext")
        host.announce(["model.info"])
        assert "'m-1'" == host.run("await who_am_i()").result
