"""The door in a shell, through a real InteractiveShell."""

from __future__ import annotations

import contextlib
import copy
import inspect
import os
import pickle
import shutil
import sys
from pathlib import Path

import cloudpickle
import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

import prime_skills_ext
from prime_skills_ext.errors import SkillUnavailableError
from prime_skills_ext.holding import RUNTIME
from tests.conftest import MakeSkill, Run
from tests.doors import fresh_shell, picture

WORD_COUNT = '''
    from collections import Counter

    TOP = 3

    async def run(text: str, top: int | None = None) -> dict[str, int]:
        """Count the most frequent words."""
        return dict(Counter(text.split()).most_common(top or TOP))
'''

pytestmark = pytest.mark.usefixtures("place")


@pytest.fixture
def skills(home: Path) -> Path:
    """The user's folder of skills."""
    return home / ".agents" / "skills"


def states(run: Run) -> dict[str, str]:
    """Name to state of every skill of the user and the project."""
    found = run("%skill list --json")["skills"]
    return {
        item["name"]: item["state"] for item in found if item["source"] != "builtin"
    }


def test_load_binds_skills_and_says_nothing(
    run: Run, skills: Path, make_skill: MakeSkill, capsys: pytest.CaptureFixture[str]
) -> None:
    """When all is well a load is silent on both streams."""
    make_skill(skills, "word-count", python=WORD_COUNT)
    run("%load_ext prime_skills_ext")
    said = capsys.readouterr()
    assert {"a": 2} == run('await word_count("a b a", top=1)')
    assert ("", "") == (said.out, said.err)


def test_load_twice_changes_nothing(
    shell: InteractiveShell, run: Run, skills: Path, make_skill: MakeSkill
) -> None:
    """MX-04, RE-07: loading again adds no magic, hook, finder or path."""
    make_skill(skills, "word-count", python=WORD_COUNT)
    run("%load_ext prime_skills_ext")
    once = picture(shell)
    run("%load_ext prime_skills_ext")
    assert once == picture(shell)


def test_re07_the_hooks_themselves_may_be_called_twice(
    shell: InteractiveShell, run: Run, skills: Path, make_skill: MakeSkill
) -> None:
    """Other callers than IPython have no flag that keeps them from it."""
    make_skill(skills, "word-count", python=WORD_COUNT)
    before = picture(shell)
    prime_skills_ext.load_ipython_extension(shell)
    once = picture(shell)
    prime_skills_ext.load_ipython_extension(shell)
    assert once == picture(shell)
    for _ in range(2):
        prime_skills_ext.unload_ipython_extension(shell)
        assert before == picture(shell)


def test_reload_ext_leaves_the_same_counts(
    shell: InteractiveShell, run: Run, skills: Path, make_skill: MakeSkill
) -> None:
    """RE-07: five reloads later there is as much of everything as after one load."""
    make_skill(skills, "word-count", python=WORD_COUNT)
    run("%load_ext prime_skills_ext")
    changing = {"names", "finders", "PATH"}  # new objects, a new directory
    once = picture(shell)
    for _ in range(5):
        run("%reload_ext prime_skills_ext")
    again = picture(shell)
    assert {k: v for k, v in once.items() if k not in changing} == {
        k: v for k, v in again.items() if k not in changing
    }
    assert sorted(once["names"]) == sorted(again["names"])
    assert len(once["finders"]) == len(again["finders"])
    assert once["PATH"].count(os.pathsep) == again["PATH"].count(os.pathsep)


def test_unload_restores_the_shell_exactly(
    shell: InteractiveShell, run: Run, skills: Path, make_skill: MakeSkill
) -> None:
    """KB-08: after unload the picture is the one before load."""
    make_skill(skills, "word-count", python=WORD_COUNT)
    make_skill(skills, "broken", python="1 / 0")
    run("mine = [1]")
    before = picture(shell)
    run("%load_ext prime_skills_ext")
    assert before != picture(shell)
    run("%unload_ext prime_skills_ext")
    assert before == picture(shell)
    assert "word_count" not in sys.modules


