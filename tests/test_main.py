"""The door in a terminal: output, exit codes, errors."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path

import nbformat
import pexpect
import pytest

from prime_skills_ext import process
from prime_skills_ext.__main__ import main
from prime_skills_ext.process import Completed
from tests.conftest import MakeSkill

TABLE = """\
Skills: 2 ready to use, 2 need something

Ready to use
  NAME           KIND      STATE         WHERE                   WHAT
  edit           python    ready         builtin: edit           \
Replaces one exact piece of text…
  skill-creator  markdown  instructions  builtin: skill-creator  \
Guides the writing of a new Agent…

Need something
  NAME           KIND      STATE             WHERE
  websearch      python    needs-credential  builtin: websearch
    it needs a key for serper
    fix: `prime-skills login serper`, or set the environment variable SERPER_API_KEY
  word-count     python    untrusted         project:.agents/skills: word-count
    it comes with this project; you have not trusted it yet
    fix: prime-skills trust
"""


@pytest.fixture(autouse=True)
def place(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of its own as the working directory."""
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    monkeypatch.chdir(project)
    return project


def command(*words: str, seed: str = "0", cwd: Path | None = None) -> Completed:
    """Run the command in a process of its own."""
    argv = [sys.executable, "-m", "prime_skills_ext", *words]
    environ = {**os.environ, "PYTHONHASHSEED": seed}
    return process.run(
        argv, cwd=cwd or Path.cwd(), env=environ, timeout_s=120, check=False
    )


def test_list_prints_the_same_bytes_everywhere(
    place: Path, make_skill: MakeSkill, tmp_path: Path
) -> None:
    """NB-06: no path, time or order of this machine is in the table."""
    make_skill(place / ".agents" / "skills", "word-count", python="def run(): ...")
    elsewhere = tmp_path / "quite" / "another" / "place"
    (elsewhere / ".git").mkdir(parents=True)
    make_skill(elsewhere / ".agents" / "skills", "word-count", python="def run(): ...")
    said = [
        command("list", seed="0"),
        command(seed="1"),
        command("list", seed="2", cwd=elsewhere),
    ]
    assert [TABLE] * 3 == [done.stdout for done in said]
    assert [("", 0)] * 3 == [(done.stderr, done.returncode) for done in said]


