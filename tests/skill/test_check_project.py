"""The contract of a callable module, judged without running it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.skill.check_imports import (
    find_missing,
)
from prime_skills_ext.skill.check_project import PythonFiles, check_project
from prime_skills_ext.skill.distributions import Distributions, looks_like
from prime_skills_ext.skill.finding import Finding

RUN = "async def run(text: str) -> int:\n    return 1\n"
HATCH = '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
PACKS = '[tool.hatch.build.targets.wheel]\npackages = ["src/word_count"]\n'
SCRIPT = '[project.scripts]\nword_count = "rlm.skill:cli"\n'


def project(*tables: str, dependencies: str = "") -> str:
    head = f'[project]\nname = "word-count"\nversion = "0.1.0"\n{dependencies}\n'
    return head + "".join(tables or (SCRIPT, HATCH, PACKS))


def check(
    pyproject: str | None = None,
    source: str | None = RUN,
    *,
    name: str | None = "word_count",
    files: tuple[str, ...] = (),
    **more: Any,
) -> list[Finding]:
    root = Path("/skills/word-count")
    sources = {} if source is None else {f"src/{name}/__init__.py": source}
    sources |= more.pop("sources", {})
    python = PythonFiles(
        directory=root,
        document=root / "SKILL.md",
        import_name=name,
        files=frozenset({*sources, *files}),
        pyproject=project() if pyproject is None else pyproject,
        sources=sources,
        **more,
    )
    return list(check_project(python))


def codes(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(item.code, item.severity) for item in findings]


def test_contract_that_is_kept_gives_no_finding() -> None:
    """The template's shape."""
    assert check() == []


def test_markdown_skill_gives_no_finding() -> None:
    """Without pyproject and package there is no contract."""
    python = PythonFiles(
        directory=Path("/a"), document=Path("/a/SKILL.md"), import_name="a"
    )
    assert list(check_project(python)) == []


def test_package_without_pyproject_is_an_error() -> None:
    """It looks like a function and is none."""
    root = Path("/skills/a")
    python = PythonFiles(
        directory=root,
        document=root / "SKILL.md",
        import_name="a",
        files=frozenset({"src/a/__init__.py"}),
    )
    assert codes(list(check_project(python))) == [("pyproject-missing", "error")]


def test_name_without_identifier_is_an_error() -> None:
    """`3d` cannot be imported."""
    assert codes(check(name=None, source=None)) == [("import-name-invalid", "error")]


@pytest.mark.parametrize(
    ("files", "fix"),
    [
        ((), "Write `src/word_count/__init__.py` with an `async def run(…)`."),
        (("src/other/__init__.py",), "Rename `src/other` to `src/word_count`."),
        (("word_count/__init__.py",), "Move `word_count` into `src`."),
    ],
)
def test_missing_package_is_an_error_that_names_the_nearest_way(
    files: tuple[str, ...], fix: str
) -> None:
    """The layout is `src/<import_name>`."""
    (found,) = check(source=None, files=files)
    assert (found.code, found.severity) == ("python-package-missing", "error")
    assert found.fix == fix


@pytest.mark.parametrize(
    ("name", "what"),
    [("class", "a keyword"), ("json", "a module"), ("print", "a builtin")],
)
def test_name_that_python_has_is_a_warning(name: str, what: str) -> None:
    """It works as `skills["…"]`, and the author should know."""
    found = check(name=name, source=RUN)
    assert found[0].code == "import-name-taken"
    assert what in found[0].reason


def test_broken_toml_is_one_error_with_its_place() -> None:
    """Nothing else is said about a file that cannot be read."""
    (found,) = check("[project\n")
    assert (found.code, found.severity, found.line) == ("toml-invalid", "error", 1)
    assert found.written == "[project"


def test_requirement_that_is_none_is_an_error() -> None:
    """What installing would refuse is refused here."""
    found = check(project(dependencies='dependencies = ["a b"]'))
    assert codes(found) == [("project-value", "error")]
    assert found[0].line == 4


def test_missing_build_system_is_a_warning() -> None:
    """Who builds it decides how, and not everybody can."""
    assert codes(check(project(SCRIPT))) == [("build-system-missing", "warning")]


@pytest.mark.parametrize(
    "table",
    [
        '[tool.hatch.build.targets.wheel]\npackages = ["src/other"]\n',
        "[tool.hatch.build.targets.wheel]\npackages = 3\n",
        '[tool.hatch.build]\nonly-include = ["lib"]\n',
    ],
)
def test_wheel_that_packs_something_else_is_an_error(table: str) -> None:
    """The package that is imported must be in the wheel."""
    found = check(project(SCRIPT, HATCH, table))
    assert [item.code for item in found if item.severity == "error"] == [
        "wheel-packages"
    ]
    assert found[0].corrected is not None
    assert '["src/word_count"]' in found[0].corrected


@pytest.mark.parametrize(
    "table",
    ["", PACKS, '[tool.hatch.build]\nonly-include = ["src"]\n', "tool = 3\n"],
)
def test_wheel_that_packs_the_package_gives_no_finding(table: str) -> None:
    """Also where hatchling finds it by its name."""
    text = project(SCRIPT, HATCH, table)
    if table.startswith("tool"):
        text = table + project(SCRIPT, HATCH, "")
    found = check(text)
    assert [item.code for item in found if item.code == "wheel-packages"] == []


