"""The request to Serper: one POST, one JSON object back, every failure explained.

The key goes into one header and nowhere else: redirects are not followed, and it is
taken out of whatever a server says.
"""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

import httpx

__all__ = ["search"]

DEFAULT_URL = "https://google.serper.dev/search"
_DEFAULT_COUNT = 10  # what Serper sends when nobody asks for a number
_EXCERPT = 200
# on Python 3.10 asyncio has a TimeoutError of its own
_TIMEOUTS = (asyncio.TimeoutError, httpx.TimeoutException)
_FIXES = {
    400: "change the query",
    401: "check the key, https://serper.dev shows yours",
    403: "check the key and what is left of its credit at https://serper.dev",
    429: "wait a moment, or check what is left of the credit at https://serper.dev",
}


async def search(query: str, *, key: str, timeout_s: float, count: int) -> Any:
    """Send a query and return the answer.

    Args:
        query: What to search for.
        key: The key.
        timeout_s: Longest the whole exchange may take, in seconds.
        count: How many results are wanted.

    Returns:
        The JSON object of the answer.

    Raises:
        RuntimeError: There is no answer or it is none of Serper's; the cause is
            chained.
    """
    url = _url()
    body: dict[str, Any] = {"q": query}
    if count > _DEFAULT_COUNT:
        body["num"] = count
    try:
        # a limit for the whole: httpx's own starts anew with every byte
        response = await asyncio.wait_for(_post(url, body, key), timeout_s)
    except _TIMEOUTS as error:
        message = (
            f"the web search got no answer from {url.host} within {timeout_s:g} s.\n"
            "Fix: try again, or pass a larger timeout or set "
            "PRIME_AGENT_WEBSEARCH_TIMEOUT"
        )
        raise RuntimeError(message) from error
    except httpx.HTTPError as error:
        reason = _clean(str(error) or type(error).__name__, key)
        message = (
            f"the web search cannot reach {url.host}: {reason}.\n"
            "Fix: check the network and the proxy settings, then try again"
        )
        raise RuntimeError(message) from error
    return _read(response, host=url.host, key=key)


async def _post(url: httpx.URL, body: dict[str, Any], key: str) -> httpx.Response:
    headers = {"X-API-KEY": key}
    # no limits of httpx's own: the caller's is for everything together
    async with httpx.AsyncClient(timeout=None) as client:  # noqa: S113
        return await client.post(url, json=body, headers=headers)


def _url() -> httpx.URL:
    text = os.environ.get("PRIME_AGENT_WEBSEARCH_URL", "").strip() or DEFAULT_URL
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as error:
        reason = str(error)
        cause: Exception | None = error
    else:
        if url.scheme in {"http", "https"} and url.host:
            return url
        reason, cause = "it needs http:// or https:// and a host", None
    message = (
        f"PRIME_AGENT_WEBSEARCH_URL is no web address: {reason}.\n"
        "Fix: correct it, or unset it to search with Serper"
    )
    raise RuntimeError(message) from cause


def _read(response: httpx.Response, *, host: str, key: str) -> dict[str, Any]:
    status = response.status_code
    if not response.is_success:
        try:
            response.raise_for_status()
        except httpx.HTTPStatusError as error:
            fix = _FIXES.get(status, "try again later")
            said = _said(response, key)
            message = f"the web search failed: {host} answered {status}{said}.\n"
            raise RuntimeError(f"{message}Fix: {fix}") from error
    try:
        answer = response.json()
    except ValueError as error:
        message = (
            f"the web search failed: {host} sent something that is no JSON.\n"
            "Fix: try again later, and check PRIME_AGENT_WEBSEARCH_URL if it is set"
        )
        raise RuntimeError(message) from error
    if not isinstance(answer, dict):
        message = (
            f"the web search failed: {host} sent JSON that is no answer "
            f"({type(answer).__name__}).\n"
            "Fix: try again later, and check PRIME_AGENT_WEBSEARCH_URL if it is set"
        )
        raise RuntimeError(message)  # noqa: TRY004 - the server's mistake, not a caller's
    return answer


def _said(response: httpx.Response, key: str) -> str:
    """Quote what the server gives as its reason, if it gives one in words."""
    try:
        content = json.loads(response.content)
    except ValueError:
        return ""
    text = content.get("message") if isinstance(content, dict) else None
    if not isinstance(text, str) or not text.strip():
        return ""
    return f": {_clean(text, key)}"


def _clean(text: str, key: str) -> str:
    plain = " ".join(text.replace(key, "<key>").split()).rstrip(".")
    return plain if len(plain) <= _EXCERPT else plain[: _EXCERPT - 1] + "…"
