"""The memo: what it holds, when it is believed, and that it stays small."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import prime_skills_ext
from prime_skills_ext.launching.memo import (
    MAX_KEPT,
    MAX_STAMPS,
    Decision,
    forget_oldest,
    recall,
    remember,
    stamp,
)

_DECISION: Decision = (sys.executable, {"PRIME_SKILLS_MODE": "own"})
_ARGUMENTS = ("-f", "/run/kernel.json")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Variables of a user whose agent directory is empty."""
    return {"HOME": str(tmp_path), "KEY": "very-secret"}


def _keep(environ: dict[str, str], *paths: Path) -> None:
    stamps = {str(path): stamp(str(path)) for path in paths}
    remember(_ARGUMENTS, _DECISION, environ=environ, names={"KEY"}, stamps=stamps)


def _memo(environ: dict[str, str]) -> Path:
    (found,) = Path(environ["HOME"], ".prime/agent/prime-skills/launches").iterdir()
    return found


def test_what_was_kept_is_recalled(environ: dict[str, str], tmp_path: Path) -> None:
    """For the same question, whatever the connection file is called."""
    (tmp_path / "folder").mkdir()
    _keep(environ, tmp_path / "folder", tmp_path / "absent")

    assert _DECISION == recall(("-f", "/run/other.json"), environ=environ)
    assert _DECISION == recall(("--f=/run/other.json",), environ=environ)


def test_memo_is_this_users_alone_and_repeats_no_key(environ: dict[str, str]) -> None:
    """Variables are kept as a digest: some of them are keys."""
    _keep(environ)

    memo = _memo(environ)
    assert 0o600 == memo.stat().st_mode & 0o777
    assert "very-secret" not in memo.read_text(encoding="utf-8")


