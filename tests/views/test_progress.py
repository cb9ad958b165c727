"""Progress: seen while it lasts, without a trace afterwards."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

from prime_skills_ext.progress import ProgressEvent
from prime_skills_ext.views.progress import MIME_TYPE, Progress, log_to
from tests.integration.drivers import CELL_TIMEOUT_S, Kernel
from tests.kernels import sockets

_EVENT = ProgressEvent(stage="building", message="Installing", done=1, total=2)
_SETUP = """\
from prime_skills_ext.progress import ProgressEvent
from prime_skills_ext.views.progress import Progress
def say(progress, message, **counts):
    progress.say(ProgressEvent(stage="building", message=message, **counts))"""
_STEPS = "say(p, 'One')\\n say(p, 'Two <2>', done=1, total=2)"
_WORK = f'exec("with Progress(delay_s=0) as p:\\n {_STEPS}")'


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """A real kernel in which no colour is denied."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("NO_COLOR", raising=False)
        made = Kernel(tmp_path_factory.mktemp("kernel"))
    with made as started:
        _messages(started, _SETUP)
        yield started


def _messages(
    kernel: Kernel, code: str, *, person: bool = True
) -> list[tuple[str, Any]]:
    """Return what a cell publishes, as (kind, content)."""
    request = kernel.send(code, allow_stdin=person)
    found: list[tuple[str, Any]] = []
    while True:
        message = kernel.client.get_iopub_msg(timeout=CELL_TIMEOUT_S)
        if message["parent_header"].get("msg_id") != request:
            continue
        kind, content = message["msg_type"], message["content"]
        if kind == "status" and content["execution_state"] == "idle":
            kernel.replies(request)
            return found
        if kind not in {"status", "execute_input"}:
            found.append((kind, content))


def test_cell_shows_one_display_that_ends_empty(kernel: Kernel) -> None:
    """One display is rewritten step by step and removed at the end."""
    found = _messages(kernel, _WORK)

    texts = [content.get("data", {}).get("text/plain") for _, content in found]
    assert [None, "One…", "Two <2>…", None, None] == texts
    kinds = ["display_data", *["update_display_data"] * 3, "clear_output"]
    assert kinds == [kind for kind, _ in found]
    displays = {content["transient"]["display_id"] for _, content in found[:-1]}
    assert len(displays) == 1
    one, two = (content["data"]["text/html"] for _, content in found[1:3])
    assert (True, True) == ("Two &lt;2&gt;" in two, "value='1' max='2'" in two)
    assert "<progress" not in one  # nothing is counted there


def test_cell_keeps_other_output_of_a_longer_cell(kernel: Kernel) -> None:
    """Where other output may stand, the display is emptied and nothing is cleared."""
    found = _messages(kernel, f"print('kept')\n{_WORK}")

    assert "clear_output" not in [kind for kind, _ in found]
    assert [kind for kind, _ in found].count("stream") == 1
    assert found[-1][1]["data"] == {}


def test_nb05_cell_of_a_program_publishes_nothing(kernel: Kernel) -> None:
    """A request that denies stdin comes from nbval or nbclient: nobody watches."""
    assert [] == _messages(kernel, _WORK, person=False)


def test_cell_shows_nothing_for_quick_work(kernel: Kernel) -> None:
    """What ends before people should see it does not flicker."""
    code = "exec(\"with Progress(delay_s=600) as p: say(p, 'One')\")"

    assert [] == _messages(kernel, code)


@pytest.mark.parametrize(
    "environ", [{"NO_COLOR": "1"}, {"PRIME_SKILLS_PROGRESS": "0"}], ids=str
)
def test_cell_shows_nothing_when_told(kernel: Kernel, environ: dict[str, str]) -> None:
    """``NO_COLOR`` and the switch silence it."""
    code = _WORK.replace("delay_s=0", f"delay_s=0, environ={environ}")

    assert [] == _messages(kernel, code)


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


def _in_terminal(code: str) -> tuple[str, str]:
    """Run code whose stderr is a terminal; return its stdout and what is seen."""
    master, terminal = pty.openpty()
    environ = {**os.environ, "TERM": "xterm"}
    environ.pop("NO_COLOR", None)
    done = subprocess.run(
        [sys.executable, "-c", f"{_SETUP}\nimport io, sys\n{code}"],
        stderr=terminal,
        stdout=subprocess.PIPE,
        timeout=60,
        check=False,
        env=environ,
        text=True,
    )
    os.close(terminal)
    shown = b""
    # the end of a terminal that nobody holds any more is an error
    with suppress(OSError):
        while said := os.read(master, 65536):
            shown += said
    os.close(master)
    assert 0 == done.returncode, shown
    return done.stdout, shown.decode()


