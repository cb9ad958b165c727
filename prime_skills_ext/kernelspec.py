"""The kernelspec: a dictionary, a folder, an installed folder.

Each step adds one kind of effect: ``build_spec`` none, ``write_spec`` one folder,
``install`` a place that Jupyter looks at, ``verify`` one kernel that is started and
stopped. The spec in the wheel says ``python``, which Jupyter maps to the server's
interpreter; an installed one names this interpreter absolutely.
"""

from __future__ import annotations

import ast
import importlib.metadata
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from prime_skills_ext.catalog.looking import absolute, expanded
from prime_skills_ext.errors import KernelspecError

if TYPE_CHECKING:
    from jupyter_client.manager import KernelManager

__all__ = [
    "DISPLAY_NAME",
    "KERNEL_NAME",
    "build_spec",
    "find_logos",
    "install",
    "remove",
    "verify",
    "write_spec",
]

KERNEL_NAME: Final = "prime-skills"
DISPLAY_NAME: Final = "Prime Skills"
START_TIMEOUT_S: Final = 300.0

_LAUNCHER: Final = "prime_skills_ext.launcher"
_DISTRIBUTION: Final = "prime-skills-ext"
_LOGOS: Final = ("logo-32x32.png", "logo-64x64.png", "logo-svg.svg")
_ASK: Final = "__import__('os').environ.get('PRIME_SKILLS_LAUNCH_ERROR')"
_NAME: Final = re.compile(r"[A-Za-z0-9._-]+")


def build_spec(
    *, python: str = "python", display_name: str = DISPLAY_NAME
) -> dict[str, object]:
    """Return what stands in ``kernel.json``.

    Args:
        python: The interpreter that runs the launcher.
        display_name: What people choose in a notebook.
    """
    return {
        "argv": [python, "-m", _LAUNCHER, "-f", "{connection_file}"],
        "display_name": display_name,
        "language": "python",
        "metadata": {"debugger": True},
    }


def write_spec(
    spec: Mapping[str, object], *, directory: Path, logos: Sequence[Path] = ()
) -> Path:
    """Write a spec and its logos into a new or empty folder and return the folder."""
    directory.mkdir(parents=True, exist_ok=True)
    text = json.dumps(spec, indent=1, ensure_ascii=False) + "\n"
    (directory / "kernel.json").write_text(text, encoding="utf-8")
    for logo in logos:
        shutil.copyfile(logo, directory / logo.name)
    return directory


def find_logos() -> tuple[Path, ...]:
    """Return the logos that were installed with us; none is fine for a spec."""
    folders = [Path(__file__).resolve().parent.parent / "kernelspec" / KERNEL_NAME]
    try:
        files = importlib.metadata.distribution(_DISTRIBUTION).files or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    folders += [
        Path(str(file.locate())).resolve().parent
        for file in files
        if file.parts[-2:] == (KERNEL_NAME, "kernel.json")
    ]
    found = {
        name: folder / name
        for folder in folders
        for name in _LOGOS
        if (folder / name).is_file()
    }
    return tuple(found[name] for name in sorted(found))


def install(
    *,
    user: bool = False,
    prefix: Path | None = None,
    sys_prefix: bool = False,
    name: str = KERNEL_NAME,
    display_name: str = DISPLAY_NAME,
    start: bool = True,
    warn: Callable[[str], None] | None = None,
) -> Path:
    """Install a spec that starts this interpreter's launcher and return its folder.

    It is written beside its place and started once; only then it takes the place of
    an earlier one.

    Args:
        user: For this user, in any Jupyter (the default when nothing is chosen).
        prefix: Below ``<prefix>/share/jupyter/kernels``.
        sys_prefix: Below the prefix of this interpreter.
        name: The kernel's name in Jupyter.
        display_name: What people choose in a notebook.
        start: Whether to start it once before it takes its place.
        warn: Called with the reason if the kernel that starts works, but is not the
            wanted one: its environment could not be made.

    Raises:
        KernelspecError: The place is not clear, not ours, cannot be written, or the
            kernel does not start.
    """
    target = _target(user=user, prefix=prefix, sys_prefix=sys_prefix, name=name)
    _require_ours(target)
    spec = build_spec(python=sys.executable, display_name=display_name)
    try:
        with _beside(target) as staged:
            write_spec(spec, directory=staged, logos=find_logos())
            reason = verify(staged) if start else None
            _swap(staged, target=target)
    except OSError as error:
        raise KernelspecError(
            f"the kernelspec cannot be written to {target}: {error.strerror or error}",
            fix="choose a place that you may write: --user, or --prefix DIRECTORY",
            path=target,
        ) from error
    if reason is not None and warn is not None:
        warn(reason)
    return target