def test_list_json_is_plain_data(capsys: pytest.CaptureFixture[str]) -> None:
    """Programs get names, paths, states and diagnostics."""
    assert 0 == main(["--all", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert {"skills", "diagnostics"} == set(found)
    assert ["edit", "skill-creator", "websearch"] == [
        x["name"] for x in found["skills"]
    ]
    assert all(Path(item["path"]).is_file() for item in found["skills"])


def test_show_prints_card_and_instructions(capsys: pytest.CaptureFixture[str]) -> None:
    """FM-04: no fence, no header; the body as it is written."""
    assert 0 == main(["edit"])
    said = capsys.readouterr().out
    assert said.startswith("edit  (python, ready)")
    assert "---\nname" not in said


def test_skill_option_adds_an_explicit_path(
    tmp_path: Path, make_skill: MakeSkill, capsys: pytest.CaptureFixture[str]
) -> None:
    """``--skill`` wins like ``%skill add``."""
    make_skill(tmp_path / "extra", "notes")
    assert 0 == main(["--skill", str(tmp_path / "extra"), "show", "notes", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert "explicit" == found["skill"]["source"]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["edti"], 1, 'did you mean "edit"'),
        (["show"], 2, "use it as: prime-skills show"),
        (["--skill"], 2, "write --skill PATH"),
        (["forget", "nowhere"], 2, "take the path out of PRIME_SKILLS_PATH"),
        (["lsit"], 1, 'did you mean "list"'),
        (["add", "nowhere"], 1, "correct the path"),
        (["demo", "--notebook", "nowhere.ipynb"], 1, "is not a notebook"),
        (["kernelspec", "explode"], 2, "invalid choice"),
        (["trust", "--nonsense"], 2, "use it as: prime-skills trust [-h]"),
        (["list", "more"], 2, "prime-skills list: unrecognized arguments: more"),
    ],
)
def test_errors_are_one_message_and_a_code(
    words: list[str], code: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What failed, the way out, no traceback; 2 is for words, 1 for the rest."""
    assert code == main(words)
    said = capsys.readouterr().err
    assert says in said
    assert "Traceback" not in said
    assert "Fix: " in said


def test_trust_and_untrust_last(
    place: Path, make_skill: MakeSkill, capsys: pytest.CaptureFixture[str]
) -> None:
    """A decision made in a terminal holds for every kernel."""
    make_skill(place / ".agents" / "skills", "notes")
    assert 0 == main(["trust"])
    assert "notes" in capsys.readouterr().out
    main(["show", "notes", "--json"])
    assert "instructions" == json.loads(capsys.readouterr().out)["skill"]["state"]
    assert 0 == main(["untrust"])
    capsys.readouterr()
    main(["show", "notes", "--json"])
    assert "untrusted" == json.loads(capsys.readouterr().out)["skill"]["state"]


def test_pin_asks_again_when_a_file_changes(
    place: Path, make_skill: MakeSkill, capsys: pytest.CaptureFixture[str]
) -> None:
    """SE-07: pinned trust is for what was looked at, nothing else."""
    folder = make_skill(place / ".agents" / "skills", "notes")
    assert 0 == main(["trust", "--pin"])
    (folder / "extra.txt").write_text("swapped", encoding="utf-8")
    capsys.readouterr()
    main(["show", "notes", "--json"])
    assert "untrusted" == json.loads(capsys.readouterr().out)["skill"]["state"]


@pytest.mark.integration
def test_sync_installs_and_says_what_failed(
    home: Path, make_skill: MakeSkill, capsys: pytest.CaptureFixture[str]
) -> None:
    """0 when everything is there; 1 and the names when something is not."""
    root = home / ".agents" / "skills"
    make_skill(root, "fine", python="def run(): ...")
    assert 0 == main(["sync"])
    assert "up to date" in capsys.readouterr().out
    make_skill(
        root, "bad", python="def run(): ...", dependencies=("no-such-dist-psx-1",)
    )
    assert 1 == main(["sync"])
    assert "not installed: bad\nFix: prime-skills doctor" in capsys.readouterr().err


def test_doctor_explains_and_its_code_tells(
    home: Path, make_skill: MakeSkill, capsys: pytest.CaptureFixture[str]
) -> None:
    """Problems make the exit code 1, so that a script can ask."""
    assert 0 == main(["doctor"])
    assert "No problems." in capsys.readouterr().out
    folder = make_skill(home / ".agents" / "skills", "odd")
    (folder / "SKILL.md").write_text("# No header\n", encoding="utf-8")
    assert 1 == main(["doctor"])
    said = capsys.readouterr().out
    assert "no-frontmatter" in said
    assert str(folder / "SKILL.md") in said
    assert 1 == main(["doctor", "--json"])
    checks = json.loads(capsys.readouterr().out)["checks"]
    assert "no-frontmatter" in {check["title"] for check in checks}


@pytest.mark.integration
def test_demo_runs_every_cell_and_leaves_a_copy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The copy has outputs; a failing cell is named, and the rest still runs."""
    cells = ["print('one')", "1 / 0", "print('three')"]
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in cells]
    )
    path = tmp_path / "small.ipynb"
    nbformat.write(notebook, path)
    out = tmp_path / "out"
    assert 1 == main(["demo", "--notebook", str(path), "--output", str(out)])
    said = capsys.readouterr()
    assert "one" in said.out
    assert "three" in said.out
    assert str(out / "small.ipynb") in said.out
    assert "cell 2: ZeroDivisionError: division by zero" in said.err
    copy = nbformat.read(out / "small.ipynb", as_version=4)
    assert "three\n" == copy.cells[2].outputs[0].text


@pytest.mark.integration
def test_demo_as_json_tells_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What happened as data, and the same exit code."""
    path = tmp_path / "small.ipynb"
    cells = [nbformat.v4.new_code_cell("1 / 0")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    out = tmp_path / "out"
    words = ["demo", "--notebook", str(path), "--output", str(out), "--json"]
    assert 1 == main(words)
    started, finished, end = json.loads(capsys.readouterr().out)["events"]
    assert {"number": 1, "total": 1, "source": "1 / 0"} == started
    assert "ZeroDivisionError: division by zero" == finished["error"]
    assert {"path": str(out / "small.ipynb"), "failed": 1} == end


@pytest.mark.integration
def test_kernelspec_install_and_remove(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is started once before it counts as installed."""
    prefix = tmp_path / "prefix"
    assert 0 == main(["kernelspec", "install", "--prefix", str(prefix)])
    folder = prefix / "share" / "jupyter" / "kernels" / "prime-skills"
    spec = json.loads((folder / "kernel.json").read_text(encoding="utf-8"))
    assert sys.executable == spec["argv"][0]
    assert 0 == main(["kernelspec", "remove", "--prefix", str(prefix)])
    assert not folder.exists()


