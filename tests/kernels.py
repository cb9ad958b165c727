"""How the tests reach the kernels that they start."""

from __future__ import annotations

import atexit
import functools
import itertools
import shutil
import tempfile
from pathlib import Path

from traitlets.config import Config

__all__ = ["sockets"]

_NUMBERS = itertools.count()


def sockets() -> Config:
    """Settings of a kernel manager for one kernel, whose address is its own.

    It is reached by files. A TCP port is chosen before the kernel binds it, and whoever
    else starts something in between, on a busy machine, may be given the same.
    """
    place = _folder() / str(next(_NUMBERS))
    return Config(KernelManager={"transport": "ipc", "ip": str(place)})


@functools.cache
def _folder() -> Path:
    # the system allows a hundred bytes for the whole path
    folder = tempfile.mkdtemp(prefix="ps-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
