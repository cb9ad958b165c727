"""The system's Chromium, and where its pictures go.

Playwright is imported where it is used: without ``-m browser`` these tests are
collected, and deselected, in environments that do not have it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.lab import TIMEOUT_S
from tests.integration.conftest import REPOSITORY

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The browser that the system has; having none is a failure, not a skip."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=TIMEOUT_S * 1000)
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    assert program, "no Chromium on PATH: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program)
        yield browser
        browser.close()


@pytest.fixture
def page(
    chromium: Browser, artefacts: Path, request: pytest.FixtureRequest
) -> Iterator[Page]:
    """A page of a notebook's usual width; its last sight is kept as a picture."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(TIMEOUT_S * 1000)
    page = context.new_page()
    yield page
    # what a failed test waited for in vain is to be seen there
    page.screenshot(path=artefacts / f"end-of-{request.node.name}.png")
    context.close()


@pytest.fixture(scope="session")
def artefacts() -> Path:
    """The folder for pictures, which stay for people to look at."""
    named = os.environ.get("PRIME_SKILLS_ARTEFACTS")
    folder = Path(named) if named else REPOSITORY / "artefacts"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
