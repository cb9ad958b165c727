"""Keys in real kernels and terminals: asked for, handed over, never shown."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pexpect
import pytest

from prime_skills_ext import process
from tests.conftest import MakeSkill
from tests.integration.drivers import CELL_TIMEOUT_S, Kernel, Outcome, Terminal

pytestmark = pytest.mark.integration

KEY = "sk-5e7c-very-secret"
TRACKER = """
    import asyncio
    import os

    async def run(seconds: float = 0.0) -> bool:
        await asyncio.sleep(seconds)
        # the key itself must not stand in this file, nor in its bytecode
        return os.environ.get("TRACKER_KEY", "")[::-1] == "terces-yrev-c7e5-ks"
"""
HEADER = (
    "name: tracker\ndescription: Tracks. Use when things are lost.\n"
    "metadata: {credential: {provider: tracking, variable: TRACKER_KEY}}\n"
)


@pytest.fixture
def tracker(home: Path, make_skill: MakeSkill) -> Path:
    """A skill of the user's that needs a key."""
    skills = home / ".agents" / "skills"
    return make_skill(skills, "tracker", frontmatter=HEADER, python=TRACKER)


def everything(outcome: Outcome) -> str:
    """All that a front end was sent."""
    return repr(outcome)


def files_with_key(*folders: Path) -> list[str]:
    """Files that hold the key, the database of the history among them."""
    return sorted(
        path.name
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and KEY.encode() in path.read_bytes()
    )


def test_key_is_asked_for_through_the_kernels_stdin(
    home: Path, project: Path, tracker: Path
) -> None:
    """As a password; it stands in no output, history, record or log."""
    said: list[Outcome] = []
    with Kernel(project) as kernel:
        said.append(kernel.run("%load_ext prime_skills_ext", history=True))
        assert "needs-credential" in (kernel.run("%skill tracker").result or "")
        login = kernel.run("%skill login tracking", answers=[KEY], history=True)
        said.append(login)
        assert [{"prompt": "Key for tracking: ", "password": True}] == login.asked
        assert "tracker is ready" in (login.result or "")
        said += [
            kernel.run("await tracker()", history=True),
            kernel.run("__import__('os').environ.get('TRACKER_KEY')"),
            kernel.run("%history -g"),
            kernel.run("%skill list --json"),
            kernel.run("%skill doctor"),
            kernel.run("[In, Out, tracker, skills]"),
            kernel.run("%skill logout tracking", history=True),
        ]
        assert ["True", None] == [said[2].result, said[3].result]
        gated = kernel.run("await tracker()")
        said.append(gated)
        assert "%skill login tracking" in (gated.error or "")
    assert KEY not in "".join(map(everything, said))
    assert [] == files_with_key(home, project, Path(os.environ["IPYTHONDIR"]))


def test_key_is_in_one_file_of_the_user(
    home: Path, project: Path, tracker: Path
) -> None:
    """Nowhere else below the home directory; mode 0600."""
    with Kernel(project) as kernel:
        kernel.run("%load_ext prime_skills_ext", history=True)
        kernel.run("%skill login tracking", answers=[KEY], history=True)
        kernel.run("await tracker()", history=True)
    ipython = Path(os.environ["IPYTHONDIR"])
    assert ["auth.json"] == files_with_key(home, project, ipython)
    stored = home / ".prime" / "agent" / "auth.json"
    assert 0o600 == stored.stat().st_mode & 0o777


def test_front_end_that_cannot_ask_is_told_so(
    project: Path, tracker: Path, kernel: Kernel
) -> None:
    """As when a program executes a notebook."""
    kernel.run("%load_ext prime_skills_ext")
    said = kernel.run("%skill login tracking")
    assert "this front end cannot ask for a key" in (said.error or said.stderr)


def test_many_calls_at_once_keep_the_key_and_leave_none(
    home: Path, project: Path, tracker: Path, kernel: Kernel
) -> None:
    """Short ones end while long ones still need it; threads have loops of their own."""
    kernel.run("%load_ext prime_skills_ext")
    kernel.run("%skill login tracking", answers=[KEY])
    said = kernel.run(
        "import asyncio, os\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "async def one(n): return await tracker(seconds=0.002 * (n % 7))\n"
        "pool = ThreadPoolExecutor(4)\n"
        "work = [pool.submit(asyncio.run, one(n)) for n in range(40)]\n"
        "here = await asyncio.gather(*(one(n) for n in range(200)))\n"
        "all(here), all(w.result() for w in work), 'TRACKER_KEY' in os.environ"
    )
    assert "(True, True, False)" == said.result, said


def test_websearch_comes_and_goes_with_its_key(home: Path, project: Path) -> None:
    """Also when only ``auth.json`` changes and ``%reload_skills`` runs."""
    stored = home / ".prime" / "agent" / "auth.json"

    def state(kernel: Kernel) -> str:
        kernel.run("found = %skill list --json")
        code = "next(s['state'] for s in found['skills'] if s['name'] == 'websearch')"
        return (kernel.run(code).result or "").strip("'")

    with Kernel(project) as kernel:
        kernel.run("%load_ext prime_skills_ext")
        assert "needs-credential" == state(kernel)
        kernel.run("%skill login serper", answers=[KEY])
        assert "ready" == state(kernel)
        assert "<callable" not in (kernel.run("websearch").result or "")
        stored.write_text("{}")
        said = kernel.run("%reload_skills")
        assert "~1 websearch" == said.result
        assert "needs-credential" == state(kernel)
        entry = {"serper": {"type": "api_key", "key": KEY}}
        stored.write_text(json.dumps(entry))
        kernel.run("%reload_skills")
        assert "ready" == state(kernel)
        kernel.run("%skill logout serper")
        assert "needs-credential" == state(kernel)


def test_terminal_asks_without_an_echo(
    home: Path, project: Path, tracker: Path
) -> None:
    """In IPython, with a terminal that echoes everything else."""
    with Terminal(project, echo=True) as terminal:
        terminal.run("%load_ext prime_skills_ext")
        said = terminal.run("%skill login tracking", answer=("Key for tracking: ", KEY))
        assert "tracker is ready" in said.stdout
        assert KEY not in said.stdout
        assert "True" in terminal.run("await tracker()").stdout
        assert KEY not in terminal.run("%history").stdout
    assert ["auth.json"] == files_with_key(home, project)


def test_command_asks_without_an_echo(home: Path, project: Path, tracker: Path) -> None:
    """``prime-skills login``, then ``logout``."""
    words = ["-m", "prime_skills_ext"]
    child = pexpect.spawn(
        sys.executable,
        [*words, "login", "tracking"],
        cwd=str(project),
        env=os.environ.copy(),
        encoding="utf-8",
        timeout=CELL_TIMEOUT_S,
        echo=True,
    )
    child.expect_exact("Key for tracking: ")
    child.waitnoecho()
    child.sendline(KEY)
    child.expect(pexpect.EOF)
    child.close()
    assert 0 == child.exitstatus
    assert KEY not in child.before
    assert "the key for tracking is kept" in child.before
    assert ["auth.json"] == files_with_key(home)
    done = process.run(
        [sys.executable, *words, "logout", "tracking"], cwd=project, timeout_s=120
    )
    assert "the key for tracking is removed" in done.stdout
    assert [] == files_with_key(home)
