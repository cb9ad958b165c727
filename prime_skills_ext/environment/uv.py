"""Find uv, give it a clean environment, and call it with stable flags only."""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import final

from prime_skills_ext import process
from prime_skills_ext.catalog.looking import expanded, is_file
from prime_skills_ext.environment.venv import Generation
from prime_skills_ext.errors import SettingsError, UvNotFoundError
from prime_skills_ext.skill.text import few

__all__ = ["Uv", "find_uv", "open_uv", "scrubbed_environ"]

MAKE_TIMEOUT_S = 120.0
OFFLINE_TIMEOUT_S = 300.0
ONLINE_TIMEOUT_S = 900.0
"""How long one call may take; ``PRIME_SKILLS_UV_TIMEOUT`` replaces all three."""
FIRST_WORD_S = 60.0
"""After how long a uv that has said nothing at all counts as hanging, offline.

What it resolves from its cache it reports within seconds; a build may then take long.
Online it may be silent while it asks an index, and gives up by itself.
"""

MAX_WORDS_CHARS = 500_000
"""How much of what uv said is read and kept, half of it from either end."""

_REQUEST = ".request-"
#: uv names the interpreter before it waits for anything.
_PREAMBLE = "Using "
_LIMIT = "PRIME_SKILLS_UV_TIMEOUT"

#: What of ``UV_*`` says where packages come from, how patiently they are fetched, and
#: where they are kept.
_KEPT_UV = (
    "UV_CACHE_DIR",
    "UV_CONFIG_FILE",
    "UV_DEFAULT_INDEX",
    "UV_EXTRA_INDEX_URL",
    "UV_FIND_LINKS",
    "UV_HTTP_",
    "UV_INDEX",
    "UV_INSECURE_HOST",
    "UV_KEYRING_PROVIDER",
    "UV_NATIVE_TLS",
    "UV_SYSTEM_CERTS",
)
_DROPPED = ("VIRTUAL_ENV", "CONDA_PREFIX", "FORCE_COLOR", "CLICOLOR_FORCE", "CLICOLOR")
_PROXIES = ("ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")
_OFFLINE = ("PI_OFFLINE", "UV_OFFLINE")
_DROPPED_PREFIXES = ("PIP_", "PYTHON")


def find_uv(environ: Mapping[str, str]) -> Path:
    """The uv to install with: ``PRIME_SKILLS_UV``, the package ``uv``, or ``PATH``.

    Raises:
        UvNotFoundError: There is none; the message says where it was looked for.
    """
    fix = "pip install uv, or set PRIME_SKILLS_UV to its path"
    named = environ.get("PRIME_SKILLS_UV")
    if named:
        path = expanded(named)
        if is_file(path) and os.access(path, os.X_OK):
            return path.absolute()
        raise UvNotFoundError(
            f"uv not found: PRIME_SKILLS_UV names {path}, which is not a program",
            fix=fix,
            path=path,
        )
    try:
        return _packaged()
    except (ImportError, FileNotFoundError) as error:
        looked = f"the package uv ({' '.join(str(error).split())})"
    on_path = shutil.which("uv", path=environ.get("PATH", ""))
    if on_path is not None:
        return Path(on_path).absolute()
    folders = [one for one in environ.get("PATH", "").split(os.pathsep) if one]
    raise UvNotFoundError(
        f"uv not found, looked in: PRIME_SKILLS_UV (not set); {looked}; "
        f"PATH ({few(folders) or 'empty'})",
        fix=fix,
    )


def scrubbed_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """``environ`` without what would make uv work elsewhere or in colour."""
    kept = {
        name: value
        for name, value in environ.items()
        if name not in _DROPPED
        and not name.startswith(_DROPPED_PREFIXES)
        and (not name.startswith("UV_") or name.startswith(_KEPT_UV))
    }
    return {**kept, "NO_COLOR": "1"}


