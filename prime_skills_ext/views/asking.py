"""The one question that a person is asked: a key, which is never shown.

In a kernel the front end asks, in a terminal the terminal; where neither can keep
what is typed off the screen, nothing is asked.
"""

from __future__ import annotations

import getpass
import sys
import warnings

from prime_skills_ext.catalog.credential_store import Secret
from prime_skills_ext.errors import CredentialError

__all__ = ["ask_secret"]


def ask_secret(prompt: str) -> Secret:
    """Ask for one line, without an echo; a program may pipe it in.

    Args:
        prompt: What the person reads.

    Raises:
        CredentialError: Nobody can be asked here, or nobody answered.
    """
    try:
        return Secret(_read(prompt).strip())
    except NotImplementedError:
        reason = "this front end cannot ask for a key"
    except EOFError:
        reason = "the question for the key was not answered"
    except getpass.GetPassWarning:
        reason = "this terminal would show the key while it is typed"
    raise CredentialError(
        reason, fix="run %skill login in a notebook or in a terminal of yours"
    )


def _read(prompt: str) -> str:
    # a kernel puts its own function there, and has no stdin to speak of
    is_kernel = getpass.getpass.__module__ != getpass.__name__
    if not is_kernel and sys.stdin is not None and not sys.stdin.isatty():
        return sys.stdin.readline()
    with warnings.catch_warnings():
        warnings.simplefilter("error", getpass.GetPassWarning)
        return getpass.getpass(prompt)
