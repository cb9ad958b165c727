"""Hooks of skills that are called in a shell: whose run, when, and when no more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from prime_skills_ext.catalog.package_sources import PackageDirectory
from prime_skills_ext.errors import SkillPermissionError
from tests.conftest import Run, write_skill

pytestmark = pytest.mark.usefixtures("place")

TELL = "cat >> told; echo >> told"
RUN = """
async def run(text, top=3):
    if not text:
        raise ValueError("nothing to do")
    return text * top
"""


def write(root: Path, name: str, **events: str) -> Path:
    """Write a skill with one hook for each of some events."""
    header = f"name: {name}\ndescription: Repeats a text.\nhooks:\n"
    for event, command in events.items():
        hook = json.dumps({"type": "command", "command": command})
        header += f"  {event}:\n    - hooks:\n        - {hook}\n"
    if not events:
        header = header.removesuffix("hooks:\n")
    return write_skill(root, name, frontmatter=header, python=RUN)


def told(folder: Path) -> list[dict[str, Any]]:
    """What the hooks found on their stdin."""
    path = folder / "told"
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def mine(home: Path) -> Path:
    """Where the user's skills lie."""
    return home / ".agents" / "skills"


def test_hooks_hear_of_a_call(mine: Path, run: Run) -> None:
    """Its arguments and its result, or its error; by whatever way it is made."""
    events = ("PreToolUse", "PostToolUse", "PostToolUseFailure")
    folder = write(mine, "say-again", **dict.fromkeys(events, TELL))
    run("%load_ext prime_skills_ext")
    assert "aa" == run("await say_again('a', top=2)")
    with pytest.raises(ValueError, match="nothing to do"):
        run("skills.run_sync(skills['say-again'](''))")
    before, after, _, failed = told(folder)
    heard = {"skill": "say-again", "args": ["a"], "kwargs": {"top": 2}}
    assert [heard, heard] == [before["tool_input"], after["tool_input"]]
    assert ("PostToolUse", "aa") == (after["hook_event_name"], after["tool_response"])
    assert "ValueError: nothing to do" == failed["error"]


def test_calls_at_once_have_their_hooks_at_once(mine: Path, run: Run) -> None:
    """Each hook of two calls waits for the other one."""
    meet = "mkdir one 2>/dev/null && { mkfifo gate; : > gate; } || : < gate"
    write(mine, "say-again", PreToolUse=meet)
    run("%load_ext prime_skills_ext\nimport asyncio")
    # the one who comes first makes the gate, and a fifo opens for two
    both = "await asyncio.gather(say_again('a'), late())"
    run(
        "from pathlib import Path\nasync def late():\n"
        f"    gate = Path({str(mine / 'say-again' / 'gate')!r})\n"
        "    while not gate.exists(): await asyncio.sleep(0.01)\n"
        "    return await say_again('b')"
    )
    assert ["aaa", "bbb"] == run(both)


def test_a_hook_refuses_a_call(mine: Path, run: Run) -> None:
    """The skill's code does not run."""
    folder = write(mine, "say-again", PreToolUse="exit 2", PostToolUseFailure=TELL)
    run("%load_ext prime_skills_ext")
    with pytest.raises(SkillPermissionError, match="A hook of skill 'say-again' refu"):
        run("await say_again('')")
    assert [] == told(folder)


def test_hooks_can_be_switched_off_while_the_kernel_runs(mine: Path, run: Run) -> None:
    """From the next call on, and on again."""
    folder = write(mine, "say-again", PreToolUse=TELL)
    run("%load_ext prime_skills_ext\n%config SkillManager.hooks = False")
    run("await say_again('a')")
    assert [] == told(folder)
    run("%config SkillManager.hooks = True\nawait say_again('a')")
    assert 1 == len(told(folder))


def test_an_edit_of_the_hooks_counts_from_the_reload_on(mine: Path, run: Run) -> None:
    """Those that came, those that went; unloading ends them."""
    folder = write(mine, "say-again")
    run("%load_ext prime_skills_ext\nheld = say_again")
    write(mine, "say-again", PreToolUse=TELL)
    run("%reload_skills\nawait held('a')")
    assert 1 == len(told(folder))
    write(mine, "say-again")
    run("%reload_skills\nawait held('a')")
    assert 1 == len(told(folder))
    write(mine, "say-again", PreToolUse=TELL)
    run(
        "%reload_skills\nbare = held.run\n%unload_ext prime_skills_ext\nawait bare('a')"
    )
    assert 1 == len(told(folder))
    assert not callable(run("held"))


def test_hooks_of_a_project_run_when_it_is_trusted(place: Path, run: Run) -> None:
    """Not before, and no more when that is taken back."""
    folder = write(place / ".agents" / "skills", "say-again", PreToolUse=TELL)
    run("%load_ext prime_skills_ext\n%skill trust")
    run("held = say_again\nawait held('a')")
    assert 1 == len(told(folder))
    run("%skill untrust")
    assert not callable(run("held"))
    assert 1 == len(told(folder))


def test_hooks_that_came_with_a_package_never_run(
    tmp_path: Path, run: Run, shell: InteractiveShell
) -> None:
    """Its skills are called without them."""
    root = tmp_path / "packages"
    folder = write(root, "say-again", PreToolUse="exit 2", PostToolUse=TELL)
    run("%load_ext prime_skills_ext")
    manager: Any = shell.find_line_magic("skill").__self__.manager
    package = PackageDirectory(directory=root, provenance="npm:x")
    manager.package_directories.append(package)
    run("%reload_skills")
    assert "aaa" == run("await say_again('a')")
    assert [] == told(folder)
