"""The one runner of external commands, against real processes."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import IO, Any

import pytest

from prime_skills_ext.errors import ProcessError
from prime_skills_ext.process import MAX_LINE_CHARS, TAIL_LINES, redact, run, shared
from tests.processes import has_ended


def python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", code, *arguments]


@pytest.fixture
def pass_limits(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Let so many seconds pass for the limits of what runs, and no time at all."""
    passed: list[float] = []

    def monotonic() -> float:
        return time.monotonic() + sum(passed)

    clock = SimpleNamespace(monotonic=monotonic)
    monkeypatch.setattr("prime_skills_ext.process.time", clock)
    return passed.append


def test_run_returns_both_streams_and_the_status(tmp_path: Path) -> None:
    """What a command says and how it ends is a value."""
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    done = run(python(code), cwd=tmp_path, timeout_s=30, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "err\n")


def test_run_uses_directory_and_environment(tmp_path: Path) -> None:
    """The command runs where and with what it is told."""
    code = "import os; print(os.getcwd(), os.environ.get('MARK'))"
    env = {**os.environ, "MARK": "here"}
    done = run(python(code), cwd=tmp_path, env=env, timeout_s=30)
    assert done.stdout == f"{tmp_path} here\n"


def test_check_raises_with_the_tail_when_it_fails(tmp_path: Path) -> None:
    """An error keeps the last lines of stderr, the status and a fix."""
    code = "import sys\nfor i in range(500): print(i, file=sys.stderr)\nsys.exit(1)"
    with pytest.raises(ProcessError) as caught:
        run(python(code), cwd=tmp_path, timeout_s=30)
    tail = [str(number) for number in range(500 - TAIL_LINES, 500)]
    assert caught.value.stderr_tail.splitlines() == tail
    assert caught.value.returncode == 1
    assert caught.value.fix


def test_missing_command_is_a_process_error_with_a_fix(tmp_path: Path) -> None:
    """A program that is not there is told like any other failure."""
    with pytest.raises(ProcessError, match="could not be started") as caught:
        run(["no-such-program-xyz"], cwd=tmp_path, timeout_s=5)
    assert caught.value.fix == (
        "check that no-such-program-xyz is installed and may be executed"
    )


def test_missing_directory_is_named_in_the_fix(tmp_path: Path) -> None:
    """A directory that is gone is not blamed on the program."""
    gone = tmp_path / "gone"
    with pytest.raises(ProcessError) as caught:
        run(python("pass"), cwd=gone, timeout_s=5)
    assert caught.value.fix == f"create the directory {gone}"


@contextmanager
def answered(text: str) -> Iterator[None]:
    """Somebody has typed ``text`` where this process reads."""
    reader, writer = os.pipe()
    os.write(writer, text.encode())
    before = os.dup(0)
    os.dup2(reader, 0)
    try:
        yield
    finally:
        os.dup2(before, 0)
        for handle in (before, reader, writer):
            os.close(handle)


def test_mx06_question_ends_at_once_when_stdin_is_read(tmp_path: Path) -> None:
    """Stdin is closed and there is no terminal: a question cannot wait."""
    code = "print(repr(input('Password: ')))"
    with answered("secret\n"):
        done = run(python(code), cwd=tmp_path, timeout_s=30, check=False)
    assert done.returncode == 1
    assert "EOFError" in done.stderr


def test_mx06_no_terminal_can_be_opened(tmp_path: Path) -> None:
    """The command has a session of its own, without a controlling terminal."""
    code = "import os; print(os.getsid(0) == os.getpid()); open('/dev/tty')"
    done = run(python(code), cwd=tmp_path, timeout_s=30, check=False)
    assert (done.stdout, done.returncode) == ("True\n", 1)


def test_mx06_tools_are_told_never_to_ask(tmp_path: Path) -> None:
    """Git and ssh are told that nobody is there, unless the caller says otherwise."""
    code = "import os; print(os.environ['GIT_TERMINAL_PROMPT'])"
    assert run(python(code), cwd=tmp_path, timeout_s=30).stdout == "0\n"
    env = {**os.environ, "GIT_TERMINAL_PROMPT": "1"}
    assert run(python(code), cwd=tmp_path, env=env, timeout_s=30).stdout == "1\n"


def test_timeout_kills_the_whole_group(
    tmp_path: Path, pass_limits: Callable[[float], None]
) -> None:
    """What runs out of time takes its children with it."""
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; "
        "time.sleep(600)'])\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    seen: list[str] = []

    def expire(line: str) -> None:
        seen.append(line)
        pass_limits(60)

    with pytest.raises(ProcessError, match="did not end within 60 s") as caught:
        run(python(code), cwd=tmp_path, timeout_s=60, on_line=expire)
    assert caught.value.returncode is None
    assert has_ended(int(seen[0]))


@pytest.mark.parametrize("said", ["", "print('Using this', flush=True)\n"])
def test_silent_command_is_given_up_early(tmp_path: Path, said: str) -> None:
    """One that says nothing, or only what it always says, hangs."""
    limits: dict[str, Any] = {"timeout_s": 60, "silence_s": 0.5, "preamble": "Using "}
    code = f"import time\n{said}time.sleep(600)"
    with pytest.raises(ProcessError, match=r"said nothing for 0\.5 s"):
        run(python(code), cwd=tmp_path, **limits)