def test_project_with_another_name_must_say_what_it_packs() -> None:
    """Hatchling would look for a package of the project's name."""
    text = project(SCRIPT, HATCH).replace('"word-count"', '"other"')
    assert codes(check(text)) == [("project-package", "error")]


@pytest.mark.parametrize(
    ("scripts", "expected"),
    [
        ("", [("script-missing", "warning")]),
        ('[project.scripts]\nwc = "rlm.skill:cli"\n', [("script-name", "error")]),
        (
            '[project.scripts]\nword_count = "word_count:main"\n',
            [("script-target", "warning")],
        ),
        (
            '[project.scripts]\nwc = "word_count:main"\n',
            [("script-missing", "warning")],
        ),
    ],
)
def test_script_is_the_import_name_and_the_runtimes(
    scripts: str, expected: list[tuple[str, str]]
) -> None:
    """`!word_count` works under no other name."""
    assert codes(check(project(scripts, HATCH, PACKS))) == expected


def test_script_of_another_name_is_shown_at_its_line() -> None:
    """With the line as it should be."""
    (found,) = check(project('[project.scripts]\nwc = "rlm.skill:cli"\n', HATCH, PACKS))
    assert found.written == 'wc = "rlm.skill:cli"'
    assert found.corrected == 'word_count = "rlm.skill:cli"'


def test_module_without_run_is_a_note_and_needs_no_script() -> None:
    """A skill may be several functions."""
    found = check(project(HATCH, PACKS), "LIMIT = 3\n")
    assert codes(found) == [("run-missing", "info")]


def test_declared_runtime_is_a_warning() -> None:
    """No index has it."""
    text = project(dependencies='dependencies = ["Prime_Agent.Runtime"]')
    assert codes(check(text)) == [("runtime-declared", "warning")]


def test_file_that_is_no_python_is_an_error_with_its_place() -> None:
    """Found without importing it; its imports are not known."""
    (found,) = check(source="def run(:\n")
    assert (found.code, found.line, found.column) == ("python-syntax", 1, 9)
    assert found.written == "def run(:"


def test_undeclared_import_is_an_error_at_its_place() -> None:
    """The first place in the first file is shown."""
    (found,) = check(source=f"import os\nimport some_thing.x\n{RUN}")
    assert (found.code, found.severity) == ("import-undeclared", "error")
    assert (found.line, found.column) == (2, 1)
    assert found.written == "import some_thing.x"
    assert found.fix == 'Add "some-thing" to `dependencies` in pyproject.toml.'


def test_default_package_of_the_reference_is_a_warning() -> None:
    """It is added when the import fails, here."""
    (found,) = check(source=f"import bs4\n{RUN}")
    assert found.severity == "warning"
    assert '"beautifulsoup4"' in found.fix


def test_dynamic_dependencies_leave_a_doubt() -> None:
    """What they are only the backend knows."""
    text = project(dependencies='dynamic = ["dependencies"]')
    (found,) = check(text, f"import foo\n{RUN}")
    assert found.severity == "warning"


def test_own_modules_and_siblings_need_no_declaration() -> None:
    """Neighbours below src, submodules and other skills."""
    source = f"import word_count.parts\nimport helper, extra, edit, rlm, json\n{RUN}"
    more = {"src/helper.py": "", "src/extra/__init__.py": "", "src/word_count/p.py": ""}
    assert check(source=source, sources=more, siblings=frozenset({"edit"})) == []


INSTALLED = Distributions(
    provides={
        "pillow": frozenset({"PIL"}),
        "pandas": frozenset({"pandas"}),
        "numpy-like": frozenset({"npl"}),
        "editable-thing": frozenset(),
    },
    requires={"pandas": frozenset({"numpy-like"}), "numpy-like": frozenset({"pandas"})},
)


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("PIL", "pillow"),
        ("editable_thing", "editable-thing"),
        ("sklearn", "scikit-learn"),
        ("yaml", "pyyaml"),
        ("slugify", "python-slugify"),
        ("some_thing", "some-thing"),
        ("foo", "foo-python"),
        ("dotted", "pydotted"),
    ],
)
def test_import_is_matched_with_its_distribution(name: str, declared: str) -> None:
    """By metadata, by the table, by the name."""
    found = find_missing(
        [name],
        known=frozenset(),
        declared=frozenset({declared}),
        distributions=INSTALLED,
    )
    assert found == {}


@pytest.mark.parametrize(
    ("name", "declared", "requirement", "why"),
    [
        ("PIL", "pandas", "pillow", None),
        ("npl", "pandas", "numpy-like", "it comes only because something else"),
        ("foo", "unknown-thing", "foo", "unless unknown-thing brings it"),
        ("cv2", "pandas", "opencv-python", None),
    ],
)
def test_missing_import_names_requirement_and_doubt(
    name: str, declared: str, requirement: str, why: str | None
) -> None:
    """Sure is only what nothing declared can bring."""
    found = find_missing(
        [name],
        known=frozenset(),
        declared=frozenset({declared}),
        distributions=INSTALLED,
    )[name]
    assert found.requirement == requirement
    assert (found.why or "").startswith(why or "")
    assert (found.why is None) == (why is None)


def test_looks_like_compares_names_without_separators() -> None:
    """Hyphens, dots and underscores say nothing."""
    assert looks_like("ruamel.yaml", "ruamel_yaml")
    assert not looks_like("httpx", "requests")
