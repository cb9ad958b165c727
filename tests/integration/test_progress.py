"""Progress of a real install: what a host reads while it goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.views.progress import MIME_TYPE
from tests.conftest import write_skill
from tests.integration.drivers import CELL_TIMEOUT_S, Kernel

pytestmark = pytest.mark.integration

#: A plain skill is in before its first step could be seen; backends take longer.
_BUILT = {"setup.cfg": "[metadata]\n"}
_STAGES = ["environment", "resolving", "building", "installing"]


@pytest.fixture
def skills(home: Path) -> Path:
    """Two skills of the user's that a backend builds, without a network."""
    folder = home / ".prime" / "agent" / "skills"
    for name in ("built-a", "built-b"):
        code = "def run():\n    return 1\n"
        write_skill(folder, name, python=code, backend="uv_build", files=_BUILT)
    return folder


def _stages(events: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(event["stage"] for event in events))


def test_host_follows_a_load_in_a_kernel(skills: Path, project: Path) -> None:
    """One display, a message per step, for a client that answers no questions."""
    events: list[dict[str, Any]] = []
    displays: set[str] = set()

    def listen(message: dict[str, Any]) -> None:
        content = message["content"]
        if event := content.get("data", {}).get(MIME_TYPE):
            events.append(event)
            displays.add(content["transient"]["display_id"])

    with Kernel(project, environ={"PRIME_SKILLS_PROGRESS": "json"}) as kernel:
        kernel.client.execute_interactive(
            "%load_ext prime_skills_ext",
            allow_stdin=False,
            timeout=CELL_TIMEOUT_S,
            output_hook=listen,
        )

    assert [*_STAGES, "importing", "ready"] == _stages(events)
    assert 1 == len(displays)
    built = [(e["done"], e["total"]) for e in events if e["stage"] == "building"]
    assert ((0, 2), (2, 2)) == (built[0], built[-1])


def test_host_follows_the_terminal_command(skills: Path, project: Path) -> None:
    """On stderr is a line of JSON per step, stdout the answer."""
    done = subprocess.run(
        [sys.executable, "-m", "prime_skills_ext", "sync"],
        cwd=project,
        env={**os.environ, "PRIME_SKILLS_PROGRESS": "json"},
        capture_output=True,
        text=True,
        timeout=CELL_TIMEOUT_S,
        check=True,
    )

    events = [json.loads(line) for line in done.stderr.splitlines()]
    assert [*_STAGES, "ready"] == _stages(events)
    assert done.stdout.endswith("everything is up to date\n")
