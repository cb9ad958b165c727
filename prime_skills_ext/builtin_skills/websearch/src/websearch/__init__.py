"""Search the web through Serper.

This module owns the arguments and the order of things. Where the key comes from is
``credentials``, the request is ``serper``, the text of an answer is ``rendering``.
"""

# no postponed annotations here: they would show as strings in the signature
import math
import os

from .credentials import find_key  # noqa: TID252 - also loads under a private name
from .rendering import cut, render  # noqa: TID252
from .serper import search  # noqa: TID252

__all__ = ["run"]

DEFAULT_TIMEOUT_S = 45.0
DEFAULT_RESULTS = 5
MAX_RESULTS = 100  # what one request may ask of Serper


async def run(
    query: str,
    *,
    max_output: int = 8192,
    timeout: float | None = None,  # noqa: ASYNC109 - the name that callers know
    num_results: int | None = None,
) -> str:
    """Search the web and return the results as text.

    Args:
        query: What to search for, as one would type it; Google's operators
            (``site:``, quotation marks, ``-word``) work.
        max_output: Longest text to return, in characters; of a longer one the middle
            is left out and a marker says so.
        timeout: Longest the whole search may take, in seconds; ``None`` means
            ``PRIME_AGENT_WEBSEARCH_TIMEOUT`` or 45.
        num_results: How many results, 1 to 100; ``None`` means
            ``PRIME_AGENT_WEBSEARCH_NUM_RESULTS`` or 5.

    Returns:
        The query, then a knowledge panel if there is one, the results numbered from
        0 with title, address and snippet, and up to three related questions.

    Raises:
        TypeError: An argument has the wrong type.
        ValueError: The query is blank, or a number is out of range.
        RuntimeError: There is no key, or the search failed; the message says why and
            what to do.
    """
    if not isinstance(query, str):
        message = f"query must be a string, not {type(query).__name__}"
        raise TypeError(message)
    if not query.strip():
        message = "query is blank, so there is nothing to search for"
        raise ValueError(message)
    limit = _whole(max_output, name="max_output")
    count = _results(num_results)
    timeout_s = _seconds(timeout)
    key = find_key(os.environ)
    answer = await search(query, key=key, timeout_s=timeout_s, count=count)
    return cut(render(query, answer, count=count), limit=limit)


def _whole(value: object, *, name: str, most: int | None = None) -> int:
    # True is an int to Python and a mistake to everybody else
    if isinstance(value, bool) or not isinstance(value, int):
        message = f"{name} must be a whole number, not {type(value).__name__}"
        raise TypeError(message)
    if value < 1 or (most is not None and value > most):
        allowed = "at least 1" if most is None else f"from 1 to {most}"
        message = f"{name} must be {allowed}, not {value}"
        raise ValueError(message)
    return value


def _results(value: object) -> int:
    if value is not None:
        return _whole(value, name="num_results", most=MAX_RESULTS)
    try:
        count = int(os.environ.get("PRIME_AGENT_WEBSEARCH_NUM_RESULTS", ""))
    except ValueError:
        return DEFAULT_RESULTS
    return count if 1 <= count <= MAX_RESULTS else DEFAULT_RESULTS


def _seconds(value: object) -> float:
    if value is None:
        try:
            seconds = float(os.environ.get("PRIME_AGENT_WEBSEARCH_TIMEOUT", ""))
        except ValueError:
            return DEFAULT_TIMEOUT_S
        return seconds if 0 < seconds < math.inf else DEFAULT_TIMEOUT_S
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        message = f"timeout must be a number of seconds, not {type(value).__name__}"
        raise TypeError(message)
    if not 0 < value < math.inf:
        message = f"timeout must be more than 0 seconds, not {value}"
        raise ValueError(message)
    return float(value)
