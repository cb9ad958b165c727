"""What a model may use: marked cells in real kernels, the host played by the test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import write_skill
from tests.integration.drivers import Kernel, Outcome

pytestmark = pytest.mark.integration

RUN = "async def run(word='a'):\n    return word * 2\n"
#: Every combination of what a header may forbid: not for the model, not for people.
KINDS = {
    "for-all": "",
    "for-people": "disable-model-invocation: true\n",
    "for-models": "user-invocable: false\n",
    "for-nobody": "disable-model-invocation: true\nuser-invocable: false\n",
}
#: `user-invocable: false` keeps a person from invoking by name, not from calling.
MAY_CALL = {
    ("for-all", "model"): True,
    ("for-all", "user"): True,
    ("for-people", "model"): False,
    ("for-people", "user"): True,
    ("for-models", "model"): True,
    ("for-models", "user"): True,
    ("for-nobody", "model"): False,
    ("for-nobody", "user"): True,
}


def write(root: Path, name: str, header: str = "", *, python: str = RUN) -> Path:
    front = f"name: {name}\ndescription: Doubles a word.\n{header}"
    return write_skill(root, name, frontmatter=front, python=python)


@pytest.fixture
def skills(home: Path) -> Path:
    """The user's skills: one of each kind."""
    root = home / ".agents" / "skills"
    for name, header in KINDS.items():
        write(root, name, header)
    return root


@pytest.fixture
def host(skills: Path, any_kernel: Kernel) -> Kernel:
    """A kernel with those skills."""
    assert skills.is_dir()
    loaded = any_kernel.run("%load_ext prime_skills_ext")
    assert (loaded.error, loaded.stderr) == (None, "")
    return any_kernel


def is_refused(outcome: Outcome, name: str) -> bool:
    """Whether a call was refused for the reason that it is not the model's."""
    if outcome.error is None:
        return False
    assert outcome.error.startswith(f"SkillPermissionError: Skill '{name}' is "), (
        outcome.error
    )
    assert "Fix: ask the user" in outcome.error
    return True


def test_calls_follow_the_table_of_model_and_user(host: Kernel) -> None:
    """Each kind of skill, called by each caller, through each name that it has."""
    for (name, caller), may in MAY_CALL.items():
        ways = (
            f"await {name.replace('-', '_')}('b')",
            f"await skills['{name}']('b')",
            f"skills.run_sync(skills['{name}']('b'))",
        )
        for code in ways:
            done = host.run(code, caller=caller)
            assert is_refused(done, name) is not may, (code, caller)
            assert done.result == ("'bb'" if may else None), (code, caller)


def test_the_caller_counts_when_the_call_is_made(host: Kernel) -> None:
    """Who awaits it later does not matter, nor does a task in the background."""
    host.run("made = for_people('b')", caller="model")
    assert is_refused(host.run("await made"), "for-people")
    host.run("made = for_people('b')")
    assert "'bb'" == host.run("await made", caller="model").result
    host.run(
        "import asyncio\nasync def late(gate):\n    await gate.wait()\n"
        "    return await for_people('b')\ngate = asyncio.Event()"
    )
    host.run("task = asyncio.create_task(late(gate))", caller="model")
    assert is_refused(host.run("gate.set()\nawait task"), "for-people")
    host.run("gate = asyncio.Event()\ntask = asyncio.create_task(late(gate))")
    assert "'bb'" == host.run("gate.set()\nawait task", caller="model").result


def test_what_a_skill_calls_is_called_by_whose_cell_it_is(
    host: Kernel, skills: Path
) -> None:
    """A skill for all does not open one that is for people to a model."""
    code = (
        "import for_people\nasync def run(word):\n    return await for_people(word)\n"
    )
    write(skills, "goes-on", python=code)
    host.run("%reload_skills")
    assert is_refused(host.run("await goes_on('b')", caller="model"), "for-people")
    assert "'bb'" == host.run("await goes_on('b')").result


def test_silent_cells_and_expressions_are_refused_too(host: Kernel) -> None:
    """Nothing of them is shown, but they run."""
    code = "seen = []\nseen.append(await for_people('b'))"
    host.run(code, caller="model", silent=True)
    assert "[]" == host.run("seen").result
    asked = host.run("1", caller="model", expression="skills.run_sync(for_people())")
    assert is_refused(asked, "for-people")


def test_an_edit_of_the_header_counts_from_the_reload_on(
    host: Kernel, skills: Path
) -> None:
    """In both directions, for the object that somebody holds, and after unloading."""
    host.run("held = for_all")
    write(skills, "for-all", KINDS["for-people"])
    host.run("%reload_skills")
    assert is_refused(host.run("await held('b')", caller="model"), "for-all")
    assert "'bb'" == host.run("await held('b')").result
    write(skills, "for-all")
    host.run("%reload_skills")
    assert "'bb'" == host.run("await held('b')", caller="model").result
    host.run("held = for_people\n%unload_ext prime_skills_ext")
    assert "'module'" == host.run("type(held).__name__").result


def test_a_skill_that_lost_its_name_is_guarded(
    project: Path, home: Path, any_kernel: Kernel
) -> None:
    """By a name of Python's (private) and by another skill (`name@source`)."""
    root = home / ".agents" / "skills"
    write(root, "json", KINDS["for-people"])
    write(project / ".agents" / "skills", "twice")
    write(root, "twice", KINDS["for-people"])
    any_kernel.run("%load_ext prime_skills_ext\n%skill trust")
    qualified = "skills['twice@user:.agents/skills']"
    for code, name in (("skills['json']", "json"), (qualified, "twice")):
        done = any_kernel.run(f"await {code}('b')", caller="model")
        assert is_refused(done, name), (code, done)
        assert "'bb'" == any_kernel.run(f"await {code}('b')").result, code
    assert "'bb'" == any_kernel.run("await twice('b')", caller="model").result


def test_a_lazy_skill_is_guarded_before_it_is_imported(
    skills: Path, any_kernel: Kernel
) -> None:
    """Its code does not run for a model that may not call it."""
    write(skills, "for-people", KINDS["for-people"], python=f"print('run!')\n{RUN}")
    any_kernel.run(
        "get_ipython().config.SkillManager.imports = 'lazy'\n"
        "%load_ext prime_skills_ext\nimport sys"
    )
    assert is_refused(
        any_kernel.run("await for_people()", caller="model"), "for-people"
    )
    assert "False" == any_kernel.run("'for_people' in sys.modules").result
    assert "'bb'" == any_kernel.run("await for_people('b')").result
    assert is_refused(
        any_kernel.run("await for_people()", caller="model"), "for-people"
    )


DOORS = (
    "trust", "untrust", "enable for-all", "disable for-all", "add /tmp", "forget /tmp",
    "login serper", "logout serper",
)  # fmt: skip


def test_a_model_may_not_use_the_doors_that_decide(host: Kernel) -> None:
    """What a person decides stays a person's; looking and help are for all."""
    before = host.run("%skill list --json").result
    for words in DOORS:
        refused = host.run(f"%skill {words}", caller="model")
        command = words.split()[0]
        said = f"UsageError: `%skill {command}` is for people"
        assert refused.stderr.startswith(said), (words, refused)
        assert f"Fix: ask the user to run `%skill {words}`" in refused.stderr
    assert before == host.run("%skill list --json", caller="model").result
    for words in ("trust --help", "show for-people", "doctor"):
        assert "" == host.run(f"%skill {words}", caller="model").stderr
    for words in ("disable for-all", "enable for-all"):
        assert "" == host.run(f"%skill {words}").stderr
