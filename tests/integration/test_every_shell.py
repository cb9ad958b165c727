"""What must hold in ipykernel 7, in ipykernel 6 and in a terminal alike."""

from __future__ import annotations

import json
import os
import re
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import write_skill
from tests.integration.conftest import REPOSITORY
from tests.integration.drivers import Driver, Terminal

pytestmark = pytest.mark.integration

WORD_COUNT = '''
    from collections import Counter

    TOP = 3

    async def run(text: str, top: int | None = None) -> dict[str, int]:
        """Count the most frequent words."""
        return dict(Counter(text.split()).most_common(top or TOP))
'''
#: A module beside the notebook: what it remembers is no name of the user's.
PROBE = f"""
import copy, inspect, json, pickle, pydoc, re, sys
from pathlib import Path

import cloudpickle

if {str(REPOSITORY)!r} not in sys.path:  # the editable install may have it there
    sys.path.append({str(REPOSITORY)!r})
from tests.doors import picture

seen = {{}}

def see(name):
    shown = picture(get_ipython())
    # the shell's own record of cells grows with each of them
    is_record = re.compile("_|In$|Out$").match
    shown["names"] = {{k: v for k, v in shown["names"].items() if not is_record(k)}}
    shown["hidden"] = [key for key in shown["hidden"] if not is_record(key)]
    seen[name] = shown

def counts(name):
    return {{
        key: len(value) if hasattr(value, "__len__") else value
        for key, value in dict(seen[name], PATH=seen[name]["PATH"].split(":")).items()
    }}

def differences(first, second):
    return sorted(k for k in seen[first] if seen[first][k] != seen[second][k])

def recounted(first, second):
    one, two = counts(first), counts(second)
    return sorted(key for key in one if one[key] != two[key])

def shown_by_help(thing):
    return pydoc.plain(pydoc.render_doc(thing))

def shown_by_shell(name):
    return re.sub(r"\\x1b\\[[0-9;]*m", "", get_ipython().object_inspect_text(name))

get_ipython = None
"""


@pytest.fixture
def skills(home: Path) -> Path:
    """The user's folder of skills, with one in it."""
    root = home / ".agents" / "skills"
    write_skill(root, "word-count", python=WORD_COUNT)
    return root


@pytest.fixture
def probed(shell: Driver, skills: Path, project: Path) -> Driver:
    """A shell with the names ``json`` and ``probe``, before the extension."""
    (project / "probe.py").write_text(PROBE, encoding="utf-8")
    # IPython registers its own magics when one of them is first used
    done = shell.run(
        "import json, probe; probe.get_ipython = get_ipython; "
        "_ = get_ipython().find_line_magic('load_ext')"
    )
    assert done.error is None, done.error
    return shell


def ask(shell: Driver, expression: str) -> Any:
    """The value of an expression that may await."""
    outcome = shell.run(f"print('>>>>' + json.dumps({expression}))")
    found = re.search(r"^.*?>>>>(.*)$", outcome.stdout, flags=re.MULTILINE)
    assert found, outcome
    return json.loads(found[1])


def test_re07_loads_reloads_and_an_unload_leave_exactly_what_they_should(
    probed: Driver,
) -> None:
    """KB-08: magics, hooks, finders, paths, names, handlers, classes are counted."""
    probed.run("probe.see('before')")
    probed.run("%load_ext prime_skills_ext")
    assert {"a": 1} == ask(probed, "await word_count('a')")
    probed.run("probe.see('once')")
    added = set(ask(probed, "probe.differences('before', 'once')"))
    wanted = {"magics", "matchers", "formatters", "finders", "names", "PATH"}
    assert {*wanted, "inspector", "classes", "transforms"} <= added
    assert set() == added & {"signals", "patches", "dispatch"}
    probed.run("%load_ext prime_skills_ext")
    probed.run("probe.see('twice')")
    assert [] == ask(probed, "probe.differences('once', 'twice')")
    for _ in range(3):
        probed.run("%reload_ext prime_skills_ext")
    probed.run("probe.see('reloaded')")
    assert [] == ask(probed, "probe.recounted('once', 'reloaded')")
    probed.run("%unload_ext prime_skills_ext")
    probed.run("probe.see('after')")
    assert [] == ask(probed, "probe.differences('before', 'after')")
    assert not ask(probed, "'word_count' in globals()")


def test_lazy_imports_begin_with_the_first_use_and_leave_nothing(
    probed: Driver,
) -> None:
    """``SkillManager.imports``, as a profile sets it: used, looked at and unloaded."""
    probed.run("get_ipython().config.SkillManager.imports = 'lazy'")
    probed.run("probe.see('before')")
    probed.run("%load_ext prime_skills_ext")
    assert not ask(probed, "'word_count' in probe.sys.modules")
    assert "Count the most frequent" in ask(
        probed, "probe.shown_by_shell('word_count')"
    )
    assert {"a": 2} == ask(probed, "await word_count('a b a', top=1)")
    probed.run("%unload_ext prime_skills_ext")
    probed.run("probe.see('after')")
    assert [] == ask(probed, "probe.differences('before', 'after')")


