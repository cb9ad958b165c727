"""``env`` at both doors: the same words, plain values, paths that scripts can use."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from prime_skills_ext import process
from prime_skills_ext.__main__ import main
from prime_skills_ext.completion import complete
from prime_skills_ext.environment.inventory import (
    EnvironmentPath,
    Inventory,
    Pruned,
    Rebuilt,
)
from tests.conftest import MakeSkill, Run

pytestmark = pytest.mark.integration


@pytest.fixture(autouse=True)
def project(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of its own as the working directory."""
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    monkeypatch.chdir(project)
    return project


@pytest.fixture
def skill(home: Path, make_skill: MakeSkill) -> Path:
    """A skill of the user's."""
    folder = home / ".prime" / "agent" / "skills"
    return make_skill(folder, "counter", python="def run():\n    return 1\n")


@pytest.fixture
def venvs(home: Path) -> Path:
    """Where environments are."""
    return home / ".prime" / "agent" / "prime-skills" / "venvs"


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert 0 == main(list(words))
    told = capsys.readouterr()
    assert "" == told.err
    return told.out


def test_path_prints_the_path_and_nothing_else(
    skill: Path, venvs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A script runs what it prints."""
    main(["sync"])
    capsys.readouterr()
    directory = said(capsys, "env", "path").removesuffix("\n")
    assert [Path(directory)] == list(venvs.glob("overlay-*/1"))
    python = said(capsys, "env", "path", "--python").removesuffix("\n")
    code = "import sys, counter; print(sys.prefix, counter.run())"
    done = process.run([python, "-c", code], cwd=venvs, timeout_s=60)
    assert f"{directory} 1\n" == done.stdout
    found = json.loads(said(capsys, "env", "path", "--json"))
    assert {"path": directory} == found


def test_path_without_an_environment_is_an_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing on stdout that a script could take for a path."""
    assert 1 == main(["env", "path"])
    told = capsys.readouterr()
    assert "" == told.out
    assert "prime-skills: there is no environment here yet" in told.err
    assert "Fix: prime-skills sync makes it" in told.err


def test_custom_python_is_its_own_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing of ours is made there, or rebuilt."""
    monkeypatch.setenv("PRIME_AGENT_KERNEL_PYTHON", sys.executable)
    assert f"{sys.prefix}\n" == said(capsys, "env", "path")
    assert f"{sys.executable}\n" == said(capsys, "env", "path", "--python")
    assert 1 == main(["env", "rebuild"])
    assert "PRIME_AGENT_KERNEL_PYTHON forbids" in capsys.readouterr().err


def test_list_prune_and_rebuild_in_a_terminal(
    skill: Path, venvs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The life of an environment, told step by step."""
    assert "Environments: none" in said(capsys, "env")
    main(["sync"])
    (root,) = venvs.glob("overlay-*")
    capsys.readouterr()
    assert f"{root.name}  (used here)" in said(capsys, "env", "list")
    assert f"Rebuilt with 2 skills: {root / '2'}\n" == said(capsys, "env", "rebuild")
    numbers = [
        (Path(one["directory"]).name, one["is_current"])
        for one in json.loads(said(capsys, "env", "--json"))["environments"][0][
            "generations"
        ]
    ]
    assert [("1", False), ("2", True)] == numbers
    assert (
        "Nothing to prune; 1 generation is kept for a while, --all removes it\n"
        == said(capsys, "env", "prune")
    )
    assert "Would free" in said(capsys, "env", "prune", "--all", "--dry-run")
    assert (root / "1").is_dir()
    assert "Freed" in said(capsys, "env", "prune", "--all")
    assert not (root / "1").exists()
    assert said(capsys, "env") == said(capsys, "env")


def test_prune_that_had_to_skip_ends_with_status_1(
    skill: Path, venvs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A script learns of it."""
    main(["sync"])
    (root,) = venvs.glob("overlay-*")
    (root / ".lock").unlink()
    (root / ".lock").mkdir()
    capsys.readouterr()
    assert 1 == main(["env", "prune"])
    assert f"skipped      {root}: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (["list", "--python"], "prime-skills env path --python"),
        (["path", "--dry-run"], "prime-skills env prune --dry-run"),
        (["rebuild", "--all"], "prime-skills env prune --all"),
    ],
)
def test_option_of_another_action_is_refused(
    words: list[str], fix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """An option that would do nothing is a misunderstanding."""
    assert 2 == main(["env", *words])
    told = capsys.readouterr().err
    assert f"prime-skills: env {words[0]} takes no {words[1]}\nFix: {fix}\n" == told


def test_help_says_what_each_action_does(capsys: pytest.CaptureFixture[str]) -> None:
    """All there is to know is in one place."""
    told = said(capsys, "env", "--help")
    for word in ("list", "path", "prune", "rebuild", "--python", "--dry-run", "--all"):
        assert f"  {word} " in told


def test_kernel_answers_with_values(
    skill: Path, venvs: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same grammar; a kernel that runs keeps its environment and says restart."""
    run("%load_ext prime_skills_ext")
    (root,) = venvs.glob("overlay-*")
    assert EnvironmentPath(path=root / "1") == run("%skill env path")
    listed = run("%skill env")
    assert isinstance(listed, Inventory)
    assert [True] == [one.is_in_use for one in listed.environments[0].generations]
    rebuilt = run("%skill env rebuild")
    assert isinstance(rebuilt, Rebuilt)
    assert (root / "2", 2) == (rebuilt.directory, rebuilt.skills)
    assert "restart the kernel: it goes on with the environment it has" == rebuilt.fix
    assert run("%reload_skills") is None
    assert EnvironmentPath(path=root / "1") == run("%skill env path")
    assert Pruned(removed=()) == run("%skill env prune --all")
    assert (root / "1").is_dir()
    run("%unload_ext prime_skills_ext")


def test_doctor_tells_of_drift_of_a_sick_interpreter_and_of_what_is_left_over(
    venvs: Path,
    run: Run,
    make_skill: MakeSkill,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After the fact: the load was fine, then somebody changed the environment."""
    from prime_skills_ext.environment.bases import MARKER
    from prime_skills_ext.environment.wheel import Wheel

    metadata = "Metadata-Version: 2.1\nName: acme-tool\nVersion: 2.0\n"
    wheel = Wheel(name="acme-tool", version="2.0", metadata=metadata, files={})
    monkeypatch.setenv("UV_FIND_LINKS", str(wheel.write(tmp_path / "store").parent))
    monkeypatch.setenv("PI_OFFLINE", "1")
    make_skill(
        venvs.parents[1] / "skills",
        "counter",
        python="def run():\n    return 1\n",
        dependencies=("acme-tool>=2",),
    )
    run("%load_ext prime_skills_ext")
    assert () == run("%skill doctor").problems
    (root,) = venvs.glob("overlay-*")
    (site,) = (root / "1").glob("lib/python*/site-packages")
    (site / "acme_tool-2.0.dist-info").rename(site / "acme_tool-1.0.dist-info")
    (root / "1" / "bin" / "python").unlink()
    other = venvs / "overlay-cpython-310-old"
    other.mkdir()
    facts = {"mode": "overlay", "interpreter": "/gone/python cpython-310 x"}
    (other / MARKER).write_text(json.dumps(facts), encoding="utf-8")
    told = {
        check.title: (check.state, check.detail, check.fix)
        for check in run("%skill doctor").checks
    }
    assert (
        "problem",
        f"it needs acme-tool>=2, and acme-tool 1.0 is at {site}",
        "%reload_skills, then restart the kernel",
    ) == told["counter"]
    assert (
        "problem",
        f"its interpreter is gone: {root / '1' / 'bin' / 'python'} ({root / '1'})",
        "%skill env rebuild",
    ) == told["environment"]
    assert (
        "note",
        f"its Python is gone: /gone/python ({other})",
        "%skill env prune",
    ) == told["left over"]
    run("%unload_ext prime_skills_ext")


def test_tab_completes_actions_and_options() -> None:
    """At both doors, without a skill being imported."""
    assert ["env"] == complete("%skill env", names=["other"])
    actions = ["list", "path", "prune", "rebuild"]
    assert actions == complete("%skill env ", names=["edit"])
    assert ["prune"] == complete("prime-skills env pr", names=[], door="prime-skills")
    assert ["--dry-run"] == complete("%skill env prune --d", names=[])
    assert ["install", "remove"] == complete(
        "prime-skills kernelspec ", names=[], door="prime-skills"
    )


def test_two_selections_that_contradict_each_other_switch_without_uv(
    home: Path,
    tmp_path: Path,
    make_skill: MakeSkill,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Two projects that each disable another skill of the user's; ten switches."""
    from prime_skills_ext.environment.wheel import Wheel

    wheels = tmp_path / "wheels"
    for version in ("1.0", "2.0"):
        metadata = f"Metadata-Version: 2.1\nName: acme-tool\nVersion: {version}\n"
        wheel = Wheel(name="acme-tool", version=version, metadata=metadata, files={})
        made = wheel.write(tmp_path / "store")
        wheels.mkdir(exist_ok=True)
        made.rename(wheels / made.name)
    monkeypatch.setenv("UV_FIND_LINKS", str(wheels))
    monkeypatch.setenv("PI_OFFLINE", "1")
    skills = home / ".prime" / "agent" / "skills"
    for name, requirement in (("old", "acme-tool<2"), ("new", "acme-tool>=2")):
        code = "def run():\n    return 1\n"
        make_skill(skills, name, python=code, dependencies=(requirement,))
    projects = []
    for disabled in ("old", "new"):
        project = tmp_path / f"without-{disabled}"
        settings = project / ".prime" / "agent" / "settings.json"
        settings.parent.mkdir(parents=True)
        (project / ".git").mkdir()
        settings.write_text(json.dumps({"skills": [f"-{disabled}"]}), "utf-8")
        projects.append(project)

    def start() -> str:
        assert 0 == main(["sync"])
        capsys.readouterr()
        return Path(said(capsys, "env", "path").strip()).name

    served = []
    for project in projects:
        monkeypatch.chdir(project)
        served.append(start())
    monkeypatch.setenv("PRIME_SKILLS_UV", str(_refusing(tmp_path)))
    for _ in range(5):
        for project in projects:
            monkeypatch.chdir(project)
            served.append(start())
    assert ["1", "2"] * 6 == served
    assert not (tmp_path / "asked").exists()


def _refusing(tmp_path: Path) -> Path:
    """A uv that fails, and leaves a trace when it is asked."""
    uv = tmp_path / "uv"
    uv.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\nexit 1\n", encoding="utf-8")
    uv.chmod(0o755)
    assert os.access(uv, os.X_OK)
    return uv
