"""What ``rlm`` promises to a skill before any host exists."""

from __future__ import annotations

import pickle
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import prime_skills_ext

RUNTIME = Path(prime_skills_ext.__file__).parent / "runtime"


async def test_host_request_fails_at_once_when_there_is_no_host(
    rlm: ModuleType,
) -> None:
    """No host is an immediate error that names the request and a way out."""
    with pytest.raises(RuntimeError, match="no agent host is connected") as caught:
        await rlm.host_request("model.info", {"a": 1})
    assert "'model.info'" in str(caught.value)
    assert "Fix: " in str(caught.value)


@pytest.mark.parametrize("kind", ["", "  ", None, 3, b"model.info"])
async def test_host_request_refuses_a_type_that_is_no_text(
    rlm: ModuleType, kind: object
) -> None:
    """The type of a request is a string with content."""
    with pytest.raises(TypeError, match="type must be a non-empty string"):
        await rlm.host_request(kind)


@pytest.mark.parametrize("payload", [[], "x", 0, False])
async def test_host_request_refuses_a_payload_that_is_no_dict(
    rlm: ModuleType, payload: object
) -> None:
    """A payload is a dict or None, and no falsy stand-in."""
    with pytest.raises(TypeError, match="payload must be a dict or None"):
        await rlm.host_request("model.info", payload)


@pytest.mark.parametrize("limit", ["1", True, [1]])
async def test_host_request_refuses_a_limit_that_is_no_number(
    rlm: ModuleType, limit: object
) -> None:
    """W69: a bool is no number of seconds."""
    with pytest.raises(TypeError, match="timeout_s must be a number of seconds"):
        await rlm.host_request("model.info", timeout_s=limit)


@pytest.mark.parametrize("limit", [0, -1, float("nan")])
async def test_host_request_refuses_a_limit_that_nothing_could_meet(
    rlm: ModuleType, limit: float
) -> None:
    """It would fail whatever the host does."""
    with pytest.raises(ValueError, match="timeout_s must be positive"):
        await rlm.host_request("model.info", timeout_s=limit)


async def test_outside_of_the_kernel_the_hosts_variable_connects_nothing(
    rlm: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that the kernel starts inherits it, and can ask nobody."""
    monkeypatch.setenv("RLM_SESSION_DIR", "/session")
    with pytest.raises(rlm.HostRequestError, match="outside of it") as caught:
        await rlm.host_request("goal.get", timeout_s=None)
    assert "goal.get" == caught.value.request
    assert "Fix: call this skill in a cell" in str(caught.value)


def test_errors_of_the_bridge_pickle(rlm: ModuleType) -> None:
    """Results of workers do."""
    for kind in (rlm.HostRequestError, rlm.HostTimeoutError):
        error = kind("no", request="a", code="b", details={"c": 1})
        again = pickle.loads(pickle.dumps(error))
        assert ("no", vars(error)) == (str(again), vars(again))
        assert isinstance(again, RuntimeError)


def test_rlm_imports_without_tyro_and_quickly() -> None:
    """Skills that only ask the host must not pay for, or need, the CLI's parser."""
    code = (
        "import sys; sys.modules['tyro'] = None; import rlm, rlm.skill; "
        "print(rlm.__version__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(RUNTIME / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "0.2.0\n"


def test_runtime_project_requires_tyro_only() -> None:
    """The distribution is small, and its version is the module's."""
    project = tomllib.loads((RUNTIME / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["name"] == "prime-agent-runtime"
    assert project["project"]["version"] == "0.2.0"
    assert project["project"]["dependencies"] == ["tyro>=0.9.1"]
    assert project["project"]["requires-python"] == ">=3.10"
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"] == {
        "packages": ["src/rlm"]
    }
