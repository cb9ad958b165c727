"""The command line of a skill, started as a shell starts it."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import prime_skills_ext

RUNTIME = Path(prime_skills_ext.__file__).parent / "runtime" / "src"
# what an installed console script does, without the installation
SCRIPT = "import sys; from rlm.skill import cli; sys.exit(cli())\n"

Command = Callable[..., "subprocess.CompletedProcess[str]"]

WORD_COUNT = '''
    from __future__ import annotations

    async def run(
        text: str, top: int | None = None, *, deep: bool = False
    ) -> dict[str, object]:
        """Count words.

        Args:
            text: The text to count.
            top: How many to show.
            deep: Look deeper.
        """
        return {"text": text, "top": top, "deep": deep}
'''


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """Write a module and run a script of that name, as ``PATH`` would."""

    def run(
        source: str,
        *arguments: str,
        name: str = "word_count",
        script: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        package = tmp_path / "src" / name
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(textwrap.dedent(source), encoding="utf-8")
        file = tmp_path / "bin" / (script or name)
        file.parent.mkdir()
        file.write_text(SCRIPT, encoding="utf-8")
        path = f"{RUNTIME}:{tmp_path / 'src'}"
        return subprocess.run(
            [sys.executable, str(file), *arguments],
            env={"PYTHONPATH": path, "PYTHONUTF8": "1", **(env or {})},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            encoding="utf-8",
        )

    return run


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["a b a", "--top", "1"], ["a b a", 1, False]),
        (["--top", "1", "a b a"], ["a b a", 1, False]),
        (["--text", "a b a", "--top=1"], ["a b a", 1, False]),
        (["--text=--top", "--deep"], ["--top", None, True]),
        (["x", "--deep"], ["x", None, True]),
        (["x", "--no-deep"], ["x", None, False]),
        (["--", "-x"], ["-x", None, False]),
        (["- an item"], ["- an item", None, False]),
        (["-5"], ["-5", None, False]),
        ([""], ["", None, False]),
        (["ünï\N{PILE OF POO}"], ["ünï\N{PILE OF POO}", None, False]),
    ],
)
def test_w12_cli_takes_leading_parameters_by_position_and_by_flag(
    command: Command, arguments: list[str], expected: list[object]
) -> None:
    """The line in the documentation works, and so does the form with flags."""
    done = command(WORD_COUNT, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert list(json.loads(done.stdout).values()) == expected


@pytest.mark.parametrize(
    "arguments",
    [["a.png", "b.png"], ["--paths", "a.png", "b.png"], ["a.png", "b.png", "--n", "2"]],
)
def test_w12_cli_takes_any_number_of_paths(
    command: Command, arguments: list[str]
) -> None:
    """``attach_image a.png b.png`` hands both to ``*paths``."""
    source = """
        def run(*paths: str, n: int = 1) -> str:
            return " ".join(paths)
    """
    done = command(source, *arguments, name="attach_image")
    assert (done.returncode, done.stdout) == (0, "a.png b.png\n")


def test_cli_passes_every_kind_of_parameter_where_python_wants_it(
    command: Command,
) -> None:
    """Positional-only, defaulted, variadic and keyword-only ones meet their slots."""
    source = """
        import os
        from pathlib import Path
        from typing import Any, Literal, Optional

        def run(
            path: "str | os.PathLike[str]",
            strict: bool,
            mode: Literal["a", "b"],
            /,
            n: int = 1,
            *rest: int,
            global_: bool = False,
            out: Optional[Path] = None,
            tags: list[str] = [],
            ratio=0.5,
            options: dict[str, Any] | None = None,
            client: "Client" = None,
            callback: "Callable[[], None] | None" = None,
            **more: str,
        ):
            out = None if out is None else [type(out).__name__, str(out)]
            return [path, strict, mode, n, rest, global_, out, tags, ratio, options]
    """
    done = command(
        source,
        *("p", "--strict", "b", "4", "5", "--global", "--out", "o"),
        *("--tags", "x", "y", "--ratio", "0.25", "--options", '{"k": [1]}'),
    )
    assert done.stderr == ""
    assert json.loads(done.stdout) == [
        *("p", True, "b", 1, [4, 5], True, ["PosixPath", "o"], ["x", "y"], 0.25),
        {"k": [1]},
    ]


def test_cli_reads_names_that_are_imported_for_type_checking_only(
    command: Command,
) -> None:
    """Annotations are text at run time; names that authors like are known."""
    source = """
        from __future__ import annotations
        from typing import TYPE_CHECKING

        if TYPE_CHECKING:
            from collections.abc import Sequence
            from nowhere import Thing

        def run(query: Thing, tags: Sequence[str] = (), thing: Thing = None) -> str:
            return f"{query} {list(tags)} {thing}"
    """
    done = command(source, "q", "--tags", "a", "b")
    assert (done.stdout, done.stderr) == ("q ['a', 'b'] None\n", "")


def test_cli_help_shows_the_docstring_and_succeeds(command: Command) -> None:
    """``--help`` is the manual: summary, parameters and both boolean flags."""
    done = command(WORD_COUNT, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: word_count ")
    for text in ("Count words.", "The text to count.", "How many to show.", "TEXT"):
        assert text in done.stdout
    assert "--deep, --no-deep" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "TEXT"),
        (["a", "--top", "x"], "--top"),
        (["a", "b"], "Unrecognized options: b"),
        (["a", "--tpo", "1"], "--top"),
    ],
)
def test_cli_usage_errors_have_status_2(
    command: Command, arguments: list[str], said: str
) -> None:
    """A command line that does not fit is explained on stderr only."""
    done = command(WORD_COUNT, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_cli_usage_error_names_the_option_that_takes_json(command: Command) -> None:
    """Text that is no JSON is a usage error as well."""
    done = command("def run(options: dict): return options", "{")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("word_count: --options takes JSON: ")


@pytest.mark.parametrize(
    ("expression", "printed"),
    [
        ("None", ""),
        ("'text\\n'", "text\n\n"),
        ("''", "\n"),
        ("3", "3\n"),
        ("True", "true\n"),
        ("{'é': (1, None)}", '{"é": [1, null]}\n'),
        ("{'b', 'a'}", '["a", "b"]\n'),
        ("[Path('a'), Record(1)]", '["a", {"n": 1}]\n'),
        ("Record(1)", '{"n": 1}\n'),
        ("Path('a/b')", "a/b\n"),
        ("float('nan')", "nan\n"),
        ("b'raw'", "raw"),
    ],
)
def test_cli_prints_results_as_a_shell_reads_them(
    command: Command, expression: str, printed: str
) -> None:
    """Text as it is, values as JSON, None as nothing."""
    source = f"""
        import dataclasses
        from pathlib import Path

        @dataclasses.dataclass
        class Record:
            n: int

        async def run():
            return {expression}
    """
    done = command(source)
    assert (done.returncode, done.stdout, done.stderr) == (0, printed, "")


@pytest.mark.parametrize(
    "source",
    [
        "async def run():\n    yield 'a'\n    yield 1\n",
        "def run():\n    yield 'a'\n    yield 1\n",
        """
        async def _items():
            yield 'a'
            yield 1

        async def run():
            return _items()
        """,
    ],
)
def test_cli_prints_what_a_generator_yields(command: Command, source: str) -> None:
    """Each item is a line of its own, whichever kind of generator it is."""
    done = command(source)
    assert (done.returncode, done.stdout, done.stderr) == (0, "a\n1\n", "")


def test_cli_runs_a_function_that_starts_a_loop_itself(command: Command) -> None:
    """A plain ``run`` is called outside any loop."""
    source = """
        import asyncio

        def run():
            return asyncio.run(asyncio.sleep(0, "done"))
    """
    assert command(source).stdout == "done\n"


def test_cli_shows_an_exception_without_a_traceback(command: Command) -> None:
    """The type, the text and the notes are what a shell's user needs."""
    source = """
        def run():
            error = ValueError("no such word")
            error.__notes__ = ["look it up"]
            raise error
    """
    done = command(source)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "ValueError: no such word\nlook it up\n"


