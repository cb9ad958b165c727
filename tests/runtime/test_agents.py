"""Sub-agents in ``rlm``: what it is, and what it refuses before anybody is asked."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

Call = Callable[[ModuleType], Any]


def test_rlm_is_a_module_that_can_be_called(rlm: ModuleType) -> None:
    """§6.4: and the name in it is the module itself, so both imports give one."""
    assert rlm.rlm is rlm
    assert inspect.ismodule(rlm)
    assert "(prompt: 'str', /, **kwargs: 'Any') -> 'RLMSpawnHandle'" == str(
        inspect.signature(rlm)  # type: ignore[arg-type]  # one that can be called
    )
    missing = [name for name in rlm.__all__ if not hasattr(rlm, name)]
    assert [] == missing


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda rlm: rlm(5), TypeError, "prompt must be a string"),
        (lambda rlm: rlm.run(None), TypeError, "prompt must be a string"),
        (lambda rlm: rlm.run("x", name=5), TypeError, "name must be a string"),
        (lambda rlm: rlm.run("x", model=b"m"), TypeError, "model must be a string"),
        (lambda rlm: rlm.run("x", thinking=1), TypeError, "thinking must be a str"),
        (lambda rlm: rlm.find_models(5), TypeError, "query must be a string"),
        (lambda rlm: rlm.find_models("m", limit="8"), TypeError, "whole number"),
        (lambda rlm: rlm.find_models("m", limit=True), TypeError, "whole number"),
        (lambda rlm: rlm.find_models("m", limit=0), ValueError, "between 1 and 20"),
        (lambda rlm: rlm.find_models("m", limit=21), ValueError, "between 1 and 20"),
        (lambda rlm: rlm.delete_subagent(None), TypeError, "a string or an RLMSub"),
        (lambda rlm: rlm.delete_subagent(" "), ValueError, "it is empty"),
    ],
)
async def test_wrong_arguments_are_refused_before_anybody_is_asked(
    rlm: ModuleType, call: Call, error: type[Exception], says: str
) -> None:
    """There is no host here, and yet that is not what is wrong."""
    with pytest.raises(error, match=says):
        await call(rlm)


@pytest.mark.parametrize(
    "call",
    [
        lambda rlm: rlm("x", name=None),
        lambda rlm: rlm.find_models("m", limit=20),
        lambda rlm: rlm.list_subagents(),
        lambda rlm: rlm.delete_subagent("x"),
    ],
)
async def test_without_a_host_each_of_them_fails_at_once(
    rlm: ModuleType, call: Call
) -> None:
    """With the error of any other request."""
    with pytest.raises(rlm.HostRequestError, match="no agent host is connected"):
        await call(rlm)


def test_what_they_return_cannot_be_changed(rlm: ModuleType) -> None:
    """Frozen, with paths as paths."""
    handle = rlm.RLMSpawnHandle("c", "n", Path("/s"), "p/m")
    with pytest.raises(dataclasses.FrozenInstanceError):
        handle.name = "other"
    assert {"rlm_child_id", "name", "session_dir", "model"} == {*vars(handle)}
