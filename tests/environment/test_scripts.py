"""The commands of skills, run by a real shell."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.environment.record import Command
from prime_skills_ext.environment.scripts import write_scripts

pytestmark = pytest.mark.integration


def write(
    directory: Path, *commands: tuple[str, str, str], python: Path, **sources: Path
) -> None:
    write_scripts(
        directory,
        python=python,
        commands=[Command(*command) for command in commands],
        sources=sources,
    )


def run(path: Path, *arguments: str, cwd: Path) -> str:
    done = subprocess.run(
        [path, *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def module(root: Path, name: str, text: str) -> Path:
    folder = root / name / "src" / name
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(text, encoding="utf-8")
    return folder.parent


def test_script_runs_the_skill_with_its_arguments(
    world: Any, new_skill: Any, tmp_path: Path
) -> None:
    """``rlm.skill:cli`` finds the skill by the name of the script."""
    source = (
        "def run(text: str, *, top: int = 3):\n"
        '    """Count."""\n'
        "    return f'{text}:{top}'\n"
    )
    skill = new_skill(
        "word-count", python=source, scripts={"word_count": "rlm.skill:cli"}
    )
    report = world.ensure(skill)
    write_scripts(
        tmp_path / "bin",
        python=report.generation.python,
        commands=report.commands[skill.identity],
        sources={"word_count": skill.python.src},
    )
    script = tmp_path / "bin" / "word_count"
    assert run(script, "a b", "--top", "1", cwd=tmp_path) == "a b:1\n"


def test_spaces_and_long_paths_do_not_matter(tmp_path: Path) -> None:
    """No limit of the shebang line applies, and quotes are no trouble."""
    deep = tmp_path / "it's a" / ("long " * 40).strip()
    deep.mkdir(parents=True)
    python = deep / "python"
    python.symlink_to(sys.executable)
    src = module(deep, "one", "def main():\n    print('one')\n")
    write(deep / "bin", ("one", "one:main", "one"), python=python, one=src)
    assert run(deep / "bin" / "one", cwd=tmp_path) == "one\n"


def test_the_winners_source_comes_first(tmp_path: Path) -> None:
    """A folder of the same name in the working directory is not run."""
    src = module(tmp_path / "skills", "one", "def main():\n    print('winner')\n")
    (tmp_path / "one.py").write_text("def main(): print('decoy')", encoding="utf-8")
    python = Path(sys.executable)
    write(tmp_path / "bin", ("one", "one:main", "one"), python=python, one=src)
    assert run(tmp_path / "bin" / "one", cwd=tmp_path) == "winner\n"


def test_siblings_are_importable_and_hide_no_standard_module(tmp_path: Path) -> None:
    """Other skills come after the standard library."""
    one = module(
        tmp_path,
        "one",
        "import json, two\ndef main():\n    print(two.name, json.dumps(1))\n",
    )
    two = module(tmp_path, "two", "name = 'two'\n")
    other = module(tmp_path, "json", "")
    write(
        tmp_path / "bin",
        ("one", "one:main", "one"),
        python=Path(sys.executable),
        one=one,
        two=two,
        json=other,
    )
    assert run(tmp_path / "bin" / "one", cwd=tmp_path) == "two 1\n"


def test_exit_status_is_what_the_function_returns(tmp_path: Path) -> None:
    """As with every console script."""
    src = module(tmp_path, "one", "class A:\n    def f():\n        return 7\n")
    python = Path(sys.executable)
    write(tmp_path / "bin", ("one", "one:A.f", "one"), python=python, one=src)
    done = subprocess.run([tmp_path / "bin" / "one"], check=False)
    assert done.returncode == 7


def test_directory_holds_exactly_the_selected_scripts(tmp_path: Path) -> None:
    """What is not selected any more is removed, and nothing else is put there."""
    python, src = Path(sys.executable), tmp_path
    directory = tmp_path / "bin"
    commands = [("one", "m:f", "m"), ("two", "m:f", "m")]
    write(directory, *commands, python=python, m=src)
    write(directory, commands[1], python=python, m=src)
    assert [path.name for path in directory.iterdir()] == ["two"]


def test_unchanged_script_is_not_written_again(tmp_path: Path) -> None:
    """A warm start writes nothing."""
    python = Path(sys.executable)
    write(tmp_path / "bin", ("one", "m:f", "m"), python=python, m=tmp_path)
    before = (tmp_path / "bin" / "one").stat()
    write(tmp_path / "bin", ("one", "m:f", "m"), python=python, m=tmp_path)
    after = (tmp_path / "bin" / "one").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


@pytest.mark.parametrize(
    "command",
    [
        ("../evil", "m:f", "m"),
        ("a b", "m:f", "m"),
        ("one", "m:f); import os; (", "m"),
        ("one", "m", "m"),
        ("one", "m:f", "unknown"),
    ],
)
def test_what_is_no_plain_command_is_left_out(
    tmp_path: Path, command: tuple[str, str, str]
) -> None:
    """Neither a path nor code gets into a script, nor a skill that did not win."""
    write(tmp_path / "bin", command, python=Path(sys.executable), m=tmp_path)
    assert list((tmp_path / "bin").iterdir()) == []


def test_first_of_a_name_wins(tmp_path: Path) -> None:
    """Two skills with one command: the higher in precedence has it."""
    one = module(tmp_path, "one", "def main():\n    print('one')\n")
    two = module(tmp_path, "two", "def main():\n    print('two')\n")
    commands = [("go", "one:main", "one"), ("go", "two:main", "two")]
    write(tmp_path / "bin", *commands, python=Path(sys.executable), one=one, two=two)
    assert run(tmp_path / "bin" / "go", cwd=tmp_path) == "one\n"


def test_windows_gets_a_batch_file(tmp_path: Path) -> None:
    """On Windows a ``.cmd`` starts the script with the generation's python."""
    write_scripts(
        tmp_path / "bin",
        python=Path("C:/x y/python.exe"),
        commands=[Command("one", "m:f", "m")],
        sources={"m": tmp_path},
        system="nt",
    )
    names = sorted(path.name for path in (tmp_path / "bin").iterdir())
    assert names == ["one-script.py", "one.cmd"]
    text = (tmp_path / "bin" / "one.cmd").read_text(encoding="utf-8")
    assert text.strip() == '@"C:/x y/python.exe" "%~dp0one-script.py" %*'


def test_script_leaves_the_bytecode_beside_the_code_alone(
    tmp_path: Path,
) -> None:
    """W35: where a project could have put it, it is neither read nor written."""
    src = module(tmp_path, "shipping", "def main(): print(__cached__)\n")
    write_scripts(
        tmp_path / "bin",
        python=Path(sys.executable),
        commands=[Command("shipping", "shipping:main", "shipping")],
        sources={"shipping": src},
        bytecode=tmp_path / "kept apart",
    )
    said = run(tmp_path / "bin" / "shipping", cwd=tmp_path)
    assert said.startswith(str(tmp_path / "kept apart"))
    assert not (src / "shipping" / "__pycache__").exists()
