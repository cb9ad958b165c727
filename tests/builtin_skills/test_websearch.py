"""``websearch`` against a real server that speaks Serper's request and response."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import prime_skills_ext

KEY = "5e7c-secret-key"

ANSWER: dict[str, Any] = {
    "searchParameters": {"q": "python", "type": "search"},
    "knowledgeGraph": {
        "title": "Python",
        "type": "Programming language",
        "description": "A language.",
        "attributes": {"Designed by": "Guido van Rossum", "First": 1991},
    },
    "organic": [
        {"title": "One", "link": "https://a.example/", "snippet": "First\n hit."},
        {"link": "https://b.example/", "position": 2},
        {"title": "Three", "link": "https://c.example/", "snippet": "Third."},
    ],
    "peopleAlsoAsk": [
        {"question": "Why?", "snippet": "Because.", "link": "https://d.example/"},
        {"question": "How?"},
        {"question": "When?", "snippet": "Now."},
        {"question": "Where?", "snippet": "Here."},
    ],
}

RENDERED = """\
Web search: python

Knowledge panel: Python
A language.
- Designed by: Guido van Rossum
- First: 1991

---

[0] One
https://a.example/
First hit.

---

[1] Untitled
https://b.example/

---

[2] Three
https://c.example/
Third.

---

People also ask:
Q: Why?
A: Because.
Q: How?
Q: When?
A: Now."""


class Serper:
    """A server that answers as it is told and remembers what it was asked."""

    def __init__(self) -> None:
        self.status = 200
        self.body: bytes = json.dumps(ANSWER).encode()
        self.headers: dict[str, str] = {}
        self.is_dripping = False
        self.released = threading.Event()
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                owner.answer(self)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                """Keep the test's output clean."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            kwargs={"poll_interval": 0.01},  # how long close waits
        )
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/search"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        size = int(handler.headers["Content-Length"])
        headers = {name.lower(): value for name, value in handler.headers.items()}
        asked = json.loads(handler.rfile.read(size))
        self.requests.append((handler.path, headers, asked))
        handler.send_response(self.status)
        for name, value in self.headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(self.body)))
        handler.end_headers()
        if self.is_dripping:
            # a byte now and then keeps a connection alive for ever
            for byte in self.body:
                if self.released.wait(0.05):
                    return
                handler.wfile.write(bytes([byte]))
                handler.wfile.flush()
        handler.wfile.write(self.body)

    def close(self) -> None:
        """Let go of the port and of every request."""
        self.released.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def serper(monkeypatch: pytest.MonkeyPatch, home: Path) -> Iterator[Serper]:
    """A server, and a kernel that has its address and a key."""
    assert home.is_dir()
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    server = Serper()
    monkeypatch.setenv("PRIME_AGENT_WEBSEARCH_URL", server.url)
    monkeypatch.setenv("SERPER_API_KEY", KEY)
    yield server
    server.close()


async def test_websearch_asks_as_serper_wants_to_be_asked(
    websearch: ModuleType, serper: Serper
) -> None:
    """One POST with the query as JSON and the key in its header."""
    await websearch.run("ünïcode query")
    ((path, headers, asked),) = serper.requests
    assert path == "/search"
    assert headers["x-api-key"] == KEY
    assert headers["content-type"] == "application/json"
    assert asked == {"q": "ünïcode query"}


async def test_websearch_renders_every_part_of_an_answer(
    websearch: ModuleType, serper: Serper
) -> None:
    """The panel, numbered results and at most three questions, between rules."""
    assert serper.status == 200
    assert await websearch.run("  python ") == RENDERED