def open_uv(environ: Mapping[str, str]) -> Uv:
    """The uv of this machine, ready to be called.

    Raises:
        UvNotFoundError: There is none.
        SettingsError: ``PRIME_SKILLS_UV_TIMEOUT`` is no number of seconds.
    """
    binary = find_uv(environ)
    asked = [name for name in _OFFLINE if _is_set(environ.get(name))]
    return Uv(
        binary=binary,
        environ=scrubbed_environ(environ),
        identity=f"{_identify(binary)}{' offline' if asked else ''}",
        offline_by=tuple(asked),
        limit_s=_limit(environ),
    )


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Uv:
    """A uv that can be called.

    Attributes:
        binary: The program.
        environ: What it sees.
        identity: Tells one uv from another.
        offline_by: The variables that forbid to use the network.
        limit_s: How long one call may take at most; ``None`` leaves that to the kind
            of call.
    """

    binary: Path
    environ: Mapping[str, str]
    identity: str
    offline_by: tuple[str, ...] = ()
    limit_s: float | None = None

    @property
    def settings(self) -> tuple[str, ...]:
        """What else decides whether it can fetch: indexes, caches, proxies, limits."""
        kept = (*_KEPT_UV, *_PROXIES)
        found = [
            f"{name}={value}"
            for name, value in self.environ.items()
            if name.upper().startswith(kept)
        ]
        return (*sorted(found), f"limit={self.limit_s}")

    @property
    def offline(self) -> bool:
        """Whether the network may not be used."""
        return bool(self.offline_by)

    def make(self, directory: Path, *, python: Path) -> None:
        """Make a relocatable virtual environment.

        Raises:
            ProcessError: uv could not.
        """
        argv = ["venv", "--no-project", "--relocatable", "--python"]
        process.run(
            [self.binary, *argv, python, directory],
            cwd=directory.parent,
            env=self.environ,
            timeout_s=self.limit_s or MAKE_TIMEOUT_S,
            silence_s=FIRST_WORD_S,
            preamble=_PREAMBLE,
        )

    def install(
        self,
        generation: Generation,
        *,
        cwd: Path,
        lines: Sequence[str],
        constraints: Sequence[str] = (),
        overrides: Sequence[str] = (),
        again: Sequence[str] = (),
        offline: bool,
        dry_run: bool = False,
        on_line: Callable[[str], None] | None = None,
    ) -> process.Completed:
        """Install requirement ``lines`` with one call; its failure is a value.

        Args:
            generation: Where to install.
            cwd: Where uv runs.
            lines: Requirements.
            constraints: Versions that are settled.
            overrides: What is to be asked instead, whoever asks.
            again: Distributions to build anew, whatever uv remembers of them.
            offline: Use what is on this machine only.
            dry_run: Resolve and build, but install nothing.
            on_line: Called with every line that uv writes.

        Raises:
            ProcessError: uv did not start or did not end in time.
        """
        for leftover in cwd.glob(f"{_REQUEST}*"):  # of a process that was killed
            shutil.rmtree(leftover, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=_REQUEST, dir=cwd) as folder:
            argv: list[str | os.PathLike[str]] = [self.binary, "pip", "install"]
            argv += ["--python", generation.python]
            for flag, content in (
                ("-r", lines),
                ("-c", constraints),
                ("--overrides", overrides),
            ):
                if content:
                    file = Path(folder, flag.strip("-") + ".txt")
                    file.write_text("\n".join(content) + "\n", encoding="utf-8")
                    argv += [flag, file]
            for name in again:
                argv += ["--reinstall-package", name]
            argv += ["--offline"] * offline + ["--dry-run"] * dry_run
            done = process.run(
                argv,
                cwd=cwd,
                env=self.environ,
                timeout_s=self.limit_s
                or (OFFLINE_TIMEOUT_S if offline else ONLINE_TIMEOUT_S),
                silence_s=FIRST_WORD_S if offline else None,
                preamble=_PREAMBLE,
                check=False,
                on_line=on_line,
            )
        return replace(done, stderr=_ends(done.stderr))

    def uninstall(
        self, generation: Generation, *, cwd: Path, names: Sequence[str]
    ) -> None:
        """Take distributions out again.

        Raises:
            ProcessError: uv could not.
        """
        process.run(
            [self.binary, "pip", "uninstall", "--python", generation.python, *names],
            cwd=cwd,
            env=self.environ,
            timeout_s=self.limit_s or OFFLINE_TIMEOUT_S,
        )


def _ends(words: str) -> str:
    """``words`` without their middle: it repeats whatever a compiler has to say."""
    half = MAX_WORDS_CHARS // 2
    if len(words) <= MAX_WORDS_CHARS:
        return words
    return f"{words[:half]}\n[…]\n{words[-half:]}"


def _packaged() -> Path:
    """The uv of the package ``uv``.

    Raises:
        ImportError: The package is gone: whoever removed it still has skills.
        FileNotFoundError: Its program is gone.
    """
    import uv  # noqa: PLC0415 - a kernel without it must load all the same

    return Path(uv.find_uv_bin())


def _identify(binary: Path) -> str:
    """What tells this uv from another, without starting it.

    The one of the package is known by its version, so that a launcher and the kernel
    that it starts, each with a copy, mean the same.
    """
    with contextlib.suppress(ImportError, FileNotFoundError):
        # PackageNotFoundError is an ImportError, too
        if binary == _packaged():
            return version("uv")
    state = binary.stat()
    return f"{binary}:{state.st_size}:{state.st_mtime_ns}"


def _limit(environ: Mapping[str, str]) -> float | None:
    named = environ.get(_LIMIT)
    if not named:
        return None
    with contextlib.suppress(ValueError):
        seconds = float(named)
        if 0 < seconds < math.inf:
            return seconds
    raise SettingsError(
        f"{_LIMIT} is {named!r}, which is no number of seconds",
        fix=f"set {_LIMIT} to the seconds that one call of uv may take, or unset it",
    )


def _is_set(value: str | None) -> bool:
    return (value or "").strip().lower() not in {"", "0", "false", "no", "off"}
