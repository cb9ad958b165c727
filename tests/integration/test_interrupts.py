"""An interrupt takes effect at once while skills are awaited, in real kernels.

Skills that are to be stopped would take ten minutes; no cell may take that long.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import write_skill
from tests.integration.drivers import Kernel, Outcome

pytestmark = pytest.mark.integration

#: Says through a pipe that the work began, from the loop once the skill waits.
SAY = """
    import asyncio, time
    from pathlib import Path

    def say(path):
        Path(path).write_text("now")

    def say_when_waiting(path):
        asyncio.get_running_loop().call_soon(say, path)
"""
WORK = {
    "waits": """
    async def run(path, seconds=600):
        say_when_waiting(path)
        await asyncio.sleep(seconds)
    """,
    "blocks": """
    def run(path, seconds=600):
        say(path)
        time.sleep(seconds)
    """,
    "computes": """
    def run(path, seconds=600):
        say(path)
        while seconds:
            pass
    """,
    "computes-in-a-coroutine": """
    async def run(path, seconds=600, go=None):
        await (go.wait() if go else asyncio.sleep(0))
        say(path)
        while seconds:
            pass
    """,
    "awaits-another": """
    import waits
    async def run(path, seconds=600):
        await waits(path, seconds)
    """,
    "awaits-one-that-computes": """
    import computes
    async def run(path, seconds=600):
        await computes(path, seconds)
    """,
    "leaves-the-loop": """
    def run(path, seconds=600):
        say(path)
        time.sleep(seconds)
    """,
}
STOPPED = ("CancelledError", "KeyboardInterrupt")
#: What an interrupt goes by, in a cell with ``await`` in it.
STATE = (
    "import asyncio, signal; await asyncio.sleep(0); "
    "print(getattr(signal.getsignal(signal.SIGINT), '__qualname__', None), "
    "signal.set_wakeup_fd(-1))"
)


@pytest.fixture
def loaded(home: Path, any_kernel: Kernel) -> Kernel:
    """A kernel with a skill for each kind of work."""
    for name, code in WORK.items():
        header = f"name: {name}\ndescription: Takes its time.\n"
        if name == "leaves-the-loop":
            header += "metadata:\n  threaded: true\n"
        root = home / ".agents" / "skills"
        write_skill(root, name, python=SAY + code, frontmatter=header)
    done = any_kernel.run("%load_ext prime_skills_ext")
    assert ("", None) == (done.stdout, done.error)
    return any_kernel


@pytest.fixture
def started(tmp_path: Path) -> Path:
    """The pipe through which a skill says that it began."""
    path = tmp_path / "started"
    os.mkfifo(path)
    return path


def stop(
    kernel: Kernel, code: str, started: Path, *, how: Callable[[], object] | None = None
) -> Outcome:
    """Run a cell and interrupt it when its skill says that it began."""

    def interrupt() -> None:
        started.read_text()
        (how or kernel.interrupt)()

    finger = threading.Thread(target=interrupt)
    finger.start()
    outcome = kernel.run(code)
    finger.join()
    return outcome


@pytest.mark.parametrize("name", WORK)
def test_an_interrupt_stops_an_awaited_skill(
    name: str, loaded: Kernel, started: Path
) -> None:
    """Whatever it does; afterwards everything is as before, and it works again."""
    before = loaded.run(STATE).stdout
    function = name.replace("-", "_")
    stopped = stop(loaded, f"await {function}({str(started)!r})", started)
    assert (stopped.error or "").startswith(STOPPED), stopped
    assert before == loaded.run(STATE).stdout
    again = loaded.run(f"await {function}('/dev/null', 0)")
    assert (None, "") == (again.error, again.stderr)
    assert before == loaded.run(STATE).stdout


def test_an_interrupt_shows_the_line_that_computed(
    loaded: Kernel, started: Path
) -> None:
    """One frame of ours, and the skill's own line is the last.

    It may still be in the call that says that it began.
    """
    loaded.run("import prime_skills_ext, traceback")
    code = f"""
