"""A real JupyterLab and a real notebook page, as a person works with them."""

from __future__ import annotations

import json
import os
import re
import secrets
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

import nbformat

from tests.integration.drivers import CELL_TIMEOUT_S

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

__all__ = ["KERNEL", "Lab", "Notebook", "Theme", "write_notebook"]

Theme = Literal["light", "dark"]

KERNEL = "Prime Skills"
#: Longest that the server or a page may take: tells a hang from an answer.
TIMEOUT_S = 60
_THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
#: What would ask questions, or reach for the network, before any work is done.
_SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "@jupyterlab/apputils-extension/notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
    },
    # else an answer of a busy kernel that comes after a second is thrown away
    "@jupyterlab/completer-extension:manager": {"providerTimeout": TIMEOUT_S * 1000},
    # every cell is drawn, seen or not: a picture of one shows all of it
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
}


class Lab:
    """JupyterLab of this Python on loopback, with a token, serving ``root``."""

    def __init__(self, root: Path, *, state: Path, environ: Mapping[str, str]) -> None:
        self._root = root
        self._state = state
        self._token = secrets.token_hex(16)
        self._environ = {**os.environ, **environ, "JUPYTER_TOKEN": self._token}
        self._listening = threading.Event()
        self._said: list[str] = []

    def __enter__(self) -> Self:
        settings = self._state / "user-settings"
        for name, values in _SETTINGS.items():
            file = settings / f"{name}.jupyterlab-settings"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(values), encoding="utf-8")
        words = [
            *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
            *("--ServerApp.ip=127.0.0.1", "--ServerApp.port=0"),
            f"--ServerApp.root_dir={self._root}",
            f"--LabApp.user_settings_dir={settings}",
            f"--LabApp.workspaces_dir={self._state / 'workspaces'}",
        ]
        self._server = subprocess.Popen(
            words,
            cwd=self._root,
            env=self._environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self._listening.wait(TIMEOUT_S)
        if not self._url:
            self.__exit__(None, None, None)
            raise AssertionError("JupyterLab did not start:\n" + "".join(self._said))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # the server ends its kernels on the way out
        self._server.terminate()
        self._reader.join()
        self._server.wait(TIMEOUT_S)

    def _read(self) -> None:
        """Take in what the server says, so that it never waits for a reader."""
        assert self._server.stdout is not None
        for line in self._server.stdout:
            self._said.append(line)
            if self._url:
                self._listening.set()
        self._listening.set()

    @property
    def _url(self) -> str | None:
        found = re.search(r"http://127\.0\.0\.1:\d+/", "".join(self._said))
        return found and found[0]

    def open(self, page: Page, path: str, *, workspace: str) -> Notebook:
        """Open a notebook below the root, alone in a workspace of its own."""
        address = f"{self._url}lab/workspaces/{workspace}/tree/{path}"
        page.goto(f"{address}?token={self._token}")
        notebook = Notebook(page)
        notebook.cells.first.wait_for()
        return notebook


class Notebook:
    """The notebook that a page shows."""

    def __init__(self, page: Page) -> None:
        self.page = page
        panel = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
        self._panel = panel
        self.cells = panel.locator(".jp-CodeCell")

    def output(self, index: int) -> Locator:
        """What a code cell shows; ``-1`` is the last one's."""
        return self.cells.nth(index).locator(".jp-OutputArea").first

    def has_run(self, index: int) -> None:
        """Wait until a code cell's ``[*]:`` is a number."""
        prompt = self.cells.nth(index).locator(".jp-InputPrompt")
        number = prompt.get_by_text(re.compile(r"^\[\d+\]:$"))
        number.wait_for(timeout=CELL_TIMEOUT_S * 1000)

    def completion(self, word: str) -> Locator:
        """What Tab offers by that name."""
        return self.page.locator(".jp-Completer-match").get_by_text(word, exact=True)

    def complete(self, word: str) -> None:
        """Press Tab and wait until a word is offered."""
        self.page.keyboard.press("Tab")
        self.completion(word).wait_for(state="attached", timeout=TIMEOUT_S * 1000)

    def choose_kernel(self, name: str) -> None:
        """Answer the question which kernel a notebook without one shall have."""
        dialog = self.page.locator(".jp-Dialog")
        dialog.locator("select").select_option(label=name)
        dialog.get_by_role("button", name=re.compile("^Select")).click()
        dialog.wait_for(state="detached")
        self._panel.get_by_role("button", name=name).wait_for()
        self.is_idle()

    def is_idle(self) -> None:
        """Wait until the kernel is there: JupyterLab drops cells run before that."""
        # the notebook's own sign says so even before it knows of a kernel
        bar = self.page.locator("#jp-main-statusbar")
        bar.get_by_text(f"{KERNEL} | Idle").wait_for(timeout=CELL_TIMEOUT_S * 1000)

    def menu(self, *words: str) -> None:
        """Choose from the menu bar, item by item."""
        bar = self.page.locator(".lm-MenuBar-item", has_text=words[0]).first
        bar.click()
        for number, word in enumerate(words[1:], start=1):
            label = self.page.locator(".lm-Menu-itemLabel").get_by_text(
                word, exact=True
            )
            if number < len(words) - 1:
                label.last.hover()
                self.page.locator(".lm-Menu").nth(number).wait_for()
            else:
                label.last.click()

    def type(self, index: int, code: str) -> None:
        """Put the cursor into an empty cell and type."""
        self.cells.nth(index).locator(".cm-content").click()
        self.page.keyboard.type(code)

    def run(self, index: int, code: str) -> None:
        """Type into an empty cell and run it, without waiting for its end."""
        self.type(index, code)
        self.page.keyboard.press("Shift+Enter")

    def interrupt(self) -> None:
        """Press the toolbar's button."""
        button = "[data-command='notebook:interrupt-kernel'], [title^='Interrupt']"
        self._panel.locator(".jp-NotebookPanel-toolbar").locator(button).first.click()

    def use_theme(self, theme: Theme) -> None:
        """Choose a theme in the settings menu, and wait until it is drawn."""
        self.menu("Settings", "Theme", _THEMES[theme])
        is_light = "true" if theme == "light" else "false"
        body = self.page.locator(f"body[data-jp-theme-light='{is_light}']")
        body.wait_for(state="attached")
        # drawn over everything while style sheets are exchanged
        self.page.locator("#jupyterlab-splash").wait_for(state="detached")


def write_notebook(path: Path, *cells: str, kernel: str | None = None) -> Path:
    """Write a notebook of code cells; ``kernel`` is the kernelspec that it names."""
    document = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell) for cell in cells]
    )
    if kernel is not None:
        document.metadata["kernelspec"] = {
            "name": kernel,
            "display_name": KERNEL,
            "language": "python",
        }
    nbformat.write(document, path)
    return path
