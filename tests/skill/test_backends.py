"""Which projects we install ourselves, and which files a build reads."""

from __future__ import annotations

import pytest

from tests.skill.conftest import MINIMAL, project


def build(backend: str, *requires: str, more: str = "") -> str:
    names = ", ".join(f'"{name}"' for name in requires)
    return (
        f"{MINIMAL}\n[build-system]\nrequires = [{names}]\n"
        f'build-backend = "{backend}"\n\n{more}\n'
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it has no static [project] name"),
        (
            '[project]\nname = "a"\ndynamic = ["version", "readme"]',
            "it has dynamic fields (version, readme)",
        ),
        (
            MINIMAL + '[tool.uv.sources]\nb = { path = "../b" }',
            "it sets tool.uv.sources",
        ),
        (
            MINIMAL + '[build-system]\nbackend-path = ["."]\nbuild-backend = "mine"',
            "it brings its own build backend",
        ),
        (
            build("poetry.core.masonry.api", "poetry-core"),
            "its backend is poetry.core.masonry.api",
        ),
        (
            build("hatchling.build", "hatchling", "hatch-vcs"),
            "its build requires hatch-vcs",
        ),
        (
            build("setuptools.build_meta", "wheel", "Cython", "setuptools"),
            "its build requires cython",
        ),
        (
            build(
                "hatchling.build", more="[tool.hatch.build.hooks.custom]\npath = 'x.py'"
            ),
            "it has build hooks",
        ),
        (
            build(
                "hatchling.build",
                more="[tool.hatch.build.targets.wheel.hooks.x]\na = 1",
            ),
            "it has build hooks",
        ),
        (
            build("hatchling.build", more="[tool.hatch.metadata.hooks.x]\na = 1"),
            "it has build hooks",
        ),
        (
            build("hatchling.build", more="[tool.hatch.build]\ndev-mode-exact = true"),
            "it sets tool.hatch.build.dev-mode-exact",
        ),
        (
            build(
                "hatchling.build",
                more='[tool.hatch.build.targets.wheel]\npackages = ["lib/a"]',
            ),
            "it sets tool.hatch.build.targets.wheel.packages",
        ),
        (
            build(
                "hatchling.build",
                more='[tool.hatch.build.targets.wheel.force-include]\n"x" = "y"',
            ),
            "it sets tool.hatch.build.targets.wheel.force-include",
        ),
        (
            build(
                "setuptools.build_meta",
                more='[tool.setuptools]\npackage-dir = {"" = "lib"}',
            ),
            "it sets tool.setuptools.package-dir",
        ),
        (
            build("setuptools.build_meta", more='[tool.setuptools]\npackages = ["a"]'),
            "it sets tool.setuptools.packages",
        ),
        (
            build(
                "setuptools.build_meta",
                more='[tool.setuptools.packages.find]\nwhere = ["lib"]',
            ),
            "it sets tool.setuptools.packages",
        ),
        (
            build("uv_build", more='[tool.uv.build-backend]\nmodule-root = ""'),
            "it sets tool.uv.build-backend.module-root",
        ),
        (
            build("uv_build", more='[tool.uv.build-backend]\nmodule-name = "b"'),
            "it sets tool.uv.build-backend.module-name",
        ),
        (
            build("flit_core.buildapi", more='[tool.flit.module]\nname = "b"'),
            "it sets tool.flit.module.name",
        ),
        (
            build(
                "flit_core.buildapi", more='[tool.flit.external-data]\ndirectory = "d"'
            ),
            "it sets tool.flit.external-data",
        ),
        (
            build("pdm.backend", more='[tool.pdm.build]\ncustom-hook = "b.py"'),
            "it sets tool.pdm.build.custom-hook",
        ),
    ],
)
def test_slow_lane_says_why(text: str, reason: str) -> None:
    """Whatever a backend might do beyond what we do is a reason."""
    assert (project(text).slow_lane, project(text).static) == (reason, False)


@pytest.mark.parametrize("file", ["setup.py", "setup.cfg", "pdm_build.py"])
def test_slow_lane_for_files_that_take_part(file: str) -> None:
    """Their presence is enough."""
    assert project(MINIMAL, files=(file,)).slow_lane == f"it has a {file}"
    assert project(MINIMAL, files=(f"docs/{file}",)).static


@pytest.mark.parametrize(
    "text",
    [
        MINIMAL + "[build-system]\nrequires = ['setuptools', 'wheel']",
        build(
            "hatchling.build", "hatchling", more='[tool.hatch.build]\nexclude = ["x"]'
        ),
        build(
            "hatchling.build",
            more='[tool.hatch.build.targets.wheel]\npackages = ["src/a", "/src/b/"]',
        ),
        build(
            "hatchling.build",
            more="[tool.hatch.build.targets.wheel]\n"
            'only-include = ["src/a"]\nsources = ["src"]',
        ),
        build("setuptools.build_meta", "setuptools>=64"),
        build(
            "setuptools.build_meta",
            more="[tool.setuptools]\nzip-safe = false\n"
            '[tool.setuptools.packages.find]\nwhere = ["src"]',
        ),
        build("uv_build", "uv_build>=0.8", more="[tool.uv]\nmanaged = false"),
        build("uv_build", more='[tool.uv.build-backend]\nmodule-root = "src"'),
        build("flit_core.buildapi", "flit_core", more='[tool.flit.module]\nname = "a"'),
        build("pdm.backend", "pdm-backend", more='[tool.pdm.build]\nincludes = ["x"]'),
    ],
)
def test_fast_lane_for_plain_projects(text: str) -> None:
    """Static metadata, modules below src, nothing generated."""
    assert project(text).slow_lane is None


def test_inputs_are_the_files_that_metadata_names() -> None:
    """Those inside the folder, sorted; some may not exist."""
    found = project(
        """
        [project]
        name = "a"
        readme = { file = "docs/README.md", content-type = "text/markdown" }
        license-files = ["LICEN[CS]E*", "NOTICE", 3]
        dynamic = ["version", "dependencies"]
        [tool.setuptools.dynamic]
        version = { attr = "a.about.__version__" }
        dependencies = { file = ["requirements.txt", "../shared.txt"] }
        readme = "x"
        [tool.hatch.version]
        path = "src/a/__about__.py"
        [tool.hatch.build.hooks.custom]
        path = "C:\\\\hooks.py"
        [[tool.pdm.list]]
        files = ["/etc/passwd", "data.txt"]
        """,
        files=("LICENSE", "LICENCE.txt", "MANIFEST.in", "src/a/__init__.py"),
    )
    assert found.inputs == (
        "LICENCE.txt",
        "LICENSE",
        "MANIFEST.in",
        "NOTICE",
        "data.txt",
        "docs/README.md",
        "requirements.txt",
        "setup.cfg",
        "setup.py",
        "src/a/__about__.py",
        "src/a/about.py",
        "src/a/about/__init__.py",
        "uv.lock",
    )


def test_inputs_of_a_plain_project() -> None:
    """A readme by name and a licence by file count, an SPDX expression does not."""
    text = MINIMAL + 'readme = "README.md"\nlicense = "MIT"'
    expected = ("README.md", "setup.cfg", "setup.py", "uv.lock")
    assert project(text).inputs == expected
    text = MINIMAL + 'license = { file = "COPYING" }'
    assert "COPYING" in project(text).inputs


def test_inputs_of_flit_include_the_module() -> None:
    """Flit reads version and description from the module itself."""
    text = build("flit_core.buildapi").replace(
        'version = "1"', 'dynamic = ["version", "description"]'
    )
    assert "src/a/__init__.py" in project(text).inputs
