"""A start that needs no plan, and every kind of change that makes it need one."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from prime_skills_ext.catalog.trust import TrustStore
from tests.conftest import write_skill
from tests.launching.conftest import Launcher

pytestmark = [pytest.mark.integration, pytest.mark.network]

_CODE = "def run(): return 1"


def _skills(launcher: Launcher) -> Path:
    return Path(launcher.environ["HOME"], ".agents", "skills")


def _generation(launcher: Launcher) -> Path:
    return Path(launcher.start().environ["PRIME_SKILLS_GENERATION"])


def test_second_start_needs_no_plan(launcher: Launcher) -> None:
    """What the first start became, the second becomes at once."""
    write_skill(_skills(launcher), "one", python=_CODE)
    first = launcher.start()
    second = launcher.start()

    assert 1 == launcher.planned
    assert first.environ == second.environ
    assert first.argv[0] == second.argv[0]
    assert "/run/kernel-2.json" in second.argv


def test_start_is_warm_again_after_the_plan_that_a_change_needed(
    launcher: Launcher,
) -> None:
    """One change costs one plan."""
    launcher.start()
    write_skill(_skills(launcher), "one", python=_CODE)

    assert [True, False] == [launcher.plans(), launcher.plans()]


def _add_skill(launcher: Launcher) -> None:
    write_skill(_skills(launcher), "two", python=_CODE)


def _remove_skill(launcher: Launcher) -> None:
    shutil.rmtree(_skills(launcher) / "one")


def _edit_pyproject(launcher: Launcher) -> None:
    path = _skills(launcher) / "one" / "pyproject.toml"
    path.write_text(path.read_text(encoding="utf-8") + "\n# edited\n", encoding="utf-8")


def _edit_skill_file(launcher: Launcher) -> None:
    path = _skills(launcher) / "one" / "SKILL.md"
    text = path.read_text(encoding="utf-8").replace("---\n", "---\npaths: '*.nb'\n", 1)
    path.write_text(text, encoding="utf-8")


def _add_lock_file(launcher: Launcher) -> None:
    (_skills(launcher) / "one" / "uv.lock").write_text("", encoding="utf-8")


def _remove_module(launcher: Launcher) -> None:
    (_skills(launcher) / "one" / "src" / "one" / "__init__.py").unlink()


def _mend_broken_skill(launcher: Launcher) -> None:
    write_skill(_skills(launcher), "broken", python=_CODE)


def _mend_module(launcher: Launcher) -> None:
    module = _skills(launcher) / "half" / "src" / "half" / "__init__.py"
    module.write_text(_CODE, encoding="utf-8")


def _edit_ignore_file(launcher: Launcher) -> None:
    (_skills(launcher) / ".gitignore").write_text("one/\n", encoding="utf-8")


def _add_skill_deep_below(launcher: Launcher) -> None:
    write_skill(_skills(launcher) / "group" / "inner", "two", python=_CODE)


def _disable_in_user_settings(launcher: Launcher) -> None:
    agent = Path(launcher.environ["PRIME_AGENT_CODING_AGENT_DIR"])
    (agent / "settings.json").write_text('{"skills": ["-one"]}', encoding="utf-8")


def _write_project_settings(launcher: Launcher) -> None:
    folder = Path.cwd() / ".prime" / "agent"
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text('{"skills": ["-one"]}', encoding="utf-8")


def _store_key(launcher: Launcher) -> None:
    agent = Path(launcher.environ["PRIME_AGENT_CODING_AGENT_DIR"])
    text = '{"serper": {"type": "api_key", "key": "abc"}}'
    (agent / "auth.json").write_text(text, encoding="utf-8")


def _configure_profile(launcher: Launcher) -> None:
    profile = Path(launcher.environ["IPYTHONDIR"], "profile_default")
    profile.mkdir(parents=True)
    text = "c.SkillManager.no_skills = True\n"
    (profile / "ipython_config.py").write_text(text, encoding="utf-8")


def _add_project_skill(launcher: Launcher) -> None:
    write_skill(Path.cwd() / ".agents" / "skills", "theirs", python=_CODE)


def _make_explicit_folder(launcher: Launcher) -> None:
    write_skill(Path(launcher.environ["PRIME_SKILLS_PATH"]), "mine", python=_CODE)


def _install_program(launcher: Launcher) -> None:
    folder = Path(launcher.environ["PATH"].split(os.pathsep)[0])
    folder.mkdir()
    shutil.copy(sys.executable, folder / "rare-tool")


def _set_variable(launcher: Launcher) -> None:
    launcher.environ["RARE_KEY"] = "something"


def _set_trust_variable(launcher: Launcher) -> None:
    launcher.environ["PRIME_SKILLS_TRUST"] = "none"


_CHANGES = [
    _add_skill,
    _remove_skill,
    _edit_pyproject,
    _edit_skill_file,
    _add_lock_file,
    _remove_module,
    _mend_broken_skill,
    _mend_module,
    _edit_ignore_file,
    _add_skill_deep_below,
    _disable_in_user_settings,
    _write_project_settings,
    _store_key,
    _configure_profile,
    _add_project_skill,
    _make_explicit_folder,
    _install_program,
    _set_variable,
    _set_trust_variable,
]


@pytest.mark.parametrize("change", _CHANGES, ids=lambda it: it.__name__.strip("_"))
def test_start_plans_after_a_change(
    launcher: Launcher, tmp_path: Path, change: Callable[[Launcher], None]
) -> None:
    """Whatever decides about the environment is looked at before it is believed."""
    skills = _skills(launcher)
    write_skill(skills, "one", python=_CODE)
    needs = "name: needy\ndescription: Needs things.\nmetadata:\n  openclaw:\n"
    needs += "    requires:\n      bins: [rare-tool]\n      env: [RARE_KEY]\n"
    write_skill(skills, "needy", frontmatter=needs)
    (skills / "broken").mkdir()
    (skills / "broken" / "SKILL.md").write_text("---\n: [\n---\n", encoding="utf-8")
    half = write_skill(skills, "half", python=_CODE)
    (half / "src" / "half" / "__init__.py").unlink()
    (skills / ".gitignore").write_text("# nothing\n", encoding="utf-8")
    (skills / "group" / "inner").mkdir(parents=True)
    launcher.environ["PRIME_SKILLS_PATH"] = str(tmp_path / "explicit")
    path = launcher.environ["PATH"]
    launcher.environ["PATH"] = os.pathsep.join([str(tmp_path / "bin"), path])
    launcher.start()
    assert not launcher.plans()

    change(launcher)

    assert launcher.plans()


def test_start_plans_after_a_change_of_what_was_remembered(
    launcher: Launcher,
) -> None:
    """A header that a plan had from the cache was not opened, and counts as well."""
    write_skill(_skills(launcher), "one", python=_CODE)
    launcher.start()
    write_skill(_skills(launcher), "two", python=_CODE)
    assert [True, False] == [launcher.plans(), launcher.plans()]

    _edit_skill_file(launcher)

    assert launcher.plans()


def test_start_plans_when_a_folder_above_becomes_a_project(
    launcher: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which folder is the project decides whose skills count."""
    inner = tmp_path / "outer" / "middle" / "inner"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    assert [True, False] == [launcher.plans(), launcher.plans()]

    (tmp_path / "outer" / ".git").mkdir()

    assert launcher.plans()


