"""The door of the kernelspec: ensure the environment, then become its ipykernel.

``python -m prime_skills_ext.launcher -f CONNECTION`` is what Jupyter starts. It reads
one JSON file that says what it became the last time, and where nothing has changed
since, replaces itself with ``<environment's python> -m ipykernel_launcher``: Jupyter's
signals, the exit code and the process id are the kernel's own. Else it plans first and
says on stderr what takes time. Whatever fails, a working kernel comes up: this
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

from prime_skills_ext.launching.memo import Decision, recall

# see the package's own: nothing is imported that a warm start can do without
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, NoReturn

__all__ = ["Decide", "Launch", "become", "choose", "main"]

_MODE: Final = "PRIME_SKILLS_MODE"
_GENERATION: Final = "PRIME_SKILLS_GENERATION"
_ERROR: Final = "PRIME_SKILLS_LAUNCH_ERROR"
#: The file that ``environment.usage`` locks, which a warm start does not load.
_IN_USE: Final = ".in-use"


#: Plans, given the arguments and the variables, and says on stderr what it does.
Decide = Callable[[Sequence[str], Mapping[str, str]], Decision]


class Launch:
    """Which kernel to become.

    Attributes:
        argv: The whole command; the first word is an absolute interpreter.
        environ: All environment variables of the kernel.
    """

    __slots__ = ("argv", "environ")

    def __init__(self, argv: tuple[str, ...], environ: Mapping[str, str]) -> None:
        self.argv = argv
        self.environ = environ


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Become the kernel that the arguments (default: the process's) ask for."""
    _leave_working_directory()
    words = sys.argv[1:] if arguments is None else arguments
    launch = choose(words, environ=os.environ)
    try:
        become(launch)
    except OSError as error:
        # what was found a moment ago is gone, or is no program
        reason = f"{launch.argv[0]} cannot be started: {error.strerror or error}"
    become(_launch(words, _instead(reason), environ=_clean(os.environ)))


def choose(
    arguments: Sequence[str],
    *,
    environ: Mapping[str, str],
    decide: Decide | None = None,
) -> Launch:
    """Return the kernel to become; never fails.

    Args:
        arguments: What ipykernel gets: ``-f CONNECTION`` and whatever else was given.
        environ: The environment variables of this process.
        decide: Plans where nothing is remembered; ``None`` means ``launching`` does.
    """
    clean = _clean(environ)
    decision = recall(arguments, environ=clean)
    if decision is None:
        try:
            decision = (decide or _decide())(arguments, clean)
        except KeyboardInterrupt:
            decision = _instead("making the kernel's environment was interrupted")
        except Exception as error:  # noqa: BLE001 - a kernel must come up whatever happens
            decision = _instead(_reason(error))
    return _launch(arguments, decision, environ=clean)


def become(launch: Launch) -> NoReturn:
    """Replace this process with the kernel."""
    sys.stderr.flush()
    if sys.platform == "win32":
        # there an exec would end this process, which is the one that Jupyter watches
        raise SystemExit(_wait_for(launch))
    _hold(launch.environ.get(_GENERATION))
    os.execve(launch.argv[0], launch.argv, launch.environ)  # noqa: S606 - the very point


def _hold(generation: str | None) -> None:
    """Use a generation from now on: until the kernel says so it could be pruned."""
    if generation is None:
        return
    import fcntl  # noqa: PLC0415 - Windows has none

    try:
        handle = os.open(os.path.join(generation, _IN_USE), os.O_RDONLY | os.O_NONBLOCK)
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:  # a disk without locks: nobody prunes
        return
    # the lock is the kernel's, for as long as it lives
    os.set_inheritable(handle, True)  # noqa: FBT003 - named so by its docs alone


def _clean(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables without those that an outer kernel left."""
    inherited = {_MODE, _GENERATION, _ERROR}
    return {name: value for name, value in environ.items() if name not in inherited}


def _decide() -> Decide:
    # imported here: a warm start needs none of it
    from prime_skills_ext.launching.deciding import decide  # noqa: PLC0415

    return decide


def _instead(reason: str) -> Decision:
    _say(f"{reason}\nThe kernel starts in {sys.executable} instead.")
    return sys.executable, {_MODE: "overlay", _ERROR: reason}


def _launch(
    arguments: Sequence[str], decision: Decision, *, environ: Mapping[str, str]
) -> Launch:
    python, variables = decision
    return Launch(
        argv=(
            python,
            # as ipykernel's own spec: without it the debugger warns on stderr
            "-Xfrozen_modules=off",
            "-m",
            "ipykernel_launcher",
            *arguments,
            "--ext",
            "prime_skills_ext",
        ),
        environ={**environ, **variables},
    )


def _say(text: str) -> None:
    # the server's log: stderr of a kernel that is not one yet
    for line in text.splitlines():
        sys.stderr.write(f"prime-skills: {line}\n")
    sys.stderr.flush()


def _reason(error: Exception) -> str:
    # nothing fails in a start that does not plan
    from prime_skills_ext.errors import PrimeSkillsError  # noqa: PLC0415

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
        here = ("", os.getcwd())
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