def remove(
    *,
    user: bool = False,
    prefix: Path | None = None,
    sys_prefix: bool = False,
    name: str = KERNEL_NAME,
) -> Path:
    """Remove an installed spec and return the folder that is gone.

    The arguments are those of :func:`install`.

    Raises:
        KernelspecError: There is none, or it is not ours.
    """
    target = _target(user=user, prefix=prefix, sys_prefix=sys_prefix, name=name)
    if not target.is_dir():
        raise KernelspecError(
            f"no kernelspec at {target}",
            fix="run `jupyter kernelspec list`, then name its place as for install",
            path=target,
        )
    _require_ours(target)
    try:
        shutil.rmtree(target)
    except OSError as error:
        raise KernelspecError(
            f"the kernelspec cannot be removed: {error}",
            fix=f"remove the folder {target} as its owner",
            path=target,
        ) from error
    return target


def verify(directory: Path, *, timeout_s: float = START_TIMEOUT_S) -> str | None:
    """Start the kernel of a spec folder once, let it compute, and stop it.

    Returns:
        Why it is another kernel than the wanted one, if it is.

    Args:
        directory: The folder that holds ``kernel.json``.
        timeout_s: Longest that the start may take, in seconds; the first one makes
            the kernel's environment.

    Raises:
        KernelspecError: It does not start, or does not answer.
    """
    # jupyter_client costs more than everything else here together
    from jupyter_client.kernelspec import KernelSpecManager  # noqa: PLC0415
    from jupyter_client.manager import KernelManager  # noqa: PLC0415

    specs = KernelSpecManager(
        kernel_dirs=[str(directory.parent)], ensure_native_kernel=False
    )
    manager = KernelManager(kernel_name=directory.name, kernel_spec_manager=specs)
    with tempfile.TemporaryFile() as log:
        try:
            manager.start_kernel(stdout=log, stderr=log)
            return _compute(manager, timeout_s=timeout_s)
        except (OSError, RuntimeError, TimeoutError, ValueError) as error:
            log.seek(0)
            tail = log.read().decode("utf-8", errors="replace").splitlines()[-20:]
            raise KernelspecError(
                "\n".join([f"the kernel does not start: {error}", *tail]),
                fix="run `prime-skills doctor` with this Python",
                path=directory,
            ) from error
        finally:
            if manager.has_kernel:
                manager.shutdown_kernel(now=True)
            manager.cleanup_resources()


def _compute(manager: KernelManager, *, timeout_s: float) -> str | None:
    """Let the kernel compute, and ask it why it is not the wanted one."""
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=timeout_s)
        reply = client.execute(
            "",
            silent=True,
            user_expressions={"sum": "1+1", "told": _ASK},
            reply=True,
            timeout=60,
        )
    finally:
        client.stop_channels()
    answers = {
        name: found.get("data", {}).get("text/plain")
        for name, found in reply["content"].get("user_expressions", {}).items()
    }
    if answers.get("sum") != "2":
        raise ValueError(f"1+1 was answered with {answers.get('sum') or 'nothing'}")
    told = ast.literal_eval(answers.get("told") or "None")
    return None if told is None else str(told)


def _target(*, user: bool, prefix: Path | None, sys_prefix: bool, name: str) -> Path:
    if user + (prefix is not None) + sys_prefix > 1:
        raise KernelspecError(
            "a kernelspec is installed in one place",
            fix="give one of --user, --sys-prefix and --prefix DIRECTORY",
        )
    if not _NAME.fullmatch(name):
        raise KernelspecError(
            f"a kernel cannot be named {name!r}",
            fix="use letters, digits, '.', '_' and '-', such as --name prime-skills",
        )
    if sys_prefix:
        prefix = Path(sys.prefix)
    if prefix is not None:
        return absolute(expanded(prefix)) / "share" / "jupyter" / "kernels" / name
    from jupyter_core.paths import jupyter_data_dir  # noqa: PLC0415 - only for a user

    return Path(jupyter_data_dir()).absolute() / "kernels" / name


def _require_ours(target: Path) -> None:
    """Refuse to touch what somebody else installed under the name."""
    if not target.exists():
        return
    try:
        spec = json.loads((target / "kernel.json").read_text(encoding="utf-8"))
        ours = _LAUNCHER in spec["argv"]
    except (OSError, ValueError, KeyError, TypeError):
        ours = False
    if not ours:
        raise KernelspecError(
            f"the kernelspec at {target} is not ours",
            fix="choose another name with --name NAME",
            path=target,
        )


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """Give a folder of the target's name on the target's file system."""
    target.parent.mkdir(parents=True, exist_ok=True)
    staging = tempfile.mkdtemp(dir=target.parent, prefix=".staging-")
    try:
        yield Path(staging) / target.name
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _swap(staged: Path, *, target: Path) -> None:
    if target.exists():
        # the old one waits in the staging folder, which is removed at the end
        target.rename(staged.parent / "old")
    staged.rename(target)