@pytest.mark.integration
def test_kernelspec_install_tells_when_another_kernel_than_the_wanted_one_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It works all the same, and is installed."""
    monkeypatch.setenv("PRIME_AGENT_KERNEL_PYTHON", "/nowhere/python")
    prefix = tmp_path / "prefix"
    assert 0 == main(["kernelspec", "install", "--prefix", str(prefix)])
    said = capsys.readouterr().out
    assert "but it starts in this Python: PRIME_AGENT_KERNEL_PYTHON names no" in said
    assert (prefix / "share/jupyter/kernels/prime-skills/kernel.json").is_file()


def test_help_tells_every_command_and_option(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The README's list and this one are the same."""
    assert 0 == main(["--help"])
    said = capsys.readouterr().out
    assert "--skill PATH" in said
    for name in ("list", "show", "add", "trust", "untrust", "doctor", "sync", "demo"):
        assert f"\n    {name} " in said
    assert "forget" not in said


@pytest.mark.integration
def test_add_says_that_a_command_keeps_nothing(
    tmp_path: Path, make_skill: MakeSkill, capsys: pytest.CaptureFixture[str]
) -> None:
    """It installs; how a kernel comes to use the folder is told, ready to paste."""
    folder = make_skill(tmp_path, "fine", python="def run(): ...")
    assert 0 == main(["add", str(folder)])
    said = capsys.readouterr().out
    assert said.startswith("+1 fine\n")
    assert f"%skill add {folder}" in said
    assert f"PRIME_SKILLS_PATH={folder}" in said


ASCII = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}


def run_with(
    place: Path, *words: str, environ: dict[str, str], redirect: str = ""
) -> Completed:
    """Run the command in a shell."""
    argv = shlex.join([sys.executable, "-m", "prime_skills_ext", *words])
    return process.run(
        ["/bin/sh", "-c", f"{argv} {redirect}"],
        cwd=place,
        env={**os.environ, **environ},
        timeout_s=60,
        check=False,
    )


@pytest.mark.parametrize("words", [("list",), ("show", "edit"), ("doctor",)])
def test_nb06_a_terminal_without_unicode_shows_escapes(
    place: Path, words: tuple[str, ...]
) -> None:
    """A character that it lacks is no reason to fail."""
    done = run_with(place, *words, environ=ASCII)
    assert (0, "") == (done.returncode, done.stderr)
    assert done.stdout.isascii()


def test_nb06_data_is_json_in_every_encoding(
    place: Path, home: Path, make_skill: MakeSkill
) -> None:
    """What a terminal would escape in its own way is escaped in JSON's."""
    make_skill(home / ".agents" / "skills", "cafe", description="Serves a café. ☕")
    done = run_with(place, "list", "--json", environ=ASCII)
    (cafe,) = (x for x in json.loads(done.stdout)["skills"] if x["name"] == "cafe")
    assert cafe["description"] == "Serves a café. ☕"


def test_a_reader_that_has_gone_is_no_error(place: Path) -> None:
    """`prime-skills doctor | head -1` ends without a traceback."""
    done = run_with(place, "doctor", environ={}, redirect="| true")
    assert "" == done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("--skill", "x", "list"),
        ("add", "x"),
        ("demo", "--notebook", "x.ipynb"),
        ("kernelspec", "remove", "--prefix", "x"),
        ("kernelspec", "remove", "--prefix", "~nobody-of-this-name"),
        ("demo", "--output", "/dev/null/x"),
    ],
)
def test_di11_paths_that_mean_nothing_are_no_tracebacks(
    place: Path, words: tuple[str, ...]
) -> None:
    """Not even where the working directory was deleted."""
    gone = place / "gone"
    gone.mkdir()
    argv = shlex.join([sys.executable, "-P", "-m", "prime_skills_ext", *words])
    done = process.run(
        ["/bin/sh", "-c", f'rmdir "{gone}"; {argv}'],
        cwd=gone,
        timeout_s=60,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert done.returncode in {0, 1}


def test_show_draws_the_page_in_a_terminal(home: Path, place: Path) -> None:
    """Markdown becomes headings and code; a pipe gets the stable text."""
    words = ["-m", "prime_skills_ext", "show", "edit"]
    environ = {**os.environ, "TERM": "xterm", "NO_COLOR": "1"}
    drawn, _ = pexpect.run(
        shlex.join([sys.executable, *words]),
        timeout=120,
        withexitstatus=True,
        env=environ,
    )
    told = drawn.decode()
    assert "• " in told
    assert [] == [mark for mark in ("```", "**", "\n#") if mark in told]
    piped = run_with(place, "show", "edit", environ={}).stdout
    assert piped.startswith("edit  (python, ready)\n")
