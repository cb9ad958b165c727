"""Real kernels and a real terminal, driven line by line."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import pexpect
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import KernelManager

from tests.kernels import sockets

__all__ = ["Driver", "Kernel", "Outcome", "Terminal", "plain"]

#: Longest that a cell may take: an install from the index is the slowest.
CELL_TIMEOUT_S = 180
#: ipykernel drops what comes right after a cell that failed, unless that cell asked for
#: the contrary.
_STOP_ON_ERROR = False


def plain(text: str) -> str:
    """Return ``text`` without colours."""
    return re.sub("\x1b\\[[0-9;]*m", "", text)


@dataclass
class Outcome:
    """What one cell gave."""

    stdout: str = ""
    stderr: str = ""
    result: str | None = None
    error: str | None = None
    displays: list[dict[str, Any]] = field(default_factory=list)
    #: What went into the pager: ``skill?``.
    pages: list[str] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)

    def evaluated(self, found: dict[str, Any]) -> None:
        """Take in what the expression of a request came to."""
        self.result = found.get("data", {}).get("text/plain")
        if found["status"] == "error":
            self.error = f"{found['ename']}: {found['evalue']}"


class Driver(Protocol):
    """A shell that runs code."""

    def run(self, code: str) -> Outcome:
        """Run ``code`` and wait for it."""
        ...

    def interrupt(self) -> None:
        """Do what the interrupt button or Ctrl-C does."""
        ...


class _OneSpec(KernelSpecManager):
    argv: list[str]

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        return KernelSpec(argv=self.argv, display_name=kernel_name, language="python")


class Kernel:
    """A real ipykernel of ``python``, in ``directory``."""

    def __init__(
        self,
        directory: Path,
        *,
        python: str | os.PathLike[str] = sys.executable,
        environ: Mapping[str, str] | None = None,
        argv: list[str] | None = None,
        arguments: tuple[str, ...] = (),
    ) -> None:
        specs = _OneSpec()
        specs.argv = argv or [
            os.fspath(python),
            "-m",
            "ipykernel_launcher",
            "-f",
            "{connection_file}",
            *arguments,
        ]
        self._manager = KernelManager(
            kernel_name="test", kernel_spec_manager=specs, config=sockets()
        )
        self._directory = directory
        self._environ = {**os.environ, **(environ or {})}

    def __enter__(self) -> Self:
        self._manager.start_kernel(cwd=str(self._directory), env=self._environ)
        self.client = self._manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=CELL_TIMEOUT_S)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.client.stop_channels()
        self._manager.shutdown_kernel(now=True)

    def run(
        self,
        code: str,
        *,
        answers: Sequence[str] | None = None,
        history: bool = False,
        caller: str | None = None,
        silent: bool = False,
        expression: str | None = None,
    ) -> Outcome:
        """Run ``code`` as a cell.

        Args:
            code: The cell.
            answers: What a person types when asked; ``None`` is a front end that
                cannot ask.
            history: Store the cell in the history.
            caller: Who the host says has it executed; ``None`` says nothing.
            silent: Ask for no output and no reports.
            expression: Evaluated after the cell; its text or error is the result.
        """
        outcome = Outcome()
        typed = iter(answers or ())

        def ask(message: dict[str, Any]) -> None:
            outcome.asked.append(message["content"])
            self.client.input(next(typed))

        def listen(message: dict[str, Any]) -> None:
            content = message["content"]
            kind = message["header"]["msg_type"]
            if kind == "stream" and content["name"] == "stdout":
                outcome.stdout += content["text"]
            elif kind == "stream":
                outcome.stderr += content["text"]
            elif kind == "execute_result":
                outcome.result = content["data"].get("text/plain")
                outcome.displays.append(content["data"])
            elif kind == "display_data":
                outcome.displays.append(content["data"])
            elif kind == "error":
                outcome.error = f"{content['ename']}: {content['evalue']}"

        with self._marked(caller):
            reply = self.client.execute_interactive(
                code,
                silent=silent,
                store_history=history,
                user_expressions={} if expression is None else {"it": expression},
                allow_stdin=answers is not None,
                stop_on_error=_STOP_ON_ERROR,
                timeout=CELL_TIMEOUT_S,
                output_hook=listen,
                stdin_hook=ask,
            )
        assert reply["content"]["status"] != "aborted", code
        if expression is not None:
            outcome.evaluated(reply["content"]["user_expressions"]["it"])
        outcome.pages = [
            plain(payload["data"]["text/plain"])
            for payload in reply["content"].get("payload", ())
            if payload["source"] == "page"
        ]
        return outcome

    @contextmanager
    def _marked(self, caller: str | None) -> Iterator[None]:
        """Mark the requests that are sent meanwhile, as a host does."""
        session = self.client.session
        if caller is not None:
            session.metadata = {"prime_skills": {"caller": caller}}
        try:
            yield
        finally:
            session.metadata = {}

    def send(self, code: str, *, allow_stdin: bool = True) -> str:
        """Send a cell without waiting for it; return what tells its messages.

        Args:
            code: The cell.
            allow_stdin: Whether somebody is there who can be asked.
        """
        return str(
            self.client.execute(
                code, allow_stdin=allow_stdin, stop_on_error=_STOP_ON_ERROR
            )
        )

    def replies(self, *requests: str) -> list[dict[str, Any]]:
        """Wait until every cell that was sent has ended; return how each did.

        Replies to anything else, such as to the questions at the start whether the
        kernel is ready, are passed over.
        """
        ended: dict[str, dict[str, Any]] = {}
        while not ended.keys() >= {*requests}:
            reply = self.client.get_shell_msg(timeout=CELL_TIMEOUT_S)
            ended[reply["parent_header"].get("msg_id", "")] = reply["content"]
        return [ended[request] for request in requests]

    def interrupt(self) -> None:
        """Do what the interrupt button does."""
        self._manager.interrupt_kernel()

    def complete(self, code: str) -> list[str]:
        """Return what Tab offers at the end of ``code``."""
        reply = self.client.complete(code, reply=True, timeout=CELL_TIMEOUT_S)
        return list(reply["content"]["matches"])

    def inspect(self, code: str) -> str:
        """Return what Shift-Tab shows for ``code``."""
        reply = self.client.inspect(code, reply=True, timeout=CELL_TIMEOUT_S)
        return plain(str(reply["content"]["data"].get("text/plain", "")))


class Terminal:
    """A real terminal IPython; code is one line, what it prints is the outcome."""

    _PROMPT = r"In \[\d+\]: "

    def __init__(
        self,
        directory: Path,
        *,
        python: str | os.PathLike[str] = sys.executable,
        environ: Mapping[str, str] | None = None,
        echo: bool = False,
    ) -> None:
        self._echo = echo
        self._start = (
            os.fspath(python),
            ["-m", "IPython", "--simple-prompt", "--no-banner", "--colors=NoColor"],
            str(directory),
            {**os.environ, "TERM": "dumb", "NO_COLOR": "1", **(environ or {})},
        )

    def __enter__(self) -> Self:
        python, words, directory, environ = self._start
        self._child = pexpect.spawn(
            python,
            words,
            cwd=directory,
            env=environ,
            encoding="utf-8",
            timeout=CELL_TIMEOUT_S,
            echo=self._echo,
            dimensions=(50, 400),
        )
        self._child.expect(self._PROMPT)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._child.close(force=True)

    def run(self, code: str, *, answer: tuple[str, str] | None = None) -> Outcome:
        """Type ``code`` and read until the next prompt.

        Args:
            code: One line.
            answer: What is asked on the way, and what is typed then.
        """
        self._child.sendline(code)
        if answer is not None:
            self._child.expect_exact(answer[0])
            # only what is typed after echo is off counts as typed at the question
            self._child.waitnoecho()
            self._child.sendline(answer[1])
        self._child.expect(self._PROMPT)
        said = str(self._child.before).replace("\r\n", "\n")
        failed = "Traceback" in said
        return Outcome(stdout=said, error=said if failed else None)

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self._child.sendintr()
