"""Asking the agent host from code of ours. The wire is in ``tests/integration``."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from prime_skills_ext.agent_host import AgentHost
from prime_skills_ext.errors import HostError
from prime_skills_ext.manager import SkillManager
from tests.conftest import as_skill
from tests.host.played import PlayedKernel

REFERENCE = {"RLM_SESSION_DIR": "/session"}


def test_nobody_is_asked_where_there_is_no_host(tmp_path: Path) -> None:
    """A terminal has no kernel, and a kernel need not have a host."""
    for kernel in (None, PlayedKernel()):
        host = AgentHost(kernel, environ={})
        host.open()
        with pytest.raises(HostError, match="no agent host is connected") as caught:
            host.ask("model.info")
        assert "in a kernel that an agent host has started" in caught.value.fix
        with pytest.raises(HostError, match="skill a runs in a sub-agent, and no"):
            host.fork("Go.", skill=as_skill(tmp_path / "a"))
        host.close()


def test_a_host_is_not_asked_what_it_does_not_answer(tmp_path: Path) -> None:
    """It said so, or is known to be the reference's."""
    kernel = PlayedKernel()
    host = AgentHost(kernel, environ=REFERENCE)
    host.open()
    with pytest.raises(HostError, match=r"does not answer weather\.get"):
        host.ask("weather.get")
    kernel.announce("weather.get")
    assert frozenset({"weather.get"}) == host.handlers()
    with pytest.raises(HostError, match=r"and the agent host does not answer rlm\.run"):
        host.fork("Go.", skill=as_skill(tmp_path / "a"))


def test_what_rlm_raises_keeps_its_words_its_structure_and_its_way_out(
    rlm: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outside of a kernel the reference's host cannot be asked at all."""
    for name, value in REFERENCE.items():
        monkeypatch.setenv(name, value)
    host = AgentHost(None, environ=REFERENCE)
    with pytest.raises(HostError) as caught:
        host.ask("model.info")
    assert caught.value.message.startswith("the agent host answers its kernel only")
    assert "call this skill in a cell, not as a command." == caught.value.fix
    assert isinstance(caught.value.__cause__, rlm.HostRequestError)

    async def refuse(*_words: object, **_options: object) -> None:
        raise rlm.HostRequestError("no", code="depth", details={"depth": 3})

    # given back before the fixture forgets the real one
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "rlm", SimpleNamespace(host_request=refuse))
        with pytest.raises(HostError) as caught:
            host.ask("model.info")
    error = caught.value
    assert ("no", "depth", {"depth": 3}) == (error.message, error.code, error.details)
    assert "see what the agent host expects of model.info, and ask again" == error.fix


def test_states_follow_between_two_cells_of_the_main_thread_only(
    home: Path, place: Path
) -> None:
    """In a subshell another cell may be running meanwhile; nothing is installed."""
    folder = home / ".agents" / "skills" / "asks"
    folder.mkdir(parents=True)
    header = "name: asks\ndescription: x\nmetadata: {host: {requests: model.info}}\n"
    (folder / "SKILL.md").write_text(f"---\n{header}---\n", encoding="utf-8")
    kernel = PlayedKernel()
    manager = SkillManager(namespace={}, kernel=kernel)
    manager.load()
    kernel.announce("model.info")
    thread = threading.Thread(target=manager.follow_host)
    thread.start()
    thread.join()
    seen = manager.is_host_new, manager.catalogue.get("asks").state
    assert (True, "needs-host") == seen
    manager.follow_host()
    seen = manager.is_host_new, manager.catalogue.get("asks").state
    assert (False, "instructions") == seen
    manager.unload()
    assert {} == kernel.comm_manager.targets
    assert not manager.is_host_new
