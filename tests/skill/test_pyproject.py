"""What a pyproject.toml says, what is wrong with it, and who may install it."""

from __future__ import annotations

from typing import Any

import pytest

from prime_skills_ext.skill.pyproject import parse
from tests.skill.conftest import MINIMAL, PATH, project


def findings(text: str, *, import_name: str = "a") -> list[tuple[str, int | None]]:
    _, diagnostics = parse(text, import_name=import_name, path=PATH)
    assert all(item.path == PATH and item.fix for item in diagnostics)
    return [(item.code, item.line) for item in diagnostics]


def build(backend: str, *requires: str, more: str = "") -> str:
    names = ", ".join(f'"{name}"' for name in requires)
    return (
        f"{MINIMAL}\n[build-system]\nrequires = [{names}]\n"
        f'build-backend = "{backend}"\n\n{more}\n'
    )


def test_fields_are_read() -> None:
    """Names are canonical, requirements and specifiers are values."""
    found = project(
        """
        [project]
        name = "Prime.Skill__Word-Count"
        version = "1.10"
        requires-python = ">=3.11"
        dependencies = ["httpx>=0.27", "Beautiful_Soup4; python_version > '3'"]
        [project.optional-dependencies]
        "My.Extra" = ["rich"]
        [project.scripts]
        word-count = "rlm.skill:cli"
        [project.gui-scripts]
        word-window = "a.b : c.d"
        [project.entry-points."my.group"]
        x = "module"
        y = "module:attribute [extra]"
        [build-system]
        requires = ["hatchling>=1.27"]
        build-backend = "hatchling.build"
        [tool.hatch.build.targets.wheel]
        packages = ["src/word_count"]
        """,
        import_name="word_count",
    )
    assert found.name == "prime-skill-word-count"
    assert (found.version, str(found.requires_python)) == ("1.10", ">=3.11")
    assert [item.name for item in found.dependencies] == ["httpx", "Beautiful_Soup4"]
    assert {
        key: [item.name for item in value]
        for key, value in found.optional_dependencies.items()
    } == {"my-extra": ["rich"]}
    assert found.scripts == {"word-count": "rlm.skill:cli"}
    assert found.entry_points == {
        "gui_scripts": {"word-window": "a.b : c.d"},
        "my.group": {"x": "module", "y": "module:attribute [extra]"},
    }
    assert found.backend == "hatchling.build"
    assert [str(item) for item in found.build_requires] == ["hatchling>=1.27"]
    assert (found.static, found.slow_lane, found.dynamic) == (True, None, ())


def test_row31_name_need_not_resemble_the_import_name() -> None:
    """Distribution and import name are independent where the backend allows it."""
    text = build("setuptools.build_meta", "setuptools").replace(
        '"a"', '"prime-skill-x"'
    )
    assert findings(text) == []
    assert project(text).static


def test_row32_missing_build_system_is_fine() -> None:
    """Nothing needs to be built."""
    assert findings(MINIMAL) == []
    assert (project(MINIMAL).backend, project(MINIMAL).static) == (None, True)


@pytest.mark.parametrize(
    ("backend", "fix"),
    [
        (
            "hatchling.build",
            '[tool.hatch.build.targets.wheel]\npackages = ["src/websearch"]',
        ),
        ("uv_build", '[tool.uv.build-backend]\nmodule-name = "websearch"'),
        ("flit_core.buildapi", '[tool.flit.module]\nname = "websearch"'),
    ],
)
def test_in06_backend_that_cannot_find_the_package_is_two_lines(
    backend: str, fix: str
) -> None:
    """A warning before anything is installed, with the lines to add."""
    text = build(backend).replace('"a"', '"prime-skill-websearch"')
    _, (item,) = parse(text, import_name="websearch", path=PATH)
    assert (item.code, item.severity, item.line) == ("project-package", "warning", 2)
    assert item.fix == f"Add these two lines to pyproject.toml:\n{fix}"
    assert findings(f"{text}\n{fix}\n", import_name="websearch") == []


def test_in06_backend_that_has_to_run_and_finds_nothing_is_an_error() -> None:
    """It would refuse; where it may find another package it is left to judge."""
    text = build("hatchling.build").replace('"a"', '"prime-skill-websearch"')

    def severity(*files: str) -> str:
        found = frozenset({"setup.cfg", "src/websearch/__init__.py", *files})
        _, (item,) = parse(text, import_name="websearch", path=PATH, files=found)
        return item.severity

    assert "error" == severity()
    assert "warning" == severity("src/prime_skill_websearch/__init__.py")
    assert "warning" == severity("Prime_Skill_Websearch.py")