async def test_websearch_shows_as_many_results_as_asked_for(
    websearch: ModuleType, serper: Serper, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An argument wins over the variable, the variable over the default."""
    organic = [{"title": f"T{number}"} for number in range(30)]
    serper.body = json.dumps({"organic": organic}).encode()

    async def shown(**arguments: int) -> int:
        text = await websearch.run("q", **arguments)
        return sum(line.startswith("[") for line in text.splitlines())

    assert await shown() == 5
    monkeypatch.setenv("PRIME_AGENT_WEBSEARCH_NUM_RESULTS", "7")
    assert await shown() == 7
    assert await shown(num_results=2) == 2
    assert await shown(num_results=20) == 20
    for nonsense in ("many", "0", "-1", "1000", ""):
        monkeypatch.setenv("PRIME_AGENT_WEBSEARCH_NUM_RESULTS", nonsense)
        assert await shown() == 5
    # only more than Serper sends by itself has to be asked for
    asked = [request[2].get("num") for request in serper.requests]
    assert asked == [None, None, None, 20, *[None] * 5]


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"organic": []},
        {"organic": None, "knowledgeGraph": [], "peopleAlsoAsk": "no"},
        {"organic": ["text", 3, None], "knowledgeGraph": {"attributes": ["x"]}},
        {"knowledgeGraph": {"title": {"a": 1}}, "peopleAlsoAsk": [{"snippet": "x"}]},
    ],
)
async def test_websearch_says_that_there_are_no_results(
    websearch: ModuleType, serper: Serper, answer: dict[str, Any]
) -> None:
    """Nothing to show, or nothing that can be shown, is said in words."""
    serper.body = json.dumps(answer).encode()
    text = await websearch.run("q")
    assert text == ("Web search: q\n\nThere are no results. Try other or fewer words.")


@pytest.mark.parametrize("limit", [1, 10, 60, 100, 200, 8192])
async def test_websearch_never_returns_more_than_max_output(
    websearch: ModuleType, serper: Serper, limit: int
) -> None:
    """A long answer keeps its head and tail around a marker with the whole length."""
    assert serper.status == 200
    text = await websearch.run("python", max_output=limit)
    assert len(text) == min(limit, len(RENDERED))
    if 60 < limit < len(RENDERED):
        assert f"[… middle left out; {len(RENDERED)} characters in all …]" in text
        assert text.startswith("Web search")
        assert text.endswith("Now.")


@given(text=st.text(max_size=200), limit=st.integers(1, 250))
def test_cut_keeps_short_text_and_never_exceeds_its_limit(
    websearch: ModuleType, text: str, limit: int
) -> None:
    """Whatever the text: unchanged if it fits, exactly as long as allowed if not."""
    shown = websearch.cut(text, limit=limit)
    assert shown == text if len(text) <= limit else len(shown) == limit


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (400, b'{"message": "Query not allowed"}', "answered 400: Query not allowed"),
        (401, b'{"message": "Unauthorized."}', "Fix: check the key"),
        (403, b'{"message": "bad key 5e7c-secret-key"}', "403: bad key <key>.\nFix: "),
        (429, b"", "answered 429.\nFix: wait a moment"),
        (500, b"<html>oops</html>", "answered 500.\nFix: try again later"),
        (503, b"[1]", "answered 503.\nFix: try again later"),
        (302, b"", "answered 302"),
    ],
)
async def test_w67_websearch_raises_what_the_server_refuses(
    websearch: ModuleType, serper: Serper, status: int, body: bytes, said: str
) -> None:
    """Each status has its fix, the cause is chained, and no key is shown."""
    serper.status, serper.body = status, body
    serper.headers = {"Location": serper.url}
    with pytest.raises(RuntimeError) as caught:
        await websearch.run("q")
    assert said in str(caught.value)
    assert type(caught.value.__cause__).__name__ == "HTTPStatusError"
    assert KEY not in f"{caught.value}{caught.value.__cause__}"
    # a redirect is not followed: the key stays with whom it was meant for
    assert len(serper.requests) == 1


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{", "something that is no JSON"),
        (b"", "something that is no JSON"),
        (b"\xff\xfe\xff", "something that is no JSON"),
        (b"[]", "JSON that is no answer (list)"),
        (b"null", "JSON that is no answer (NoneType)"),
    ],
)
async def test_w67_websearch_raises_when_the_answer_is_none(
    websearch: ModuleType, serper: Serper, body: bytes, said: str
) -> None:
    """What cannot be read is an error, not an empty result."""
    serper.body = body
    with pytest.raises(RuntimeError) as caught:
        await websearch.run("q")
    assert said in str(caught.value)
    assert "Fix: " in str(caught.value)


@pytest.mark.parametrize("by_variable", [True, False])
async def test_w67_websearch_raises_when_time_is_up(
    websearch: ModuleType,
    serper: Serper,
    monkeypatch: pytest.MonkeyPatch,
    *,
    by_variable: bool,
) -> None:
    """The limit is for the whole search, also when bytes keep trickling in."""
    serper.is_dripping = True
    arguments = {} if by_variable else {"timeout": 0.2}
    if by_variable:
        monkeypatch.setenv("PRIME_AGENT_WEBSEARCH_TIMEOUT", "0.2")
    with pytest.raises(RuntimeError, match=r"no answer from 127.0.0.1 within 0.2 s"):
        await websearch.run("q", **arguments)


async def test_w67_websearch_raises_when_nobody_listens(
    websearch: ModuleType, serper: Serper, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refused connection names the host and what to check."""
    assert serper.status == 200
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    monkeypatch.setenv("PRIME_AGENT_WEBSEARCH_URL", f"http://127.0.0.1:{port}/")
    with pytest.raises(RuntimeError, match=r"cannot reach 127\.0\.0\.1") as caught:
        await websearch.run("q")
    assert type(caught.value.__cause__).__name__ == "ConnectError"


@pytest.mark.parametrize(
    "url", ["file:///etc/hosts", "nonsense", "http://host:port", "http://"]
)
async def test_websearch_refuses_an_address_that_is_none(
    websearch: ModuleType, serper: Serper, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    """A wrong variable is named as the cause."""
    assert serper.status == 200
    monkeypatch.setenv("PRIME_AGENT_WEBSEARCH_URL", url)
    with pytest.raises(RuntimeError, match="PRIME_AGENT_WEBSEARCH_URL is no web"):
        await websearch.run("q")


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ({"serper": {"type": "api_key", "key": "stored"}}, "stored"),
        ({"serper": {"type": "api_key", "key": "OTHER_VARIABLE"}}, "from-variable"),
    ],
)
async def test_websearch_reads_the_key_anew_from_the_agent_directory(
    websearch: ModuleType,
    serper: Serper,
    monkeypatch: pytest.MonkeyPatch,
    home: Path,
    *,
    stored: object,
    expected: str,
) -> None:
    """A login while the kernel runs counts for the next search."""
    monkeypatch.delenv("SERPER_API_KEY")
    monkeypatch.setenv("OTHER_VARIABLE", "from-variable")
    with pytest.raises(RuntimeError, match="websearch has no key"):
        await websearch.run("q")
    directory = home / ".prime" / "agent"
    directory.mkdir(parents=True)
    (directory / "auth.json").write_text(json.dumps(stored), encoding="utf-8")
    await websearch.run("q")
    assert serper.requests[0][1]["x-api-key"] == expected


