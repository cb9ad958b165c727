"""The door in a terminal: the command ``prime-skills``.

It renders what ``commands`` returns and turns errors into exit codes: 0 when all is
well, 1 when something failed, 2 when the words do not fit the grammar.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.markdown import Markdown
from rich.markup import escape
from rich.syntax import Syntax

from prime_skills_ext import commands, demo
from prime_skills_ext.catalog.check_report import CheckReport
from prime_skills_ext.catalog.looking import absolute
from prime_skills_ext.environment.inventory import Pruned
from prime_skills_ext.errors import PrimeSkillsError, SettingsError
from prime_skills_ext.kernel.reload_report import ReloadReport
from prime_skills_ext.manager import SkillManager
from prime_skills_ext.views import page
from prime_skills_ext.views.card import SkillDetails
from prime_skills_ext.views.door import as_said_at
from prime_skills_ext.views.jsonable import to_json
from prime_skills_ext.views.progress import Progress
from prime_skills_ext.views.report import Doctor
from prime_skills_ext.views.text import render

__all__ = ["main"]

_SIGPIPE_STATUS = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    Args:
        arguments: The words after the command; ``None`` means this process's.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    progress = Progress()
    _show_every_character()
    try:
        skill_paths, words = _explicit(words)
        manager = SkillManager(
            skill_paths=skill_paths,
            no_skills="--no-skills" in words,
            progress=progress.say,
        )
        words = [word for word in words if word != "--no-skills"]
        with progress:
            answer = commands.answer(manager, words, door="prime-skills")
        return _deliver(answer.value, as_json=answer.as_json)
    except PrimeSkillsError as error:
        # the grammar's own errors begin with the command already
        who = "" if error.message.startswith("prime-skills") else "prime-skills: "
        fix = as_said_at("prime-skills", error.fix)
        print(f"{who}{error.message}\nFix: {fix}", file=sys.stderr)
        return 2 if isinstance(error, SettingsError) else 1
    except KeyboardInterrupt:
        print("prime-skills: interrupted", file=sys.stderr)
        return 130


def _show_every_character() -> None:
    """Where the terminal lacks a character its escape is shown; nothing fails."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _explicit(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Take every ``--skill PATH`` out of ``words``."""
    paths: list[str] = []
    rest: list[str] = []
    pending = iter(words)
    for word in pending:
        if word != "--skill":
            rest.append(word)
            continue
        path = next(pending, None)
        if path is None:
            raise SettingsError("--skill names no path", fix="write --skill PATH")
        paths.append(str(absolute(path)))
    return paths, rest


def _deliver(value: object, *, as_json: bool) -> int:
    """Show a value to whoever reads, as long as somebody does."""
    try:
        status = _show(value, as_json=as_json)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        # `prime-skills list | head -1`: the reader has what it wanted
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _SIGPIPE_STATUS
    return status


def _show(value: object, *, as_json: bool) -> int:
    """Print a value and return the exit code that it stands for."""
    if isinstance(value, Iterator):
        return _list(value) if as_json else _follow(value)
    if value is not None:
        _print(value, as_json=as_json)
    if isinstance(value, Doctor):
        return int(bool(value.problems))
    if isinstance(value, ReloadReport):
        return int(bool(value.failed))
    if isinstance(value, CheckReport):
        return int(not value.passed)
    if isinstance(value, Pruned):
        return int(bool(value.skipped))
    return 0


def _print(value: object, *, as_json: bool) -> None:
    if as_json:
        print(_dumped(to_json(value)))
    elif isinstance(value, SkillDetails) and sys.stdout.isatty():
        # whoever reads the page sees it drawn; a pipe gets its stable text
        Console().print(Markdown(page.render(value)))
    else:
        print(render(value))


def _list(events: Iterator[demo.Event]) -> int:
    """Print the demo as data when it has ended and return its exit code."""
    seen = list(events)
    print(_dumped({"events": [to_json(event) for event in seen]}))
    return int(any(isinstance(e, demo.DemoFinished) and e.failed for e in seen))


def _dumped(data: dict[str, object]) -> str:
    # elsewhere an escape of the terminal's would be no JSON
    is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    return json.dumps(data, indent=2, ensure_ascii=not is_unicode)


def _follow(events: Iterator[demo.Event]) -> int:
    """Draw the demo as it happens and return its exit code."""
    console = Console(highlight=False)
    failed: list[str] = []
    for event in events:
        if isinstance(event, demo.CellStarted):
            console.rule(f"cell {event.number} of {event.total}", align="left")
            code = Syntax(
                event.source, "python", background_color="default", word_wrap=True
            )
            console.print(code)
        elif isinstance(event, demo.CellFinished):
            for text in event.texts:
                console.print(escape(text), style="green", soft_wrap=True)
            console.print(f"[dim]{event.seconds:.1f} s[/dim]")
            if event.error is not None:
                failed.append(f"cell {event.number}: {event.error}")
        else:
            console.rule(align="left")
            console.print(f"The executed notebook: {event.path}", soft_wrap=True)
    for reason in failed:
        print(f"prime-skills demo: {reason}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    raise SystemExit(main())
