"""What every test stands on: a home of its own and a factory for skills."""

from __future__ import annotations

import importlib
import os
import shutil
import signal
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from prime_skills_ext.skill.model import PythonPackage, Skill

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

#: Variables of the person who runs the tests that must not reach what is tested.
_LEAKS = ("PRIME_", "PI_", "RLM_", "SERPER_", "XDG_", "JUPYTER", "IPYTHON")
#: Where screenshots go is no setting of what is tested.
_KEPT = "PRIME_SKILLS_ARTEFACTS"

MakeSkill = Callable[..., Path]
Run = Callable[[str], Any]


def pytest_configure(config: pytest.Config) -> None:
    """Give this run, and the kernels that nbval starts, a home of its own."""
    home = Path(tempfile.mkdtemp(prefix="prime-skills-tests-")).resolve()
    # the package cache stays the user's: tests must not download everything again
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    os.environ.setdefault("UV_CACHE_DIR", str(cache / "uv"))
    for name in [name for name in os.environ if name.startswith(_LEAKS)]:
        if name != _KEPT:
            del os.environ[name]
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # as a shell's background job: tests, and kernels, that are interrupted on
        # purpose would wait for ever
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONDONTWRITEBYTECODE"):
        os.environ.pop(name, None)
    os.environ.update(
        HOME=str(home),
        USERPROFILE=str(home),
        IPYTHONDIR=str(home / ".ipython"),
        JUPYTER_CONFIG_DIR=str(home / ".jupyter"),
        JUPYTER_DATA_DIR=str(home / ".local/share/jupyter"),
        JUPYTER_RUNTIME_DIR=str(home / "runtime"),
        JUPYTER_PLATFORM_DIRS="1",
        # the keyring of whoever runs the tests is not touched
        PYTHON_KEYRING_BACKEND="keyring.backends.fail.Keyring",
    )
    # a limit on each example is a test of how busy the machine is
    settings.register_profile("untimed", deadline=None)
    settings.load_profile("untimed")
    config.add_cleanup(lambda: shutil.rmtree(home, ignore_errors=True))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home directory that this test alone uses."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    return home


@pytest.fixture
def place(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of its own as the working directory, and no uv to be started."""
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    monkeypatch.chdir(project)
    # what needs no requirement works without uv: nothing is installed
    monkeypatch.setenv("PRIME_SKILLS_UV", str(tmp_path / "no-uv"))
    monkeypatch.setenv("PATH", os.environ["PATH"])
    return project


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    """A fresh shell."""
    # most tests need no IPython
    from tests.doors import fresh_shell

    with fresh_shell() as made:
        yield made


@pytest.fixture
def run(shell: InteractiveShell) -> Run:
    """Run a cell; its error is raised, its result returned."""

    def run_cell(code: str) -> Any:
        done = shell.run_cell(code)
        done.raise_error()
        return done.result

    return run_cell


@pytest.fixture
def make_skill() -> MakeSkill:
    """A factory: ``make_skill(root, "word-count", description=…, files={…})``.

    ``frontmatter`` replaces the whole block; ``python`` is the source of
    ``src/<import_name>/__init__.py`` and makes the skill Python-backed;
    ``backend`` is ``hatchling``, ``setuptools``, ``uv_build`` or ``None``.
    """
    return write_skill


@pytest.fixture
def rlm(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module ``rlm`` as a skill's own process has it, imported anew."""
    from prime_skills_ext.holding import RUNTIME

    monkeypatch.syspath_prepend(RUNTIME)
    _forget("rlm")
    yield importlib.import_module("rlm")
    _forget("rlm")


def _forget(package: str) -> None:
    for name in [name for name in sys.modules if name.split(".", 1)[0] == package]:
        del sys.modules[name]


_BACKENDS = {
    "hatchling": """
        [build-system]
        requires = ["hatchling"]
        build-backend = "hatchling.build"

        [tool.hatch.build.targets.wheel]
        packages = ["src/{module}"]
    """,
    "setuptools": """
        [build-system]
        requires = ["setuptools>=64"]
        build-backend = "setuptools.build_meta"
    """,
    "uv_build": """
        [build-system]
        requires = ["uv_build"]
        build-backend = "uv_build"
    """,
}


def write_skill(
    root: Path,
    name: str,
    *,
    description: str = "Does a thing. Use when a thing is to be done.",
    frontmatter: str | None = None,
    body: str = "Do the thing.\n",
    python: str | None = None,
    project: str | None = None,
    dependencies: tuple[str, ...] = (),
    scripts: Mapping[str, str] | None = None,
    backend: str | None = "hatchling",
    pyproject: str | None = None,
    files: Mapping[str, str | bytes] | None = None,
) -> Path:
    """Write a skill folder below ``root`` and return it."""
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    header = frontmatter
    if header is None:
        header = f"name: {name}\ndescription: {description}\n"
    (folder / "SKILL.md").write_text(f"---\n{header}---\n\n{body}", encoding="utf-8")
    if python is not None:
        module = name.replace("-", "_")
        package = folder / "src" / module
        package.mkdir(parents=True, exist_ok=True)
        (package / "__init__.py").write_text(textwrap.dedent(python), encoding="utf-8")
        text = pyproject
        if text is None:
            text = _pyproject(
                project=project or name,
                module=module,
                dependencies=dependencies,
                scripts=scripts or {},
                backend=backend,
            )
        (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    for inside, content in (files or {}).items():
        target = folder / inside
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            target.write_bytes(content)
        else:
            target.write_text(content, encoding="utf-8")
    return folder


def _pyproject(
    *,
    project: str,
    module: str,
    dependencies: tuple[str, ...],
    scripts: Mapping[str, str],
    backend: str | None,
) -> str:
    lines = [
        "[project]",
        f'name = "{project}"',
        'version = "0.1.0"',
        'requires-python = ">=3.10"',
        f"dependencies = [{', '.join(repr(item) for item in dependencies)}]",
        "",
    ]
    if scripts:
        lines += ["[project.scripts]"]
        lines += [f'{name} = "{target}"' for name, target in scripts.items()]
        lines += [""]
    if backend is not None:
        table = textwrap.dedent(_BACKENDS[backend]).strip()
        lines += [table.replace("{module}", module), ""]
    return "\n".join(lines)


def as_skill(folder: Path) -> Skill:
    """The value that discovery would make of a folder."""
    name = folder.name
    module = name.replace("-", "_")
    path = folder / "SKILL.md"
    return Skill(
        name=name,
        description="Does a thing.",
        path=path,
        directory=folder,
        identity=Path(os.path.realpath(path)),
        import_name=module,
        python=PythonPackage(
            import_name=module,
            directory=folder,
            pyproject=folder / "pyproject.toml",
            src=folder / "src",
        ),
    )
