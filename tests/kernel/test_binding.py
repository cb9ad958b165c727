"""Names in a namespace: whose they are, and that they come out again."""

from __future__ import annotations

import keyword
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from prime_skills_ext.catalog.status import Problem
from prime_skills_ext.errors import SkillUnavailableError
from prime_skills_ext.kernel.binding import Binder
from prime_skills_ext.kernel.callable_module import CallableSkill
from prime_skills_ext.kernel.importing import Refusal
from prime_skills_ext.kernel.placeholder import UnavailableSkill
from prime_skills_ext.kernel.skills import Lazy

RUN = "def run(text='x'):\n    return text * 2\n"
UNTRUSTED = Problem(state="untrusted", reason="nobody trusts it", fix="%skill trust")


async def test_a_skill_is_bound_under_its_import_name(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """Hyphens become underscores and the name can be awaited."""
    skill = new_skill("word-count", RUN)
    bindings = binder.bind([skill])
    assert bindings.names == {skill.identity: "word_count"}
    assert await user_ns["word_count"]("ab") == "abab"


def test_bound_names_are_hidden_from_who(
    shell: InteractiveShell, new_binder: Any, new_skill: Any
) -> None:
    """``%who`` shows the user's names only (KB-08)."""
    binder = new_binder(shell.user_ns, shell.user_ns_hidden)
    binder.bind([new_skill("hidden-one", RUN)])
    shell.user_ns["mine"] = 1
    assert shell.run_line_magic("who_ls", "") == ["mine"]


def test_kb08_unbind_removes_what_is_ours_alone(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """A name that the user rebound stays, the others go."""
    binder.bind([new_skill("kept", RUN), new_skill("gone", RUN)])
    user_ns["kept"] = 1
    binder.unbind()
    assert user_ns == {"kept": 1}


def test_kb08_unbind_restores_import_state_exactly(
    new_binder: Any, new_skill: Any
) -> None:
    """``sys.meta_path``, ``sys.modules`` and module classes are as before."""
    meta_path, modules = list(sys.meta_path), set(sys.modules)
    user_ns: dict[str, Any] = {}
    binder = new_binder(user_ns)
    binder.bind([new_skill("exact-one", RUN), new_skill("json", RUN)])
    module = user_ns["exact_one"]
    binder.unbind()
    assert list(sys.meta_path) == meta_path
    assert set(sys.modules) == modules
    assert type(module) is ModuleType


def test_kb08_reset_and_bind_restore_the_names(
    shell: InteractiveShell, new_binder: Any, new_skill: Any
) -> None:
    """After ``%reset -f`` binding again brings the same objects back."""
    skill = new_skill("resettable", RUN)
    binder = new_binder(shell.user_ns, shell.user_ns_hidden)
    binder.bind([skill])
    before = shell.user_ns["resettable"]
    shell.run_line_magic("reset", "-f")
    assert "resettable" not in shell.user_ns
    binder.bind([skill], reload=True)
    assert shell.user_ns["resettable"] is before
    assert shell.run_line_magic("who_ls", "") == []


def test_kb07_a_name_of_the_user_is_left_alone(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """It is reported with the way out, which works."""
    skill = new_skill("edit", RUN)
    user_ns["edit"] = 5
    bindings = binder.bind([skill])
    assert user_ns["edit"] == 5
    assert bindings.names == {skill.identity: 'skills["edit"]'}
    assert bindings.problems[skill.identity].state == "name-taken"
    assert 'skills["edit"]' in bindings.problems[skill.identity].fix
    assert binder.skills["edit"] is bindings.values[skill.identity]


def test_kb07_a_name_rebound_after_load_is_the_users(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """Also when it was ours before, and it is ours again once it is free."""
    skill = new_skill("taken", RUN)
    binder.bind([skill])
    user_ns["taken"] = 5
    assert binder.bind([skill]).problems[skill.identity].state == "name-taken"
    assert user_ns["taken"] == 5
    del user_ns["taken"]
    assert binder.bind([skill]).names == {skill.identity: "taken"}


@pytest.mark.parametrize(
    ("name", "owner"),
    [
        ("json", "a module of the standard library"),
        ("select", "a module of the standard library"),
        ("print", "a builtin of Python"),
        ("exit", "a name of IPython"),
        ("display", "a name of IPython"),
        ("In", "a name of IPython"),
        ("class", "a keyword of Python"),
        ("await", "a keyword of Python"),
        ("match", "a keyword of Python"),
        ("_", "a keyword of Python"),
        ("pytest", "a module that is already loaded from somewhere else"),
        ("nbval_pretend", None),
    ],
)
async def test_kb07_names_of_others_are_loaded_privately(
    name: str,
    owner: str | None,
    binder: Binder,
    user_ns: dict[str, Any],
    new_skill: Any,
) -> None:
    """They are not bound, are reached through ``skills`` and say why."""
    assert keyword.iskeyword(name) == (name in {"class", "await"})
    before = sys.modules.get(name)
    skill = new_skill(name, RUN)
    bindings = binder.bind([skill])
    assert await binder.skills[name]("ab") == "abab"  # type: ignore[operator]
    if owner is None:
        assert name in user_ns
        return
    assert name not in user_ns
    assert sys.modules.get(name) is before
    assert bindings.names == {skill.identity: f'skills["{name}"]'}
    assert [d.code for d in bindings.diagnostics] == ["private-name"]
    assert owner in bindings.diagnostics[0].message


def test_kb07_a_name_that_the_environment_provides_is_private(
    binder: Binder,
    user_ns: dict[str, Any],
    new_skill: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Installed but not imported modules keep their names; the overlay's do not."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "provided.py").write_text("")
    monkeypatch.syspath_prepend(site)
    skill = new_skill("provided", RUN)
    first = binder.bind([skill])
    assert "this kernel's environment provides" in first.diagnostics[0].message
    assert "provided" not in user_ns
    second = binder.bind([skill], ignored=[site])
    assert second.names == {skill.identity: "provided"}


def test_kb07_the_working_directory_does_not_count(
    binder: Binder,
    user_ns: dict[str, Any],
    new_skill: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A file beside the notebook neither hides a skill nor takes its place."""
    (tmp_path / "beside.py").write_text("raise AssertionError")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), *sys.path])
    skill = new_skill("beside", RUN)
    assert binder.bind([skill]).names == {skill.identity: "beside"}


def test_binding_works_in_a_working_directory_that_is_gone(
    binder: Binder, new_skill: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A vanished directory breaks nothing."""
    here = tmp_path / "vanishing"
    here.mkdir()
    monkeypatch.chdir(here)
    here.rmdir()
    skill = new_skill("steady", RUN)
    assert binder.bind([skill]).names == {skill.identity: "steady"}


def test_a_private_skill_that_needs_its_own_name_says_so(
    binder: Binder, new_skill: Any
) -> None:
    """``import json.helper`` cannot mean the skill: import-failed with that reason."""
    skill = new_skill("json", "from json.helper import run\n", helper=RUN)
    reason = binder.bind([skill]).problems[skill.identity].reason
    assert reason == (
        "it imports itself as `json`, which is a module of the standard library"
    )
    other = new_skill("select", "import select\nrun = select.own_run\n")
    reason = binder.bind([other]).problems[other.identity].reason
    assert reason.startswith("it imports itself as `select`")


def test_a_private_skill_that_fails_otherwise_says_that(
    binder: Binder, new_skill: Any
) -> None:
    """Only errors about its own name are explained by the name."""
    skill = new_skill("json", "1 / 0\n")
    problem = binder.bind([skill]).problems[skill.identity]
    assert problem.reason == "ZeroDivisionError: division by zero"


def test_two_skills_with_one_import_name_do_not_mix(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """The second one is private."""
    first = new_skill("same", "WHO = 1\n")
    second = new_skill("same", "WHO = 2\n", root="elsewhere")
    binder.bind([first, second])
    assert user_ns["same"].WHO == 1
    assert [
        m.WHO for n, m in sys.modules.items() if n.startswith("_prime_skills.same")
    ] == [2]


def test_a_skill_called_skills_does_not_take_the_mapping(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """It is reached through the mapping."""
    skill = new_skill("skills", RUN)
    bindings = binder.bind([skill])
    assert user_ns["skills"] is binder.skills
    assert bindings.problems[skill.identity].state == "name-taken"
    assert binder.skills["skills"] is bindings.values[skill.identity]


def test_the_mapping_leaves_a_users_skills_alone(
    binder: Binder, user_ns: dict[str, Any]
) -> None:
    """``skills`` is bound unless the name is taken."""
    user_ns["skills"] = ["mine"]
    binder.bind([])
    assert user_ns["skills"] == ["mine"]


async def test_kb12_what_a_module_without_run_becomes(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """No ``run``: a plain module. A submodule of that name is no ``run``."""
    binder.bind(
        [
            new_skill("library", "def other():\n    return 1\n"),
            new_skill(
                "sub-run", "from sub_run.run import helper\n", run="helper = 1\n"
            ),
        ]
    )
    assert type(user_ns["library"]) is ModuleType
    assert type(user_ns["sub_run"]) is ModuleType


def test_kb12_a_run_that_cannot_be_called_is_a_diagnostic(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """``run = 5`` binds a placeholder that says so."""
    skill = new_skill("five", "run = 5\n")
    problem = binder.bind([skill]).problems[skill.identity]
    assert problem.state == "import-failed"
    assert problem.reason == "TypeError: `run` is not a function but 5"
    assert isinstance(user_ns["five"], UnavailableSkill)


def test_a_problem_that_is_passed_in_is_what_the_placeholder_says(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any, tmp_path: Path
) -> None:
    """Nothing of such a skill is executed, and importing it says why."""
    marker = tmp_path / "ran"
    skill = new_skill("locked", f"open({str(marker)!r}, 'w')\n")
    bindings = binder.bind([skill], problems={skill.identity: UNTRUSTED})
    with pytest.raises(SkillUnavailableError, match="nobody trusts it"):
        user_ns["locked"]()
    with pytest.raises(ImportError, match="nobody trusts it"):
        import locked  # type: ignore[import-not-found]  # noqa: F401
    assert bindings.problems == {}
    assert not marker.exists()


def test_an_untrusted_skill_does_not_keep_the_users_module_away(
    binder: Binder, new_skill: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refusal of untrusted code refuses that code, not the name."""
    (tmp_path / "utilities.py").write_text("MINE = True\n")
    monkeypatch.syspath_prepend(tmp_path)
    skill = new_skill("utilities", RUN)
    binder.bind(
        [], refused={"utilities": Refusal(problem=UNTRUSTED, src=skill.python.src)}
    )
    import utilities  # type: ignore[import-not-found]

    monkeypatch.delitem(sys.modules, "utilities")
    assert utilities.MINE


def test_a_refused_name_is_not_imported_from_a_stale_path_entry(
    binder: Binder, new_skill: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An old ``.pth`` entry does not bring refused code in."""
    skill = new_skill("stale-path", RUN)
    monkeypatch.syspath_prepend(skill.python.src)
    binder.bind(
        [], refused={"stale_path": Refusal(problem=UNTRUSTED, src=skill.python.src)}
    )
    with pytest.raises(ImportError, match="untrusted"):
        import stale_path  # type: ignore[import-not-found]  # noqa: F401


async def test_load_private_serves_a_skill_that_lost_its_name(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """It is imported when asked for, reloaded with the rest, and never bound."""
    winner = new_skill("doubled", "def run(): return 'winner'\n")
    loser = new_skill("doubled", "def run(): return 'loser'\n", root="lower")
    values = {"doubled@user": Lazy(make=lambda: binder.load_private(loser))}
    binder.bind([winner], values=values)
    shadowed: Any = binder.skills["doubled@user"]
    assert (await user_ns["doubled"](), await shadowed()) == ("winner", "loser")
    (loser.python.src / "doubled/__init__.py").write_text(
        "def run(): return 'edited'\n"
    )
    binder.bind([winner], values=values, reload=True)
    assert await shadowed() == "edited"


def test_load_private_of_a_broken_skill_is_a_placeholder(
    binder: Binder, new_skill: Any
) -> None:
    """The same as for a winner, and tried again at reload."""
    broken = new_skill("half", "1/0\n")
    assert isinstance(binder.load_private(broken), UnavailableSkill)
    (broken.python.src / "half/__init__.py").write_text("def run(): return 1\n")
    binder.bind([], reload=True)
    assert isinstance(binder.load_private(broken), CallableSkill)


def test_bindings_tell_time_and_output(binder: Binder, new_skill: Any) -> None:
    """Each import is measured and what it printed is kept."""
    skill = new_skill("chatty", "print('hello')\n" + RUN)
    bindings = binder.bind([skill])
    assert bindings.output == {skill.identity: "hello\n"}
    assert bindings.seconds[skill.identity] > 0


async def test_w5_a_skill_called_like_a_module_that_all_import_is_private(
    binder: Binder, new_skill: Any, tmp_path: Path
) -> None:
    """``rlm`` is what skills reach their host by; no skill takes its place."""
    runtime = tmp_path / "runtime" / "src"
    (runtime / "rlm").mkdir(parents=True)
    (runtime / "rlm" / "__init__.py").write_text("WHO = 'runtime'\n", encoding="utf-8")
    taker = new_skill("rlm", "WHO = 'skill'\ndef run(): return WHO\n")
    user = new_skill("uses-rlm", "import rlm\ndef run(): return rlm.WHO\n")
    bindings = binder.bind([taker, user], modules={"rlm": runtime})
    assert bindings.names[taker.identity] == 'skills["rlm"]'
    assert await binder.skills["rlm"]() == "skill"  # type: ignore[operator]
    assert await binder.skills["uses-rlm"]() == "runtime"  # type: ignore[operator]


def test_a_placeholder_goes_when_its_name_turns_out_to_be_somebody_elses(
    binder: Binder,
    user_ns: dict[str, Any],
    new_skill: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It would say for ever what was wrong before."""
    skill = new_skill("late-clash", RUN)
    binder.bind([skill], problems={skill.identity: UNTRUSTED})
    assert isinstance(user_ns["late_clash"], UnavailableSkill)
    (tmp_path / "installed").mkdir()
    (tmp_path / "installed" / "late_clash.py").touch()
    monkeypatch.syspath_prepend(tmp_path / "installed")
    bindings = binder.bind([skill])
    assert {skill.identity: 'skills["late-clash"]'} == bindings.names
    assert "late_clash" not in user_ns