def test_kb08_unload_keeps_what_the_user_rebound(
    shell: InteractiveShell, run: Run, skills: Path, make_skill: MakeSkill
) -> None:
    """A name that the user took over is the user's."""
    make_skill(skills, "word-count", python=WORD_COUNT)
    run("%load_ext prime_skills_ext")
    run("word_count = 5")
    run("%unload_ext prime_skills_ext")
    assert 5 == shell.user_ns["word_count"]


def test_kb08_reset_and_reload_bring_the_names_back(
    run: Run, skills: Path, make_skill: MakeSkill
) -> None:
    """After ``%reset -f`` one reload restores the bindings."""
    make_skill(skills, "word-count", python=WORD_COUNT)
    run("%load_ext prime_skills_ext")
    run("%reset -f")
    run("%reload_skills")
    assert {"a": 1} == run('await word_count("a")')


def test_skills_do_not_show_in_who(
    shell: InteractiveShell, run: Run, skills: Path, make_skill: MakeSkill
) -> None:
    """KB-08: ``%who`` lists what the user made."""
    make_skill(skills, "word-count", python=WORD_COUNT)
    run("%load_ext prime_skills_ext")
    run("mine = 1")
    assert ["mine"] == shell.run_line_magic("who_ls", "")


def test_a_users_name_is_left_alone(
    run: Run, skills: Path, make_skill: MakeSkill
) -> None:
    """KB-07: what was there before load stays; ``skills[...]`` is the way out."""
    make_skill(skills, "word-count", python=WORD_COUNT)
    run("word_count = 'mine'")
    run("%load_ext prime_skills_ext")
    assert "mine" == run("word_count")
    assert "name-taken" == states(run)["word-count"]
    assert {"a": 1} == run('await skills["word-count"]("a")')


@pytest.mark.parametrize(
    "name", ["json", "class", "match", "print", "select", "exit", "display"]
)
def test_kb07_reserved_names_are_loaded_privately(
    name: str, run: Run, skills: Path, make_skill: MakeSkill
) -> None:
    """A name of Python, the builtins or IPython keeps its meaning."""
    make_skill(skills, name, python="def run(): return 'skill'")
    run("import json as before; print_before = print")
    run("%load_ext prime_skills_ext")
    assert "skill" == run(f"await skills[{name!r}]()")
    assert run("import json as after; after is before and print is print_before")
    status = run(f"%skill show {name}").status
    assert ("ready", f'skills["{name}"]') == (status.state, status.bound_as)


@pytest.mark.parametrize("name", ["calendar", "email"])
def test_row33_a_skill_named_like_a_standard_module_is_never_bound_over_it(
    name: str, run: Run, skills: Path, make_skill: MakeSkill
) -> None:
    """The module stays what it is, and the way out is told."""
    make_skill(skills, name, python="def run(): return 'skill'")
    run("%load_ext prime_skills_ext")
    assert "run" not in run(f"import {name}; dir({name})")
    [told] = [
        check.detail
        for check in run("%skill doctor").checks
        if check.title == "private-name"
    ]
    assert f'skills["{name}"]' in told


@pytest.mark.parametrize("name", ["3d-print", "a.b"])
def test_kb07_what_is_no_identifier_is_instructions(
    name: str, run: Run, skills: Path, make_skill: MakeSkill
) -> None:
    """It cannot be a function, but it is read like any other skill."""
    make_skill(skills, name, python="def run(): return 1")
    run("%load_ext prime_skills_ext")
    assert "instructions" == states(run)[name]


def test_skills_lists_everything(run: Run, skills: Path, make_skill: MakeSkill) -> None:
    """Every skill has a key, whatever its kind or state."""
    make_skill(skills, "json", python="def run(): return 1")
    make_skill(skills, "notes")
    make_skill(skills, "broken", python="1 / 0")
    run("%load_ext prime_skills_ext")
    builtin = {"edit", "skill-creator", "websearch"}
    assert {"json", "notes", "broken"} | builtin == set(run("list(skills)"))


