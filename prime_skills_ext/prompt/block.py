r"""The ``<skill>`` block: how a skill's instructions stand in a message.

Pure: values in, text out, and back. ``parse(render(block)) == block`` for every text
in a block. The form is the one that agent hosts know, with two repairs: attributes
are escaped, and a closing tag inside of the content is written ``<\/skill`` (one that
has backslashes already gets twice as many and one more), so that neither a path nor a
skill's own text can end the block early.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import Final, final

__all__ = ["Block", "one_line", "parse", "render"]

_USER: Final = "User: "

_BLOCK: Final = re.compile(
    r'<skill name="([^"]+)" location="([^"]+)">\n(.*?)\n</skill>(?:\n\n(.+))?',
    re.DOTALL,
)
_CLOSING: Final = re.compile(r"<(\\*)/(?=skill)")

#: What would end an attribute or a line, or is not allowed to stand in XML as it is.
_UNSAFE: Final = re.compile(
    '[&<>"\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]'
)
_LINE_END: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_REFERENCE: Final = re.compile("&(amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});")
_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_CHARACTERS: Final = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """One skill in a message.

    Attributes:
        name: The skill's name, not empty.
        location: Its file, not empty.
        content: What stands between the tags.
        user_message: What the user says with it, trimmed; ``None`` when nothing.
    """

    name: str
    location: str
    content: str
    user_message: str | None = None


def render(block: Block) -> str:
    """Write a block, and after it what the user says."""
    opening = (
        f'<skill name="{_escaped(block.name)}" location="{_escaped(block.location)}">'
    )
    content = _CLOSING.sub(lambda match: rf"<{match[1] * 2}\/", block.content)
    text = f"{opening}\n{content}\n</skill>"
    if block.user_message is None:
        return text
    return f"{text}\n\n{_USER}{block.user_message}"


def parse(text: str) -> Block | None:
    """Read a message that is a block, with or without a user's words after it.

    Blocks of hosts that write no ``User:`` are read as well.

    Returns:
        The block; ``None`` when the message is anything else.
    """
    match = _BLOCK.fullmatch(text)
    if match is None:
        return None
    name, location, content, rest = match.groups()
    return Block(
        name=_unescaped(name),
        location=_unescaped(location),
        # one more than twice as many, or of others just twice as many
        content=_CLOSING.sub(
            lambda found: f"<{found[1][: len(found[1]) // 2]}/", content
        ),
        user_message=(rest or "").removeprefix(_USER).strip() or None,
    )


def one_line(text: str) -> str:
    """Return a text that cannot end the line it stands in."""
    return _LINE_END.sub(_reference, text)


def _escaped(text: str) -> str:
    return _UNSAFE.sub(
        lambda match: _ENTITIES.get(match.group()) or _reference(match), text
    )


def _reference(match: re.Match[str]) -> str:
    return f"&#x{ord(match.group()):X};"


def _unescaped(text: str) -> str:
    return _REFERENCE.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    what = match[1]
    if not what.startswith("#"):
        return _CHARACTERS[what]
    number = int(f"0{what[1:]}", 0) if what[1] == "x" else int(what[1:])
    return chr(number) if number <= sys.maxunicode else match.group()
