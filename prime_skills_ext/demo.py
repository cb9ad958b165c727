"""The main job on show: a real kernel runs the quickstart, cell by cell.

It owns finding the notebook, running it and leaving an executed copy. It prints
nothing: ``run`` yields what happens and the door draws it.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from prime_skills_ext.errors import PrimeSkillsError

__all__ = [
    "CellFinished",
    "CellStarted",
    "DemoFinished",
    "Event",
    "find_notebook",
    "run",
]

NOTEBOOK = "01_quickstart.ipynb"
#: A first run downloads what the quickstart's own skill depends on.
CELL_TIMEOUT_S = 600


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class CellStarted:
    """A code cell is about to run.

    Attributes:
        number: 1-based, among the code cells.
        total: How many code cells there are.
        source: The cell's code.
    """

    number: int
    total: int
    source: str


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class CellFinished:
    """A code cell ended.

    Attributes:
        number: 1-based, among the code cells.
        texts: Its outputs as text, in order.
        seconds: How long it took.
        error: ``Type: message`` when it failed in a way that was not expected.
    """

    number: int
    texts: tuple[str, ...]
    seconds: float
    error: str | None


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class DemoFinished:
    """The notebook ended; ``path`` is the executed copy, ``failed`` counts cells."""

    path: Path
    failed: int


Event = CellStarted | CellFinished | DemoFinished


def find_notebook() -> Path:
    """Return the quickstart: the checkout's, else the one the wheel installed.

    Raises:
        PrimeSkillsError: Neither is there.
    """
    checkout = Path(__file__).resolve().parent.parent / "notebooks" / NOTEBOOK
    data = Path(sysconfig.get_path("data"))
    installed = data / "share" / "prime-skills" / "notebooks" / NOTEBOOK
    for candidate in (checkout, installed):
        if candidate.is_file():
            return candidate
    raise PrimeSkillsError(
        f"the quickstart notebook is neither at {checkout} nor at {installed}",
        fix="reinstall prime-skills-ext, or name a notebook with --notebook PATH",
    )


def run(notebook: Path, *, output: Path) -> Iterator[Event]:
    """Execute ``notebook`` in a new kernel of this Python.

    Every cell runs even when an earlier one failed, so that the copy shows all.

    Args:
        notebook: The notebook to run.
        output: Folder for the executed copy; made when it is missing.

    Yields:
        What happens, as it happens; the last event is ``DemoFinished``.

    Raises:
        PrimeSkillsError: nbclient is not installed, or the notebook is no notebook.
    """
    nbformat, nbclient = _libraries()
    _make(output)
    try:
        document = nbformat.read(notebook, as_version=4)
    except Exception as error:  # nbformat raises what its readers raise
        raise PrimeSkillsError(
            f"{notebook} is not a notebook that can be read: {error}",
            fix="name an .ipynb file with --notebook PATH",
            path=notebook,
        ) from error
    client = nbclient.NotebookClient(
        document,
        timeout=CELL_TIMEOUT_S,
        allow_errors=True,
        resources={"metadata": {"path": str(notebook.parent)}},
    )
    # set afterwards, so that the client still owns it and shuts the kernel down
    client.km = _kernel_manager()
    failed = 0
    cells = [
        (index, cell)
        for index, cell in enumerate(document.cells)
        if cell.cell_type == "code" and cell.source.strip()
    ]
    with client.setup_kernel(env=_environment()):
        for number, (index, cell) in enumerate(cells, start=1):
            yield CellStarted(number=number, total=len(cells), source=cell.source)
            started = time.monotonic()
            client.execute_cell(cell, index)
            failure = _error(cell)
            failed += failure is not None
            yield CellFinished(
                number=number,
                texts=tuple(_texts(cell)),
                seconds=time.monotonic() - started,
                error=failure,
            )
    copy = output / notebook.name
    nbformat.write(document, copy)
    yield DemoFinished(path=copy, failed=failed)


def _make(output: Path) -> None:
    """Make the folder for the copy, before a kernel has worked in vain."""
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PrimeSkillsError(
            f"{output} cannot be made: {error.strerror}",
            fix="name another folder with --output FOLDER",
            path=output,
        ) from error


def _libraries() -> tuple[Any, Any]:
    try:
        import nbclient  # noqa: PLC0415  # an extra: only the demo needs it
        import nbformat  # noqa: PLC0415
    except ImportError as error:
        raise PrimeSkillsError(
            f"the demo needs {error.name}, which is not installed",
            fix="pip install 'prime-skills-ext[demo]'",
        ) from error
    return nbformat, nbclient


def _kernel_manager() -> Any:
    """Make a manager of kernels of this very interpreter, whatever is around it."""
    # as long to import as everything that a load of the extension needs
    from jupyter_client.kernelspec import (  # noqa: PLC0415
        KernelSpec,
        KernelSpecManager,
    )
    from jupyter_client.manager import AsyncKernelManager  # noqa: PLC0415

    class ThisPython(KernelSpecManager):
        def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
            return KernelSpec(
                argv=[
                    sys.executable,
                    "-m",
                    "ipykernel_launcher",
                    "-f",
                    "{connection_file}",
                    # its advice about transports is nothing for a newcomer
                    "--IPKernelApp.log_level=ERROR",
                ],
                display_name=kernel_name,
                language="python",
            )

    return AsyncKernelManager(kernel_name="python3", kernel_spec_manager=ThisPython())


def _environment() -> Mapping[str, str]:
    # the demo shows progress itself; colours would end up in the copy
    return {**os.environ, "NO_COLOR": "1"}


def _error(cell: Any) -> str | None:
    """Return the cell's failure, unless the cell says that it shows one."""
    if "raises-exception" in cell.metadata.get("tags", ()):
        return None
    for output in cell.outputs:
        if output.output_type == "error":
            return f"{output.ename}: {output.evalue}"
    return None


def _texts(cell: Any) -> Iterator[str]:
    for output in cell.outputs:
        if output.output_type == "stream":
            yield output.text.rstrip()
        elif output.output_type == "error":
            yield f"{output.ename}: {output.evalue}"
        elif "text/plain" in output.get("data", {}):
            yield output.data["text/plain"].rstrip()