try:
    await computes({str(started)!r})
except KeyboardInterrupt as error:
    frames = traceback.extract_tb(error.__traceback__)
    ours = prime_skills_ext.__path__[0]
    print([frame.name for frame in frames if frame.filename.startswith(ours)])
"""
    assert "['__call__']\n" == stop(loaded, code, started).stdout


def test_an_interrupt_over_the_control_channel_stops_an_awaited_skill(
    loaded: Kernel, started: Path
) -> None:
    """As a frontend on another machine sends it."""
    client = loaded.client

    def ask() -> None:
        client.control_channel.send(client.session.msg("interrupt_request", {}))

    stopped = stop(loaded, f"await waits({str(started)!r})", started, how=ask)
    assert (stopped.error or "").startswith(STOPPED), stopped


def test_an_interrupt_is_for_the_users_own_handler(
    loaded: Kernel, started: Path
) -> None:
    """Who handles it themselves does so while a skill computes, too."""
    code = f"""
import signal
def handle(number, frame):
    raise InterruptedError("mine")
before = signal.signal(signal.SIGINT, handle)
try:
    await computes({str(started)!r})
except InterruptedError as error:
    print(error, signal.getsignal(signal.SIGINT) is handle)
finally:
    signal.signal(signal.SIGINT, before)
"""
    stopped = stop(loaded, code, started)
    assert ("mine True\n", None) == (stopped.stdout, stopped.error)


@pytest.mark.parametrize("last", ["waits", "computes", "blocks", "leaves_the_loop"])
def test_an_interrupt_reaches_each_of_several_awaited_skills(
    last: str, loaded: Kernel, started: Path
) -> None:
    """Five at once; each is stopped, and the kernel lives."""
    code = f"""
import asyncio
async def noted(call):
    try:
        await call
    except BaseException as error:
        print(type(error).__name__)
        raise
calls = [waits("/dev/null") for _ in range(4)]
await asyncio.gather(*map(noted, [*calls, {last}({str(started)!r})]))
"""
    stopped = stop(loaded, code, started)
    assert (stopped.error or "").startswith(STOPPED), stopped
    assert ["CancelledError"] * 5 == stopped.stdout.split()
    assert "alive\n" == loaded.run("print('alive')").stdout


def test_an_interrupt_stops_a_cell_that_awaits_the_task_of_an_earlier_one(
    loaded: Kernel, started: Path
) -> None:
    """Each cell has a handler of its own."""
    loaded.run(
        "import asyncio; task = asyncio.ensure_future(waits('/dev/null')); "
        "await asyncio.sleep(0)"
    )
    code = f"""
from pathlib import Path
asyncio.get_running_loop().call_soon(Path({str(started)!r}).write_text, "now")
await task
"""
    stopped = stop(loaded, code, started)
    assert (stopped.error or "").startswith("CancelledError"), stopped


def test_an_interrupt_stops_the_task_of_an_earlier_cell_that_computes_now(
    loaded: Kernel, started: Path
) -> None:
    """A computing task gives the loop no turn to cancel the cell that waits for it."""
    before = loaded.run(STATE).stdout
    loaded.run(
        "import asyncio; go = asyncio.Event(); await asyncio.sleep(0)\n"
        f"work = computes_in_a_coroutine({str(started)!r}, go=go)\n"
        "task = asyncio.ensure_future(work)\n"
        "await asyncio.sleep(0)"
    )
    stopped = stop(loaded, "go.set(); await task", started)
    assert (stopped.error or "").startswith("CancelledError"), stopped
    assert before == loaded.run(STATE).stdout


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("%reload_skills\nawait asyncio.sleep(0)", ("", "KeyboardInterrupt")),
        ("await asyncio.create_task(reload())", ("", "CancelledError")),
        (
            "await asyncio.sleep(0); print('ran')",
            ("Skills: not reloaded: KeyboardInterrupt\nran\n", ""),
        ),
    ],
)
def test_an_interrupt_stops_an_import_in_a_cell_that_awaits(
    cell: str, expected: tuple[str, str], loaded: Kernel, home: Path, started: Path
) -> None:
    """``%reload_skills``, in a task too, and what ``auto_reload`` does before it."""
    before = loaded.run(STATE).stdout
    loaded.run(
        "async def reload():\n    get_ipython().run_line_magic('reload_skills', '')\n"
    )
    if "ran" in cell:
        loaded.run("%config SkillManager.auto_reload = True")
    endless = f"open({str(started)!r}, 'w').close()\nwhile True: pass\n"
    folder = write_skill(home / ".agents" / "skills", "endless", python=endless)
    stopped = stop(loaded, cell, started)
    assert expected == (stopped.stdout, (stopped.error or "").partition(":")[0])
    (folder / "SKILL.md").unlink()
    assert before == loaded.run(STATE).stdout


@pytest.mark.parametrize("cell", ["", "await asyncio.sleep(0)\n"])
def test_as02_run_sync_is_interrupted_and_cleans_up(
    cell: str, loaded: Kernel, started: Path
) -> None:
    """In a cell with ``await`` in it as in one without."""
    code = f"""
