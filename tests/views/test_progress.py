"""Progress: seen while it lasts, without a trace afterwards."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.manager import start_new_kernel

from prime_skills_ext.views.progress import Progress

_SETUP = "from prime_skills_ext.views.progress import Progress; import sys, os"
_WORK = "exec(\"with Progress(delay_s=0) as p:\\n p.say('One')\\n p.say('Two <2>')\")"


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A real kernel in which no colour is denied."""
    environ = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    manager, client = start_new_kernel(kernel_name="python3", env=environ)
    _messages(client, _SETUP)
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    manager.cleanup_resources()


def _messages(client: Any, code: str, *, person: bool = True) -> list[tuple[str, Any]]:
    """Return what a cell publishes, as (kind, content)."""
    request = client.execute(code, allow_stdin=person)
    found: list[tuple[str, Any]] = []
    while True:
        message = client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") != request:
            continue
        kind, content = message["msg_type"], message["content"]
        if kind == "status" and content["execution_state"] == "idle":
            client.get_shell_msg(timeout=60)
            return found
        if kind not in {"status", "execute_input"}:
            found.append((kind, content))


def test_cell_shows_one_display_that_ends_empty(client: Any) -> None:
    """One display is rewritten step by step and removed at the end."""
    found = _messages(client, _WORK)

    texts = [content.get("data", {}).get("text/plain") for _, content in found]
    assert [None, "One…", "Two <2>…", None, None] == texts
    kinds = ["display_data", *["update_display_data"] * 3, "clear_output"]
    assert kinds == [kind for kind, _ in found]
    displays = {content["transient"]["display_id"] for _, content in found[:-1]}
    assert len(displays) == 1
    assert "Two &lt;2&gt;" in found[2][1]["data"]["text/html"]


def test_cell_keeps_other_output_of_a_longer_cell(client: Any) -> None:
    """Where other output may stand, the display is emptied and nothing is cleared."""
    found = _messages(client, f"print('kept')\n{_WORK}")

    assert "clear_output" not in [kind for kind, _ in found]
    assert [kind for kind, _ in found].count("stream") == 1
    assert found[-1][1]["data"] == {}


def test_nb05_cell_of_a_program_publishes_nothing(client: Any) -> None:
    """A request that denies stdin comes from nbval or nbclient: nobody watches."""
    assert [] == _messages(client, _WORK, person=False)


def test_cell_shows_nothing_for_quick_work(client: Any) -> None:
    """What is done at once does not flicker."""
    code = "exec(\"with Progress() as p: p.say('One')\")"

    assert [] == _messages(client, code)


@pytest.mark.parametrize(
    "environ", [{"NO_COLOR": "1"}, {"PRIME_SKILLS_PROGRESS": "0"}], ids=str
)
def test_cell_shows_nothing_when_told(client: Any, environ: dict[str, str]) -> None:
    """``NO_COLOR`` and the switch silence it."""
    code = _WORK.replace("delay_s=0", f"delay_s=0, environ={environ}")

    assert [] == _messages(client, code)


def test_nb05_forced_progress_leaves_nothing_that_nbval_compares(
    tmp_path: Path,
) -> None:
    """Even where it is shown, a strict nbval run sees an empty output."""
    work = _WORK.replace(
        "delay_s=0", "delay_s=0, environ={'PRIME_SKILLS_PROGRESS': '1'}"
    )
    cells = [nbformat.v4.new_code_cell(f"{_SETUP}\n{work}", execution_count=1)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "work.ipynb")

    command = ["-m", "pytest", "-q", "--nbval", "--nbval-current-env", "--rootdir", "."]
    done = subprocess.run(
        [sys.executable, *command, "-p", "no:cacheprovider", "work.ipynb"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_terminal_shows_a_line_and_takes_it_away() -> None:
    """On a terminal the words appear on stderr; the cursor line ends empty."""
    code = (
        "from prime_skills_ext.views.progress import Progress\n"
        "with Progress(delay_s=0, environ={}) as p: p.say('Installing [x]')\n"
    )
    master, terminal = pty.openpty()
    environ = {**os.environ, "TERM": "xterm"}
    environ.pop("NO_COLOR", None)
    done = subprocess.run(
        [sys.executable, "-c", code],
        stderr=terminal,
        capture_output=False,
        stdout=subprocess.PIPE,
        timeout=60,
        check=True,
        env=environ,
    )
    os.close(terminal)
    shown = os.read(master, 65536).decode()
    os.close(master)

    assert done.stdout == b""
    assert "Installing [x]…" in shown
    # the last thing that happens is that the line is erased
    assert shown.rstrip().endswith("\x1b[2K")


def test_plain_stderr_gets_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """A log file is not a terminal."""
    with Progress(environ={}, delay_s=0) as progress:
        progress.say("Installing")

    assert capfd.readouterr() == ("", "")


def test_saying_something_outside_of_work_shows_nothing(client: Any) -> None:
    """Who works without a view around it works all the same."""
    code = "p = Progress(delay_s=0)\nwith p, p: pass\np.say('One')"

    assert [] == _messages(client, code)