def test_terminal_shows_a_line_and_takes_it_away() -> None:
    """On a terminal the words appear on stderr; the cursor line ends empty."""
    code = "with Progress(delay_s=0, environ={}) as p: say(p, 'Installing [x]')"

    out, shown = _in_terminal(code)

    assert "" == out
    assert "Installing [x]…" in shown
    # the last thing that happens is that the line is erased
    assert shown.rstrip().endswith("\x1b[2K")


def test_terminal_keeps_its_line_while_a_skill_prints() -> None:
    """The spinner goes where it began; the streams of an import are left alone."""
    code = """\
with Progress(delay_s=0, environ={}) as p:
    before = sys.stdout, sys.stderr
    say(p, 'One')
    assert (sys.stdout, sys.stderr) == before
    sys.stderr = io.StringIO()
    say(p, 'Two')
print(repr(sys.stderr.getvalue()))"""

    out, shown = _in_terminal(code)

    assert "''\n" == out
    assert "Two…" in shown


def test_plain_stderr_gets_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """A log file is not a terminal."""
    with Progress(environ={}, delay_s=0) as progress:
        progress.say(_EVENT)

    assert capfd.readouterr() == ("", "")


def test_host_gets_an_event_per_step_in_a_kernel(kernel: Kernel) -> None:
    """``PRIME_SKILLS_PROGRESS=json``: one display, at once, also for a program."""
    switches = "environ={'PRIME_SKILLS_PROGRESS': 'json', 'NO_COLOR': '1'}"
    code = _WORK.replace("delay_s=0", switches)

    found = _messages(kernel, code, person=False)

    first = {"stage": "building", "message": "One", "done": None, "total": None}
    second = {"stage": "building", "message": "Two <2>", "done": 1, "total": 2}
    assert [
        ("display_data", {MIME_TYPE: {**first, "skill": None}}),
        ("update_display_data", {MIME_TYPE: {**second, "skill": None}}),
        ("update_display_data", {}),
        ("clear_output", None),
    ] == [(kind, content.get("data")) for kind, content in found]
    assert 1 == len({content["transient"]["display_id"] for _, content in found[:-1]})


def test_host_leaves_no_event_in_a_notebook_that_it_executes(tmp_path: Path) -> None:
    """Nbclient applies updates: what is saved is as empty as what people leave."""
    work = _WORK.replace("delay_s=0", "environ={'PRIME_SKILLS_PROGRESS': 'json'}")
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(f"{_SETUP}\n{work}")]
    )

    client = nbclient.NotebookClient(notebook, kernel_name="python3", config=sockets())
    client.execute(cwd=str(tmp_path))

    outputs = notebook.cells[0].outputs
    assert [("display_data", {})] == [(o.output_type, o.data) for o in outputs]


def test_host_gets_a_line_per_step_elsewhere(capfd: pytest.CaptureFixture[str]) -> None:
    """Without a kernel the events are lines of JSON on stderr; stdout is the value."""
    with Progress(environ={"PRIME_SKILLS_PROGRESS": "json"}) as progress:
        progress.say(_EVENT)
        progress.say(replace(_EVENT, done=2))

    out, err = capfd.readouterr()
    assert ("", [1, 2]) == (
        out,
        [json.loads(line)["done"] for line in err.splitlines()],
    )
    assert asdict(_EVENT) == json.loads(err.splitlines()[0])


def test_log_has_a_line_per_stage() -> None:
    """In a log nothing is rewritten in place, so counts do not fill it."""
    log = io.StringIO()
    write = log_to(log, environ={"NO_COLOR": "1"})

    for event in (_EVENT, replace(_EVENT, done=2), replace(_EVENT, stage="ready")):
        write(event)

    assert ["prime-skills: Installing"] * 2 == log.getvalue().splitlines()


@pytest.mark.parametrize(("wanted", "count"), [("0", 0), ("json", 2)])
def test_log_obeys_the_switch(wanted: str, count: int) -> None:
    """Nothing, or every step for a host."""
    log = io.StringIO()
    write = log_to(log, environ={"PRIME_SKILLS_PROGRESS": wanted})

    write(_EVENT)
    write(replace(_EVENT, done=2))

    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert count == len(lines)
    assert all(line["stage"] == "building" for line in lines)


def test_reader_that_is_gone_does_not_stop_the_work() -> None:
    """Progress is told as long as somebody reads it."""
    log = io.StringIO()
    log.close()

    log_to(log, environ={})(_EVENT)


def test_saying_something_outside_of_work_shows_nothing(kernel: Kernel) -> None:
    """Who works without a view around it works all the same."""
    code = "p = Progress(delay_s=0)\nwith p, p: pass\nsay(p, 'One')"

    assert [] == _messages(kernel, code)