async def test_websearch_prefers_the_agent_directory_that_is_set(
    websearch: ModuleType,
    serper: Serper,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """``PRIME_AGENT_CODING_AGENT_DIR`` says where ``auth.json`` is."""
    monkeypatch.delenv("SERPER_API_KEY")
    monkeypatch.setenv("PRIME_AGENT_CODING_AGENT_DIR", str(tmp_path))
    stored = {"serper": {"type": "api_key", "key": "here"}}
    (tmp_path / "auth.json").write_text(json.dumps(stored), encoding="utf-8")
    await websearch.run("q")
    assert serper.requests[0][1]["x-api-key"] == "here"


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        (None, "has no key for Serper"),
        ("[]", "has no key for Serper"),
        ('{"serper": "text"}', "has no key for Serper"),
        ('{"serper": {"type": "oauth", "key": "k"}}', "has no key for Serper"),
        ('{"serper": {"type": "api_key", "key": 3}}', "has no key for Serper"),
        ('{"serper": {"type": "api_key", "key": "!cat secret"}}', "is a command"),
        ('{"serper": {"type": "api_key", "key": "two words"}}', "that no key has"),
        ('{"serper": "5e7c-secret-key', "cannot be read: JSONDecodeError"),
    ],
)
async def test_w67_websearch_raises_guidance_without_a_key(
    websearch: ModuleType,
    serper: Serper,
    monkeypatch: pytest.MonkeyPatch,
    home: Path,
    *,
    stored: str | None,
    said: str,
) -> None:
    """No usable key is an error that tells both ways to give one, and sends nothing."""
    monkeypatch.setenv("SERPER_API_KEY", "  ")
    if stored is not None:
        directory = home / ".prime" / "agent"
        directory.mkdir(parents=True)
        (directory / "auth.json").write_text(stored, encoding="utf-8")
    with pytest.raises(RuntimeError) as caught:
        await websearch.run("q")
    message = str(caught.value)
    assert said in message
    assert "SERPER_API_KEY" in message
    assert "auth.json" in message
    assert "secret" not in message
    assert serper.requests == []


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"query": 3}, TypeError, "query must be a string, not int"),
        ({"query": None}, TypeError, "query must be a string, not NoneType"),
        ({"query": " \n"}, ValueError, "query is blank"),
        ({"max_output": True}, TypeError, "max_output must be a whole number"),
        ({"max_output": 1.5}, TypeError, "max_output must be a whole number"),
        ({"max_output": 0}, ValueError, "max_output must be at least 1"),
        ({"num_results": False}, TypeError, "num_results must be a whole number"),
        ({"num_results": 0}, ValueError, "num_results must be from 1 to 100"),
        ({"num_results": 101}, ValueError, "num_results must be from 1 to 100"),
        ({"timeout": True}, TypeError, "timeout must be a number of seconds"),
        ({"timeout": "3"}, TypeError, "timeout must be a number of seconds"),
        ({"timeout": 0}, ValueError, "timeout must be more than 0 seconds"),
        ({"timeout": float("nan")}, ValueError, "timeout must be more than 0 seconds"),
    ],
)
async def test_w69_websearch_refuses_arguments_that_mean_nothing(
    websearch: ModuleType,
    serper: Serper,
    *,
    arguments: dict[str, Any],
    error: type[Exception],
    said: str,
) -> None:
    """Wrong types and ranges are the caller's mistake; a boolean is no number."""
    with pytest.raises(error, match=said):
        await websearch.run(**{"query": "q", **arguments})
    assert serper.requests == []