def test_start_plans_after_something_was_installed_beside_us(
    launcher: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Distributions may bring skills."""
    place = tmp_path / "site-packages"
    place.mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path, str(place)])
    monkeypatch.setattr(site, "getsitepackages", lambda: [str(place)])
    assert [True, False] == [launcher.plans(), launcher.plans()]

    (place / "acme-1.0.dist-info").mkdir()

    assert launcher.plans()


def test_start_plans_after_trust_was_given(launcher: Launcher, agent: Path) -> None:
    """A trusted project has an environment of its own from the next start on."""
    write_skill(Path.cwd() / ".agents" / "skills", "theirs", python=_CODE)
    before = _generation(launcher)
    assert not launcher.plans()

    TrustStore(agent).trust(Path.cwd())

    assert launcher.plans()
    assert before.parent != _generation(launcher).parent


def test_kernel_has_keyring_where_the_launcher_has_it(launcher: Launcher) -> None:
    """Keys that ``login`` put into the keyring are found from the kernel as well."""
    python = launcher.start().argv[0]

    subprocess.run([python, "-c", "import keyring"], check=True)


def _remove_generation(generation: Path) -> None:
    shutil.rmtree(generation)


def _lose_interpreter(generation: Path) -> None:
    for python in (generation / "bin").glob("python*"):
        python.unlink()
        python.symlink_to("/nowhere/python")


def _lose_record(generation: Path) -> None:
    (generation / ".bootstrap-version").unlink()


def _lose_pointer(generation: Path) -> None:
    (generation.parent / "current").unlink()


def _change_site_packages(generation: Path) -> None:
    (site,) = generation.glob("lib/python*/site-packages")
    (site / "stranger.py").write_text("", encoding="utf-8")


def _edit_pyvenv(generation: Path) -> None:
    path = generation / "pyvenv.cfg"
    path.write_text(path.read_text(encoding="utf-8") + "# moved\n", encoding="utf-8")


@pytest.mark.parametrize(
    "damage",
    [
        _remove_generation,
        _lose_interpreter,
        _lose_record,
        _lose_pointer,
        _change_site_packages,
        _edit_pyvenv,
    ],
    ids=lambda it: it.__name__.strip("_"),
)
def test_start_plans_when_the_environment_changed(
    launcher: Launcher, damage: Callable[[Path], None]
) -> None:
    """A generation that was pruned, damaged or replaced is not started in."""
    generation = _generation(launcher)
    assert not launcher.plans()

    damage(generation)

    assert launcher.plans()
    launch = launcher.start()
    subprocess.run([launch.argv[0], "-c", "import ipykernel"], check=True)


def test_projects_side_by_side_stay_warm(
    launcher: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One project's start does not make another's forget."""
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    planned = []
    for _ in range(3):
        for folder in (tmp_path / "project", other):
            monkeypatch.chdir(folder)
            planned.append(launcher.plans())

    assert [True, True, False, False, False, False] == planned


def test_variables_that_nobody_asks_for_do_not_matter(launcher: Launcher) -> None:
    """A server that sets something else for each kernel keeps its warm starts."""
    launcher.start()

    launcher.environ["JPY_PARENT_PID"] = "123"
    # no skill here requires a program
    launcher.environ["PATH"] += f"{os.pathsep}/opt/bin"

    assert not launcher.plans()


def test_options_of_the_kernel_are_another_question(launcher: Launcher) -> None:
    """The settings among them decide which skills count."""
    launcher.start()

    option = "--SkillManager.no_skills=True"
    planned = [launcher.plans(option), launcher.plans(option), launcher.plans()]

    assert [True, False, False] == planned


def test_history_of_the_kernels_does_not_matter(launcher: Launcher) -> None:
    """Every kernel writes into its profile's folder."""
    profile = Path(launcher.environ["IPYTHONDIR"], "profile_default")
    profile.mkdir(parents=True)
    (profile / "ipython_config.py").write_text("c = get_config()\n", encoding="utf-8")
    launcher.start()

    (profile / "history.sqlite").write_text("", encoding="utf-8")

    assert not launcher.plans()


def test_commits_to_the_project_do_not_matter(launcher: Launcher) -> None:
    """Git changes its folder all the time, and only that it is there counts."""
    launcher.start()

    (Path.cwd() / ".git" / "index").write_text("", encoding="utf-8")

    assert not launcher.plans()


def test_file_that_is_just_changing_is_not_believed(
    launcher: Launcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What changed while the plan was made may have been read before or after."""
    monkeypatch.undo()
    monkeypatch.chdir(launcher.environ["HOME"])
    monkeypatch.setattr("time.time_ns", lambda: 0)

    assert [True, True] == [launcher.plans(), launcher.plans()]


def test_start_without_an_environment_is_planned_again(
    home: Path, project: Path, later: None, tmp_path: Path
) -> None:
    """A kernel that came up instead is no answer for the next start."""
    launcher = Launcher(
        {
            "HOME": str(home),
            "PATH": "",
            "PI_OFFLINE": "1",
            "UV_CACHE_DIR": str(tmp_path / "cache"),
        }
    )
    for _ in range(2):
        launch = launcher.start()
        assert "PRIME_SKILLS_LAUNCH_ERROR" in launch.environ

    assert 2 == launcher.planned


def _config(arguments: list[str], **environ: str) -> str:
    """Return what the launcher reads, in a process of its own as it is."""
    code = (
        "import os; from prime_skills_ext.launching.deciding import read_settings; "
        f"found = read_settings({arguments!r}, environ=os.environ); "
        "print(found and dict(found.SkillManager))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environ},
    )
    return done.stdout


def test_settings_are_those_of_the_profile(tmp_path: Path) -> None:
    """The launcher and the extension plan with the same settings."""
    profile = tmp_path / "profile_default"
    profile.mkdir()
    text = "c.SkillManager.skill_paths = ['/skills']\n"
    (profile / "ipython_kernel_config.py").write_text(text, encoding="utf-8")

    found = _config(["-f", "x.json"], IPYTHONDIR=str(tmp_path))

    assert "{'skill_paths': ['/skills']}\n" == found


def test_settings_are_those_of_the_options(tmp_path: Path) -> None:
    """What the kernel gets as an option counts for the launcher too."""
    option = "--SkillManager.precedence=personal"

    found = _config(["-f", "x.json", option], IPYTHONDIR=str(tmp_path))

    assert "personal" in found


def test_settings_cost_nothing_where_there_are_none(tmp_path: Path) -> None:
    """Without a settings file the kernel's application is not imported."""
    assert "None\n" == _config(["-f", "x.json"], IPYTHONDIR=str(tmp_path))
