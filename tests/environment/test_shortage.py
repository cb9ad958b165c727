"""What works without uv, without a network, without a parser."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.environment import record as records
from prime_skills_ext.environment import uv as uvs
from tests.environment.conftest import fake_uv
from tests.wheels import publish

pytestmark = pytest.mark.integration


def test_in14_missing_uv_fails_only_who_needs_it(world: Any, new_skill: Any) -> None:
    """Without uv a skill that requires nothing works; the message says where."""
    world.environ["PRIME_SKILLS_UV"] = "/nowhere/uv"
    needy = new_skill("needy", dependencies=("acme-tool",))
    script = {"plain": "plain:run"}
    report = world.ensure(new_skill("plain", scripts=script), needy)
    assert [path.parent.name for path in report.failed] == ["needy"]
    failure = report.failed[needy.identity]
    assert "needs acme-tool" in failure.reason
    assert "/nowhere/uv" in failure.reason
    assert failure.fix == "pip install uv, or set PRIME_SKILLS_UV to its path"
    assert (report.generation, report.commands) == (None, {})


def test_in14_tail_of_stderr_is_kept(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """A uv that fails with many lines is quoted, not summed up as a number."""
    fake_uv(
        tmp_path, world, script="seq 1 500 >&2; echo 'error: disk on fire' >&2; exit 2"
    )
    needy = new_skill("needy", dependencies=("acme-tool",))
    report = world.ensure(needy)
    assert "disk on fire" in report.failed[needy.identity].reason
    assert report.failed[needy.identity].log.splitlines()[-2:] == [
        "500",
        "error: disk on fire",
    ]


def test_hanging_uv_is_given_up(world: Any, new_skill: Any, tmp_path: Path) -> None:
    """A uv that never ends is killed; who needs nothing works all the same."""
    world.environ["PRIME_SKILLS_UV_TIMEOUT"] = "2"
    fake_uv(tmp_path, world, script="exec sleep 600")
    report = world.ensure(
        new_skill("plain"), new_skill("needy", dependencies=("acme-tool",))
    )
    assert [path.parent.name for path in report.failed] == ["needy"]
    assert report.problem is not None
    uv = world.environ["PRIME_SKILLS_UV"]
    assert f"{uv} did not end within 2 s" == report.problem.reason
    assert "PRIME_SKILLS_UV_TIMEOUT" in report.problem.fix


_AWAY = "case $* in *--offline*) echo 'error: dns error' >&2; exit 2;; esac\n"
_WORD = "echo 'Resolved 1 package' >&2\n"


@pytest.mark.parametrize(
    ("script", "makes", "limit"),
    [
        ("", False, "said nothing for 3 s"),
        ("", True, "said nothing for 3 s"),
        ("echo 'Using Python 3.11' >&2\n", True, "said nothing for 3 s"),
        (_WORD, False, "did not end within 4 s"),
        (_WORD, True, "did not end within 4.5 s"),
        (_AWAY, True, "did not end within 5 s"),
    ],
    ids=["venv", "install", "preamble", "venv-speaks", "offline", "online"],
)
def test_uv_that_hangs_is_given_up_by_its_limit(
    world: Any,
    new_skill: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    script: str,
    *,
    makes: bool,
    limit: str,
) -> None:
    """A word is soon due offline; who has spoken, or asks an index, has longer."""
    # long enough for what does not hang on a busy machine
    monkeypatch.setattr(uvs, "FIRST_WORD_S", 3)
    monkeypatch.setattr(uvs, "MAKE_TIMEOUT_S", 4)
    monkeypatch.setattr(uvs, "OFFLINE_TIMEOUT_S", 4.5)
    monkeypatch.setattr(uvs, "ONLINE_TIMEOUT_S", 5)
    del world.environ["PI_OFFLINE"]
    asked = tmp_path / "asked"
    fake_uv(
        tmp_path, world, script=f"echo >>{asked}\n{script}exec sleep 600", makes=makes
    )
    report = world.ensure(new_skill("needy", dependencies=("acme-tool",)))
    assert report.problem is not None
    assert report.problem.reason.endswith(limit)
    # one that did not end is not asked again, not even online
    assert (1 if script != _AWAY else 2) == len(asked.read_text().splitlines())


def test_hanging_uv_is_remembered_by_a_skill_of_a_living_environment(
    world: Any, new_skill: Any, tmp_path: Path, calls: list[str]
) -> None:
    """Where there is a record the skill's entry tells it; uv is not asked again."""
    world.ensure(new_skill("plain"))
    world.environ["PRIME_SKILLS_UV_TIMEOUT"] = "0.5"
    fake_uv(tmp_path, world, script="exec sleep 600")
    calls.clear()
    needy = new_skill("needy", dependencies=("acme-tool",))
    first, second = (world.ensure(new_skill("plain"), needy) for _ in range(2))
    assert first.failed == second.failed
    assert "did not end within 0.5 s" in first.failed[needy.identity].reason
    assert 1 == len(calls)