async def test_websearch_searches_at_the_same_time(
    websearch: ModuleType, serper: Serper
) -> None:
    """Gathered searches do not wait for each other's turn, and none is lost."""
    await asyncio.gather(*(websearch.run(f"q{number}") for number in range(5)))
    asked = sorted(request[2]["q"] for request in serper.requests)
    assert asked == ["q0", "q1", "q2", "q3", "q4"]


@pytest.mark.parametrize(
    ("status", "expected"), [(200, (0, "Web search: q")), (401, (1, ""))]
)
async def test_websearch_works_from_a_shell(
    serper: Serper, status: int, expected: tuple[int, str]
) -> None:
    """As a command it prints the answer, or one message and status 1."""
    serper.status = status
    package = Path(prime_skills_ext.__file__).parent
    paths = (package / "runtime/src", package / "builtin_skills/websearch/src")
    code = "import sys; sys.argv[0] = 'websearch'; from rlm.skill import cli; cli()"
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", code, "q", "--num-results", "1"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True,
        text=True,
        check=False,
    )
    first = done.stdout.partition("\n")[0]
    assert (done.returncode, first) == expected
    assert (
        done.stderr.startswith("RuntimeError: the web search failed") or not status % 5
    )
    assert KEY not in done.stdout + done.stderr


def test_websearch_explains_itself(websearch: ModuleType) -> None:
    """The signature is the promised one, and the docstring covers it."""
    signature = inspect.signature(websearch.run)
    assert {name: item.default for name, item in signature.parameters.items()} == {
        "query": inspect.Parameter.empty,
        "max_output": 8192,
        "timeout": None,
        "num_results": None,
    }
    manual = inspect.getdoc(websearch.run) or ""
    for name in (*signature.parameters, "Returns:", "RuntimeError", "PRIME_AGENT_"):
        assert name in manual