def test_command_that_has_spoken_may_be_silent(
    tmp_path: Path, pass_limits: Callable[[float], None]
) -> None:
    """It moves: only the whole of its time is limited."""
    free = tmp_path / "free"
    code = (
        "import pathlib, time\n"
        "print('Resolved', flush=True)\n"
        "while not pathlib.Path('free').exists(): time.sleep(0.01)\n"
        "print('done')\n"
    )

    def expire(line: str) -> None:
        pass_limits(30)
        free.touch()

    limits: dict[str, Any] = {"timeout_s": 120, "silence_s": 30, "preamble": "Using "}
    done = run(python(code), cwd=tmp_path, **limits, on_line=expire)
    assert "Resolved\ndone\n" == done.stdout


def test_stubborn_grandchild_is_killed_with_its_parent(
    tmp_path: Path, pass_limits: Callable[[float], None]
) -> None:
    """A child of the command that ignores SIGTERM does not live on."""
    ignore = (
        "import signal, os, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
        "print(os.getpid(), flush=True); time.sleep(600)"
    )
    code = (
        "import subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-c', {ignore!r}])\n"
        "time.sleep(600)\n"
    )
    seen: list[str] = []

    def expire(line: str) -> None:
        seen.append(line)
        pass_limits(60)

    with pytest.raises(ProcessError):
        run(python(code), cwd=tmp_path, timeout_s=60, on_line=expire)
    assert has_ended(int(seen[0]))


def test_stubborn_command_is_killed_when_it_ignores_the_first_signal(
    tmp_path: Path, pass_limits: Callable[[float], None]
) -> None:
    """A command that ignores SIGTERM still ends."""
    code = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print(os.getpid(), flush=True)\n"
        "time.sleep(600)\n"
    )
    seen: list[str] = []

    def expire(line: str) -> None:
        seen.append(line)
        pass_limits(60)

    with pytest.raises(ProcessError):
        run(python(code), cwd=tmp_path, timeout_s=60, on_line=expire)
    assert has_ended(int(seen[0]))


def test_mx06_interrupt_kills_the_group(tmp_path: Path) -> None:
    """Ctrl-C is not swallowed and leaves no process behind."""
    seen: list[str] = []

    def interrupt(line: str) -> None:
        seen.append(line)
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()

    code = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    with pytest.raises(KeyboardInterrupt):
        run(python(code), cwd=tmp_path, timeout_s=60, on_line=interrupt)
    assert has_ended(int(seen[0]))


def test_error_in_the_callback_kills_the_command(tmp_path: Path) -> None:
    """Whatever ends the run ends the process."""
    seen: list[str] = []

    def fail(line: str) -> None:
        seen.append(line)
        raise LookupError(line)

    code = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    with pytest.raises(LookupError):
        run(python(code), cwd=tmp_path, timeout_s=60, on_line=fail)
    assert has_ended(int(seen[0]))


def test_lines_come_while_the_command_runs(tmp_path: Path) -> None:
    """Progress is told as it happens, from both streams."""
    answer = tmp_path / "answer"
    code = (
        "import pathlib, sys, time\n"
        "print('first', file=sys.stderr, flush=True)\n"
        "path = pathlib.Path('answer')\n"
        "while not path.exists(): time.sleep(0.01)\n"
        "print('second')\n"
    )
    seen: list[str] = []

    def reply(line: str) -> None:
        seen.append(line)
        answer.touch()

    run(python(code), cwd=tmp_path, timeout_s=30, on_line=reply)
    assert seen == ["first", "second"]


def test_shared_file_is_held_by_what_runs_meanwhile(tmp_path: Path) -> None:
    """And by nothing that runs later, whoever remembers that it was shared."""
    code = "import os, sys; print(os.readlink(f'/proc/self/fd/{sys.argv[1]}'))"
    first, second = tmp_path / "first", tmp_path / "second"

    def seen(file: IO[bytes]) -> str:
        command = python(code, str(file.fileno()))
        return run(command, cwd=tmp_path, timeout_s=30, check=False).stdout.strip()

    with first.open("wb") as one, second.open("wb") as two:
        with shared(one.fileno()):
            with shared(two.fileno()):
                assert (str(first), str(second)) == (seen(one), seen(two))
            assert (str(first), "") == (seen(one), seen(two))
            remembered = copy_context()
        assert ("", "") == (seen(one), remembered.run(seen, one))


def test_much_output_on_both_streams_does_not_block(tmp_path: Path) -> None:
    """Both pipes are drained, whichever fills first."""
    code = (
        "import sys\n"
        "for i in range(20000):\n"
        "    print('o' * 50); print('e' * 50, file=sys.stderr)\n"
    )
    done = run(python(code), cwd=tmp_path, timeout_s=60)
    assert (len(done.stdout), len(done.stderr)) == (20000 * 51, 20000 * 51)


