"""No body is read before somebody asks for that skill.

A header is read in pieces of 4 KiB, so what stands in the first one passes by and is
dropped. The mark stands behind it: it can only be met by whoever reads a body.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.completer import provisionalcompleter

from tests.conftest import Run, write_skill
from tests.prompt.activating import activated

MARK = b"this stands in a body"
BODY = f"{'x' * 5000}\n{MARK.decode()}"
NAMES = ("alpha", "beta", "gamma")


class Watch:
    """What is opened, as Python itself tells, and what is read of it."""

    def __init__(self) -> None:
        self.is_on = False
        self.opened: list[Path] = []
        self.modes: set[str | None] = set()
        self.read = b""

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.is_on and event == "open" and isinstance(arguments[0], str | bytes):
            path = Path(os.fsdecode(arguments[0]))
            if path.name == "SKILL.md":
                self.opened.append(path)
                self.modes.add(arguments[1])


WATCH = Watch()


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watch]:
    """The one watch of this process: an audit hook stays for ever."""
    if not WATCH.opened and not WATCH.read:
        sys.addaudithook(WATCH.hear)
    WATCH.opened, WATCH.modes, WATCH.read = [], set(), b""
    # the one place that opens such files reads by this call
    real: Callable[[int, int], bytes] = os.read

    def noting(descriptor: int, size: int) -> bytes:
        data = real(descriptor, size)
        WATCH.read += data
        return data

    monkeypatch.setattr(os, "read", noting)
    yield WATCH
    WATCH.is_on = False


def test_no_body_is_read_before_its_skill_is_used(
    home: Path, place: Path, run: Run, watch: Watch
) -> None:
    """Not by the load, the table, the JSON, completion, a reload or the listing."""
    skills = home / ".prime/agent/skills"
    for name in NAMES:
        write_skill(skills, name, body=BODY)
    watch.is_on = True
    run("%load_ext prime_skills_ext")
    run("%skill")
    run("%skill list --all --json")
    run("%skill doctor")
    with provisionalcompleter():
        run("list(get_ipython().Completer.completions('%skill show al', 14))")
    run("%reload_skills")

    # `os.open` has no mode: nothing was opened but by the reader that is watched
    assert {None} == watch.modes
    assert set(NAMES) == {path.parent.name for path in watch.opened} & set(NAMES)
    assert b"name: alpha" in watch.read
    assert MARK not in watch.read

    manager = run("get_ipython().find_line_magic('skill').__self__.manager")
    activation = activated(manager.catalogue.get("beta"))
    assert BODY == activation.body
    assert 1 == watch.read.count(MARK)
