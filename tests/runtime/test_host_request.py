"""What ``rlm`` promises to a skill before any host exists."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import prime_skills_ext

RUNTIME = Path(prime_skills_ext.__file__).parent / "runtime"


@pytest.fixture(scope="module")
def rlm() -> ModuleType:
    """The module, loaded from where the distribution keeps it."""
    path = RUNTIME / "src" / "rlm" / "__init__.py"
    spec = importlib.util.spec_from_file_location("rlm_under_test", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
    assert done.stdout == "0.1.0\n"


def test_runtime_project_requires_tyro_only() -> None:
    """The distribution is small, and its version is the module's."""
    project = tomllib.loads((RUNTIME / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["name"] == "prime-agent-runtime"
    assert project["project"]["version"] == "0.1.0"
    assert project["project"]["dependencies"] == ["tyro>=0.9.1"]
    assert project["project"]["requires-python"] == ">=3.10"
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"] == {
        "packages": ["src/rlm"]
    }
