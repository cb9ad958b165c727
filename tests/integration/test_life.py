"""A kernel's life with skills: warm starts, commands, keys, corpora."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import write_skill
from tests.integration.drivers import Kernel, Outcome

pytestmark = pytest.mark.integration

WORD_COUNT = '''
    from collections import Counter

    async def run(text: str, top: int = 3) -> dict[str, int]:
        """Count the most frequent words."""
        return dict(Counter(text.split()).most_common(top))
'''
SCRIPT = {"word_count": "rlm.skill:cli"}
#: Remembers every process that Python starts and every name that it looks up.
WATCH = """
import sys
started = []
def watch(event, arguments):
    if event in {"subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty",
                 "os.exec", "os.spawn", "os.system", "socket.getaddrinfo"}:
        started.append(event)
sys.addaudithook(watch)
"""


def value(outcome: Outcome) -> Any:
    """What a cell printed as JSON."""
    assert outcome.error is None, outcome.error
    return json.loads(outcome.stdout)


def test_warm_load_starts_no_process_and_says_nothing(
    project: Path, home: Path
) -> None:
    """Nothing changed: no process, no network, nothing on either stream."""
    for number in range(3):
        write_skill(
            home / ".agents" / "skills",
            f"skill-{number}",
            python=f"def run(): return {number}",
            scripts={f"skill_{number}": "rlm.skill:cli"},
        )
    with Kernel(project) as cold:
        cold.run(WATCH)
        cold.run("%load_ext prime_skills_ext")
        # the watch works: making an environment starts uv
        assert cold.run("print(len(started) > 0)").stdout == "True\n"
    with Kernel(project) as warm:
        warm.run(WATCH)
        loaded = warm.run("%load_ext prime_skills_ext")
        assert ("", "", None) == (loaded.stdout, loaded.stderr, loaded.error)
        assert warm.run("print(await skill_1(), started)").stdout == "1 []\n"
        reloaded = warm.run("%reload_skills")
        assert ("", "", None) == (reloaded.stdout, reloaded.stderr, reloaded.result)
        assert warm.run("print(started)").stdout == "[]\n"


@pytest.mark.network
def test_warm_load_of_a_third_party_skill_starts_no_process(
    project: Path, home: Path
) -> None:
    """What was installed once is taken from the record, one broken skill included."""
    root = home / ".agents" / "skills"
    write_skill(
        root,
        "with-soup",
        python="import bs4\ndef run(): return bs4.__name__",
        dependencies=("beautifulsoup4",),
    )
    write_skill(
        root,
        "wants-nothing-real",
        python="def run(): return 1",
        dependencies=("no-such-dist-prime-skills-xyz",),
    )
    failed = "Skills: 1 skill failed (wants-nothing-real). See %skill doctor\n"
    with Kernel(project) as cold:
        assert failed == cold.run("%load_ext prime_skills_ext").stdout
    with Kernel(project) as warm:
        warm.run(WATCH)
        loaded = warm.run("%load_ext prime_skills_ext")
        assert (failed, "", None) == (loaded.stdout, loaded.stderr, loaded.error)
        assert warm.run("print(await with_soup(), started)").stdout == "bs4 []\n"
        assert warm.run("%reload_skills").result is None
        assert warm.run("print(started)").stdout == "[]\n"


@pytest.mark.network
def test_commands_work_and_python_stays(project: Path, home: Path) -> None:
    """The form in the README runs, and ``!python`` is the one it was."""
    write_skill(
        home / ".agents" / "skills", "word-count", python=WORD_COUNT, scripts=SCRIPT
    )
    with Kernel(project) as kernel:
        before = kernel.run("!command -v python").stdout
        kernel.run("%load_ext prime_skills_ext")
        # a pseudo terminal ends lines with both characters
        for form in ('"a b a" --top 1', '--text "a b a" --top=1'):
            said = kernel.run(f"!word_count {form}").stdout
            assert '{"a": 2}' == said.strip()
        assert kernel.run("!command -v python").stdout == before
        names = kernel.run(
            "import os; print(sorted(os.listdir(os.environ['PATH'].split(':')[0])))"
        )
        assert names.stdout == "['edit', 'word_count']\n"
        kernel.run("%unload_ext prime_skills_ext")
        assert "not found" in kernel.run("!word_count a").stdout


@pytest.mark.network
def test_an_undeclared_default_package_is_added_once(project: Path, home: Path) -> None:
    """A skill that relies on the reference's twelve packages works, with a warning."""
    write_skill(
        home / ".agents" / "skills",
        "dots",
        python="import dotenv\ndef run(): return dotenv.dotenv_values.__name__",
    )
    with Kernel(project) as kernel:
        loaded = kernel.run("%load_ext prime_skills_ext")
        assert loaded.error is None
        assert kernel.run("await dots()").result == "'dotenv_values'"
        said = kernel.run("%skill doctor").result or ""
        assert "python-dotenv" in said
    with Kernel(project) as warm:
        warm.run(WATCH)
        warm.run("%load_ext prime_skills_ext")
        assert warm.run("print(await dots(), started)").stdout == "dotenv_values []\n"


