"""What was tried in vain is remembered where no generation could remember it."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import filelock
import pytest

from prime_skills_ext.environment import facts, locking
from prime_skills_ext.environment.attempts import ATTEMPT, MAX_AGE_S
from prime_skills_ext.environment.venv import locate
from prime_skills_ext.progress import ProgressEvent
from tests.environment.conftest import fake_uv, rewrite

pytestmark = pytest.mark.integration


@pytest.fixture
def hanging(tmp_path: Path, world: Any, calls: list[str]) -> list[str]:
    """A uv that hangs: every call of it."""
    fake_uv(tmp_path, world, script="exec sleep 600", makes=False)
    world.environ["PRIME_SKILLS_UV_TIMEOUT"] = "0.5"
    return calls


def age(world: Any, *, seconds: float) -> None:
    path = world.environment.root / ATTEMPT
    data = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**data, "time": time.time() - seconds}), "utf-8")


def test_hanging_uv_costs_its_limit_once(
    world: Any, new_skill: Any, hanging: list[str]
) -> None:
    """The next load tells the same at once; who needs nothing works both times."""
    skills = [new_skill("plain"), new_skill("needy", dependencies=("acme-tool",))]
    first, second = world.ensure(*skills), world.ensure(*skills)
    assert 1 == len(hanging)
    assert (first.failed, first.problem) == (second.failed, second.problem)
    assert ["needy"] == [path.parent.name for path in second.failed]
    assert second.problem is not None
    assert "did not end within 0.5 s" in second.problem.reason
    assert second.problem.fix.endswith("%reload_skills --retry")


def test_remembered_attempt_is_made_again_when_something_changed(
    tmp_path: Path, world: Any, new_skill: Any, hanging: list[str]
) -> None:
    """When asked, with other skills, other requirements, other limits, another uv."""
    skill = new_skill("needy", dependencies=("acme-tool",))
    world.ensure(skill)
    world.ensure(skill, retry=True)
    assert 2 == len(hanging)
    world.ensure(skill, new_skill("other"))
    assert 3 == len(hanging)
    rewrite(skill, "acme-tool", "acme-tools")
    world.ensure(skill)
    assert 4 == len(hanging)
    world.environ["PRIME_SKILLS_UV_TIMEOUT"] = "0.4"
    world.ensure(skill)
    assert 5 == len(hanging)
    age(world, seconds=10 * MAX_AGE_S)
    world.ensure(skill)
    assert 5 == len(hanging)
    world.publish("acme-tools", "1.0")
    del world.environ["PRIME_SKILLS_UV"], world.environ["PRIME_SKILLS_UV_TIMEOUT"]
    assert {} == dict(world.ensure(skill).failed)
    assert not (world.environment.root / ATTEMPT).exists()


def test_attempt_is_another_one_with_another_uv_kernel_or_runtime(
    tmp_path: Path,
    world: Any,
    new_skill: Any,
    hanging: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each of them may end it otherwise."""
    skill = new_skill("needy", dependencies=("acme-tool",))
    world.ensure(skill)
    uv = Path(world.environ["PRIME_SKILLS_UV"])
    uv.write_text(uv.read_text(encoding="utf-8") + "# newer\n", encoding="utf-8")
    world.ensure(skill)
    assert len(hanging) == 2
    (tmp_path / "site-packages").mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "site-packages")])
    world.ensure(skill)
    assert len(hanging) == 3
    monkeypatch.setattr(facts, "runtime_identity", lambda: "another")
    world.ensure(skill)
    assert len(hanging) == 4
    world.ensure(skill)
    assert len(hanging) == 4


def test_remembered_attempt_waits_for_nobody(
    world: Any, new_skill: Any, hanging: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who has nothing to try takes no lock."""
    skill = new_skill("needy", dependencies=("acme-tool",))
    first = world.ensure(skill)
    monkeypatch.setattr(locking, "PATIENCE_S", 0.05)
    monkeypatch.setattr(locking, "LIMIT_S", 0.1)
    with filelock.FileLock(world.environment.root / locking.LOCK):
        assert first == world.ensure(skill)


def test_attempt_that_ended_while_others_waited_counts_for_them(
    world: Any, new_skill: Any, hanging: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four kernels that start at once wait for a hanging uv once, not one by one."""
    skill = new_skill("needy", dependencies=("acme-tool",))
    first = world.ensure(skill)
    memory = world.environment.root / ATTEMPT
    text = memory.read_text(encoding="utf-8")
    memory.unlink()
    lock = filelock.FileLock(world.environment.root / locking.LOCK)

    def end(event: ProgressEvent) -> None:
        if event.stage == "waiting":
            memory.write_text(text, encoding="utf-8")
            lock.release()

    monkeypatch.setattr(locking, "PATIENCE_S", 0.05)
    world.told = type("Told", (list,), {"append": staticmethod(end)})()
    with lock:
        assert first == world.ensure(skill)
    assert len(hanging) == 1


def test_want_of_a_network_is_believed_for_ten_minutes(
    tmp_path: Path, world: Any, new_skill: Any, calls: list[str]
) -> None:
    """It comes back by itself, and nobody has to ask for another try then."""
    script = "echo 'error: dns error' >&2; exit 2"
    fake_uv(tmp_path, world, script=script, makes=False)
    skill = new_skill("needy", dependencies=("acme-tool",))
    for _ in range(2):
        assert "dns error" in world.ensure(skill).failed[skill.identity].reason
    assert 1 == len(calls)
    age(world, seconds=MAX_AGE_S - 60)
    world.ensure(skill)
    assert 1 == len(calls)
    age(world, seconds=MAX_AGE_S + 1)
    world.ensure(skill)
    assert 2 == len(calls)
    age(world, seconds=-3600)  # the clock was set back
    world.ensure(skill)
    assert 3 == len(calls)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"schema": 1}', '{"schema": 1, "maxAge": "x", "time": 0}']
)
def test_damaged_memory_is_none(
    world: Any, new_skill: Any, hanging: list[str], text: str
) -> None:
    """It may be deleted or damaged at any time, and costs another try."""
    skill = new_skill("needy", dependencies=("acme-tool",))
    world.ensure(skill)
    (world.environment.root / ATTEMPT).write_text(text, encoding="utf-8")
    world.ensure(skill)
    assert 2 == len(hanging)
    world.ensure(skill)
    assert 2 == len(hanging)


def test_own_mode_asks_again_after_ten_minutes(
    world: Any, new_skill: Any, hanging: list[str]
) -> None:
    """There is no kernel of its own yet in which somebody could ask for a retry."""
    place = world.environment.base.parents[1]
    world.environment = locate(mode="own", agent_directory=place, environ=world.environ)
    skill = new_skill("plain")
    reports = [world.ensure(skill) for _ in range(2)]
    assert [None, None] == [report.generation for report in reports]
    assert reports[0].problem == reports[1].problem
    assert 1 == len(hanging)
    age(world, seconds=MAX_AGE_S + 1)
    world.ensure(skill)
    assert 2 == len(hanging)
