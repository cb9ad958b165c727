"""Trust at the doors: folders that settings name, and bytecode that comes along."""

from __future__ import annotations

import importlib.util
import json
import os
import py_compile
import sys
from pathlib import Path
from typing import Any

import pytest
from IPython.core.error import UsageError

from prime_skills_ext.catalog.package_sources import PackageDirectory
from prime_skills_ext.commands import run as run_command
from prime_skills_ext.manager import SkillManager
from tests.conftest import MakeSkill, Run

pytestmark = pytest.mark.usefixtures("place")
ANSWER = 'def run(): return "read"  # same length\n'
NAMED = "this project's settings name it, outside of the project"
SHIPPED = 'def run(): return "evil"  # same length\n'


def found(run: Run, name: str) -> dict[str, Any]:
    skills = run("%skill list --json")["skills"]
    return dict(next(item for item in skills if item["name"] == name))


@pytest.fixture
def outside(place: Path, tmp_path: Path, make_skill: MakeSkill) -> Path:
    """A folder beside the project that the project's settings name."""
    folder = tmp_path / "out side"
    make_skill(folder, "far", python='def run(): return "far"\n')
    settings = place / ".prime" / "agent" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"skills": [str(folder)]}))
    return folder


def test_trust_of_the_project_is_not_trust_of_what_it_names(
    run: Run, place: Path, outside: Path, make_skill: MakeSkill
) -> None:
    """The fix is the command that helps; pasted, it does."""
    make_skill(place / ".agents" / "skills", "near", python="def run(): return 1\n")
    run("%load_ext prime_skills_ext")
    run("%skill trust")
    assert "ready" == found(run, "near")["state"]
    far = found(run, "far")
    assert (
        "untrusted",
        f"{NAMED}; you have not trusted it yet",
        f"%skill trust '{outside}'",
    ) == (far["state"], far["reason"], far["fix"])
    run(far["fix"])
    assert "ready" == found(run, "far")["state"]
    assert "far" == run("await far()")


def test_untrust_takes_back_the_path_alone(
    run: Run, place: Path, outside: Path, make_skill: MakeSkill
) -> None:
    """The project stays trusted."""
    make_skill(place / ".agents" / "skills", "near")
    run("%load_ext prime_skills_ext")
    run("%skill trust")
    run(f"%skill trust '{outside}'")
    run(f"%skill untrust '{outside}'")
    assert "untrusted" == found(run, "far")["state"]
    assert "its trust was taken back" in found(run, "far")["reason"]
    assert "instructions" == found(run, "near")["state"]


def test_se07_pinned_path_asks_again_when_it_changes(run: Run, outside: Path) -> None:
    """With its own path in the fix."""
    run("%load_ext prime_skills_ext")
    run(f"%skill trust --pin '{outside}'")
    assert "ready" == found(run, "far")["state"]
    (outside / "far" / "extra.txt").write_text("swapped")
    run("%reload_skills")
    far = found(run, "far")
    assert "untrusted" == far["state"]
    assert f"%skill trust '{outside}' --pin" == far["fix"]
    run(far["fix"])
    assert "ready" == found(run, "far")["state"]


def test_trust_of_another_folder_says_that_it_changes_nothing_here(
    run: Run, tmp_path: Path, make_skill: MakeSkill
) -> None:
    """Another project, before going there."""
    other = tmp_path / "other"
    make_skill(other / ".agents" / "skills", "a")
    run("%load_ext prime_skills_ext")
    said = run(f"%skill trust --pin {other}")
    assert said.text.startswith(f"{other} is trusted")
    store = tmp_path / "home" / ".prime" / "agent" / "trust.json"
    (entry,) = json.loads(store.read_text())["roots"].values()
    assert [".agents/skills/a"] == [*entry["pins"]]


def test_trust_of_no_folder_is_an_error(run: Run) -> None:
    """Nothing is stored."""
    run("%load_ext prime_skills_ext")
    with pytest.raises(UsageError, match="There is no folder"):
        run("%skill trust ./no-such-folder")


