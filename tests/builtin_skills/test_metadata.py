"""The skills that ship keep the rules that they teach."""

from __future__ import annotations

import inspect
import re
import tomllib
from pathlib import Path

import pytest

from prime_skills_ext.catalog.checking import (
    Surroundings,
    check_skill,
    find_targets,
)
from prime_skills_ext.catalog.discovery import discover
from prime_skills_ext.catalog.sources import Source

NAMES = ("edit", "skill-creator", "websearch")
FENCE = re.compile(
    r"^`(?P<file>[^`\n]+)`:\n\n```\w+\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)


def test_shipped_skills_load_without_a_diagnostic(builtin: Path) -> None:
    """Three skills, two of them functions, and nothing to report."""
    found = discover([Source(kind="builtin", label="builtin", directory=builtin)])
    assert found.diagnostics == ()
    kinds = {item.skill.name: item.skill.kind for item in found.candidates}
    assert kinds == {
        "edit": "python",
        "skill-creator": "markdown",
        "websearch": "python",
    }


@pytest.mark.parametrize("name", NAMES)
def test_shipped_skill_says_what_and_when(builtin: Path, name: str) -> None:
    """A description is short enough to be listed whole and names its occasions."""
    found = discover([Source(kind="builtin", label="builtin", directory=builtin)])
    (skill,) = [item.skill for item in found.candidates if item.skill.name == name]
    assert skill.directory.name == name
    assert len(skill.description) <= 250
    assert ". Use when " in skill.description


def test_websearch_declares_its_credential(builtin: Path) -> None:
    """The gate reads whose key is needed, and which variable may hold it."""
    found = discover([Source(kind="builtin", label="builtin", directory=builtin)])
    metadata = {item.skill.name: item.skill.metadata for item in found.candidates}
    assert metadata["websearch"] == {
        "credential": {"provider": "serper", "variable": "SERPER_API_KEY"}
    }


@pytest.mark.parametrize(
    ("name", "dependencies"), [("edit", []), ("websearch", ["httpx>=0.27,<1"])]
)
def test_w70_shipped_project_never_requires_the_runtime(
    builtin: Path, name: str, dependencies: list[str]
) -> None:
    """A project names its third-party packages, its script and nothing of ours."""
    text = (builtin / name / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    assert project["dependencies"] == dependencies
    assert project["scripts"] == {name: "rlm.skill:cli"}
    assert project["requires-python"] == ">=3.10"


def _template(builtin: Path) -> dict[str, str]:
    guide = builtin / "skill-creator" / "references" / "python-skills.md"
    text = guide.read_text(encoding="utf-8")
    section = text.split("\n## Minimal Template\n", 1)[1].split("\n## The function\n")[
        0
    ]
    return {found["file"]: found["text"] for found in FENCE.finditer(section)}


def test_template_is_three_files_that_load_without_a_diagnostic(
    builtin: Path, tmp_path: Path
) -> None:
    """Who copies the template has a Python-backed skill."""
    files = _template(builtin)
    assert list(files) == ["SKILL.md", "pyproject.toml", "src/word_count/__init__.py"]
    for inside, text in files.items():
        file = tmp_path / "word-count" / inside
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    found = discover([Source(kind="explicit", label="explicit", directory=tmp_path)])
    assert found.diagnostics == ()
    (candidate,) = found.candidates
    assert candidate.skill.name == "word-count"
    assert candidate.skill.python is not None
    assert candidate.skill.python.import_name == "word_count"
    tomllib.loads(files["pyproject.toml"])


def _findings(root: Path) -> list[str]:
    source = Source(kind="explicit", label="explicit", directory=root)
    checked = [
        check_skill(target, surroundings=Surroundings())
        for target in find_targets(source)
    ]
    assert checked
    return [f"{x.name}: {item.code}" for x in checked for item in x.findings]


def test_shipped_skills_pass_the_strict_check(builtin: Path) -> None:
    """Not one finding, notes included."""
    assert _findings(builtin) == []


def test_template_passes_the_strict_check(builtin: Path, tmp_path: Path) -> None:
    """Who copies the template starts without a finding."""
    for inside, text in _template(builtin).items():
        file = tmp_path / "word-count" / inside
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert _findings(tmp_path) == []


def test_readmes_skill_passes_the_strict_check(tmp_path: Path) -> None:
    """The first skill that anybody sees is a good one."""
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    section = readme.split("\n## A skill\n", 1)[1].split("\n## ", 1)[0]
    document, project, code = re.findall(
        r"```\w+\n(.*?)^```", section, re.DOTALL | re.MULTILINE
    )[-3:]
    folder = tmp_path / "word-count"
    (folder / "src" / "word_count").mkdir(parents=True)
    (folder / "SKILL.md").write_text(document, encoding="utf-8")
    (folder / "pyproject.toml").write_text(project, encoding="utf-8")
    (folder / "src/word_count/__init__.py").write_text(code, encoding="utf-8")
    assert _findings(tmp_path) == []


async def test_template_counts_words(builtin: Path) -> None:
    """The code of the template does what its text says."""
    namespace: dict[str, object] = {}
    source = _template(builtin)["src/word_count/__init__.py"]
    exec(compile(source, "template", "exec", dont_inherit=True), namespace)
    run = namespace["run"]
    assert callable(run)
    # an annotation in quotation marks would be shown with them by `word_count?`
    assert str(inspect.signature(run)).startswith("(text: str, top: int = 10, *, ")
    assert await run("a b A", top=1) == {"a": 2}
    with pytest.raises(ValueError, match="at least 1"):
        await run("a", top=0)


def test_skill_creator_links_to_files_that_exist(builtin: Path) -> None:
    """Every relative link of a shipped skill leads somewhere."""
    for file in builtin.glob("*/**/*.md"):
        for link in re.findall(r"\]\(([^)#:]+)\)", file.read_text(encoding="utf-8")):
            assert (file.parent / link).is_file(), f"{file.name}: {link}"


@pytest.mark.parametrize(
    "topic",
    [
        "%skill add",
        "%reload_skills",
        "%skill check",
        "%skill doctor",
        "%skill trust",
        "Use when",
    ],
)
def test_skill_creator_teaches(builtin: Path, topic: str) -> None:
    """Place, trust, trying out and routing are part of the lesson."""
    text = (builtin / "skill-creator" / "SKILL.md").read_text(encoding="utf-8")
    assert topic in text
