"""The door of the kernelspec: ensure the environment, then become its ipykernel.

``python -m prime_skills_ext.launcher -f CONNECTION`` is what Jupyter starts. It asks
``manager`` for the environment, says on stderr what takes time, and replaces itself
with ``<environment's python> -m ipykernel_launcher``: Jupyter's signals, the exit code
and the process id are the kernel's own. Whatever fails, a working kernel comes up: this
interpreter's, with the reason where ``doctor`` finds it. No logic about skills is here.

What the extension learns from the environment variables of the kernel:

* ``PRIME_SKILLS_MODE``: ``own``, ``overlay`` (the fallback) or ``custom``;
* ``PRIME_SKILLS_GENERATION``: in own mode the generation that the kernel runs in. A
  process that merely inherited the variables has another ``sys.prefix``;
* ``PRIME_SKILLS_LAUNCH_ERROR``: why the wanted environment is not the kernel's.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Final, NoReturn, final

from prime_skills_ext.errors import InstallError, KernelspecError, PrimeSkillsError

if TYPE_CHECKING:
    from traitlets.config import Config

__all__ = ["CUSTOM_PYTHON", "Launch", "Plan", "become", "choose", "main"]

CUSTOM_PYTHON: Final = "PRIME_AGENT_KERNEL_PYTHON"
_MODE: Final = "PRIME_SKILLS_MODE"
_GENERATION: Final = "PRIME_SKILLS_GENERATION"
_ERROR: Final = "PRIME_SKILLS_LAUNCH_ERROR"

#: Ensures the environment of own mode, given the variables, and says on stderr what
#: is being done; returns the interpreter and the generation's directory.
Plan = Callable[[Mapping[str, str]], tuple[Path, Path]]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Launch:
    """Which kernel to become.

    Attributes:
        argv: The whole command; the first word is an absolute interpreter.
        environ: All environment variables of the kernel.
    """

    argv: tuple[str, ...]
    environ: Mapping[str, str]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Become the kernel that the arguments (default: the process's) ask for."""
    _leave_working_directory()
    words = sys.argv[1:] if arguments is None else arguments
    become(choose(words, environ=os.environ))


def choose(
    arguments: Sequence[str],
    *,
    environ: Mapping[str, str],
    plan: Plan | None = None,
) -> Launch:
    """Return the kernel to become; never fails.

    Args:
        arguments: What ipykernel gets: ``-f CONNECTION`` and whatever else was given.
        environ: The environment variables of this process.
        plan: Ensures the environment; ``None`` means ``manager`` does.
    """
    inherited = {_MODE, _GENERATION, _ERROR}
    clean = {name: value for name, value in environ.items() if name not in inherited}
    try:
        if wanted := clean.get(CUSTOM_PYTHON):
            python, added = _custom(wanted), {_MODE: "custom"}
        else:
            python, generation = (plan or _planner(arguments))(clean)
            added = {_MODE: "own", _GENERATION: str(generation)}
    except Exception as error:  # noqa: BLE001 - a kernel must come up whatever happens
        reason = _reason(error)
        _say(f"{reason}\nThe kernel starts in {sys.executable} instead.")
        python = Path(sys.executable)
        added = {_MODE: "overlay", _ERROR: reason}
    return Launch(
        argv=(
            str(python),
            # as ipykernel's own spec: without it the debugger warns on stderr
            "-Xfrozen_modules=off",
            "-m",
            "ipykernel_launcher",
            *arguments,
            "--ext",
            "prime_skills_ext",
        ),
        environ={**clean, **added},
    )


def become(launch: Launch) -> NoReturn:
    """Replace this process with the kernel."""
    sys.stderr.flush()
    if sys.platform == "win32":
        # there an exec would end this process, which is the one that Jupyter watches
        raise SystemExit(_wait_for(launch))
    os.execve(launch.argv[0], launch.argv, launch.environ)  # noqa: S606 - the very point


