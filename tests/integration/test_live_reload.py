"""Edits reach a running shell: before a cell, beside ``%autoreload``, after threads."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import write_skill
from tests.integration.drivers import Driver, Kernel, Outcome

pytestmark = pytest.mark.integration

CODE = """
from .core import Thing, helper
def run():
    return {n}, helper()
"""
CORE = """
class Thing:
    def m(self):
        return {n}
def helper():
    return {n}
"""


class Edited:
    """A skill called ``live`` in the project's shell, and its edits."""

    def __init__(self, home: Path) -> None:
        folder = write_skill(home / ".agents" / "skills", "live", python="")
        self.package = folder / "src" / "live"
        self.write(1)

    def write(self, number: int) -> None:
        for name, text in (("__init__", CODE), ("core", CORE)):
            path = self.package / f"{name}.py"
            path.write_text(text.format(n=number), encoding="utf-8")


@pytest.fixture
def edited(home: Path) -> Edited:
    return Edited(home)


def said(outcome: Outcome) -> list[str]:
    """What a cell printed, without what the terminal echoes of it."""
    assert outcome.error is None, outcome.error
    lines = [line.removeprefix("Out") for line in outcome.stdout.splitlines()]
    return [
        line for line in lines if line.startswith(("(", "Skills:", "True", "False"))
    ]


@pytest.mark.parametrize("mode", ["0", "1", "2", "3"])
@pytest.mark.parametrize("taken", ["asked", "polled"])
def test_re06_autoreload_of_any_mode_and_ours_live_together(
    shell: Driver, edited: Edited, mode: str, taken: str
) -> None:
    """Whoever takes an edit first: the answer is new, and so is what was held."""
    shell.run("%load_ext prime_skills_ext")
    if mode != "0":
        shell.run("%load_ext autoreload")
        if mode == "1":
            shell.run("%aimport live, live.core")
        shell.run(f"%autoreload {mode}")
    if taken == "polled":
        shell.run("%config SkillManager.auto_reload = True")
    shell.run(
        "import sys; w = live; from live import run, Thing; obj = Thing(); held = obj.m"
    )
    # of the module that defines it: %autoreload may execute `live` before `live.core`
    is_same = "type(obj) is sys.modules['live.core'].Thing"
    shown = f"print((await live(), run(), obj.m(), held(), {is_same}))"
    same = "print(callable(live) and w is live)"
    for number in (2, 3, 4):
        edited.write(number)
        if taken == "asked":
            # taken by %autoreload before this cell, where that is on; then by us
            assert said(shell.run("%reload_skills")) in ([], ["[]"])
        two = f"({number}, {number})"
        answer = f"({two}, {two}, {number}, {number}, True)"
        news = ["Skills: ~1 live"] if taken == "polled" else []
        assert said(shell.run(shown)) == [*news, answer]
        assert ["True"] == said(shell.run(same))
        assert said(shell.run(shown)) == [answer]


def test_auto_reload_takes_up_what_comes_and_goes(
    kernel: Kernel, edited: Edited, home: Path
) -> None:
    """Added, broken, fixed, removed: one line each, and nothing in between."""
    kernel.run("%load_ext prime_skills_ext")
    kernel.run("%config SkillManager.auto_reload = True")
    assert "" == kernel.run("1").stdout
    folder = write_skill(
        home / ".agents" / "skills", "fresh", python="def run(): return 'new'"
    )
    cell = kernel.run("await fresh()")
    assert ("Skills: +1 fresh\n", "'new'") == (cell.stdout, cell.result)
    source = folder / "src/fresh/__init__.py"
    good = source.read_text(encoding="utf-8")
    source.write_text("def run(:", encoding="utf-8")
    cell = kernel.run("await fresh()")
    assert ("Skills: !1 fresh\n", "") == (cell.stdout, cell.stderr)
    assert "'new'" == cell.result
    assert "" == kernel.run("await fresh()").stdout
    source.write_text(good, encoding="utf-8")
    assert "Skills: ~1 fresh\n" == kernel.run("await fresh()").stdout
    (folder / "SKILL.md").unlink()
    assert "Skills: -1 fresh\n" == kernel.run("1").stdout
    kernel.run("%config SkillManager.auto_reload = False")
    edited.write(2)
    assert "(1, 1)" == kernel.run("await live()").result


def test_auto_reload_never_stops_a_cell(kernel: Kernel, edited: Edited) -> None:
    """Whatever happens on the way, the cell runs and no traceback is ours."""
    kernel.run("%load_ext prime_skills_ext")
    kernel.run("%config SkillManager.auto_reload = True")
    kernel.run(
        "from prime_skills_ext.manager import SkillManager\n"
        "def poll(self): raise RuntimeError('the disk is on fire')\n"
        "kept, SkillManager.poll = SkillManager.poll, poll"
    )
    cell = kernel.run("2 * 21")
    assert ("42", "", None) == (cell.result, cell.stderr, cell.error)
    assert "Skills: not reloaded: the disk is on fire\n" == cell.stdout


def test_re07_the_event_is_registered_once_and_taken_away(
    kernel: Kernel, edited: Edited
) -> None:
    """Load, reload and unload leave the callbacks of the shell as they were."""
    count = "len(get_ipython().events.callbacks['pre_run_cell'])"
    before = kernel.run(count).result
    kernel.run("%load_ext prime_skills_ext")
    loaded = kernel.run(count).result
    assert int(str(loaded)) == int(str(before)) + 1
    for command in ("%load_ext", "%reload_ext", "%reload_ext"):
        kernel.run(f"{command} prime_skills_ext")
    kernel.run("%reset -f")
    assert kernel.run(count).result == loaded
    kernel.run("%unload_ext prime_skills_ext")
    assert kernel.run(count).result == before


THREAD = """
import threading
def helper():
    return {n}
def run(go):
    go.wait()
    return {n}, helper()
"""


def test_a_call_in_a_thread_finishes_before_its_skill_reloads(
    kernel: Kernel, edited: Edited
) -> None:
    """``asyncio.to_thread``: the report says later, and it happens by itself."""
    source = edited.package / "__init__.py"
    source.write_text(THREAD.format(n=1), encoding="utf-8")
    kernel.run("%load_ext prime_skills_ext")
    kernel.run(
        "import asyncio, threading\ngo = threading.Event()\n"
        "call = asyncio.create_task(asyncio.to_thread(live.run, go))"
    )
    source.write_text(THREAD.format(n=2), encoding="utf-8")
    waits = kernel.run("%reload_skills").result
    assert waits == (
        "later 1 live\n  live: it reloads when a call in a thread ends\n"
        "    fix: Wait, or %reload_skills --now"
    )
    assert "1\n" == kernel.run("print(live.helper())").stdout
    assert "when one call ends that other" in (kernel.run("%skill doctor").result or "")
    assert "(1, 1)" == kernel.run("go.set(); await call").result
    cell = kernel.run("live.helper()")
    assert ("Skills: ~1 live\n", "2") == (cell.stdout, cell.result)
    assert kernel.run("%reload_skills").result is None