@pytest.mark.parametrize("name", ["web-search", "Web.Search", "web_search"])
def test_in06_matching_names_are_fine(name: str) -> None:
    """Separators and case do not matter."""
    text = build("hatchling.build").replace('"a"', f'"{name}"')
    assert findings(text, import_name="web_search") == []


@pytest.mark.parametrize("table", ["build", "build.targets.wheel"])
def test_in06_any_selection_of_files_is_the_authors(table: str) -> None:
    """Hatchling looks for nothing when it is told what to take."""
    more = f'[tool.hatch.{table}]\nonly-include = ["src/b"]'
    assert findings(build("hatchling.build", more=more), import_name="b") == []


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("a = ", "toml-invalid", 1),
        ("a = 1\nb = \n", "toml-invalid", 2),
        ("a = " + "[" * 5000, "toml-invalid", None),
        ("a = " + "9" * 5000, "toml-invalid", None),
    ],
)
def test_invalid_toml_is_one_error(text: str, code: str, line: int | None) -> None:
    """There is no project, and the line is named if the reader knows it."""
    found, (item,) = parse(text, import_name="a", path=PATH)
    assert found is None
    assert (item.code, item.severity, item.line) == (code, "error", line)


def test_byte_order_mark_is_no_fault() -> None:
    """Editors on Windows write one."""
    assert findings("\ufeff" + MINIMAL) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [("project-missing", 1)]),
        ("[project]", [("project-name", 1), ("project-version", 1)]),
        ('[project]\nname = "a"\ndynamic = ["version"]', []),
        ('[project]\nname = "a"\ndynamic = "version"',
         [("project-version", 1), ("project-type", 3)]),
        ("project = 3", [("project-type", 1)]),
        ("tool = 3\n" + MINIMAL, [("project-type", 1)]),
        ('build-system = "x"\n' + MINIMAL, [("project-type", 1)]),
        ("[project]\nname = 1\nversion = true",
         [("project-type", 2), ("project-type", 3)]),
        ('[project]\nname = "-a-"\nversion = "one"',
         [("project-value", 2), ("project-value", 3)]),
        (MINIMAL + "dependencies = {}", [("project-type", 4)]),
        (MINIMAL + 'dependencies = ["b", 1, "c d"]',
         [("project-type", 4), ("project-value", 4)]),
        (MINIMAL + 'dependencies = ["b=={}"]'.format("9" * 5000),
         [("project-value", 4)]),
        (MINIMAL + 'requires-python = "3"', [("project-value", 4)]),
        (MINIMAL + 'requires-python = ">={}"'.format("9" * 5000),
         [("project-value", 4)]),
        (MINIMAL + "scripts = []", [("project-type", 4)]),
        (MINIMAL + "[project.scripts]\nx = 1", [("project-type", 5)]),
        (MINIMAL + '[project.scripts]\nx = "module"', [("project-value", 5)]),
        (MINIMAL + '[project.entry-points]\nx = "m"', [("project-type", 5)]),
        (MINIMAL + '[project.entry-points.g]\nx = "m n"', [("project-value", 5)]),
        (MINIMAL + "optional-dependencies = 1", [("project-type", 4)]),
        (MINIMAL + '[project.optional-dependencies]\nx = "b"', [("project-type", 5)]),
        (MINIMAL + "[build-system]\nrequires = 1979-05-27", [("project-type", 5)]),
        (MINIMAL + "[build-system]\nbuild-backend = []", [("project-type", 5)]),
    ],
)  # fmt: skip
def test_w39_wrong_values_are_findings_with_line(text: str, expected: Any) -> None:
    """A value of the wrong type or form is named where it stands."""
    assert findings(text) == expected


def test_wrong_type_is_told_in_words_with_an_example() -> None:
    """The fix shows the right shape."""
    _, (item,) = parse(MINIMAL + "dependencies = true", import_name="a", path=PATH)
    assert (
        item.message
        == "[project] dependencies is true or false where a list is expected."
    )
    assert item.fix == 'Write `dependencies = ["…"]`.'


def test_refused_project_is_never_installed_by_us() -> None:
    """What a backend would refuse is not made to work behind its back."""
    found = project(MINIMAL + 'dependencies = ["b c"]')
    assert found.dependencies == ()
    assert found.slow_lane == "its pyproject.toml is not valid"