def test_child_that_keeps_the_pipe_does_not_hold_us(tmp_path: Path) -> None:
    """A command that ended is done, even if a child of its own lives on."""
    code = (
        "import subprocess, sys\n"
        "child = [sys.executable, '-c', 'import time; time.sleep(600)']\n"
        "print(subprocess.Popen(child).pid, flush=True)\n"
    )
    done = run(python(code), cwd=tmp_path, timeout_s=60)
    os.kill(int(done.stdout), signal.SIGKILL)


def test_child_that_is_left_running_ends_where_nothing_may_be_left(
    tmp_path: Path,
) -> None:
    """Whether or not it keeps the pipe, and although the command itself is done."""
    code = (
        "import subprocess, sys\n"
        "for out in (None, subprocess.DEVNULL):\n"
        "    words = [sys.executable, '-c', 'import time; time.sleep(60)']\n"
        "    print(subprocess.Popen(words, stdout=out, stderr=out).pid, flush=True)\n"
    )
    done = run(python(code), cwd=tmp_path, timeout_s=60, leaves_nothing=True)
    assert 0 == done.returncode
    children = done.stdout.split()
    assert 2 == len(children)
    for child in children:
        assert has_ended(int(child))


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("text", ["x", "x\n"])
def test_command_that_writes_without_an_end_is_ended(
    tmp_path: Path, stream: str, text: str
) -> None:
    """In one line or in many; no more is kept than it may write."""
    code = f"import sys\nwhile True: sys.{stream}.write({text!r} * 5_000)"
    done = run(python(code), cwd=tmp_path, timeout_s=60, check=False, most_chars=99_999)
    assert done.is_cut
    assert len(done.stdout) <= 99_999
    assert len(done.stderr) <= 99_999


def test_command_may_write_as_much_as_is_said(tmp_path: Path) -> None:
    """Not one character less, in one line or in many."""
    code = "import sys; sys.stdout.write('x\\n' * 10 + 'y' * 30)"
    done = run(python(code), cwd=tmp_path, timeout_s=60, most_chars=50)
    assert (False, 50) == (done.is_cut, len(done.stdout))
    assert run(
        python(code), cwd=tmp_path, timeout_s=60, check=False, most_chars=49
    ).is_cut


def test_undecodable_output_is_kept_readable(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 do not break the run."""
    code = "import sys; sys.stdout.buffer.write(b'caf\\xe9\\n')"
    assert run(python(code), cwd=tmp_path, timeout_s=30).stdout == "caf�\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://me:secret@host/x", "https://***@host/x"),
        ("git+ssh://token@host:22/x", "git+ssh://***@host:22/x"),
        ("https://a@b:c@host/x", "https://***@host/x"),
        ("https://host/x@1.0", "https://host/x@1.0"),
        ("mail me@host", "mail me@host"),
    ],
)
def test_redact_removes_userinfo_of_urls(text: str, expected: str) -> None:
    """Only what stands before the host of a URL is a secret."""
    assert redact(text) == expected


def test_secrets_are_removed_from_errors_and_lines(tmp_path: Path) -> None:
    """Neither the command nor what it said gives a password away."""
    url = "https://me:secret@host/simple"
    seen: list[str] = []
    code = "import sys; print(sys.argv[1], file=sys.stderr); sys.exit(1)"
    with pytest.raises(ProcessError) as caught:
        run(python(code, url), cwd=tmp_path, timeout_s=30, on_line=seen.append)
    told = [str(caught.value), caught.value.stderr_tail, *caught.value.argv, *seen]
    assert not [text for text in told if "secret" in text]


def test_endless_line_of_stderr_is_cut(tmp_path: Path) -> None:
    """A data dump without a line break fits into a message, too."""
    code = f"import sys; sys.stderr.write('x' * {MAX_LINE_CHARS * 50}); sys.exit(1)"
    done = run([sys.executable, "-c", code], cwd=tmp_path, timeout_s=20, check=False)
    assert len(done.stderr) <= MAX_LINE_CHARS + 2


def test_mx06_an_interrupt_during_the_start_leaves_no_child(tmp_path: Path) -> None:
    """However early it comes, the command that just started is ended."""
    script, pid, done = tmp_path / "early", tmp_path / "pid", tmp_path / "done"
    script.write_text(
        f"#!/bin/sh\necho $$ > {pid}\nkill -INT $PPID\n: > {done}\nexec sleep 60\n"
    )
    script.chmod(0o755)

    def dawdle(frame: FrameType, event: str, _argument: object) -> None:
        # the child runs, but who started it does not know it yet
        if event == "return" and frame.f_code.co_name == "_execute_child":
            end = time.monotonic() + 30
            while not done.exists() and time.monotonic() < end:
                select.select([], [], [], 0.01)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.setprofile(dawdle)
    try:
        with pytest.raises(KeyboardInterrupt):
            run([script], cwd=tmp_path, timeout_s=60)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        sys.setprofile(None)
        signal.signal(signal.SIGINT, before)
    assert has_ended(int(pid.read_text()))
