"""The strict reading of instructions: links, invisible text, length.

Serves the body of a ``SKILL.md`` and the Markdown files that it points to. Whether
a link leads somewhere is told to it. Pure.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, final
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

from prime_skills_ext.skill.finding import Finding, Sheet
from prime_skills_ext.skill.frontmatter import Frontmatter
from prime_skills_ext.skill.text import invisible_places

__all__ = [
    "MAX_BODY_LINES",
    "Leads",
    "Look",
    "check_hidden",
    "check_length",
    "check_links",
    "relative_links",
]

#: Above this the standard recommends to move details to files of their own.
MAX_BODY_LINES: Final = 500

#: Where a link leads: ``"there"``, ``"missing"``, or ``"outside"`` of the skill.
Leads = Literal["there", "missing", "outside"]
#: Tells where a path relative to the skill's folder leads, with ``/``.
Look = Callable[[str], Leads]

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//|#|\?|$")
_DRIVE: Final = re.compile(r"[A-Za-z]:[/\\]")
#: What is replaced by the skill's folder before anybody reads the instructions.
_OWN_FOLDER: Final = re.compile(r"(?:\$\{CLAUDE_SKILL_DIR\}|\{baseDir\})/")
_OTHER_FOLDER: Final = re.compile(r"\$\{?[A-Z_]|\{")
_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]")
#: Not in any line of text, but no reader of YAML stumbles over them.
_SEPARATORS: Final = re.compile("[\x85\u2028\u2029]")
#: Characters that spell what a model reads and nobody sees, or turn the reading
#: direction around.
_DECEIVING: Final = re.compile("[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
_TAGS: Final = range(0xE0020, 0xE007F)
_SHOWN: Final = 3
_MAX_FINDINGS: Final = 20


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class _Link:
    """A relative link as written, and its place in the file."""

    written: str
    path: str
    line: int
    column: int


def check_length(sheet: Sheet, front: Frontmatter) -> Iterator[Finding]:
    """There are instructions, and not too many to be read at once."""
    lines = front.body.count("\n") + 1
    if not front.body:
        yield sheet.note(
            "body-empty",
            "There are no instructions below the header.",
            fix="Say how the work is done, step by step.",
            severity="warning",
            line=len(sheet.lines),
        )
    elif lines > MAX_BODY_LINES:
        yield sheet.note(
            "body-length",
            f"The instructions have {lines} lines; the standard recommends to stay "
            f"under {MAX_BODY_LINES}.",
            fix="Move details to files in references/ and say when to read each.",
            severity="info",
            line=front.body_line,
        )


def check_hidden(sheet: Sheet, *, header: range = range(0)) -> Iterator[Finding]:
    """Every character can be seen, and none turns the text around.

    Args:
        sheet: A file that a model reads.
        header: The 1-based lines that are YAML.
    """
    found = 0
    for number, line in enumerate(sheet.lines, 1):
        if line.isascii() and line.isprintable():
            continue
        for finding in (*_hidden(sheet, number), *_controls(sheet, number, header)):
            yield finding
            found += 1
            if found >= _MAX_FINDINGS:
                return


def _hidden(sheet: Sheet, number: int) -> Iterator[Finding]:
    line = sheet.line(number)
    places = invisible_places(line)
    if not places:
        return
    characters = list(dict.fromkeys(character for _, character in places))
    more = len(characters) - _SHOWN
    listed = ", ".join(f"U+{ord(each):04X}" for each in characters[:_SHOWN])
    listed += f" and {more} more" if more > 0 else ""
    spelled = "".join(
        chr(ord(each) - 0xE0000) for _, each in places if ord(each) in _TAGS
    )
    hides = f"; they spell `{spelled[:60]}`" if spelled else ""
    is_deceit = any(_DECEIVING.match(each) for each in characters)
    gone = {at for at, _ in places}
    yield sheet.note(
        "invisible-unicode",
        f"Invisible characters ({listed}) that a model reads and a person does not "
        f"see{hides}.",
        fix=f"Delete them from line {number}, or retype the text around them.",
        severity="error" if is_deceit else "warning",
        line=number,
        column=places[0][0] + 1,
        corrected="".join(each for at, each in enumerate(line) if at not in gone),
    )


def _controls(sheet: Sheet, number: int, header: range) -> Iterator[Finding]:
    line = sheet.line(number)
    match = _CONTROL.search(line) or _SEPARATORS.search(line)
    if match is None:
        return
    is_separator = _SEPARATORS.match(match.group()) is not None
    yield sheet.note(
        "control-character",
        f"Control character U+{ord(match.group()):04X}"
        + (", which YAML forbids." if number in header and not is_separator else "."),
        fix=f"Delete it from line {number}.",
        severity="error" if number in header and not is_separator else "warning",
        line=number,
        column=match.start() + 1,
        corrected=_SEPARATORS.sub(" ", _CONTROL.sub("", line)),
    )


def relative_links(sheet: Sheet, *, first: int = 1, base: str = "") -> tuple[str, ...]:
    """Return the paths, relative to the skill, that a file links to."""
    return tuple(
        dict.fromkeys(link.path for link in _links(sheet, first=first, base=base))
    )


def check_links(
    sheet: Sheet,
    *,
    look: Look,
    files: frozenset[str],
    first: int = 1,
    base: str = "",
) -> Iterator[Finding]:
    """Every relative link leads to a file of the skill.

    Args:
        sheet: A Markdown file.
        look: Tells where a path leads.
        files: The skill's files, for a guess at what was meant.
        first: 1-based line where its Markdown starts.
        base: The file's folder, relative to the skill's.
    """
    for link in _links(sheet, first=first, base=base):
        target = "outside" if _leaves(link.path) else look(link.path)
        if target == "outside":
            yield sheet.note(
                "link-outside",
                f"`{link.written}` leaves the skill's folder: it is not there when the "
                "skill is copied, packed or installed.",
                fix="Put a copy of what it points to into the skill's folder.",
                severity="warning",
                line=link.line,
                column=link.column,
            )
        elif target == "missing":
            yield _broken(sheet, link, files=files, base=base)


def _broken(sheet: Sheet, link: _Link, *, files: frozenset[str], base: str) -> Finding:
    meant = _guess(link.path, files)
    better = meant and posixpath.relpath(meant, base or ".")
    line = sheet.line(link.line)
    return sheet.note(
        "link-broken",
        f"`{link.written}` leads nowhere.",
        fix=f"Link to `{better}`." if better else "Correct the link, or add the file.",
        line=link.line,
        column=link.column,
        corrected=line.replace(link.written, better, 1) if better else None,
    )


def _guess(path: str, files: frozenset[str]) -> str | None:
    """Return the one file that differs in case only, or has the same name."""
    for alike in (str.casefold, lambda file: posixpath.basename(file).casefold()):
        found = [file for file in files if alike(file) == alike(path)]
        if len(found) == 1:
            return found[0]
    return None


def _leaves(path: str) -> bool:
    return path.startswith(("/", "~")) or path.split("/", 1)[0] == ".."


def _links(sheet: Sheet, *, first: int, base: str) -> Iterator[_Link]:
    text = "\n".join(sheet.lines[first - 1 :])
    position = {"line": first - 1, "column": 0}
    for target, start, end in _targets(MarkdownIt("commonmark").parse(text)):
        written = unquote(target)
        path = _as_path(written, base)
        if path is None:
            continue
        block = range(first - 1 + start, first - 1 + end)
        at = _find(sheet, (written, target), block, position)
        yield _Link(written=written, path=path, line=at[0] + 1, column=at[1] + 1)


def _targets(tokens: list[Token]) -> Iterator[tuple[str, int, int]]:
    """Yield each link's target and the lines of the block that it stands in."""
    for token in tokens:
        start, end = token.map or (0, 0)
        for inner in token.children or ():
            target = inner.attrGet("href" if inner.type == "link_open" else "src")
            if isinstance(target, str) and inner.type in {"link_open", "image"}:
                yield target, start, end


def _as_path(written: str, base: str) -> str | None:
    """Return a target as path relative to the skill; ``None`` for other addresses."""
    own = _OWN_FOLDER.match(written)
    if own is not None:
        written, base = written[own.end() :], ""
    elif _DRIVE.match(written):
        return "/" + written
    if _SCHEME.match(written) or _OTHER_FOLDER.match(written):
        return None
    path = re.split(r"[#?]", written, maxsplit=1)[0].replace("\\", "/")
    return posixpath.normpath(posixpath.join(base, path))


def _find(
    sheet: Sheet, spellings: tuple[str, ...], block: range, position: dict[str, int]
) -> tuple[int, int]:
    """Return line and column from 0 of a target, searched behind the one before."""
    for line in block:
        start = position["column"] if line == position["line"] else 0
        found = (sheet.lines[line].find(each, start) for each in spellings)
        at = next((place for place in found if place >= 0), -1)
        if at >= 0 and line >= position["line"]:
            position.update(line=line, column=at + 1)
            return line, at
    # the target of a reference link stands elsewhere
    for line, text in enumerate(sheet.lines):
        for each in spellings:
            if each in text:
                return line, text.index(each)
    return block.start, 0
