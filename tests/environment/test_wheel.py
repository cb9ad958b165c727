"""Wheels that no backend builds: editable ones, the runtime's, our own."""

from __future__ import annotations

import email
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext import process
from prime_skills_ext.environment import ours, wheel
from prime_skills_ext.environment.uv import open_uv
from prime_skills_ext.environment.wheel import (
    Wheel,
    editable_wheel,
    own_wheel,
    runtime_wheel,
)
from prime_skills_ext.errors import InstallError
from prime_skills_ext.skill import pyproject


def project_of(skill: Any) -> Any:
    text = skill.python.pyproject.read_text(encoding="utf-8")
    project, _ = pyproject.parse(text, import_name=skill.import_name)
    assert project is not None
    return project


def test_editable_wheel_says_what_the_project_says(
    new_skill: Any, tmp_path: Path
) -> None:
    """Name, version, requirements, Python and commands; and a link to ``src``."""
    text = (
        '[project]\nname = "My.Skill"\nversion = "1.2"\nrequires-python = ">=3.10"\n'
        "dependencies = [\"httpx>=0.2; python_version>'3'\"]\n"
        '[project.optional-dependencies]\nfast = ["numpy; os_name==\'x\'", "rich"]\n'
        '[project.scripts]\ngo = "a:run"\n'
        '[project.entry-points."some.group"]\nplug = "a:plug"\n'
    )
    skill = new_skill("a", pyproject=text)
    made = editable_wheel(project_of(skill), package=skill.python, extra=["attrs"])
    path = made.write(tmp_path)
    assert path.name == "my_skill-1.2-py3-none-any.whl"
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name).decode() for name in archive.namelist()}
    assert files["__editable__.my_skill.pth"] == f"{skill.python.src}\n"
    metadata = email.message_from_string(files["my_skill-1.2.dist-info/METADATA"])
    assert metadata["Requires-Python"] == ">=3.10"
    assert metadata.get_all("Provides-Extra") == ["fast"]
    assert metadata.get_all("Requires-Dist") == [
        'httpx>=0.2; python_version > "3"',
        "attrs",
        'numpy ; (os_name == "x") and extra == "fast"',
        'rich ; extra == "fast"',
    ]
    points = files["my_skill-1.2.dist-info/entry_points.txt"]
    assert "[console_scripts]\ngo = a:run\n" in points
    assert "[some.group]\nplug = a:plug\n" in points


def test_wheel_path_is_decided_by_its_content(new_skill: Any, tmp_path: Path) -> None:
    """Same content, same file, written once; another content, another file."""
    skill = new_skill("a")
    made = editable_wheel(project_of(skill), package=skill.python)
    path = made.write(tmp_path)
    before = path.stat().st_mtime_ns
    assert made.write(tmp_path) == path
    assert path.stat().st_mtime_ns == before
    other = editable_wheel(project_of(skill), package=skill.python, extra=["attrs"])
    assert other.write(tmp_path) != path


def test_link_to_a_path_beyond_ascii_is_ascii(new_skill: Any, tmp_path: Path) -> None:
    """Such files are decoded with the locale, which nobody knows."""
    skill = new_skill("a", root=tmp_path / "é")
    made = editable_wheel(project_of(skill), package=skill.python)
    link = made.files["__editable__.a.pth"]
    assert link.isascii()
    assert b"\\xe9" in link


def test_runtime_wheel_holds_the_module(tmp_path: Path) -> None:
    """The distribution that skills import is complete."""
    made = runtime_wheel()
    assert "rlm/__init__.py" in made.files
    assert "Requires-Dist: tyro" in made.metadata
    assert not [name for name in made.files if "__pycache__" in name]


def test_missing_runtime_is_an_install_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package without its data says so, with a fix."""
    monkeypatch.setattr(wheel, "RUNTIME", tmp_path)
    with pytest.raises(InstallError, match="runtime") as caught:
        runtime_wheel()
    assert caught.value.fix == "reinstall prime-skills-ext"
    (tmp_path / "pyproject.toml").write_text("[", encoding="utf-8")
    with pytest.raises(InstallError, match="cannot be read"):
        runtime_wheel()


def test_own_wheel_holds_the_running_package() -> None:
    """From an editable install it holds the same files as from a normal one."""
    made = own_wheel()
    assert made.metadata.startswith("Metadata-Version")
    assert "prime_skills_ext/runtime/src/rlm/__init__.py" in made.files
    assert "prime-skills = prime_skills_ext.__main__:main" in made.entry_points


@pytest.mark.integration
def test_own_wheel_can_be_made_from_itself(tmp_path: Path) -> None:
    """A normal install gives the wheel that it was installed from."""
    made = own_wheel()
    venv = tmp_path / "venv"
    uv = open_uv({"PATH": "", "HOME": str(tmp_path)})
    uv.make(venv, python=Path(sys.executable))
    file = made.write(tmp_path / "wheels")
    python = venv / "bin" / "python"
    argv: list[str | Path] = [
        uv.binary,
        "pip",
        "install",
        "--no-deps",
        "--offline",
        "--python",
        python,
    ]
    process.run([*argv, file], cwd=tmp_path, timeout_s=60)
    code = (
        "import sys\n"
        "from prime_skills_ext.environment.wheel import own_wheel\n"
        "print(own_wheel().digest)\n"
    )
    kernel = [path for path in sys.path if path.endswith("site-packages")]
    site = next((venv / "lib").glob("python3*/site-packages"))
    (site / "more.pth").write_text("\n".join(kernel), encoding="utf-8")
    done = process.run([python, "-I", "-c", code], cwd=tmp_path, timeout_s=60)
    assert done.stdout.strip() == made.digest


def test_package_that_was_never_installed_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without metadata there is no wheel to be made."""
    monkeypatch.setattr(ours, "OWN_NAME", "no-such-dist-xyz")
    with pytest.raises(InstallError, match="without being installed"):
        own_wheel()


def test_wheel_without_entry_points_has_no_such_file() -> None:
    """An empty file would be noise."""
    made = Wheel(name="a", version="1", metadata="", files={})
    assert made.entry_points == ""
