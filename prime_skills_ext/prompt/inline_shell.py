"""Running the inline commands of a skill: closed stdin, a time limit, never asking.

Whether they may run is decided by whoever calls. What a command says takes its place;
one that fails stops the activation.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple, final

from prime_skills_ext import process
from prime_skills_ext.errors import PrimeSkillsError, ProcessError
from prime_skills_ext.prompt.shell_script import ARGUMENTS, Script, ShellName

__all__ = [
    "MAX_ARGUMENT_BYTES",
    "MAX_CHARS",
    "NOT_ALLOWED",
    "SWITCHED_OFF",
    "Shell",
    "run",
]

SWITCHED_OFF: Final = "[A command stood here. Commands in skills are switched off.]"
NOT_ALLOWED: Final = (
    "[A command stood here. Commands of skills that came from elsewhere or are not "
    "trusted do not run.]"
)

#: More than that on one stream is no use to a model, and endless output would take all
#: memory of the kernel long before its time is up.
MAX_CHARS: Final = 1_000_000

#: Longest argument in bytes: systems stop at 128 KiB, the variable's name included.
MAX_ARGUMENT_BYTES: Final = 100_000

#: Exit status 1 of these says that there is nothing to be found.
_SEARCHES: Final = frozenset(
    {"ack", "ag", "egrep", "fgrep", "findstr", "grep", "rg", "ugrep", "zgrep"}
)
_PROGRAMS: Final[Mapping[ShellName, tuple[str, ...]]] = {
    "bash": ("bash",),
    "powershell": ("pwsh", "powershell"),
}
_OPTIONS: Final[Mapping[ShellName, tuple[str, ...]]] = {
    "bash": ("-c",),
    "powershell": ("-NoProfile", "-NonInteractive", "-Command"),
}
_OFF: Final = 'switch commands off: %config SkillManager.inline_shell = "notice"'
_FIX: Final = (
    f"run it in a terminal in the project's folder and correct the skill, or {_OFF}"
)
_LIMIT_FIX: Final = f"raise SkillManager.inline_shell_timeout_s, or {_OFF}"
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=")
_SHOWN_CHARS: Final = 200


@final
class Shell(NamedTuple):
    """What runs the inline commands of one activation.

    Attributes:
        skill: The skill's name, for messages.
        kind: Which shell.
        directory: Where commands run.
        environ: Their environment.
        timeout_s: Longest that one may take, in seconds.
    """

    skill: str
    kind: ShellName
    directory: Path
    environ: Mapping[str, str]
    timeout_s: float


def run(script: Script, *, written: str, shell: Shell) -> str:
    """Run one inline command and return what it says, without the last line breaks.

    Args:
        script: What the shell is to run.
        written: The command as it stands in the skill, for messages.
        shell: What runs it.

    Raises:
        PrimeSkillsError: There is no such shell here.
        ProcessError: It failed, or took too long.
    """
    named = f"the command `{_short(written)}` of the skill {shell.skill}"
    if not all(map(_fits, (*script.words, *script.variables.values()))):
        script = _without_arguments(script, named=named)
    # the name in front of the words is what bash calls itself in messages
    name = (shell.skill,) if shell.kind == "bash" else ()
    argv = (_program(shell), *_OPTIONS[shell.kind], script.text, *name, *script.words)
    try:
        done = process.run(
            argv,
            cwd=shell.directory,
            timeout_s=shell.timeout_s,
            env={**shell.environ, **script.variables},
            check=False,
            most_chars=MAX_CHARS,
            leaves_nothing=True,
        )
    except ProcessError as error:
        # its own message would show the script as the shell reads it
        if error.__cause__ is not None:
            what, fix = f"could not be started: {error.__cause__}", error.fix
        else:
            what, fix = f"did not end within {shell.timeout_s:g} s", _LIMIT_FIX
        tail = error.stderr_tail
        raise _failure(f"{named} {what}", argv=argv, tail=tail, fix=fix) from error
    if done.is_cut:
        raise _failure(
            f"{named} was ended: it wrote more than {MAX_CHARS:,} characters",
            argv=argv,
            tail="",
            fix=f"have it write less, say with `| head -n 100`, or {_OFF}",
        )
    if done.returncode != 0 and not _found_nothing(written, done):
        tail = "\n".join(
            process.redact(done.stderr).splitlines()[-process.TAIL_LINES :]
        )
        raise _failure(
            f"{named} failed with exit status {done.returncode}",
            argv=argv,
            tail=tail,
            fix=_FIX,
            returncode=done.returncode,
        )
    return done.stdout.rstrip("\r\n")


def _fits(value: str) -> bool:
    """Whether a value can be given to a command at all."""
    try:
        data = os.fsencode(value)
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return b"\0" not in data and len(data) <= MAX_ARGUMENT_BYTES


def _without_arguments(script: Script, *, named: str) -> Script:
    """Return a script for a command that can do without the arguments.

    Raises:
        PrimeSkillsError: It cannot.
    """
    if script.names_arguments:
        raise PrimeSkillsError(
            f"{named} cannot be given the arguments: they are longer than "
            f"{MAX_ARGUMENT_BYTES:,} bytes, or hold what no command can be given",
            fix="give the skill less text, without NUL characters, or have the skill "
            "use $ARGUMENTS outside of its commands",
        )
    kept = {name: value for name, value in script.variables.items() if _fits(value)}
    kept.setdefault(ARGUMENTS, "")
    return script._replace(words=(), variables=kept)


def _program(shell: Shell) -> str:
    names = _PROGRAMS[shell.kind]
    for name in names:
        found = shutil.which(name, path=shell.environ.get("PATH"))
        if found:
            return found
    raise PrimeSkillsError(
        f"the skill {shell.skill} has commands for {shell.kind}, and there is no "
        f"{' or '.join(names)} on PATH",
        fix=f"install {names[0]}, or {_OFF}",
    )


def _failure(
    what: str,
    *,
    argv: tuple[str, ...],
    tail: str,
    fix: str,
    returncode: int | None = None,
) -> ProcessError:
    return ProcessError(
        f"{what}:\n{tail}" if tail else what,
        fix=fix,
        argv=tuple(process.redact(item) for item in argv),
        returncode=returncode,
        stderr_tail=tail,
    )


def _found_nothing(command: str, done: process.Completed) -> bool:
    """Whether a search that ended with 1 just found nothing."""
    if done.returncode != 1:
        return False
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars="();<>|&\n")
        lexer.whitespace = " \t\r"
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return False
    last: list[str] = []
    is_alone = True
    for word in words:
        if set(word) <= set(";|&\n()"):
            # what stands before `&&` may be what failed, and would say so
            is_alone = is_alone and word == "|"
            last = []
        elif last or not _ASSIGNMENT.match(word):
            last.append(word)
    is_search = last[:1] and last[0].rpartition("/")[2] in _SEARCHES
    is_search = is_search or last[:2] == ["git", "grep"]
    return bool(is_search) and (is_alone or not done.stderr.strip())


def _short(command: str) -> str:
    line = " ".join(command.split())
    return line if len(line) <= _SHOWN_CHARS else f"{line[:_SHOWN_CHARS]}…"
