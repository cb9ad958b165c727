"""The text of an answer. Pure: what the server sent in, what a reader sees out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["cut", "render"]

_RULE = "\n\n---\n\n"
_QUESTIONS = 3


def render(query: str, answer: Mapping[str, Any], *, count: int) -> str:
    """Write an answer as text.

    Args:
        query: What was searched for.
        answer: The JSON object that Serper sent; fields that are missing or of an
            unexpected type are left out.
        count: How many results to show.

    Returns:
        The query, then the parts of the answer with a rule between each two.
    """
    panel = _panel(answer.get("knowledgeGraph"))
    parts = [panel] if panel else []
    organic = _records(answer.get("organic"))
    parts += [_result(number, item) for number, item in zip(range(count), organic)]  # noqa: B905 - the shorter decides
    questions = _questions(answer.get("peopleAlsoAsk"))
    if questions:
        parts.append(questions)
    if not parts:
        parts = ["There are no results. Try other or fewer words."]
    return f"Web search: {' '.join(query.split())}\n\n{_RULE.join(parts)}"


def cut(text: str, *, limit: int) -> str:
    """Leave out the middle of a text that is longer than ``limit`` characters.

    Args:
        text: The text.
        limit: Longest that the result may be, marker included.

    Returns:
        The text, or its head and tail around a marker that gives the whole length;
        only its head where a marker does not fit.
    """
    if len(text) <= limit:
        return text
    marker = f"\n\n[… middle left out; {len(text)} characters in all …]\n\n"
    room = limit - len(marker)
    if room <= 0:
        return text[:limit]
    tail = room // 2
    return text[: room - tail] + marker + text[len(text) - tail :]


def _panel(value: object) -> str:
    if not isinstance(value, Mapping):
        return ""
    title, description = _text(value.get("title")), _text(value.get("description"))
    lines = [f"Knowledge panel: {title}" if title else "", description]
    attributes = value.get("attributes")
    if isinstance(attributes, Mapping):
        pairs = ((_text(name), _text(item)) for name, item in attributes.items())
        lines += [f"- {name}: {item}" for name, item in pairs if name and item]
    return "\n".join(line for line in lines if line)


def _result(number: int, item: Mapping[str, Any]) -> str:
    title = _text(item.get("title")) or "Untitled"
    lines = [f"[{number}] {title}", _text(item.get("link")), _text(item.get("snippet"))]
    return "\n".join(line for line in lines if line)


def _questions(value: object) -> str:
    asked = []
    for item in _records(value):
        question, reply = _text(item.get("question")), _text(item.get("snippet"))
        if question and len(asked) < _QUESTIONS:
            asked.append(f"Q: {question}\nA: {reply}" if reply else f"Q: {question}")
    return "\n".join(["People also ask:", *asked]) if asked else ""


def _records(value: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, Mapping))


def _text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    return " ".join(str(value).split())