def test_mx04_the_first_cell_can_be_run_again(shell: Driver, skills: Path) -> None:
    """IPython says its one line; we add nothing, and nothing breaks."""
    first = shell.run("%load_ext prime_skills_ext")
    assert ("", "") == (first.stdout.strip(), first.stderr)
    again = [shell.run("%load_ext prime_skills_ext") for _ in range(2)]
    assert again[0].stdout == again[1].stdout
    said = [line for line in again[0].stdout.splitlines() if line]
    assert ["already loaded" in line for line in said][:1] == [True]
    assert len(said) <= 2, said
    assert "{'a': 2}" in shell.run("print(await word_count('a b a', top=1))").stdout


def test_kb09_pickle_cloudpickle_and_deepcopy_give_the_same_skill(
    probed: Driver,
) -> None:
    """And a function of the user's that mentions the skill can be sent away."""
    probed.run("%load_ext prime_skills_ext")
    for same in (
        "pickle.loads(probe.pickle.dumps(word_count)) is word_count",
        "pickle.loads(probe.cloudpickle.dumps(word_count)) is word_count",
        "copy.deepcopy({'m': word_count})['m'] is word_count",
        "copy.copy(word_count) is word_count",
    ):
        assert ask(probed, f"probe.{same}"), same
    probed.run("mine = lambda: word_count.TOP")
    assert 3 == ask(probed, "probe.pickle.loads(probe.cloudpickle.dumps(mine))()")


def test_w1_patching_a_module_attribute_changes_what_run_sees(probed: Driver) -> None:
    """One object, one namespace, however it is reached."""
    probed.run("%load_ext prime_skills_ext")
    probed.run("import word_count as module; from word_count import run")
    probed.run("word_count.TOP = 1")
    assert ask(probed, "module is word_count and run is word_count.run")
    assert {"a": 2} == ask(probed, "await word_count('a b a')")
    assert {"a": 2} == ask(probed, "await run('a b a')")


def test_kb04_signature_and_help_are_those_of_run(probed: Driver) -> None:
    """``inspect.signature``, ``help`` and ``skill?``'s inspector agree."""
    signature = "(text: str, top: int | None = None) -> dict[str, int]"
    probed.run("%load_ext prime_skills_ext")
    assert signature == ask(probed, "str(probe.inspect.signature(word_count))")
    helped = ask(probed, "probe.shown_by_help(word_count)")
    asked = ask(probed, "probe.shown_by_shell('word_count')")
    for said in (helped, asked):
        assert "Count the most frequent words." in said
        assert signature in said


def test_kb07_names_of_the_user_and_of_python_keep_their_meaning(
    probed: Driver, skills: Path
) -> None:
    """The mapping reaches every skill, those that are not bound among them."""
    for name in ("json", "class"):
        write_skill(skills, name, python=f"def run(): return 'skill {name}'")
    write_skill(skills, "mine", python="def run(): return 'skill mine'")
    write_skill(skills, "notes")
    write_skill(skills, "broken", python="1 / 0")
    probed.run("mine = ['of the user']")
    probed.run("%load_ext prime_skills_ext")
    assert ["of the user"] == ask(probed, "mine")
    for name in ("json", "class", "mine"):
        assert f"skill {name}" == ask(probed, f"await skills[{name!r}]()")
    builtin = ["edit", "skill-creator", "websearch"]
    own = ["broken", "class", "json", "mine", "notes", "word-count"]
    assert sorted(own + builtin) == ask(probed, "list(skills)")
    probed.run("%unload_ext prime_skills_ext")
    assert ["of the user"] == ask(probed, "mine")


@pytest.mark.network
def test_kb01_a_skill_added_to_a_running_shell_works_at_once(
    probed: Driver, tmp_path: Path
) -> None:
    """Whichever way it is installed; ten reloads later no path is there twice."""
    extra = tmp_path / "extra"
    write_skill(extra, "by-path", python="def run(): return 'path'")
    write_skill(
        extra,
        "by-setup",
        python="def run(): return 'setup'",
        backend="setuptools",
        files={"setup.py": "from setuptools import setup\nsetup()\n"},
    )
    write_skill(
        extra,
        "by-need",
        python="import bs4\ndef run(): return bs4.__name__",
        dependencies=("beautifulsoup4",),
    )
    probed.run("%load_ext prime_skills_ext")
    probed.run(f"%skill add {extra}")
    assert ["path", "setup", "bs4"] == ask(
        probed, "[await by_path(), await by_setup(), await by_need()]"
    )
    probed.run("probe.see('added')")
    for _ in range(10):
        probed.run("%reload_skills")
    probed.run("probe.see('later')")
    assert [] == ask(probed, "probe.differences('added', 'later')")
    assert ask(probed, "len(set(probe.sys.path)) == len(probe.sys.path)")


