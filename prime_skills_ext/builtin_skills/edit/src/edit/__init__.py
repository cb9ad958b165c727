"""Replace one exact piece of text in a file.

This module owns the change as a caller sees it: arguments, checks, errors, display.
How text and bytes meet is ``edit.matching``, how a file is replaced ``edit.replacing``.
"""

# no postponed annotations here: they would show as strings in the signature
import contextlib
import itertools
import os
import sys
from pathlib import Path

# relative, so that it also loads where something else is called `edit` already
from .matching import Content, Match  # noqa: TID252
from .replacing import read_regular, replace  # noqa: TID252

__all__ = ["run"]

_LISTED = 10  # matches named in an error; the count says the rest
_CONTEXT = 3  # unchanged lines around a displayed change


async def run(path: str | Path, old_str: str, new_str: str) -> str:
    r"""Replace the one occurrence of ``old_str`` in a file by ``new_str``.

    Everything else in the file stays byte for byte: line endings, encoding, byte
    order mark, the missing newline at its end. The file is replaced in one step and
    keeps its mode; of a symbolic link, the target is edited.

    Args:
        path: The file to change; ``~`` is expanded, a relative path starts at the
            current directory.
        old_str: The text to replace, exactly as in the file with its indentation. It
            must occur exactly once: add lines around it until it does. ``\n`` matches
            whatever line ending the file has; if it contains ``\r``, it is matched
            literally.
        new_str: The text to put there; empty deletes. ``\n`` becomes the line ending
            that the file has at that place, unless ``new_str`` contains ``\r``.

    Returns:
        ``Edited <path>`` with the real path of the file.

    Raises:
        ValueError: ``old_str`` is empty, is the same as ``new_str``, or occurs not at
            all or more than once (overlapping counts: ``aa`` is twice in ``aaa``);
            or the file's encoding cannot express the text. The message says how often
            and in which lines.
        FileNotFoundError: There is no such file.
        IsADirectoryError: ``path`` is a directory.
        PermissionError: The file or its directory may not be written.
        OSError: The file cannot be read or written, or changed meanwhile. The file is
            as it was.
    """
    _check(path, old_str, new_str)
    # no await from here on: two edits of one file in one loop cannot mix
    target, data, state = read_regular(path)
    content = Content(data)
    matches, count = content.find(old_str, limit=_LISTED)
    if count != 1:
        raise ValueError(_complaint(path, old_str, content, matches, count))
    replacement = content.replacement(matches[0], new_str, literal="\r" in old_str)
    changed = data[: matches[0].start] + replacement + data[matches[0].end :]
    if changed == data:
        message = f"{path} already reads so: only line endings differ in new_str"
        raise ValueError(message)
    replace(target, changed, state=state)
    with contextlib.suppress(Exception):
        # the file is edited; a front end that cannot show it must not deny that
        line = content.line(matches[0].start)
        payload = {
            "path": str(target),
            "old_str": old_str,
            "new_str": new_str,
            "start_line": line,
        }
        after = Content(changed).lines()
        _display(payload, _diff(str(path), content.lines(), after, line=line))
    return f"Edited {target}"


def _check(path: object, old_str: object, new_str: object) -> None:
    if not isinstance(path, (str, os.PathLike)):
        message = f"path must be a string or a path, not {type(path).__name__}"
        raise TypeError(message)
    for name, value in (("old_str", old_str), ("new_str", new_str)):
        if not isinstance(value, str):
            message = f"{name} must be a string, not {type(value).__name__}"
            raise TypeError(message)
    if not old_str:
        message = (
            "old_str is empty, so it says no place.\nFix: give the text to replace; "
            "to create a file, write it"
        )
        raise ValueError(message)
    if old_str == new_str:
        message = "old_str and new_str are the same, so there is nothing to change"
        raise ValueError(message)


def _complaint(
    path: object,
    old_str: str,
    content: Content,
    matches: list[Match],
    count: int,
) -> str:
    if count:
        lines = ", ".join(str(content.line(match.start)) for match in matches)
        more = ", …" if count > len(matches) else ""
        return (
            f"old_str occurs {count} times in {path} (lines {lines}{more}); it must "
            "occur once.\nFix: add lines before or after it to old_str, and to "
            "new_str, until it is unique"
        )
    hint = ""
    near = content.similar(old_str, limit=3)
    if near:
        lines = ", ".join(str(line) for line in near)
        hint = f" Apart from white space, its first line is in line {lines}."
    if "\r" in old_str:
        hint += r" It contains \r, which is matched literally: write \n alone."
    return (
        f"old_str occurs 0 times in {path}.{hint}\nFix: read the file again and copy "
        "the text exactly, with its indentation"
    )


def _display(payload: dict[str, object], diff: str) -> None:
    """Show the change where IPython runs; a plain Python shows nothing."""
    # never imported for this: if nobody has it, nobody looks
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    publisher = getattr(shell, "display_pub", None)
    if publisher is not None:
        data = {"application/vnd.prime-agent.diff+json": payload, "text/plain": diff}
        publisher.publish(data=data, metadata={})


def _diff(path: str, before: list[str], after: list[str], *, line: int) -> str:
    """Write a unified diff of the one place that changed."""
    top = max(line - 1 - _CONTEXT, 0)
    # both files end alike: find from the back where the change stops
    pairs = zip(reversed(before[line - 1 :]), reversed(after[line - 1 :]), strict=False)
    alike = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
    tail = max(alike - _CONTEXT, 0)
    old = before[top : len(before) - tail]
    new = after[top : len(after) - tail]
    size = max(len(old), len(new))
    # every kernel imports this skill, and few edit by it
    import difflib  # noqa: PLC0415

    body = list(difflib.unified_diff(old, new, n=size, lineterm=""))[3:]
    hunk = f"@@ -{_range(top, old)} +{_range(top, new)} @@"
    return "\n".join([f"--- {path}", f"+++ {path}", hunk, *body])


def _range(top: int, lines: list[str]) -> str:
    return f"{top + 1 if lines else top},{len(lines)}"
