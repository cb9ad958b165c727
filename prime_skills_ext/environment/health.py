"""What is wrong with a generation, told by looking and by starting its interpreter.

``venv.is_healthy`` is the cheap half, asked at every load; this is for people who ask.
"""

from __future__ import annotations

from prime_skills_ext import process
from prime_skills_ext.catalog.looking import is_folder, is_same, is_there
from prime_skills_ext.environment.venv import Generation, home_of, version_of
from prime_skills_ext.errors import ProcessError

__all__ = ["examine", "probe"]

PROBE_TIMEOUT_S = 20.0

_TELL = "import sys; print(sys.prefix); print('%d.%d' % sys.version_info[:2])"


def examine(generation: Generation) -> str | None:
    """Why a generation cannot be used, as far as looking tells; ``None``: it can.

    Args:
        generation: With the paths of the version that it is for.
    """
    home = home_of(generation.directory)
    if home is None or version_of(generation.directory) is None:
        return "it has no readable pyvenv.cfg"
    if not is_folder(home):
        return f"the Python that it was made with is gone: {home}"
    if not is_there(generation.python):
        return f"its interpreter is gone: {generation.python}"
    if not is_folder(generation.site_packages):
        return f"its packages are gone: {generation.site_packages}"
    return None


def probe(generation: Generation) -> str | None:
    """Why a generation cannot be used, its interpreter started; ``None``: it can."""
    problem = examine(generation)
    if problem is not None:
        return problem
    python = generation.python
    try:
        done = process.run(
            # isolated: what the environment variables of the caller say is not asked
            [python, "-I", "-c", _TELL],
            cwd=generation.directory,
            timeout_s=PROBE_TIMEOUT_S,
        )
    except ProcessError as error:
        return f"its interpreter does not run: {error.message}"
    prefix, _, version = done.stdout.strip().rpartition("\n")
    wanted = version_of(generation.directory)
    if version != wanted:
        return f"it was made for Python {wanted}, and {python} is {version}"
    if not is_same(prefix, generation.directory):
        return f"its interpreter works for {prefix}"
    return None