class _Serper(BaseHTTPRequestHandler):
    seen: list[tuple[str | None, Any]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.seen.append((self.headers["X-API-KEY"], json.loads(body)))
        hit = {"title": "One", "link": "https://a.example/", "snippet": "First."}
        answer = json.dumps({"organic": [hit]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture
def serper() -> Iterator[tuple[str, list[tuple[str | None, Any]]]]:
    """The address of a loopback server and what it was asked."""
    seen: list[tuple[str | None, Any]] = []
    handler = type("Handler", (_Serper,), {"seen": seen})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/search", seen
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.network
def test_websearch_appears_with_its_key_and_goes_with_it(
    project: Path, serper: tuple[str, list[tuple[str | None, Any]]]
) -> None:
    """No key: gated. With one it searches; without it again it is gated again."""
    url, seen = serper
    with Kernel(project, environ={"PRIME_AGENT_WEBSEARCH_URL": url}) as kernel:
        kernel.run("%load_ext prime_skills_ext")
        gated = kernel.run("await websearch('kernels')")
        assert "SERPER_API_KEY" in (gated.error or "")
        kernel.run("import os; os.environ['SERPER_API_KEY'] = 'k-1'")
        assert kernel.run("%reload_skills").result == "~1 websearch"
        found = kernel.run("print(await websearch('kernels'))").stdout
        assert "[0] One\nhttps://a.example/\nFirst." in found
        assert [("k-1", "kernels")] == [(key, body["q"]) for key, body in seen]
        kernel.run("del os.environ['SERPER_API_KEY']")
        assert kernel.run("%reload_skills").result == "~1 websearch"
        assert "needs-credential" in (kernel.run("%skill websearch").result or "")


def test_fm16_every_view_reads_the_same_name_and_description(
    project: Path, home: Path
) -> None:
    """One reader: table, show and the plain data agree for every odd file."""
    corpus = Path(__file__).parents[1] / "skills"
    expected = json.loads((corpus / "expected.json").read_text(encoding="utf-8"))
    with Kernel(project, environ={"PRIME_SKILLS_PATH": str(corpus)}) as kernel:
        kernel.run("%load_ext prime_skills_ext")
        listed = value(
            kernel.run(
                "import json; print(json.dumps(get_ipython()"
                ".run_line_magic('skill', 'list --all --json')['skills']))"
            )
        )
        listed = {
            Path(x["directory"]).name: x for x in listed if x["source"] == "explicit"
        }
        shown = value(
            kernel.run(
                "print(json.dumps({name: (lambda s: [s['name'], s['description']])"
                "(get_ipython().run_line_magic('skill', 'show --json -- ' + "
                "json.dumps(name, ensure_ascii=False))['skill']) for name in "
                f"{sorted(x['name'] for x in listed.values())!r}}}))"
            )
        )
    loaded = {
        folder: entry for folder, entry in expected.items() if entry["name"] is not None
    }
    assert set(loaded) == set(listed)
    for folder, entry in loaded.items():
        item = listed[folder]
        assert [entry["name"], entry["description"]] == [
            item["name"],
            item["description"],
        ], folder
        assert shown[item["name"]] == [item["name"], item["description"]], folder
