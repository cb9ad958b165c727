"""The exception tree. Every error says what, where and how to fix it.

PrimeSkillsError
├── UnknownSkillError
├── SkillUnavailableError      also a RuntimeError
├── CallTimeoutError           also a TimeoutError
├── SkillPermissionError
├── TrustError
├── CredentialError
├── SettingsError
├── UvNotFoundError
├── ProcessError               an external command failed
├── InstallError
├── KernelspecError
├── HostError
└── PackageError

A bad ``SKILL.md`` is never an exception: it is a ``Diagnostic``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import final

__all__ = [
    "CallTimeoutError",
    "CredentialError",
    "HostError",
    "InstallError",
    "KernelspecError",
    "PackageError",
    "PrimeSkillsError",
    "ProcessError",
    "SettingsError",
    "SkillPermissionError",
    "SkillUnavailableError",
    "TrustError",
    "UnknownSkillError",
    "UvNotFoundError",
]


class PrimeSkillsError(Exception):
    """Base of every error that this package raises.

    Args:
        message: What went wrong, naming the thing and the place.
        fix: An imperative that can be followed or pasted.
        path: The file or directory concerned, if there is one.
    """

    def __init__(self, message: str, *, fix: str, path: Path | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        # keyword-only arguments: the default would call the class with the message
        return _restore, (type(self), self.args, self.__dict__)

    def __str__(self) -> str:
        return f"{self.message}\nFix: {self.fix}" if self.fix else self.message


def _restore(
    kind: type[PrimeSkillsError], args: tuple[object, ...], state: dict[str, object]
) -> PrimeSkillsError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


@final
class UnknownSkillError(PrimeSkillsError, LookupError):
    """No skill has the name that was asked for."""


class SkillUnavailableError(PrimeSkillsError, RuntimeError):
    """A skill was used that could not be installed or imported.

    ``__cause__`` is the original error where there is one.
    """


@final
class CallTimeoutError(PrimeSkillsError, TimeoutError):
    """A call of a skill took longer than ``SkillManager.call_timeout_s``."""


@final
class SkillPermissionError(PrimeSkillsError, PermissionError):
    """A skill was used by a caller for whom it is not meant."""


@final
class TrustError(PrimeSkillsError):
    """Trust cannot be given, taken or read."""


@final
class CredentialError(PrimeSkillsError):
    """A key cannot be asked for, stored, read or removed."""


@final
class SettingsError(PrimeSkillsError):
    """A setting or an argument does not mean anything."""


@final
class UvNotFoundError(PrimeSkillsError):
    """No uv to install with."""


class ProcessError(PrimeSkillsError):
    """An external command failed, ran out of time or could not be started.

    Args:
        message: What went wrong.
        fix: What to do about it.
        argv: The command, secrets removed.
        returncode: Its exit status; ``None`` when it did not end by itself.
        stderr_tail: The last lines that it wrote to stderr.
    """

    def __init__(
        self,
        message: str,
        *,
        fix: str,
        argv: Sequence[str],
        returncode: int | None,
        stderr_tail: str,
    ) -> None:
        super().__init__(message, fix=fix)
        self.argv = tuple(argv)
        self.returncode = returncode
        self.stderr_tail = stderr_tail


@final
class InstallError(PrimeSkillsError):
    """An environment could not be made or changed."""


@final
class KernelspecError(PrimeSkillsError):
    """A kernelspec could not be written or does not start."""


@final
class HostError(PrimeSkillsError, RuntimeError):
    """The agent host is missing or answered with an error.

    Args:
        message: What the host said, or what went wrong on the way.
        fix: What to do about it.
        path: The file concerned, if there is one.
        code: The host's word for the kind of error, if it gave one.
        details: What else the host said about it, if anything.
    """

    def __init__(
        self,
        message: str,
        *,
        fix: str,
        path: Path | None = None,
        code: str | None = None,
        details: object = None,
    ) -> None:
        super().__init__(message, fix=fix, path=path)
        self.code = code
        self.details = details


@final
class PackageError(PrimeSkillsError):
    """A package of skills could not be fetched or stored."""