def test_the_module_is_the_skill(run: Run, skills: Path, make_skill: MakeSkill) -> None:
    """W1: patching an attribute changes what ``run`` sees."""
    make_skill(skills, "word-count", python=WORD_COUNT)
    run("%load_ext prime_skills_ext")
    run("word_count.TOP = 1")
    assert {"a": 2} == run('await word_count("a b a")')


def test_kb09_a_skill_pickles_and_copies(
    shell: InteractiveShell, run: Run, skills: Path, make_skill: MakeSkill
) -> None:
    """pickle, cloudpickle and deepcopy give the same object."""
    make_skill(skills, "word-count", python=WORD_COUNT)
    run("%load_ext prime_skills_ext")
    skill = shell.user_ns["word_count"]
    assert skill is pickle.loads(pickle.dumps(skill))
    assert skill is pickle.loads(cloudpickle.dumps(skill))
    assert skill is copy.deepcopy({"skill": skill})["skill"]
    run("def mine(): return word_count.TOP")
    mine = pickle.loads(cloudpickle.dumps(shell.user_ns["mine"]))
    assert 3 == mine()


def test_kb04_introspection_shows_run(
    shell: InteractiveShell, run: Run, skills: Path, make_skill: MakeSkill
) -> None:
    """Signature, docstring, ``help`` and ``?`` are those of ``run``."""
    make_skill(skills, "word-count", python=WORD_COUNT)
    run("%load_ext prime_skills_ext")
    skill = shell.user_ns["word_count"]
    assert "(text: str, top: int | None = None) -> dict[str, int]" == str(
        inspect.signature(skill)
    )
    assert "Count the most frequent words." == inspect.getdoc(skill)
    shown = shell.object_inspect_text("word_count")
    assert "word_count(text: str, top: int | None = None) -> dict[str, int]" in shown
    assert "Count the most frequent words." in shown


def test_a_placeholder_raises_with_the_original_error(
    shell: InteractiveShell, run: Run, skills: Path, make_skill: MakeSkill
) -> None:
    """KB-02: call and attribute raise; looking at it does not."""
    make_skill(skills, "broken", python="raise KeyError('x')")
    run("%load_ext prime_skills_ext")
    broken = shell.user_ns["broken"]
    with pytest.raises(SkillUnavailableError, match="KeyError") as caught:
        broken("anything")
    assert isinstance(caught.value, RuntimeError)
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(SkillUnavailableError):
        _ = broken.run
    with pytest.raises(ImportError, match="KeyError"):
        run("from broken import run")
    assert not hasattr(broken, "_repr_html_")
    assert "import-failed" in repr(broken)


def test_reload_takes_up_added_edited_and_removed_skills(
    run: Run, skills: Path, make_skill: MakeSkill
) -> None:
    """RE-03, DI-13: one line with names; None when nothing changed."""
    run("%load_ext prime_skills_ext")
    assert run("%reload_skills") is None
    folder = make_skill(skills, "word-count", python="def run(): return 1")
    assert "+1 word-count" == repr(run("%reload_skills"))
    assert 1 == run("await word_count()")
    # RE-01: the same second and the same length
    source = folder / "src" / "word_count" / "__init__.py"
    source.write_text("def run(): return 2", encoding="utf-8")
    assert "~1 word-count" == repr(run("%reload_skills"))
    assert 2 == run("await word_count()")
    source.write_text("def run(: return 3", encoding="utf-8")
    assert "!1 word-count" == repr(run("%reload_skills"))
    assert 2 == run("await word_count()")
    assert "stale" == states(run)["word-count"]
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    folder.rmdir()
    assert "-1 word-count" == repr(run("%reload_skills"))
    with pytest.raises(SkillUnavailableError, match="gone"):
        run("await word_count()")
    assert "removed" == states(run)["word-count"]