def _planner(arguments: Sequence[str]) -> Plan:
    def plan(environ: Mapping[str, str]) -> tuple[Path, Path]:
        # imported here: a custom interpreter needs none of it
        from prime_skills_ext.manager import plan_for_launch  # noqa: PLC0415
        from prime_skills_ext.views.door import before_start  # noqa: PLC0415
        from prime_skills_ext.views.progress import log_to  # noqa: PLC0415

        _, report = plan_for_launch(
            environ=environ,
            progress=log_to(sys.stderr, environ=environ),
            config=_settings(arguments, environ=environ),
        )
        if report.generation is None:
            problem = report.problem
            raise InstallError(
                "the kernel's own environment could not be made"
                + (f": {problem.reason}" if problem else ""),
                fix=before_start(problem.fix) if problem else "restart the kernel",
            )
        return _runnable(report.generation.python), report.generation.directory

    return plan


def _settings(arguments: Sequence[str], *, environ: Mapping[str, str]) -> Config | None:
    """Return the settings that the kernel will have, ``None`` when it has none.

    They are read by ipykernel's own application, which takes longer than all the rest
    of a warm start: where no settings file and no option is, it is not even imported.
    """
    if not _has_settings(arguments, environ=environ):
        return None
    from ipykernel.kernelapp import IPKernelApp  # noqa: PLC0415 - as said above
    from IPython.core.application import BaseIPythonApplication  # noqa: PLC0415

    app = IPKernelApp()  # type: ignore[no-untyped-call]
    try:
        # its own initialize would open the kernel's sockets
        BaseIPythonApplication.initialize(app, list(arguments))  # type: ignore[no-untyped-call]
    except SystemExit:
        # an option that means nothing: the kernel itself will say so
        return None
    return app.config


def _has_settings(arguments: Sequence[str], *, environ: Mapping[str, str]) -> bool:
    if any(word.startswith("--") for word in arguments):
        return True
    user = Path(environ.get("IPYTHONDIR") or Path.home() / ".ipython")
    shared = [Path(sys.prefix, "etc"), Path("/usr/local/etc"), Path("/etc")]
    if programs := environ.get("PROGRAMDATA"):
        shared.append(Path(programs))
    places = [*user.glob("profile_*"), *(folder / "ipython" for folder in shared)]
    return any(any(place.glob("ipython*_config.*")) for place in places)


def _custom(wanted: str) -> Path:
    # a bare name is looked up as a shell would, which is what was written
    if (found := which(os.path.expanduser(wanted))) is None:  # noqa: PTH111 - a name too
        raise KernelspecError(
            f"{CUSTOM_PYTHON} names no program: {wanted}",
            fix=f"set {CUSTOM_PYTHON} to a Python that has prime-skills-ext, or unset "
            "it, and restart the kernel",
        )
    return Path(found).absolute()


def _runnable(python: Path) -> Path:
    if not os.access(python, os.X_OK):
        raise InstallError(
            f"the environment has no interpreter at {python}",
            fix=f"remove {python.parent.parent}, then restart the kernel",
        )
    return python


def _say(text: str) -> None:
    # the server's log: stderr of a kernel that is not one yet
    for line in text.splitlines():
        sys.stderr.write(f"prime-skills: {line}\n")
    sys.stderr.flush()


def _reason(error: Exception) -> str:
    told = str(error).strip()
    # ours say all there is to say; of others the type is half of it
    is_ours = isinstance(error, PrimeSkillsError)
    return told if is_ours else f"{type(error).__name__}: {told}"


def _leave_working_directory() -> None:
    """Take the notebook's folder off ``sys.path``.

    ``-m`` puts it first: a ``random.py`` beside the notebook would stop the kernel.
    ipykernel does the same, and the shell puts it back for the cells.
    """
    try:
        here = ("", str(Path.cwd()))
    except OSError:  # it was deleted
        here = ("", "")
    if not sys.flags.safe_path and sys.path and sys.path[0] in here:
        del sys.path[0]


def _wait_for(launch: Launch) -> int:
    # process.run gathers output and has a time limit; a kernel has its own of both.
    # Windows joins the words with spaces, so those that hold one are quoted
    words = [f'"{word}"' if " " in word else word for word in launch.argv]
    return os.spawnve(os.P_WAIT, launch.argv[0], words, launch.environ)  # noqa: S606


if __name__ == "__main__":
    main()