def test_other_arguments_folder_or_value_are_not_answered(
    environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A memo answers one question."""
    _keep(environ)

    assert recall((*_ARGUMENTS, "--debug"), environ=environ) is None
    assert recall(_ARGUMENTS, environ={**environ, "KEY": "other"}) is None
    monkeypatch.chdir(tmp_path)
    assert recall(_ARGUMENTS, environ=environ) is None


@pytest.mark.parametrize("name", ["executable", "prefix", "version"])
def test_another_python_is_not_answered(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Several may share a home, a folder, and even this package."""
    _keep(environ)

    monkeypatch.setattr(sys, name, "another")

    assert recall(_ARGUMENTS, environ=environ) is None


def test_every_part_of_a_stamp_counts(environ: dict[str, str], tmp_path: Path) -> None:
    """Time of modification and of change, size, and the file's number."""
    path = tmp_path / "file"
    path.write_text("1", encoding="utf-8")
    _keep(environ, path)
    memo = _memo(environ)
    content = json.loads(memo.read_text(encoding="utf-8"))
    kept = content["stamps"][str(path)]
    found = path.stat()
    expected = [found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino]
    assert expected == kept

    answers = []
    for place in range(len(kept)):
        other = [*kept]
        other[place] += 1
        text = json.dumps({**content, "stamps": {str(path): other}})
        memo.write_text(text, encoding="utf-8")
        answers.append(recall(_ARGUMENTS, environ=environ))

    assert [None] * 4 == answers


def test_variable_that_was_unset_is_not_one_that_is_empty(
    environ: dict[str, str],
) -> None:
    """Both are answers to the one who asks."""
    del environ["KEY"]
    _keep(environ)

    assert recall(_ARGUMENTS, environ={**environ, "KEY": ""}) is None


def test_path_that_appears_changes_or_disappears_ends_it(
    environ: dict[str, str], tmp_path: Path
) -> None:
    """A stamp is what was there, or that nothing was."""
    absent, there = tmp_path / "absent", tmp_path / "there"
    there.write_text("1", encoding="utf-8")
    _keep(environ, absent, there)

    absent.write_text("", encoding="utf-8")
    assert recall(_ARGUMENTS, environ=environ) is None
    absent.unlink()
    assert _DECISION == recall(_ARGUMENTS, environ=environ)
    there.write_text("2", encoding="utf-8")
    assert recall(_ARGUMENTS, environ=environ) is None
    there.unlink()
    assert recall(_ARGUMENTS, environ=environ) is None


def test_file_with_its_old_time_put_back_counts_as_changed(
    environ: dict[str, str], tmp_path: Path
) -> None:
    """``cp -p`` and archives set times: the file's number and change time tell."""
    path = tmp_path / "file"
    path.write_text("1", encoding="utf-8")
    before = path.stat()
    _keep(environ, path)

    path.unlink()
    path.write_text("2", encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert recall(_ARGUMENTS, environ=environ) is None


def test_interpreter_that_cannot_be_run_ends_it(
    environ: dict[str, str], tmp_path: Path
) -> None:
    """Whatever the stamps say, the kernel must come up."""
    python = tmp_path / "python"
    python.symlink_to(sys.executable)
    kept: Decision = (str(python), {})
    remember(_ARGUMENTS, kept, environ=environ, names=(), stamps={})
    assert kept == recall(_ARGUMENTS, environ=environ)

    python.unlink()

    assert recall(_ARGUMENTS, environ=environ) is None


def _cut(memo: Path) -> None:
    memo.write_bytes(memo.read_bytes()[:-20])


def _empty(memo: Path) -> None:
    memo.write_bytes(b"")


def _fill_with_bytes(memo: Path) -> None:
    memo.write_bytes(bytes(range(256)))


def _nest(memo: Path) -> None:
    memo.write_text("[" * 100_000, encoding="utf-8")


def _write_another_schema(memo: Path) -> None:
    content = json.loads(memo.read_text(encoding="utf-8"))
    memo.write_text(json.dumps({**content, "schema": 2}), encoding="utf-8")


def _lose_a_key(memo: Path) -> None:
    content = json.loads(memo.read_text(encoding="utf-8"))
    del content["stamps"]
    memo.write_text(json.dumps(content), encoding="utf-8")


def _write_another_type(memo: Path) -> None:
    content = json.loads(memo.read_text(encoding="utf-8"))
    memo.write_text(json.dumps({**content, "stamps": 1}), encoding="utf-8")


def _write_a_list(memo: Path) -> None:
    memo.write_text("[]", encoding="utf-8")


def _let_others_write(memo: Path) -> None:
    memo.chmod(0o622)


def _replace_by_a_folder(memo: Path) -> None:
    memo.unlink()
    memo.mkdir()


def _replace_by_a_pipe(memo: Path) -> None:
    memo.unlink()
    os.mkfifo(memo)


@pytest.mark.parametrize(
    "damage",
    [
        _cut,
        _empty,
        _fill_with_bytes,
        _nest,
        _write_another_schema,
        _lose_a_key,
        _write_another_type,
        _write_a_list,
        _let_others_write,
        _replace_by_a_folder,
        _replace_by_a_pipe,
    ],
    ids=lambda it: it.__name__.strip("_"),
)
def test_memo_that_is_damaged_is_none(
    environ: dict[str, str], damage: Callable[[Path], None]
) -> None:
    """A doubt is as good as no memo: nothing is raised, the launcher plans."""
    _keep(environ)

    damage(_memo(environ))

    assert recall(_ARGUMENTS, environ=environ) is None


def test_memo_of_another_user_is_not_believed(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names the program that is started: only the user may say which."""
    _keep(environ)

    monkeypatch.setattr(os, "geteuid", lambda: 4711)

    assert recall(_ARGUMENTS, environ=environ) is None


def test_memo_lies_elsewhere_where_the_agent_directory_cannot_be_written(
    environ: dict[str, str], tmp_path: Path
) -> None:
    """As environments do."""
    agent = tmp_path / "agent"
    agent.write_text("not a folder", encoding="utf-8")
    environ |= {
        "PRIME_AGENT_CODING_AGENT_DIR": str(agent),
        "XDG_DATA_HOME": str(tmp_path / "data"),
    }

    _keep(environ)

    assert _DECISION == recall(_ARGUMENTS, environ=environ)
    assert (tmp_path / "data" / "prime" / "agent" / "prime-skills").is_dir()


def test_disk_that_takes_nothing_is_no_misfortune(
    environ: dict[str, str], tmp_path: Path
) -> None:
    """The next start plans again."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    environ |= {"HOME": str(tmp_path / "file")}

    _keep(environ)

    assert recall(_ARGUMENTS, environ=environ) is None


def test_folder_that_was_deleted_is_no_question(
    environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing can be compared with a place that has no name."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    _keep(environ)

    assert recall(_ARGUMENTS, environ=environ) is None


def test_plan_that_looked_at_too_much_is_not_kept(environ: dict[str, str]) -> None:
    """Comparing more than that would take longer than planning."""
    stamps = {f"/nowhere/{number}": None for number in range(MAX_STAMPS + 1)}

    remember(_ARGUMENTS, _DECISION, environ=environ, names=(), stamps=stamps)

    assert recall(_ARGUMENTS, environ=environ) is None


def test_old_memos_are_dropped(tmp_path: Path) -> None:
    """A project that is gone does not stay for ever."""
    for number in range(MAX_KEPT + 5):
        path = tmp_path / f"{number}.json"
        path.write_text("{}", encoding="utf-8")
        os.utime(path, (number, number))

    forget_oldest(str(tmp_path))

    expected = {f"{number}.json" for number in range(5, MAX_KEPT + 5)}
    assert expected == {path.name for path in tmp_path.iterdir()}


_WARM = """
import os, sys
import prime_skills_ext.launcher as launcher
launcher.choose(["-f", "x.json"], environ=os.environ)
heavy = {"IPython", "dataclasses", "ipykernel", "jupyter_client", "pathlib"}
heavy |= {"hashlib", "traitlets", "typing", "yaml"}
ours = {name.removeprefix("prime_skills_ext.") for name in sys.modules
        if name.startswith("prime_skills_ext.")}
print(sorted(heavy & set(sys.modules)), sorted(ours))
"""
_LIGHT = (
    "[] ['catalog', 'catalog.agent_directory', 'launcher', 'launching', "
    "'launching.memo']\n"
)


@pytest.mark.integration
def test_warm_start_imports_the_memo_and_little_else_until_the_package_changes(
    tmp_path: Path,
) -> None:
    """The launcher stands between the click and the kernel; an upgrade is noticed."""
    package = tmp_path / "site" / "prime_skills_ext"
    unwanted = shutil.ignore_patterns("__pycache__")
    source = Path(prime_skills_ext.__file__).parent
    shutil.copytree(source, package, ignore=unwanted)
    environ = {
        **os.environ,
        "HOME": str(tmp_path),
        "PYTHONPATH": str(package.parent),
        "PRIME_AGENT_KERNEL_PYTHON": sys.executable,
    }

    # coverage imports more than a warm launcher may
    for name in ("COVERAGE_PROCESS_START", "COVERAGE_PROCESS_CONFIG"):
        environ.pop(name, None)

    def start() -> str:
        argv = [sys.executable, "-c", _WARM]
        done = subprocess.run(
            argv, env=environ, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert "" == done.stderr
        return done.stdout

    assert "'launching.deciding'" in start()
    assert _LIGHT == start()
    with (package / "pipeline.py").open("a", encoding="utf-8") as file:
        file.write("\n# another version\n")
    assert "'launching.deciding'" in start()
    assert _LIGHT == start()
