"""What an environment is measured against."""

from __future__ import annotations

import os
import shutil
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

from prime_skills_ext.environment import ours
from prime_skills_ext.environment.facts import Facts
from prime_skills_ext.environment.ours import own_identity, runtime_identity
from prime_skills_ext.errors import InstallError


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the runtime that may be changed."""
    copy = shutil.copytree(ours.RUNTIME, tmp_path / "runtime")
    monkeypatch.setattr(ours, "RUNTIME", copy)
    return copy


def installed(tmp_path: Path, *lines: str, version: str = "1") -> PathDistribution:
    """A distribution with such a list of files."""
    info = tmp_path / "prime_skills_ext.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Name: prime-skills-ext\nVersion: {version}\n")
    (info / "RECORD").write_text("\n".join(lines))
    return PathDistribution(info)


def test_base_changes_with_what_it_covers() -> None:
    """Which runtime, which package of ours, and what else is needed."""
    known = Facts(identities=("a",))
    assert known.base == Facts(identities=("a",), kernel="elsewhere").base
    others = [Facts(identities=("b",)), Facts(identities=("a",), lines=("ipykernel",))]
    assert known.base not in {other.base for other in others}


@pytest.mark.parametrize("changed", ["src/rlm/skill.py", "pyproject.toml"])
def test_runtime_is_another_one_when_a_file_of_it_changes(
    runtime: Path, changed: str
) -> None:
    """Environments are made again then."""
    before = runtime_identity()
    path = runtime / changed
    path.write_text(path.read_text() + "\n# changed\n")
    assert before != runtime_identity()


def test_runtime_is_the_same_wherever_and_whenever_it_was_written(
    runtime: Path,
) -> None:
    """Times do not count, and neither does what Python leaves behind."""
    before = runtime_identity()
    os.utime(runtime / "pyproject.toml", (0, 0))
    (runtime / "src" / "rlm" / "__pycache__").mkdir(exist_ok=True)
    (runtime / "src" / "rlm" / "__pycache__" / "x.pyc").write_bytes(b"")
    assert before == runtime_identity()


def test_missing_runtime_is_an_install_error(runtime: Path) -> None:
    """A package without its data says so, with a fix."""
    shutil.rmtree(runtime)
    with pytest.raises(InstallError, match="runtime") as caught:
        runtime_identity()
    assert "reinstall prime-skills-ext" == caught.value.fix


def test_installed_package_is_known_by_its_list_of_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file of it is read; its commands differ from one environment to the next."""

    def identity(*lines: str, version: str = "1") -> str:
        found = installed(tmp_path, *lines, version=version)
        monkeypatch.setattr(ours, "distribution", lambda _: found)
        return own_identity()

    first = "prime_skills_ext/a.py,sha256=x,1"
    before = identity(first, "../../../bin/prime-skills,sha256=y,1")
    cached = "prime_skills_ext/__pycache__/a.pyc,,"
    assert before == identity(cached, first, "../../../bin/prime-skills,sha256=z,1")
    assert before != identity("prime_skills_ext/a.py,sha256=other,1")
    assert before != identity(first, version="2")


def test_editable_package_is_another_one_when_a_file_is_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its list of files names none of them."""
    package = tmp_path / "prime_skills_ext"
    package.mkdir()
    (package / "a.py").write_text("")
    found = installed(tmp_path, "_editable.pth,sha256=x,1")
    monkeypatch.setattr(ours, "distribution", lambda _: found)
    monkeypatch.setattr(ours, "PACKAGE", package)
    before = own_identity()
    assert before == own_identity()
    (package / "a.py").write_text("changed")
    assert before != own_identity()
