"""What the README says is what there is."""

from __future__ import annotations

import ast
import json
import re
import shlex
from pathlib import Path

import pytest

from prime_skills_ext.__main__ import main
from prime_skills_ext.catalog.sources import RANKS
from prime_skills_ext.commands import COMMANDS
from prime_skills_ext.host.bridge import PROTOCOL, TARGET
from prime_skills_ext.manager import SkillManager
from prime_skills_ext.prompt.budget import PRESETS
from tests.conftest import write_skill
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
    manager = SkillManager(environ={})
    values = {name: _value(told) for name, told in rows}
    # the others are words: what a variable says, or what goes with something else
    literal = {name: value for name, value in values.items() if value is not ...}
    words = {"project", "trust", "nest_asyncio", "listing_chars"}
    assert words | {"listing_entry_chars", "listing_share"} == {*values} - {*literal}
    assert literal == {name: getattr(manager, name) for name in literal}


def test_listing_defaults_are_those_of_the_budgets() -> None:
    """``250 with "claude"`` and the like, and what holds while nothing is known."""
    section = _section("Settings")
    told = re.findall(r'([\d.]+) with `"([a-z0-9-]+)"`', section)
    caps = {name: number for number, name in told if "." not in number}
    shares = {name: number for number, name in told if "." in number}
    assert {name: str(PRESETS[name].entry_chars) for name in caps} == caps
    assert {name: str(PRESETS[name].share) for name in shares} == shares
    assert ({"claude", "claude-1536"}, {"claude", "codex"}) == ({*caps}, {*shares})
    assert f"budget is {PRESETS['claude'].fallback_chars:,} characters" in section


def _value(told: str) -> object:
    """Return the value of a literal in a table; ``...`` for words."""
    try:
        return ast.literal_eval(told.removeprefix("`").removesuffix("`"))
    except (ValueError, SyntaxError):
        return ...


def test_variables_are_read_somewhere() -> None:
    """A variable that no code knows would be a promise that nobody keeps."""
    names = re.findall(r"^\| `([A-Z_]+)(?:=1)?` \|", _section("Settings"), flags=_LINES)
    package = REPOSITORY / "prime_skills_ext"
    code = "".join(
        file.read_text(encoding="utf-8")
        for file in package.rglob("*")
        if file.suffix in {".py", ".md"}
    )
    assert len(names) == 13
    assert [] == [name for name in names if name not in code]


def test_what_hosts_say_is_what_the_kernel_hears() -> None:
    """The mark of a model's cell and the announcement, as the tests send them."""
    mark, announcement = map(json.loads, _blocks("json", text=_section("For agents")))
    assert {"prime_skills": {"caller": "model"}} == mark
    assert (PROTOCOL, ["rlm.run"]) == (
        announcement["protocol"],
        announcement["handlers"],
    )
    assert f"`{TARGET}`" in _section("For agents")


def test_a_model_may_not_do_what_is_named() -> None:
    """Every command that is for people, and no other."""
    (named,) = re.findall(
        r"From a model's cell (.*?) are refused", _section("For agents")
    )
    words = re.findall(r"`(?:%skill )?(\w+)`", named)
    there = {command.name for command in COMMANDS if command.for_people}
    assert sorted(there) == sorted(words)


def test_sources_are_listed_as_they_rank() -> None:
    """Every source but the one that other extensions register, best first."""
    told = re.findall(
        r"^\d\. \*(.*?)\*:", _section("Where skills are looked for"), flags=_LINES
    )
    kinds = [
        kind.replace("builtin", "built-in")
        for kind in sorted(RANKS, key=lambda kind: RANKS[kind])
    ]
    assert [kind.replace("-settings", " settings") for kind in kinds] == [
        *told,
        "registered",
    ]


@pytest.fixture
def here(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project as working directory, and no uv to be started."""
    monkeypatch.chdir(project)
    monkeypatch.setenv("PRIME_SKILLS_UV", str(project / "no-uv"))
    return project


def _states(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    capsys.readouterr()
    assert 0 == main(["list", "--all", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert [] == found["diagnostics"]
    return {item["name"]: item["state"] for item in found["skills"]}


def test_settings_mean_what_is_said_of_them(
    here: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The example, entry by entry; then what the two commands do to it."""
    (example,) = _blocks("json", text=_section("Settings"))
    settings = home / ".prime/agent/settings.json"
    plugins = settings.parent / "plugins"
    for folder, name in (
        (home / "more/skills", "far"),
        (plugins / "a/skills", "near"),
        (plugins / "a/skills", "draft-notes"),
        (plugins / "b/skills", "draft-mail"),
    ):
        write_skill(folder, name)
    settings.write_text(example, encoding="utf-8")
    on = dict.fromkeys(("far", "near", "draft-notes"), "instructions")
    off = {"edit": "disabled", "draft-mail": "disabled"}
    others = {"skill-creator": "instructions", "websearch": "needs-credential"}
    assert _states(capsys) == {**on, **off, **others}
    assert 0 == main(["disable", "far"])
    assert _states(capsys) == {**on, **off, **others, "far": "disabled"}
    assert 0 == main(["enable", "far"])
    assert example == settings.read_text(encoding="utf-8")
    for no, name in (
        ('"agentCallable": true', "compact"),
        ('"websearch": true', "websearch"),
        ('"enableBuiltinSkills": true', "skill-creator"),
    ):
        write_skill(home / ".agents/skills", "compact")
        settings.write_text(example.replace(no, no.replace("true", "false")))
        assert "disabled" == _states(capsys)[name]


def test_project_can_only_narrow(
    here: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither file switches on what the other one forbids; its sources wait."""
    write_skill(home / ".agents/skills", "mine")
    write_skill(here / "tools", "theirs")
    for folder, entries in (
        (home / ".prime/agent", ["-mine"]),
        (here / ".prime/agent", ["+mine", "-edit", "../../tools"]),
    ):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "settings.json").write_text(json.dumps({"skills": entries}))
    found = _states(capsys)
    assert ("disabled", "disabled") == (found["mine"], found["edit"])
    assert "untrusted" == found["theirs"]
    assert 0 == main(["trust"])
    assert "instructions" == _states(capsys)["theirs"]


def test_needs_are_written_as_the_table_says(
    here: Path,
    home: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each row keeps a skill back until what it names is there."""
    rows = re.findall(
        r"^\| `(.*?)` \| (.*?) \|$", _section("Keys and other needs"), flags=_LINES
    )
    for at, (line, _) in enumerate(rows):
        header = f"name: needs-{at}\ndescription: Needs. Use for tests.\n{line}\n"
        write_skill(home / ".agents/skills", f"needs-{at}", frontmatter=header)
    states = {name: x for name, x in _states(capsys).items() if "needs-" in name}
    requirement = "needs-requirement"
    expected = ["needs-credential", "needs-host", requirement, requirement]
    assert expected == list(states.values())
    programs = here / "bin"
    programs.mkdir()
    (programs / "ffmpeg").write_text("#!/bin/sh\n")
    (programs / "ffmpeg").chmod(0o755)
    (here / "src/deep").mkdir(parents=True)
    (here / "src/deep/paper.tex").touch()
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("A_URL", "x")
    monkeypatch.setenv("SERPER_API_KEY", "x")
    states = {name: x for name, x in _states(capsys).items() if "needs-" in name}
    assert ["instructions", "needs-host", "instructions", "instructions"] == list(
        states.values()
    )


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
