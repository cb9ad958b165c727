"""Kernel start to first answer, ours from its kernelspec against a bare ipykernel.

    uv run benchmarks/_starting.py [--skills 0 50] [--rounds 11]

Both sides are started by ``jupyter_client`` from a real kernelspec, in turn, in the
same folder and with the same home. Ours has the extension loaded when it answers. The
first starts, which make the environment and write bytecode, are not counted.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from _kernel import surroundings
from _pairs import Pair, Sample, Times, print_table, row
from _skills import write_skill
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager

from prime_skills_ext import kernelspec

__all__ = ["PAIR", "compare"]

_OURS: Final = kernelspec.KERNEL_NAME
_BARE: Final = "bare"
#: Ours may take so many times as long as the bare kernel.
PAIR: Final = Pair(ours=_OURS, peer=_BARE, label="bare ipykernel", slower=1.35)
_TIMEOUT_S: Final = 300.0
#: What makes the environment, and what finds it made and compiles the rest.
_STARTS_BEFORE: Final = 3


def compare(rounds: int, *, skills: int, python: Path, home: Path) -> Times:
    """Return the wall and CPU seconds of both sides.

    Args:
        rounds: How often each side is started.
        skills: How many skills the user has besides the built-in ones.
        python: The interpreter whose kernelspec is started; it has this package.
        home: A new folder that plays home.
    """
    write_skills(home / ".agents" / "skills", count=skills)
    project = home / "project"
    (project / ".git").mkdir(parents=True)
    specs = _write_specs(home / "kernels", python=python)
    times: dict[str, list[Sample]] = {_OURS: [], _BARE: []}
    for number in range(-_STARTS_BEFORE, rounds):
        # whoever comes second finds the machine warmer: they take turns at that, too
        for name in (_OURS, _BARE) if number % 2 == 0 else (_BARE, _OURS):
            taken = _start(
                name, specs=specs, folder=project, environ=surroundings(home)
            )
            if number >= 0:
                times[name].append(taken)
    return times


def write_skills(folder: Path, *, count: int) -> None:
    """Write skills of one small module each."""
    for number in range(count):
        code = f'async def run() -> int:\n    """Answer."""\n    return {number}\n'
        write_skill(folder, f"skill-{number}", modules={"__init__": code})


def _write_specs(folder: Path, *, python: Path) -> KernelSpecManager:
    ours = kernelspec.build_spec(python=str(python))
    bare = dict(ours)
    bare["argv"] = [
        str(python),
        "-Xfrozen_modules=off",
        "-m",
        "ipykernel_launcher",
        "-f",
        "{connection_file}",
    ]
    kernelspec.write_spec(ours, directory=folder / _OURS)
    kernelspec.write_spec(bare, directory=folder / _BARE)
    return KernelSpecManager(kernel_dirs=[str(folder)], ensure_native_kernel=False)


def _start(
    name: str, *, specs: KernelSpecManager, folder: Path, environ: Mapping[str, str]
) -> Sample:
    """Return the seconds to the first answer, and those of CPU until the end."""
    manager = KernelManager(kernel_name=name, kernel_spec_manager=specs)
    before = os.times()
    began = time.perf_counter()
    with _running(manager, folder=folder, environ=environ):
        _answer(manager)
        wall = time.perf_counter() - began
    after = os.times()
    cpu = after.children_user + after.children_system
    return wall, cpu - before.children_user - before.children_system


@contextmanager
def _running(
    manager: KernelManager, *, folder: Path, environ: Mapping[str, str]
) -> Iterator[None]:
    log = folder / "log"
    with log.open("wb") as file:
        manager.start_kernel(cwd=str(folder), env=dict(environ), stderr=file)
        try:
            yield
        finally:
            manager.shutdown_kernel(now=True)
            manager.cleanup_resources()


def _answer(manager: KernelManager) -> None:
    """Ask for ``1+1`` and wait for the answer.

    Not by ``wait_for_ready``, which adds the same fifth of a second to both sides.
    """
    client = manager.client()
    client.start_channels(iopub=False, stdin=False, hb=False, control=False)
    try:
        asked = client.execute("", silent=True, user_expressions={"sum": "1+1"})
        reply = client.get_shell_msg(timeout=_TIMEOUT_S)
        while reply["parent_header"].get("msg_id") != asked:
            reply = client.get_shell_msg(timeout=_TIMEOUT_S)
    finally:
        client.stop_channels()
    answer = reply["content"]["user_expressions"]["sum"]["data"]["text/plain"]
    if answer != "2":
        raise RuntimeError(f"1+1 was answered with {answer}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, and say whether the target holds."""
    parser = argparse.ArgumentParser(description="Measure the start of a kernel.")
    parser.add_argument("--skills", type=int, nargs="+", default=[0, 50])
    parser.add_argument("--rounds", type=int, default=11)
    options = parser.parse_args(arguments)
    rows = []
    holds = True
    for count in options.skills:
        with tempfile.TemporaryDirectory(prefix="prime-skills-starting-") as directory:
            home = Path(directory).resolve()
            python = Path(sys.executable)
            times = compare(options.rounds, skills=count, python=python, home=home)
        line, is_met = row(str(count), PAIR, times)
        rows.append(line)
        holds = holds and is_met
    print_table(rows, first="skills", rounds=options.rounds)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