def test_re02_submodules_are_reloaded(
    run: Run, skills: Path, make_skill: MakeSkill
) -> None:
    """An edit of a helper module counts as an edit of the skill."""
    folder = make_skill(
        skills,
        "deep",
        python="from .core import run",
        files={"src/deep/core.py": "def run(): return 'old'"},
    )
    run("%load_ext prime_skills_ext")
    run("from deep import run as held")
    (folder / "src/deep/core.py").write_text("def run(): return 'new'")
    run("%reload_skills")
    assert ("new", "new") == (run("await deep()"), run("held()"))


def test_mx01_braces_and_dollars_are_not_expanded(run: Run) -> None:
    """What is typed after a magic is what it gets."""
    run("%load_ext prime_skills_ext")
    run("branch = 'expanded'")
    with pytest.raises(UsageError, match=r"#\{branch\}\$branch"):
        run("%skill show x#{branch}$branch")


def test_mx03_a_magic_returns_a_value_never_a_coroutine(run: Run) -> None:
    """``r = %skill`` is the table."""
    run("%load_ext prime_skills_ext")
    assert "Catalogue" == type(run("r = %skill\nr")).__name__


def test_mx07_show_works_for_a_skill_hidden_from_models(
    run: Run, skills: Path, make_skill: MakeSkill
) -> None:
    """``disable-model-invocation`` is about models; the user may look and call."""
    make_skill(
        skills,
        "deploy",
        frontmatter="name: deploy\ndescription: d\ndisable-model-invocation: true\n",
        python="def run(): return 'done'",
    )
    run("%load_ext prime_skills_ext")
    assert "deploy" == run("%skill show deploy").status.name
    assert "done" == run("await deploy()")


def test_an_unknown_word_suggests_and_shows_no_traceback(
    shell: InteractiveShell, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """Errors are one message with the way out."""
    run("%load_ext prime_skills_ext")
    shell.run_cell("%skill edti")
    said = capsys.readouterr()
    assert "Traceback" not in said.out + said.err
    assert 'did you mean "edit"' in said.out + said.err


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("%skill tr", ["trust"]),
        ("%skill show web", ["websearch"]),
        ("%skill edi", ["edit"]),
    ],
)
def test_mx09_tab_completes_subcommands_and_names(
    typed: str, offered: list[str], shell: InteractiveShell, run: Run
) -> None:
    """Completion offers subcommands, skills and options."""
    run("%load_ext prime_skills_ext")
    with provisionalcompleter():
        found = [item.text for item in shell.Completer.completions(typed, len(typed))]
    assert offered == found


def test_tab_completes_options_and_paths(
    shell: InteractiveShell, run: Run, place: Path
) -> None:
    """Ours alone: as Python the line would be completed with names and keywords."""
    (place / "my-skills").mkdir()
    run("%load_ext prime_skills_ext")
    run("pinned = 1")
    for typed, offered in (
        ("%skill trust --p", ["--pin"]),
        ("%skill add my", ["my-skills/"]),
        ("%skill show ", ["edit", "skill-creator", "websearch"]),
        ("x = 1\n%skill un", ["untrust"]),
    ):
        with provisionalcompleter():
            found = [x.text for x in shell.Completer.completions(typed, len(typed))]
        assert offered == found


def test_mx09_tab_completes_arguments_of_a_skill_by_key(
    shell: InteractiveShell, run: Run
) -> None:
    """In the terminal's completer, too; what is not loaded offers none."""
    run("%load_ext prime_skills_ext")
    for typed, offered in (
        ("skills['edit'](old", ["old_str="]),
        ("skills['edit'](path=1, ", ["new_str=", "old_str="]),
        ("skills['websearch'](", []),
        ("skills['nobody'](", []),
    ):
        with provisionalcompleter():
            found = [x.text for x in shell.Completer.completions(typed, len(typed))]
        assert offered == sorted(text for text in found if text.endswith("="))


def test_tab_after_anything_else_is_ipythons(shell: InteractiveShell, run: Run) -> None:
    """We complete our own lines and keep quiet in all others."""
    run("%load_ext prime_skills_ext")
    for typed, offered in (
        ("%skil", "%skill"),
        ("skill.edi", None),
        ("impor", "import"),
    ):
        with provisionalcompleter():
            found = [x.text for x in shell.Completer.completions(typed, len(typed))]
        assert (offered in found) if offered else "edit" not in found


