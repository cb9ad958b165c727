"""What the README says is what there is."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from prime_skills_ext.commands import COMMANDS
from prime_skills_ext.manager import SkillManager
from tests.integration.conftest import REPOSITORY
from tests.integration.drivers import Kernel, plain

_LINES = re.MULTILINE
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")


def _section(title: str) -> str:
    return README.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def _blocks(language: str, *, text: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.DOTALL | _LINES)


def test_commands_are_those_that_there_are() -> None:
    """Every command, option and place where it can be called, and no other."""
    rows = re.findall(r"^\| (`.*?`) \| (.*) \|$", _section("Commands"), flags=_LINES)
    told = {
        (word, frozenset(re.findall(r"--[a-z-]+", rest + meaning.split(";")[0])))
        for cell, meaning in rows
        for word, rest in re.findall(r"`(\w+)([^`]*)`", cell)
    }
    there = {
        (command.name, frozenset(flag for flag, _ in command.options))
        for command in COMMANDS
    }
    assert there == told
    elsewhere = {
        cell.strip("`").split(" ", 1)[0]: where
        for cell, meaning in rows
        for where in re.findall(r"\((terminal|kernel) only", meaning)
    }
    doors = {"terminal": ("prime-skills",), "kernel": ("%skill",)}
    assert {
        command.name: command.doors for command in COMMANDS if len(command.doors) == 1
    } == {name: doors[where] for name, where in elsewhere.items()} | {
        "add": ("prime-skills",)  # the later of two: each door has its own
    }


def test_settings_are_those_that_there_are() -> None:
    """Every trait with its default, and no other."""
    rows = re.findall(
        r"^\| `([a-z_]+)` \| (.*?) \|", _section("Settings"), flags=_LINES
    )
    traits = SkillManager.class_traits(config=True)
    assert set(traits) - {"config", "parent", "log"} == {name for name, _ in rows}
    defaults = {name: told.strip("`") for name, told in rows}
    assert ("[]", '"project"') == (defaults["skill_paths"], defaults["precedence"])


def test_variables_are_read_somewhere() -> None:
    """A variable that no code knows would be a promise that nobody keeps."""
    names = re.findall(r"^\| `([A-Z_]+)(?:=1)?` \|", _section("Settings"), flags=_LINES)
    package = REPOSITORY / "prime_skills_ext"
    code = "".join(
        file.read_text(encoding="utf-8")
        for file in package.rglob("*")
        if file.suffix in {".py", ".md"}
    )
    assert len(names) == 8
    assert [] == [name for name in names if name not in code]


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """The README's skill, as somebody types it in."""
    section = _section("A skill")
    folder = tmp_path / "word-count"
    (folder / "src" / "word_count").mkdir(parents=True)
    for inside, language in (
        ("SKILL.md", "markdown"),
        ("pyproject.toml", "toml"),
        ("src/word_count/__init__.py", "python"),
    ):
        (text,) = _blocks(language, text=section)
        (folder / inside).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.integration
@pytest.mark.network
def test_the_first_example_does_what_its_comments_say(
    project: Path, written: Path
) -> None:
    """Line by line, in a real kernel, with the skill that the README shows."""
    example, *_ = _blocks("python", text=README)
    environ = {"PRIME_SKILLS_PATH": str(written)}
    with Kernel(project, environ=environ) as kernel:
        said = {
            code: kernel.run(code)
            for line in example.splitlines()
            if (code := line.partition("  #")[0].strip())
        }
        assert [None] * 6 == [outcome.error for outcome in said.values()]
        assert "{'a': 2}" == said['await word_count("a b a", top=1)'].result
        page = plain("".join(said["word_count?"].pages))
        assert "word_count(text: str, top: int = 3) -> dict[str, int]" in page
        assert "Count the most frequent words" in page
        assert "explicit: word-count" in (said["%skill"].result or "")
        assert (None, "") == (
            said["%reload_skills"].result,
            said["%reload_skills"].stderr,
        )
        assert '{"a": 2}' == said['!word_count "a b a" --top 1'].stdout.strip()
        # "The module is the skill", sentence by sentence
        source = written / "src" / "word_count" / "__init__.py"
        text = source.read_text(encoding="utf-8").replace(
            "most_common(top)", "most_common(LIMIT)"
        )
        source.write_text(f"{text}\nLIMIT = 1\n", encoding="utf-8")
        assert "~1 word-count" == kernel.run("%reload_skills").result
        kernel.run("word_count.LIMIT = 99")
        assert "{'a': 1, 'b': 1}" == kernel.run('await word_count("a b")').result
        same = kernel.run(
            "import copy, importlib, pickle\n"
            "from word_count import run\n"
            "run is word_count.run, *(word_count is other for other in ("
            "pickle.loads(pickle.dumps(word_count)), copy.deepcopy(word_count), "
            "importlib.reload(word_count)))"
        )
        assert "(True, True, True, True)" == same.result


@pytest.mark.integration
def test_forgotten_skills_say_that_they_are(project: Path, tmp_path: Path) -> None:
    """What `add` brought, `forget` takes away; whoever still holds it is told."""
    folder = tmp_path / "plain"
    (folder / "src" / "plain").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: plain\ndescription: d\n---\n")
    (folder / "pyproject.toml").write_text('[project]\nname = "plain"\nversion = "0"\n')
    (folder / "src/plain/__init__.py").write_text("def run(): return 1\n")
    path = shlex.quote(str(folder))
    with Kernel(project) as kernel:
        kernel.run("%load_ext prime_skills_ext")
        assert "+1 plain" == kernel.run(f"%skill add {path}").result
        assert "1" == kernel.run("await plain()").result
        assert "-1 plain" == kernel.run(f"%skill forget {path}").result
        told = kernel.run("await plain()").error or ""
        assert "deselected since it was loaded" in told
        assert "%skill add it again" in told
