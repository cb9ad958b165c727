"""A kernel of a home directory that nobody else has, and cells that answer in JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

_TIMEOUT_S: Final = 300
#: What would let the user's own setup decide over a measurement.
_DROPPED: Final = (
    *("PRIME_", "PI_", "RLM_", "PYTHON", "VIRTUAL_ENV", "CONDA", "XDG_"),
    *("JUPYTER", "IPYTHON", "NO_COLOR"),
)


def surroundings(home: Path) -> Mapping[str, str]:
    """Return the environment variables of a process that lives in ``home``.

    Bytecode may be written there, and uv's cache is the user's.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_DROPPED)
    }
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    kept.setdefault("UV_CACHE_DIR", str(caches / "uv"))
    return {**kept, "HOME": str(home), "USERPROFILE": str(home)}


@contextmanager
def kernel(home: Path) -> Iterator[BlockingKernelClient]:
    """Start an ipykernel of this Python, which has imported nothing of ours."""
    manager = KernelManager(kernel_name="python3")
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        # some say at each start that TCP is not encrypted
        manager.start_kernel(
            cwd=str(home), env=dict(surroundings(home)), stderr=nowhere
        )
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=_TIMEOUT_S)
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def ask(client: BlockingKernelClient, cell: str) -> Any:
    """Run a cell and return the JSON value that it prints."""
    said: list[str] = []

    def listen(message: dict[str, Any]) -> None:
        content = message["content"]
        if message["header"]["msg_type"] == "error":
            raise SystemExit(f"{content['ename']}: {content['evalue']}")
        if message["header"]["msg_type"] == "stream":
            said.append(content["text"])

    client.execute_interactive(
        cell, store_history=False, timeout=_TIMEOUT_S, output_hook=listen
    )
    try:
        return json.loads("".join(said))
    except ValueError:
        raise SystemExit("".join(said)) from None