def test_help_names_the_magic_not_a_program(run: Run) -> None:
    """MX-09: usage lines have the prefix that people type."""
    run("%load_ext prime_skills_ext")
    text = run("%skill --help").text
    assert text.startswith("usage: %skill")
    assert "doctor" in text
    assert run("%skill show --help").text.startswith("usage: %skill show")


def test_bad_words_are_usage_errors(run: Run) -> None:
    """The parser must not leave Python, nor print."""
    run("%load_ext prime_skills_ext")
    with pytest.raises(UsageError, match="use it as: %skill show"):
        run("%skill show")
    with pytest.raises(UsageError, match="close the quotation mark"):
        run("%skill show 'x")


def test_fm12_many_warnings_are_one_line_at_load(
    run: Run, skills: Path, make_skill: MakeSkill, capsys: pytest.CaptureFixture[str]
) -> None:
    """Thirty odd names are counted at load; doctor has the details."""
    for number in range(30):
        make_skill(
            skills, f"x{number}", frontmatter=f"name: ce:x{number}\ndescription: d\n"
        )
    run("%load_ext prime_skills_ext")
    said = capsys.readouterr()
    assert 1 == len(said.out.splitlines())
    assert "%skill doctor" in said.out
    checks = run("%skill doctor").checks
    assert any("more of this kind" in check.detail for check in checks)


