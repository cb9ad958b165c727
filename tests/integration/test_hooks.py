"""Hooks around calls in real kernels: the loop goes on, an interrupt ends them."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from tests.conftest import write_skill
from tests.integration.drivers import Kernel, Outcome
from tests.processes import has_ended

pytestmark = pytest.mark.integration

STOPPED = ("CancelledError", "KeyboardInterrupt")
#: Says which processes it is, then waits for ten minutes.
WAITS = 'sleep 600 & echo $$ $! > "$STARTED"; wait'
COMPUTES = """
import os
from pathlib import Path

def run(seconds=600):
    Path(os.environ["STARTED"]).write_text("0")
    while seconds:
        pass
"""
#: What an interrupt goes by, in a cell with ``await`` in it.
STATE = (
    "import asyncio, signal; await asyncio.sleep(0); "
    "print(getattr(signal.getsignal(signal.SIGINT), '__qualname__', None), "
    "signal.set_wakeup_fd(-1))"
)


def write(home: Path, name: str, *, event: str, command: str, python: str) -> Path:
    hook = json.dumps({"type": "command", "command": command})
    header = (
        f"name: {name}\ndescription: Waits.\nhooks:\n  {event}:\n"
        f"    - hooks:\n        - {hook}\n"
    )
    root = home / ".agents" / "skills"
    return write_skill(root, name, frontmatter=header, python=python)


@pytest.fixture
def started(tmp_path: Path) -> Path:
    """The pipe through which a hook or skill says that it began."""
    path = tmp_path / "started"
    os.mkfifo(path)
    return path


@pytest.fixture
def loaded(home: Path, started: Path, any_kernel: Kernel) -> Kernel:
    """A kernel with skills whose hooks wait, and one that is guarded and computes."""
    answer = "def run(seconds=1):\n    return 7\n"
    write(home, "waits-before", event="PreToolUse", command=WAITS, python=answer)
    write(home, "waits-after", event="PostToolUse", command=WAITS, python=answer)
    write(home, "computes", event="PreToolUse", command="true", python=COMPUTES)
    done = any_kernel.run(
        f"import os; os.environ['STARTED'] = {str(started)!r}\n"
        "%load_ext prime_skills_ext"
    )
    assert ("", None) == (done.stdout, done.error)
    return any_kernel


def stop(kernel: Kernel, code: str, started: Path) -> tuple[Outcome, list[int]]:
    """Run a cell and interrupt it when it says that it began, and as what."""
    told: list[int] = []

    def interrupt() -> None:
        told.extend(int(word) for word in started.read_text().split())
        kernel.interrupt()

    finger = threading.Thread(target=interrupt)
    finger.start()
    outcome = kernel.run(code)
    finger.join()
    return outcome, [pid for pid in told if pid]


@pytest.mark.parametrize(
    "code",
    [
        "await waits_before()",
        "await waits_after()",
        "skills.run_sync(waits_before())",
        (
            "import asyncio\ntask = asyncio.ensure_future(waits_after())\n"
            "await asyncio.gather(task, asyncio.sleep(600))"
        ),
    ],
)
def test_an_interrupt_ends_a_hook_and_what_it_started(
    code: str, loaded: Kernel, started: Path
) -> None:
    """The call is interrupted; afterwards everything is as before."""
    before = loaded.run(STATE).stdout
    stopped, pids = stop(loaded, code, started)
    assert (stopped.error or "").startswith(STOPPED), stopped
    assert 2 == len(pids)
    assert all(map(has_ended, pids))
    if "task" in code:
        # `gather` is done with the first that is cancelled; the call hears of the end
        assert None is loaded.run("_ = await asyncio.wait([task])").error
    assert before == loaded.run(STATE).stdout
    assert "2" == loaded.run("1 + 1").result


def test_an_interrupt_stops_a_guarded_skill_that_computes(
    loaded: Kernel, started: Path
) -> None:
    """As it stops every other one; the kernel lives and the skill works again."""
    before = loaded.run(STATE).stdout
    stopped, _ = stop(loaded, "await computes()", started)
    assert (stopped.error or "").startswith(STOPPED), stopped
    assert before == loaded.run(STATE).stdout
    again = loaded.run("os.environ['STARTED'] = os.devnull\nawait computes(0)")
    assert (None, "") == (again.error, again.stderr)


def test_the_loop_goes_on_while_a_hook_runs(loaded: Kernel, started: Path) -> None:
    """What ends the hook is done by a task of the same loop."""
    code = f"""
import asyncio
def read():
    with open({str(started)!r}) as pipe:
        return pipe.read()
async def meanwhile():
    first, second = (await asyncio.to_thread(read)).split()
    os.kill(int(second), 9)
    return "ended"
await asyncio.gather(waits_before(), meanwhile())
"""
    assert "[7, 'ended']" == loaded.run(code).result
