"""A session in a process of its own: loads, answers, and says how things stand.

Started as a program by ``machines``; it prints one line of JSON after the load and
after every word that it reads: ``answer``, ``reload`` or ``retry``. Each step is a line
of the file that ``STEPS`` names, if it names one.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

from prime_skills_ext.manager import SkillManager
from prime_skills_ext.progress import ProgressEvent


def _answer(value: Any) -> object:
    try:
        return asyncio.run(value())
    except Exception as error:  # noqa: BLE001  # whatever a skill raises is its answer
        return f"{type(error).__name__}: {error}"


def _told(manager: SkillManager, names: dict[str, Any]) -> dict[str, object]:
    mine = [one for one in manager.catalogue.skills if one.source.kind != "builtin"]
    installed = manager.snapshot.installed
    return {
        "states": {one.name: one.state for one in mine},
        "reasons": {one.name: one.reason or "" for one in mine},
        "fixes": {one.name: one.fix or "" for one in mine},
        "answers": {
            one.name: _answer(names[one.bound_as])
            for one in mine
            if one.state == "ready" and one.bound_as
        },
        "generation": installed.generation and str(installed.generation.directory),
        "root": str(manager.snapshot.environment.root),
        "problem": installed.problem and installed.problem.reason,
        "restart": list(installed.restart),
        "codes": sorted({one.code for one in manager.catalogue.diagnostics}),
    }


def _note(event: ProgressEvent) -> None:
    if place := os.environ.get("STEPS"):
        with Path(place).open("a", encoding="utf-8") as file:
            file.write(f"{event.stage}\n")


def main() -> None:
    names: dict[str, Any] = {}
    manager = SkillManager(namespace=names, progress=_note)
    manager.load()
    words: dict[str, Callable[[], object]] = {
        "answer": lambda: None,
        "reload": manager.reload,
        "retry": lambda: manager.reload(retry=True),
    }
    for word in chain(["answer"], map(str.strip, sys.stdin)):
        report = words[word]()
        told = {**_told(manager, names), "report": report and repr(report)}
        print(json.dumps(told), flush=True)  # noqa: T201  # the answer


if __name__ == "__main__":
    main()