def ship_bytecode(folder: Path, name: str) -> Path:
    """Put bytecode of other code beside a skill's, as Python would have written it."""
    source = folder / "src" / name / "__init__.py"
    shown, moment = source.read_text(), (1_700_000_000, 1_700_000_000)
    source.write_text(SHIPPED)
    os.utime(source, moment)
    target = Path(importlib.util.cache_from_source(str(source)))
    py_compile.compile(str(source), doraise=True)
    source.write_text(shown)
    os.utime(source, moment)
    return target


@pytest.mark.parametrize("options", ["", "--pin"])
def test_bytecode_that_comes_with_a_project_is_never_used(
    run: Run, place: Path, make_skill: MakeSkill, options: str
) -> None:
    """W35: what was read and hashed is what runs, and nothing is written there."""
    folder = make_skill(place / ".agents" / "skills", "shipping", python=ANSWER)
    shipped = ship_bytecode(folder, "shipping")
    before = shipped.read_bytes()
    run("%load_ext prime_skills_ext")
    run(f"%skill trust {options}")
    assert "read" == run("await shipping()")
    assert before == shipped.read_bytes()


def test_bytecode_of_the_users_own_skills_is_used(
    run: Run, home: Path, make_skill: MakeSkill
) -> None:
    """The attack above would work without the guard, and a start stays fast."""
    folder = make_skill(home / ".agents" / "skills", "shipping", python=ANSWER)
    ship_bytecode(folder, "shipping")
    run("%load_ext prime_skills_ext")
    assert "evil" == run("await shipping()")


def test_packages_are_a_source_that_yields_to_the_user(
    home: Path, tmp_path: Path, make_skill: MakeSkill
) -> None:
    """The seam for the package manager: trusted, below the user's own."""
    make_skill(tmp_path / "store" / "p", "fetched")
    make_skill(tmp_path / "store" / "p", "mine")
    make_skill(home / ".agents" / "skills", "mine")
    manager = SkillManager()
    manager.package_directories = [
        PackageDirectory(directory=tmp_path / "store" / "p", provenance="git-p")
    ]
    listed = run_command(manager, "list --all --json", door="%skill")
    assert isinstance(listed, dict)
    assert [
        ("fetched", "package:git-p", "instructions"),
        ("mine", "package:git-p", "shadowed"),
        ("mine", "user:.agents/skills", "instructions"),
    ] == sorted(
        (item["name"], item["source"], item["state"])
        for item in listed["skills"]
        if item["source"] != "builtin"
    )


def test_skills_of_an_installed_distribution_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_skill: MakeSkill
) -> None:
    """Without importing it."""
    site = tmp_path / "site"
    make_skill(site / "big" / ".agents" / "skills", "tuning")
    (site / "big" / "__init__.py").write_text("1 / 0\n")
    info = site / "big-1.0.dist-info"
    info.mkdir()
    (info / "RECORD").write_text("big/.agents/skills/tuning/SKILL.md,,\n")
    monkeypatch.setattr("site.getsitepackages", lambda: [str(site)])
    monkeypatch.setattr(sys, "path", [*sys.path, str(site)])
    status = SkillManager().catalogue.get("tuning")
    assert ("package:big: tuning", "instructions") == (status.location, status.state)
    assert "builtin" in {source.label for source in SkillManager().snapshot.sources}
    only = SkillManager(no_skills=True)
    assert [] == [*only.catalogue.skills]


def test_se07_pinned_code_that_is_imported_late_is_what_was_pinned(
    run: Run, place: Path, make_skill: MakeSkill
) -> None:
    """A pin binds what the skill imports after the load, too."""
    folder = make_skill(
        place / ".agents" / "skills",
        "late",
        python="def run():\n    from late.helper import answer\n    return answer\n",
        files={"src/late/helper.py": "answer = 'pinned'\n"},
    )
    run("%load_ext prime_skills_ext")
    run("%skill trust --pin")
    (folder / "src/late/helper.py").write_text("answer = 'swapped'\n")
    with pytest.raises(ImportError, match="--pin"):
        run("await late()")
    run("%skill trust --pin")
    assert "swapped" == run("await late()")
