"""Custom mode: whether the Python that the user named can be the kernel.

It is asked once, in a process of its own, and nothing is ever installed into it. What
it lacks is named together with the command that would install it.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

from prime_skills_ext import process
from prime_skills_ext.catalog.looking import expanded, is_there, real_path
from prime_skills_ext.errors import KernelspecError, ProcessError
from prime_skills_ext.launching.footprint import Footprint

__all__ = ["CUSTOM_PYTHON", "find_custom"]

CUSTOM_PYTHON: Final = "PRIME_AGENT_KERNEL_PYTHON"
_OWN: Final = "prime-skills-ext"
_TIMEOUT_S: Final = 60.0
#: What decides besides the interpreter where it finds modules.
_VARIABLES: Final = ("PYTHONPATH", "PYTHONHOME", "PYTHONNOUSERSITE", "PYTHONUSERBASE")

#: Runs in the Python that is asked, which may be of any version. A package counts by
#: its import where the kernel starts with it, and else by what is installed.
_PROBE: Final = r"""
import sys
if sys.path and sys.path[0] == "":
    del sys.path[0]
import json, os, re
lacks, files, serves = [], [], False
version = list(sys.version_info[:2])
if version >= [3, 11]:
    from importlib import import_module, metadata
    def wanted(distribution):
        try:
            return metadata.requires(distribution) or []
        except metadata.PackageNotFoundError:
            return []
    def is_installed(distribution):
        try:
            return bool(metadata.version(distribution))
        except metadata.PackageNotFoundError:
            return False
    for module, distribution in (
        ("ipykernel.kernelapp", "ipykernel"),
        ("prime_skills_ext", "prime-skills-ext"),
    ):
        try:
            files.append(import_module(module).__file__)
        except ImportError as error:
            ours = error.name and distribution.replace("-", "_").startswith(error.name)
            lacks.append([distribution, "" if ours else str(error)])
    own = sys.modules.get("prime_skills_ext")
    if own is not None:
        for line in wanted("prime-skills-ext"):
            name = re.match(r"[A-Za-z0-9._-]+", line).group()
            if ";" not in line and not is_installed(name) and [name, ""] not in lacks:
                lacks.append([name, ""])
        source = os.path.join(os.path.dirname(own.__file__), "runtime", "src")
        sys.path.insert(0, source)
        try:
            rlm = import_module("rlm")
            files.append(rlm.__file__)
            serves = hasattr(rlm, "host_request") and rlm.__file__.startswith(source)
        except ImportError:
            pass
print()
print(json.dumps({
    "version": version, "lacks": lacks, "serves": serves, "files": files,
    "folders": [p for p in sys.path if p.endswith(("site-packages", "dist-packages"))],
}))
"""


def find_custom(wanted: str, *, footprint: Footprint) -> Path:
    """Return the interpreter that the user named, if it can be the kernel.

    Args:
        wanted: A path, or a name that a shell would find.
        footprint: Told what the answer depends on.

    Raises:
        KernelspecError: It cannot; the fix says what would have to be installed.
    """
    environ = footprint.environ
    named = os.fspath(expanded(wanted))
    found = shutil.which(named, path=environ.get("PATH", os.defpath))
    if found is None:
        raise KernelspecError(
            f"{CUSTOM_PYTHON} names no program: {wanted}",
            fix=f"set {CUSTOM_PYTHON} to a Python that has {_OWN}, or unset it, and "
            "restart the kernel",
        )
    python = Path(found).absolute()
    # asked for by name, so that another value asks again
    _ = [environ.get(name) for name in _VARIABLES]
    answer = _ask(python, environ=environ)
    _judge(python, answer)
    footprint.add((python, real_path(python), *answer["folders"], *answer["files"]))
    footprint.add(folder / "pyvenv.cfg" for folder in python.parents[:2])
    return python


def _ask(python: Path, *, environ: Mapping[str, str]) -> Any:
    try:
        done = process.run(
            [python, "-c", _PROBE],
            cwd=Path.cwd(),
            timeout_s=_TIMEOUT_S,
            env=environ,
        )
        answer = json.loads(done.stdout.rstrip().rpartition("\n")[2])
        _ = answer["version"], answer["folders"], answer["files"]
    except (ProcessError, ValueError, TypeError, KeyError) as error:
        raise KernelspecError(
            f"{CUSTOM_PYTHON} names {python}, which does not answer as a Python does"
            f"{_tail(error)}",
            fix=f"set {CUSTOM_PYTHON} to a Python that runs, or unset it, and restart "
            "the kernel",
            path=python,
        ) from error
    return answer


def _tail(error: Exception) -> str:
    told = error.stderr_tail if isinstance(error, ProcessError) else ""
    lines = told.strip().splitlines()
    return f": {lines[-1]}" if lines else ""


def _judge(python: Path, answer: Any) -> None:
    """Raise what keeps a Python from being the kernel."""
    version = ".".join(map(str, answer["version"]))
    if answer["version"] < [3, 11]:
        raise KernelspecError(
            f"{CUSTOM_PYTHON} names {python}, which is Python {version}, and {_OWN} "
            "needs 3.11 or newer",
            fix=f"set {CUSTOM_PYTHON} to a newer Python, or unset it, and restart the "
            "kernel",
            path=python,
        )
    lacks = [(str(name), str(why)) for name, why in answer["lacks"]]
    if lacks:
        told = [f"{name} ({why})" if why else name for name, why in lacks]
        raise _lacking(python, " and ".join(told), install=[name for name, _ in lacks])
    if not answer["serves"]:
        what = f"the module rlm that skills import: its {_OWN} is older or damaged"
        raise _lacking(python, what, install=[_OWN], again=True)


def _lacking(
    python: Path, what: str, *, install: Sequence[str], again: bool = False
) -> KernelspecError:
    names = [_own_source() if name == _OWN else name for name in install]
    words = ["uv", "pip", "install", "--python", os.fspath(python)]
    words += [f"--reinstall-package={_OWN}"] if again else []
    return KernelspecError(
        f"{CUSTOM_PYTHON} names {python}, which lacks {what}",
        fix=f"`{shlex.join([*words, *names])}`, or unset {CUSTOM_PYTHON}; then restart "
        "the kernel",
        path=python,
    )


def _own_source() -> str:
    """Return what installs this package where it came from, else its name."""
    try:
        text = metadata.distribution(_OWN).read_text("direct_url.json")
        url = urlsplit(json.loads(text or "{}")["url"])
    except (metadata.PackageNotFoundError, ValueError, KeyError, TypeError):
        return _OWN
    place = url2pathname(url.path)
    return place if url.scheme == "file" and is_there(place) else _OWN