def test_no_network_fails_only_who_needs_it(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """With an unreachable index and an empty cache the rest goes in."""
    del world.environ["PI_OFFLINE"]
    world.environ["UV_CACHE_DIR"] = str(tmp_path / "cache")
    world.environ["UV_DEFAULT_INDEX"] = "http://127.0.0.1:9/simple"
    world.environ["UV_HTTP_RETRIES"] = "0"
    needy = new_skill("needy", dependencies=("acme-tool",))
    report = world.ensure(new_skill("plain"), needy)
    assert [path.parent.name for path in report.failed] == ["needy"]
    assert [path.parent.name for path in report.installed] == ["plain"]
    assert "no network" in report.failed[needy.identity].reason
    assert report.failed[needy.identity].fix.startswith("go online once")


@pytest.fixture
def index(tmp_path: Path, world: Any) -> Iterator[list[str]]:
    """An index with ``acme-tool`` that nobody has in a cache; what it was asked."""
    asked: list[str] = []
    publish(tmp_path / "served" / "simple" / "acme-tool", "acme-tool", "1.0")

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            asked.append(self.path)

    handler = partial(Handler, directory=str(tmp_path / "served"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        del world.environ["UV_FIND_LINKS"]
        world.environ["UV_CACHE_DIR"] = str(tmp_path / "cache")
        address = f"http://127.0.0.1:{server.server_port}/simple"
        world.environ["UV_DEFAULT_INDEX"] = address
        yield asked
        server.shutdown()


def test_what_is_not_on_this_machine_is_fetched_unless_that_is_forbidden(
    world: Any, new_skill: Any, index: list[str], calls: list[str]
) -> None:
    """Offline first, then online; ``PI_OFFLINE`` forbids the second."""
    needy = new_skill("needy", dependencies=("acme-tool",))
    assert [needy.identity] == list(world.ensure(needy).failed)
    assert [] == index
    del world.environ["PI_OFFLINE"]
    calls.clear()
    report = world.ensure(needy)
    assert ({}, (needy.identity,)) == (dict(report.failed), report.installed)
    installs = [call for call in calls if " pip install " in call]
    assert [True, False] == [call.endswith(" --offline") for call in installs]
    assert [path for path in index if path.endswith(".whl")]


def test_offline_by_choice_is_told_as_such(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """Going online would not help where a variable forbids to use the network."""
    world.environ["UV_CACHE_DIR"] = str(tmp_path / "cache")
    needy = new_skill("needy", dependencies=("acme-tool-nowhere",))
    failure = world.ensure(needy).failed[needy.identity]
    assert "PI_OFFLINE forbids to fetch it" in failure.reason
    assert failure.fix == "%env PI_OFFLINE=0, then %reload_skills --retry"


def test_skill_that_has_to_be_built_works_without_network(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """What only lacks its backend can be imported; its command is not offered."""
    world.environ["UV_CACHE_DIR"] = str(tmp_path / "cache")
    files = {"setup.py": "from setuptools import setup; setup()\n"}
    skill = new_skill("a", backend="setuptools", files=files, scripts={"a": "a:run"})
    report = world.ensure(skill)
    assert (report.installed, dict(report.failed), report.commands) == ((), {}, {})
    assert report.generation is not None
    entry = next(iter(records.read(report.generation.record).skills.values()))
    assert (entry.state, "setuptools" in entry.log) == ("partial", True)


def test_in05_missing_backend_is_named_with_what_fetches_it(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """Who cannot do without the build is told which backend, and how to get it."""
    world.environ["UV_CACHE_DIR"] = str(tmp_path / "cache")
    text = (
        '[project]\nname = "a"\nversion = "1"\ndynamic = ["dependencies"]\n'
        '[build-system]\nrequires = ["setuptools>=64"]\n'
        'build-backend = "setuptools.build_meta"\n'
        '[tool.setuptools.dynamic]\ndependencies = {file = ["needs.txt"]}\n'
    )
    skill = new_skill("a", pyproject=text, files={"needs.txt": "acme-tool\n"})

    failure = world.ensure(skill).failed[skill.identity]

    reason = "offline: the build backend setuptools>=64 is not in uv's cache"
    fix = (
        "run `prime-skills sync` in a terminal once you are online, without "
        "PI_OFFLINE, then %reload_skills --retry"
    )
    assert (reason, fix) == (failure.reason, failure.fix)


def test_missing_parser_costs_only_commands_that_need_it(
    world: Any, new_skill: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without what the runtime's command line requires everything else goes in."""
    # a kernel that has nothing, and an index that has no tyro either
    monkeypatch.setattr(
        "prime_skills_ext.environment.facts.kernel_paths", lambda **_: ()
    )
    world.environ["UV_CACHE_DIR"] = str(tmp_path / "cache")
    skill = new_skill("a", scripts={"a": "rlm.skill:cli", "other": "a:run"})
    report = world.ensure(skill)
    assert (len(report.installed), dict(report.failed)) == (1, {})
    assert [command.name for command in report.commands[skill.identity]] == ["other"]
    world.publish("tyro", "99.0")
    assert len(world.ensure(skill).commands[skill.identity]) == 1
    assert len(world.ensure(skill, retry=True).commands[skill.identity]) == 2


def test_in10_environment_that_uv_left_unwell_is_not_put_in_place(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """It says that all is well; the interpreter is gone."""
    lose = 'for it in "$@"; do case $it in */bin/python) rm "$it";; esac; done'
    fake_uv(tmp_path, world, script=lose)
    report = world.ensure(new_skill("a"))
    assert report.generation is None
    assert report.problem is not None
    assert report.problem.reason.endswith("is not complete")
    assert [] == [it for it in world.environment.root.iterdir() if it.name.isdigit()]


def test_in14_uv_that_does_nothing_is_named(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """It says that it succeeded; the disk says otherwise, and so does the message."""
    fake_uv(tmp_path, world, script="exit 0", makes=False)
    needy = new_skill("needy", dependencies=("acme-tool",))
    report = world.ensure(needy, new_skill("plain"))
    assert "made no virtual environment" in report.failed[needy.identity].reason
    assert [*report.failed] == [needy.identity]


def test_re03_the_same_failure_reads_the_same(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """Else every reload would report that something changed."""
    script = 'for word; do echo "error: cannot make $word" >&2; done; exit 2'
    fake_uv(tmp_path, world, script=script, makes=False)
    needy = new_skill("needy", dependencies=("acme-tool",))
    reasons = {
        world.ensure(needy, retry=True).failed[needy.identity].reason for _ in range(3)
    }
    assert len(reasons) == 1


def test_re03_a_disk_that_refuses_reads_the_same(world: Any, new_skill: Any) -> None:
    """Names of drafts differ from one time to the next and are not quoted."""
    root = world.environment.root
    (root / "current").mkdir(parents=True)
    world.publish("acme-tool", "1.0")
    needy = new_skill("needy", dependencies=("acme-tool",))
    reasons = {world.ensure(needy).failed[needy.identity].reason for _ in range(3)}
    assert len(reasons) == 1