import asyncio
async def work():
    try:
        await waits({str(started)!r})
    finally:
        print("cleaned up")
{cell}skills.run_sync(work())
"""
    stopped = stop(loaded, code, started)
    assert (stopped.error or "").startswith("KeyboardInterrupt"), stopped
    assert "cleaned up\n" == stopped.stdout


def test_as02_run_sync_in_a_task_is_interrupted_and_the_kernel_lives(
    loaded: Kernel, started: Path
) -> None:
    """A ``KeyboardInterrupt`` that left the task would end the kernel's loop."""
    code = f"""
import asyncio
async def work():
    return skills.run_sync(waits({str(started)!r}))
await asyncio.create_task(work())
"""
    stopped = stop(loaded, code, started)
    assert (stopped.error or "").startswith("CancelledError"), stopped
    assert "alive\n" == loaded.run("print('alive')").stdout


def test_as02_run_sync_takes_coroutines_alone_and_copies_the_context(
    loaded: Kernel,
) -> None:
    """Called inside a running loop; what belongs to that loop is refused."""
    code = """
import asyncio, contextvars
variable = contextvars.ContextVar("variable")
variable.set(5)
async def work():
    await waits("/dev/null", 0)
    return variable.get()
print(skills.run_sync(work()))
task = asyncio.ensure_future(asyncio.sleep(0))
try:
    skills.run_sync(task)
except TypeError as error:
    print(error)
await task
"""
    done = loaded.run(code)
    said = "5\na Task or Future belongs to its own loop: `await` it\n"
    assert (said, None) == (done.stdout, done.error)


def test_as03_threaded_in_the_header_takes_run_off_the_loop(
    loaded: Kernel, home: Path
) -> None:
    """``metadata: {threaded: true}``; the loop does other work meanwhile."""
    code = "import threading\ndef run():\n    return threading.current_thread().name\n"
    header = "name: elsewhere\ndescription: D.\nmetadata:\n  threaded: true\n"
    write_skill(
        home / ".agents" / "skills", "elsewhere", python=code, frontmatter=header
    )
    loaded.run("%reload_skills")
    assert "skill elsewhere\n" == loaded.run("print(await elsewhere())").stdout


def test_the_limit_of_a_call_holds_as_soon_as_it_is_set(loaded: Kernel) -> None:
    """``%config`` sets it; the error is a ``TimeoutError`` and names the way out."""
    loaded.run("%config SkillManager.call_timeout_s = 0.05")
    for none in ("-1", "float('nan')"):
        refused = loaded.run(f"%config SkillManager.call_timeout_s = {none}")
        assert "SkillManager" in refused.stderr
    stopped = loaded.run("await waits('/dev/null')")
    said = "CallTimeoutError: waits() did not end within 0.05 s\nFix: raise the limit"
    assert said in (stopped.error or "")
    loaded.run("%config SkillManager.call_timeout_s = None")
    assert loaded.run("await waits('/dev/null', 0)").error is None