def test_add_and_forget(
    run: Run, tmp_path: Path, make_skill: MakeSkill, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``add`` wins every name until ``forget``; both report what changed."""
    make_skill(tmp_path / "extra", "edit", python="def run(): return 'mine'")
    run("%load_ext prime_skills_ext")
    assert "~1 edit" == repr(run(f"%skill add {tmp_path / 'extra'}"))
    assert "mine" == run("await edit()")
    assert {"edit": "shadowed"} == {
        item["name"]: item["state"]
        for item in run("%skill list --all --json")["skills"]
        if item["name"] == "edit" and item["source"] == "builtin"
    }
    run(f"%skill forget {tmp_path / 'extra'}")
    assert "builtin" == run("%skill show edit").status.source.label


def test_add_of_nothing_is_an_error_and_changes_nothing(
    run: Run, tmp_path: Path
) -> None:
    """A path without a skill is refused, and not remembered."""
    run("%load_ext prime_skills_ext")
    before = run("%skill list --json")
    with pytest.raises(UsageError, match="nowhere"):
        run(f"%skill add {tmp_path / 'nowhere'}")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="no skill in"):
        run(f"%skill add {tmp_path / 'empty'}")
    assert before == run("%skill list --json")


def test_pr02_listing_show_and_binding_mean_the_same_winner(
    run: Run, place: Path, skills: Path, make_skill: MakeSkill
) -> None:
    """A trusted project skill wins everywhere, or nowhere."""
    make_skill(skills, "dup", python="def run(): return 'user'")
    make_skill(
        place / ".agents" / "skills", "dup", python="def run(): return 'project'"
    )
    run("%load_ext prime_skills_ext")
    assert "user" == run("await dup()")
    assert "user" == run("%skill show dup").status.source.kind
    run("%skill trust")
    assert "project" == run("await dup()")
    assert "project" == run("%skill show dup").status.source.kind
    assert "user" == run('await skills["dup@user:.agents/skills"]()')
    run("%skill untrust")
    assert "user" == run("await dup()")


def test_se01_a_project_skill_runs_nothing_before_trust(
    run: Run, place: Path, tmp_path: Path, make_skill: MakeSkill
) -> None:
    """Neither its build hook nor its module runs; afterwards its module does."""
    marker = tmp_path / "ran"
    write = f"from pathlib import Path; Path({str(marker)!r}).touch()"
    make_skill(
        place / ".agents" / "skills",
        "sly",
        python=f"{write}\ndef run(): return 'ran'",
        files={"setup.py": f"{write}\nfrom setuptools import setup; setup()"},
        backend="setuptools",
    )
    run("%load_ext prime_skills_ext")
    run("%skill")
    run("%skill show sly")
    run("%skill doctor")
    run("%reload_skills")
    assert not marker.exists()
    assert {"sly": "untrusted"} == states(run)
    with pytest.raises(SkillUnavailableError, match="trust"):
        run("await sly()")
    assert not marker.exists()


def test_two_shells_share_a_process(
    run: Run, skills: Path, make_skill: MakeSkill
) -> None:
    """RE-07: each shell has its own names; unloading one leaves the other."""
    make_skill(skills, "word-count", python=WORD_COUNT)
    run("%load_ext prime_skills_ext")
    with fresh_shell() as other:
        other.run_cell("%load_ext prime_skills_ext").raise_error()
        other.run_cell("%unload_ext prime_skills_ext").raise_error()
        assert "word_count" not in other.user_ns
    assert {"a": 1} == run('await word_count("a")')


def test_as07_a_call_that_was_not_awaited_says_so(
    shell: InteractiveShell, run: Run, skills: Path, make_skill: MakeSkill
) -> None:
    """Displayed without ``await`` it explains itself; nothing ran."""
    make_skill(skills, "word-count", python=WORD_COUNT)
    run("%load_ext prime_skills_ext")
    call = shell.user_ns["word_count"]("a b")
    formatter = shell.display_formatter
    assert formatter is not None
    shown, _ = formatter.format(call)
    call.close()
    assert "word_count(...) not started: put `await` before it" == shown["text/plain"]


@pytest.mark.parametrize(
    "variable",
    [
        "PRIME_AGENT_CODING_AGENT_DIR",
        "PRIME_AGENT_KERNEL_VENV",
        "PRIME_AGENT_KERNEL_PYTHON",
        "PRIME_SKILLS_UV",
        "PRIME_SKILLS_PATH",
        "XDG_DATA_HOME",
        "HOME",
    ],
)
@pytest.mark.parametrize("value", ["~nobody-of-this-name/x", "/" + "x" * 5000, "loop"])
def test_a_path_that_cannot_be_looked_at_costs_no_load(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
) -> None:
    """Unknown homes, endless names and circles of links: the kernel has its skills."""
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    named = str(tmp_path / "loop") if value == "loop" else value
    monkeypatch.setenv(variable, named)
    run("%load_ext prime_skills_ext")
    assert run("edit.run").__name__ == "run"
    assert run("%skill doctor") is not None


@pytest.mark.parametrize("command", ["add", "forget"])
@pytest.mark.parametrize("path", ["~nobody-of-this-name/x", "x" * 5000])
def test_di11_a_path_of_nobody_is_a_usage_error(
    run: Run, command: str, path: str
) -> None:
    """No traceback for what was only typed wrongly."""
    run("%load_ext prime_skills_ext")
    with pytest.raises(UsageError):
        run(f"get_ipython().run_line_magic('skill', '{command} {path}')")


def test_di11_a_relative_path_in_a_deleted_folder_is_a_usage_error(
    run: Run, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It means nothing there, and that is what is said."""
    monkeypatch.setenv("PWD", str(place))
    run("%load_ext prime_skills_ext")
    shutil.rmtree(place)
    with pytest.raises(UsageError, match="working directory was deleted"):
        run("get_ipython().run_line_magic('skill', 'add x')")


@pytest.mark.parametrize("stream", ["closed", "broken"])
def test_nb05_a_load_that_nobody_hears_is_a_load(
    run: Run,
    make_skill: MakeSkill,
    skills: Path,
    monkeypatch: pytest.MonkeyPatch,
    stream: str,
) -> None:
    """The one line that a load may say is not worth the load."""
    make_skill(skills, "broken", python="import nothing_there")
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w", buffering=1, encoding="utf-8") as out:  # noqa: PTH123
        if stream == "closed":
            out.close()
        monkeypatch.setattr(sys, "stdout", out)
        run("%load_ext prime_skills_ext")
        monkeypatch.undo()
        with contextlib.suppress(OSError):
            out.close()
    assert callable(run("edit"))


def test_entries_of_sys_path_that_are_no_text_are_passed_over(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """People append ``pathlib.Path`` to ``sys.path``; Python ignores that."""
    monkeypatch.setattr(sys, "path", [*sys.path, Path("/tmp"), None, b"/tmp"])
    run("%load_ext prime_skills_ext")
    assert callable(run("edit"))


def test_a_finder_of_somebody_else_that_fails_is_passed_over(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names are looked up through every finder, and any of them may be broken."""

    class Broken:
        def find_spec(self, name: str, *_: object) -> None:
            # what Python itself imports meanwhile must not meet it
            if name == "edit":
                raise RuntimeError(name)

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Broken()])
    run("%load_ext prime_skills_ext")
    assert callable(run("edit"))


def test_kb08_an_undo_that_fails_does_not_keep_the_others(
    shell: InteractiveShell, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever one of them meets, the shell is restored as far as it can be."""
    before = picture(shell)
    run("%load_ext prime_skills_ext")

    def refuse(*_: object, **__: object) -> None:
        raise OSError("no")

    monkeypatch.setattr("shutil.rmtree", refuse)
    monkeypatch.setattr("prime_skills_ext.holding.deactivate", refuse)
    with pytest.raises(OSError, match="no"):
        shell.extension_manager.unload_extension("prime_skills_ext")  # type: ignore[union-attr]
    after = picture(shell)
    assert {**before, "PATH": ""} == {**after, "PATH": ""}


def test_trust_that_does_not_count_says_so(
    run: Run, place: Path, make_skill: MakeSkill, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where an override stands against the decision, its fix is the one that helps."""
    make_skill(place / ".agents" / "skills", "notes")
    monkeypatch.setenv("PRIME_SKILLS_TRUST", "none")
    run("%load_ext prime_skills_ext")
    said = run("%skill trust")
    assert "PRIME_SKILLS_TRUST trusts none" in said.text
    assert "`%env PRIME_SKILLS_TRUST=`, then %reload_skills" == said.fix
    run("%env PRIME_SKILLS_TRUST=\n%reload_skills")
    assert {"notes": "instructions"} == states(run)


def test_untrust_that_does_not_count_says_so(
    run: Run, place: Path, make_skill: MakeSkill
) -> None:
    """A trait that trusts everything is named; with it gone the decision counts."""
    make_skill(place / ".agents" / "skills", "notes")
    run("%load_ext prime_skills_ext")
    run('%config SkillManager.trust = "all"')
    said = run("%skill untrust")
    assert "SkillManager.trust trusts all" in said.text
    assert "%config SkillManager.trust = None, then %reload_skills" == said.fix
    run("%config SkillManager.trust = None\n%reload_skills")
    assert {"notes": "untrusted"} == states(run)


def test_di11_instructions_that_became_a_fifo_are_an_error(
    run: Run, make_skill: MakeSkill, skills: Path
) -> None:
    """Showing a skill never waits for somebody to write."""
    folder = make_skill(skills, "how-to")
    run("%load_ext prime_skills_ext")
    (folder / "SKILL.md").unlink()
    os.mkfifo(folder / "SKILL.md")
    with pytest.raises(UsageError, match="cannot be read"):
        run("%skill show how-to")


def test_rlm_comes_from_us_whatever_lies_around(
    place: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Skills import it; a file of that name beside the notebook does not count."""
    (place / "rlm.py").write_text("raise AssertionError\n")
    monkeypatch.syspath_prepend(place)
    monkeypatch.delitem(sys.modules, "rlm", raising=False)
    run("%load_ext prime_skills_ext")
    assert str(RUNTIME / "rlm" / "__init__.py") == run("import rlm\nrlm.__file__")
    monkeypatch.delitem(sys.modules, "rlm")