def test_cli_shows_what_is_in_an_exception_group(command: Command) -> None:
    """A group's own text only counts, so its parts are shown."""
    source = "def run(): raise ExceptionGroup('two', [ValueError('a'), OSError('b')])"
    assert command(source).stderr == (
        "ExceptionGroup: two (2 sub-exceptions)\n  ValueError: a\n  OSError: b\n"
    )


def test_cli_shows_the_traceback_when_asked_for(command: Command) -> None:
    """``RLM_TRACEBACK=1`` is for authors."""
    done = command("def run(): raise ValueError('x')", env={"RLM_TRACEBACK": "1"})
    assert done.returncode == 1
    assert done.stderr.startswith("Traceback (most recent call last):")
    assert done.stderr.endswith("ValueError: x\n")


def test_cli_leaves_the_status_to_a_skill_that_exits(command: Command) -> None:
    """``sys.exit(3)`` in a skill means what it says."""
    assert command("import sys\ndef run(): sys.exit(3)").returncode == 3


def test_w13_cli_keeps_the_import_error_of_a_dependency(command: Command) -> None:
    """A missing dependency is not reported as a wrong script name."""
    done = command("import surely_absent\ndef run(): ...")
    assert done.returncode == 1
    assert done.stderr == "ModuleNotFoundError: No module named 'surely_absent'\n"


@pytest.mark.parametrize("script", ["word-count", "wordcount", "word.count"])
def test_w13_cli_explains_a_script_that_is_not_named_like_the_module(
    command: Command, script: str
) -> None:
    """The rule is said together with the line to write."""
    done = command(WORD_COUNT, "x", script=script)
    assert done.returncode == 1
    assert done.stderr.startswith(f"RuntimeError: the command {Path(script).stem!r}")
    assert "with underscores for hyphens" in done.stderr
    assert "Fix: in [project.scripts] write" in done.stderr


def test_cli_explains_a_module_without_run(command: Command) -> None:
    """A skill that is several functions has no command line."""
    done = command("run = 3")
    assert done.returncode == 1
    assert "has no function run, so it has no command line" in done.stderr


def test_cli_explains_a_parameter_that_no_text_can_express(command: Command) -> None:
    """A required callback makes a skill a matter for Python."""
    source = """
        from collections.abc import Callable

        def run(callback: Callable[[], None]): ...
    """
    done = command(source, "x")
    assert done.returncode == 1
    assert "no text can express its parameter 'callback'" in done.stderr


def test_cli_explains_that_tyro_is_missing(command: Command) -> None:
    """Without the parser the command says what to install."""
    source = "import sys; sys.modules['tyro'] = None\ndef run(): ..."
    done = command(source)
    assert done.returncode == 1
    assert "Fix: install 'tyro>=0.9.1' beside the skill" in done.stderr


def test_cli_stays_quiet_when_its_reader_has_gone(tmp_path: Path) -> None:
    """``word_count … | head -1`` ends the skill without an error message."""
    package = tmp_path / "src" / "endless"
    package.mkdir(parents=True)
    source = "import itertools\ndef run():\n    yield from itertools.count()\n"
    (package / "__init__.py").write_text(source, encoding="utf-8")
    script = tmp_path / "endless"
    script.write_text(SCRIPT, encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, str(script)],
        env={"PYTHONPATH": f"{RUNTIME}:{tmp_path / 'src'}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"0\n"
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141