def test_reload_takes_up_added_removed_and_edited_skills(
    probed: Driver, skills: Path
) -> None:
    """RE-01, RE-02: submodules and edits of the same second and length included."""
    folder = write_skill(
        skills,
        "deep",
        python="from .core import run",
        files={"src/deep/core.py": "def run(): return 1\n"},
    )
    probed.run("%load_ext prime_skills_ext")
    assert 1 == ask(probed, "await deep()")
    for number in range(2, 6):
        core = folder / "src" / "deep" / "core.py"
        core.write_text(f"def run(): return {number}\n", encoding="utf-8")
        assert "~1 deep" in repr(probed.run("%reload_skills"))
        assert number == ask(probed, "await deep()")
    write_skill(skills, "late", python="def run(): return 'late'")
    assert "+1 late" in repr(probed.run("%reload_skills"))
    assert "late" == ask(probed, "await late()")
    (skills / "late").rename(skills.parents[1] / "late")
    assert "-1 late" in repr(probed.run("%reload_skills"))
    assert "removed" in ask(probed, "repr(late)")


def test_mx02_a_trailing_question_mark_is_ipythons_and_help_says_so(
    shell: Driver,
) -> None:
    """The line never reaches the magic; nothing breaks; the rule is written down."""
    shell.run("%load_ext prime_skills_ext")
    asked = shell.run("%skill show edit what is this?")
    assert "usage" not in asked.stdout.lower()
    helped = shell.run("%skill?")
    assert "question mark" in (helped.stdout + "".join(helped.pages))
    assert "alive" in shell.run("print('alive')").stdout


def test_mx03_a_magic_gives_its_value(probed: Driver) -> None:
    """What is assigned is the value, never a coroutine; nothing is printed."""
    probed.run("%load_ext prime_skills_ext")
    assigned = probed.run("table = %skill list --json")
    assert ("", None) == (assigned.stdout.strip(), assigned.error)
    assert "word-count" in ask(probed, "[x['name'] for x in table['skills']]")


def test_mx06_an_interrupt_while_uv_works_leaves_nothing_half_loaded(
    probed: Driver, project: Path, skills: Path, tmp_path: Path
) -> None:
    """The child is killed, the shell is as before, and the next load works."""
    started = tmp_path / "started"
    os.mkfifo(started)
    slow = tmp_path / "slow-uv"
    slow.write_text(f"#!/bin/sh\necho $$ > '{started}'\nexec sleep 600\n")
    slow.chmod(0o755)
    told: list[str] = []

    def interrupt() -> None:
        # opening it waits until uv writes
        told.append(started.read_text())
        probed.interrupt()

    probed.run(f"import os; os.environ['PRIME_SKILLS_UV'] = {str(slow)!r}")
    probed.run("probe.see('before')")
    finger = threading.Thread(target=interrupt)
    finger.start()
    stopped = probed.run("%load_ext prime_skills_ext")
    finger.join()
    assert "KeyboardInterrupt" in (stopped.error or "")
    assert not Path(f"/proc/{told[0].strip()}").exists()
    probed.run("probe.see('after')")
    assert [] == ask(probed, "probe.differences('before', 'after')")
    probed.run("del os.environ['PRIME_SKILLS_UV']")
    probed.run("%load_ext prime_skills_ext")
    assert {"a": 1} == ask(probed, "await word_count('a')")


@pytest.mark.parametrize("work", ["while seconds: pass", "time.sleep(seconds)"])
def test_ctrl_c_in_a_terminal_ends_a_skill(
    work: str, project: Path, skills: Path, tmp_path: Path
) -> None:
    """The call ends with it; skill and shell can be used again."""
    started = tmp_path / "started"
    os.mkfifo(started)
    write_skill(
        skills,
        "works",
        python=f"""
            import time
            from pathlib import Path
            def run(path: str, seconds: int) -> str:
                Path(path).write_text("now")
                {work}
                return "done"
        """,
    )
    with Terminal(project) as shell:

        def interrupt() -> None:
            started.read_text()
            shell.interrupt()

        shell.run("%load_ext prime_skills_ext")
        finger = threading.Thread(target=interrupt)
        finger.start()
        stopped = shell.run(f"await works({str(started)!r}, 600)")
        finger.join()
        assert "KeyboardInterrupt" in (stopped.error or "")
        assert "done" in shell.run("await works('/dev/null', 0)").stdout
