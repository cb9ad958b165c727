"""§12.5 #16 to #21: the Python that the user names is the kernel's, if it can be."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from prime_skills_ext.launching.custom import CUSTOM_PYTHON
from tests.conftest import write_skill
from tests.integration.conftest import uv
from tests.launching.conftest import Launcher

pytestmark = pytest.mark.integration


def _name(launcher: Launcher, python: str | os.PathLike[str]) -> None:
    launcher.environ[CUSTOM_PYTHON] = os.fspath(python)


def _refusal(launcher: Launcher) -> str:
    """Start, and return why it is another kernel than the wanted one."""
    launch = launcher.start()
    assert sys.executable == launch.argv[0]
    assert "overlay" == launch.environ["PRIME_SKILLS_MODE"]
    return launch.environ["PRIME_SKILLS_LAUNCH_ERROR"]


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A virtual environment with nothing in it."""
    uv("venv", "--quiet", "--python", sys.executable, tmp_path / "bare")
    return tmp_path / "bare" / "bin" / "python"


@pytest.fixture
def whole(bare: Path) -> Path:
    """A virtual environment that sees everything that this one has."""
    _share(bare, but=())
    return bare


def _site(python: Path) -> Path:
    (found,) = python.parents[1].glob("lib/python*/site-packages")
    return found


def _share(python: Path, *, but: tuple[str, ...]) -> None:
    """Let an environment have what this one has, apart from some packages."""
    (ours,) = Path(sys.prefix).glob("lib/python*/site-packages")
    hidden = tuple(name.lower() for name in but)
    for path in ours.iterdir():
        if path.suffix != ".pth" and not path.name.lower().startswith(hidden or ("/",)):
            target = _site(python) / path.name
            if not target.exists():
                target.symlink_to(path)
    if "prime_skills_ext" not in but:
        root = Path(__file__).parents[2]
        (_site(python) / "own.pth").write_text(f"{root}\n", encoding="utf-8")


def test_custom_python_that_has_everything_is_taken(
    custom: Launcher, whole: Path
) -> None:
    """§12.5 #16: as it is, by its path or by its name."""
    _name(custom, whole)
    launch = custom.start()
    assert [str(whole), "custom"] == [
        launch.argv[0],
        launch.environ["PRIME_SKILLS_MODE"],
    ]

    custom.environ["PATH"] = str(whole.parent)
    _name(custom, "python")
    assert str(whole) == custom.start().argv[0]


def test_custom_python_is_asked_once(custom: Launcher, whole: Path) -> None:
    """Until something is installed there, or another one is named."""
    _name(custom, whole)
    assert [True, False] == [custom.plans(), custom.plans()]

    (_site(whole) / "new.py").write_text("", encoding="utf-8")
    assert [True, False] == [custom.plans(), custom.plans()]

    _name(custom, sys.executable)
    assert custom.plans()


def test_custom_python_that_looks_elsewhere_is_asked_again(
    custom: Launcher, tmp_path: Path
) -> None:
    """Where it finds modules depends on variables as well."""
    assert [True, False] == [custom.plans(), custom.plans()]

    custom.environ["PYTHONPATH"] = str(tmp_path)

    assert custom.plans()


def test_custom_python_that_lost_a_package_is_asked_again(
    custom: Launcher, whole: Path
) -> None:
    """What was right once is not for ever."""
    _name(custom, whole)
    assert not (custom.plans(), custom.plans())[1]

    (_site(whole) / "ipykernel").unlink()

    assert "lacks ipykernel" in _refusal(custom)


def test_custom_python_that_lacks_only_what_a_skill_imports_is_taken(
    custom: Launcher, whole: Path
) -> None:
    """§12.5 #17: that is the skill's business, and its placeholder says so."""
    write_skill(
        Path(custom.environ["HOME"], ".agents", "skills"),
        "needy",
        python="import no_such_module\ndef run(): pass",
        dependencies=("no-such-module",),
    )
    _name(custom, whole)

    assert str(whole) == custom.start().argv[0]


def test_custom_python_that_lacks_yaml_is_refused_by_name(
    custom: Launcher, bare: Path
) -> None:
    """§12.5 #18: what this package needs is named as it is installed."""
    (ours,) = Path(sys.prefix).glob("lib/python*/site-packages")
    _share(bare, but=("yaml", "_yaml", "pyyaml", "prime_skills_ext"))
    info = next(ours.glob("prime_skills_ext-*.dist-info"))
    (_site(bare) / info.name).symlink_to(info)
    root = Path(__file__).parents[2]
    (_site(bare) / "own.pth").write_text(f"{root}\n", encoding="utf-8")
    _name(custom, bare)

    told = _refusal(custom)

    assert f"{CUSTOM_PYTHON} names {bare}, which lacks pyyaml\n" in told
    assert f"`uv pip install --python {bare} pyyaml`" in told


