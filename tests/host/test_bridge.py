"""Who announced itself, and what is left of it in the kernel afterwards.

What goes over the wire is in ``tests/integration/test_announced_hosts.py``.
"""

from __future__ import annotations

import pytest

from prime_skills_ext.host.bridge import TARGET, Bridge
from tests.host.played import Channel, PlayedKernel, said


@pytest.fixture
def kernel() -> PlayedKernel:
    """Without any host."""
    return PlayedKernel()


@pytest.fixture
def bridge(kernel: PlayedKernel) -> Bridge:
    """Open."""
    made = Bridge(kernel)
    made.open()
    return made


def test_the_host_that_came_last_counts_and_the_one_before_stands_in(
    kernel: PlayedKernel, bridge: Bridge
) -> None:
    """A second front end must not take the first one's abilities away for ever."""
    first = kernel.announce("a")
    second = kernel.announce("b")
    assert frozenset({"b"}) == bridge.handlers
    first.handle_msg(said("a", "c"))
    assert frozenset({"b"}) == bridge.handlers
    second.ended({})
    assert frozenset({"a", "c"}) == bridge.handlers
    first.ended({})
    assert bridge.handlers is None


def test_a_host_that_answers_nothing_is_one(
    kernel: PlayedKernel, bridge: Bridge
) -> None:
    """The reference's handlers are for hosts that say nothing."""
    channel = kernel.announce()
    assert frozenset() == bridge.handlers
    assert [{"protocol": 1}] == channel.sent


@pytest.mark.parametrize("data", [None, "x", [1], {"protocol": 1, "handlers": None}])
def test_nonsense_is_closed_with_a_reason(
    kernel: PlayedKernel, bridge: Bridge, data: object
) -> None:
    """Whatever arrives."""
    channel = kernel.announce("a")
    channel.handle_msg({"content": {"data": data}})
    assert bridge.handlers is None
    closed, why = channel.sent[-1]
    assert "closed" == closed
    assert {"error", "protocol"} == {*why}


def test_close_leaves_the_kernel_as_it_was(kernel: PlayedKernel) -> None:
    """However often either is called; who is there hears of it."""
    before = {**kernel.control_handlers}
    bridge = Bridge(kernel)
    for _ in range(2):
        bridge.open()
        bridge.open()
        assert {"comm_open", "comm_msg", "comm_close"} < {*kernel.control_handlers}
        channel = kernel.announce("a")
        bridge.close()
        bridge.close()
        assert ("closed", None) == channel.sent[-1]
        assert bridge.handlers is None
        assert (before, {}) == (kernel.control_handlers, kernel.comm_manager.targets)


def test_requests_end_with_the_last_host_and_with_the_bridge(
    kernel: PlayedKernel, bridge: Bridge
) -> None:
    """Nobody answers them any more, or nobody hears it; other comms are not ours."""
    first, second = kernel.announce("a"), kernel.announce("a")
    asked, widget = Channel("host.request"), Channel("jupyter.widget")
    kernel.comm_manager.comms = {"1": asked, "2": widget}
    ended: list[Channel] = []
    for channel in (asked, widget):
        channel.on_close(lambda _, channel=channel: ended.append(channel))  # type: ignore[misc]
    kernel.announce("a").handle_msg({"content": {"data": None}})
    first.ended({})
    first.ended({})
    assert [] == ended
    second.ended({})
    assert [asked] == ended
    bridge.close()
    assert [asked, asked] == ended


def test_who_never_was_a_host_ends_nothing(
    kernel: PlayedKernel, bridge: Bridge
) -> None:
    """The reference's host says nothing, and may be answering."""
    asked = Channel("host.request")
    kernel.comm_manager.comms = {"1": asked}
    ended: list[object] = []
    asked.on_close(ended.append)
    stranger = Channel()
    kernel.comm_manager.targets[TARGET](stranger, {"content": {"data": {}}})
    stranger.ended({})
    assert ([], None) == (ended, bridge.handlers)


def test_what_somebody_else_registered_stays(kernel: PlayedKernel) -> None:
    """Before us or since."""
    theirs = kernel.control_handlers["comm_msg"] = object()
    bridge = Bridge(kernel)
    bridge.open()
    later = kernel.control_handlers["comm_open"] = object()

    def taken(*_words: object) -> None: ...

    kernel.comm_manager.targets[TARGET] = taken
    bridge.close()
    found = kernel.control_handlers
    assert (theirs, later) == (found["comm_msg"], found["comm_open"])
    assert "comm_close" not in found
    assert {TARGET: taken} == kernel.comm_manager.targets