def test_custom_python_that_lacks_this_package_is_refused(
    custom: Launcher, bare: Path
) -> None:
    """§12.5 #19: nothing would serve ``rlm`` and no skill would be bound."""
    _share(bare, but=("prime_skills_ext",))
    _name(custom, bare)

    told = _refusal(custom)

    assert f"{CUSTOM_PYTHON} names {bare}, which lacks prime-skills-ext\n" in told
    assert f"uv pip install --python {bare} " in told


def test_custom_python_whose_package_serves_no_runtime_is_refused(
    custom: Launcher, bare: Path, tmp_path: Path
) -> None:
    """§12.5 #20: an older one may lack what skills import."""
    _share(bare, but=("prime_skills_ext",))
    package = tmp_path / "old" / "prime_skills_ext"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("", encoding="utf-8")
    (_site(bare) / "old.pth").write_text(f"{package.parent}\n", encoding="utf-8")
    _name(custom, bare)

    assert "lacks the module rlm that skills import" in _refusal(custom)

    runtime = package / "runtime" / "src" / "rlm"
    runtime.mkdir(parents=True)
    (runtime / "__init__.py").write_text("def other(): ...\n", encoding="utf-8")
    assert "lacks the module rlm that skills import" in _refusal(custom)


def test_custom_python_that_lacks_ipykernel_is_refused_and_stays_as_it_is(
    custom: Launcher, bare: Path
) -> None:
    """§12.5 #21: the command that would help is told, and not run."""
    before = sorted(path.name for path in _site(bare).iterdir())
    _name(custom, bare)

    told = _refusal(custom)

    assert "which lacks ipykernel and prime-skills-ext\n" in told
    assert before == sorted(path.name for path in _site(bare).iterdir())


@pytest.mark.network
def test_command_that_is_told_makes_it_the_kernel(custom: Launcher, bare: Path) -> None:
    """It can be pasted."""
    _name(custom, bare)
    command = _refusal(custom).partition("`")[2].partition("`")[0]
    words = shlex.split(command)
    assert ["uv", "pip", "install", "--python", str(bare)] == words[:5]

    uv(*words[1:])

    assert str(bare) == custom.start().argv[0]


def test_old_python_is_refused(custom: Launcher, tmp_path: Path) -> None:
    """The probe is understood by any Python, and its version is told."""
    old = tmp_path / "python3.6"
    old.write_text(
        "#!/bin/sh\n"
        'echo \'{"version": [3, 6], "lacks": [], "serves": false, "files": [], '
        '"folders": []}\'\n',
        encoding="utf-8",
    )
    old.chmod(0o755)
    _name(custom, old)

    assert "is Python 3.6, and prime-skills-ext needs 3.11 or newer" in _refusal(custom)


@pytest.mark.parametrize(
    "script", ["#!/bin/sh\nexit 3\n", "#!/bin/sh\necho hello\n", "no program"]
)
def test_program_that_is_no_python_is_refused(
    custom: Launcher, tmp_path: Path, script: str
) -> None:
    """Whatever it says, a kernel comes up."""
    program = tmp_path / "program"
    program.write_text(script, encoding="utf-8")
    program.chmod(0o755)
    _name(custom, program)

    assert "does not answer as a Python does" in _refusal(custom)


def test_name_that_no_program_has_is_refused(custom: Launcher) -> None:
    """A wrong setting is told."""
    _name(custom, "no-such-python")

    told = _refusal(custom)

    assert f"{CUSTOM_PYTHON} names no program: no-such-python" in told
    assert "or unset it, and restart the kernel" in told


def test_module_beside_the_notebook_does_not_answer_for_an_installed_one(
    custom: Launcher, bare: Path
) -> None:
    """The kernel takes the notebook's folder off its path, and so does the probe."""
    Path("ipykernel.py").write_text("", encoding="utf-8")
    Path("json.py").write_text("raise RuntimeError", encoding="utf-8")
    _name(custom, bare)

    assert "lacks ipykernel" in _refusal(custom)
    subprocess.run([bare, "-c", ""], check=True)
