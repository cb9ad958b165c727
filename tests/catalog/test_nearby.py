"""Path patterns of skills against the files of a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from prime_skills_ext.catalog.nearby import Nearby, find_matching

FILES = (
    "README.md",
    "docs/guide/intro.rst",
    "src/app/main.ts",
    "src/app/view.tsx",
    ".github/workflows/ci.yml",
    "node_modules/left/index.js",
    ".git/config",
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small project."""
    for name in FILES:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (("*.md",), True),
        (("*.ts",), True),
        (("/*.ts",), False),
        (("src/**/*.ts",), True),
        (("./src/**/*.ts",), True),
        (("app/*.ts",), False),
        (("**/app/*.ts",), True),
        (("docs/",), True),
        (("docs/**",), True),
        (("docs",), True),
        (("intro.rst/",), False),
        (("*.{py,tsx}",), True),
        (("{lib,src}/*/*.{vue,tsx}",), True),
        (("*.{py,rs}",), False),
        (("*.{py",), False),
        (("*.{" + ",".join(f"x{n}" for n in range(99)) + ",md}",), True),
        (("*.{ts{,x},py}",), True),
        ((".github/workflows/*.yml",), True),
        (("*.py", "*.rst"), True),
        (("*.ts", "!src/app/*"), False),
        (("*.ts", "!*.tsx"), True),
        (("*.js",), False),
        ((".git/config",), False),
        (("[",), False),
        (("/", "//"), False),
        (("# a comment",), False),
    ],
)
def test_patterns_mean_what_git_and_authors_mean(
    project: Path, patterns: tuple[str, ...], *, expected: bool
) -> None:
    """Git's semantics, and braces; folders of other people's files do not count."""
    found = find_matching([patterns], root=project)
    assert Nearby(matching=frozenset({patterns} if expected else ())) == found


def test_each_skill_has_its_own_answer(project: Path) -> None:
    """One walk for all of them."""
    found = find_matching([("*.md",), ("*.py",), ("*.rst",)], root=project)
    assert {("*.md",), ("*.rst",)} == found.matching


def test_walk_ends_at_its_bound_and_says_so(project: Path) -> None:
    """What was seen counts; the rest is unknown."""
    found = find_matching([("*.md",), ("*.tsx",)], root=project, limit=6)
    assert (frozenset({("*.md",)}), False) == (found.matching, found.complete)


def test_nearest_files_are_seen_first(project: Path) -> None:
    """A match near the root needs no walk through the depths."""
    assert find_matching([("README.md",)], root=project, limit=5).complete


def test_links_are_not_followed(project: Path) -> None:
    """A loop ends, and what lies elsewhere is not of this project."""
    (project / "docs" / "loop").symlink_to(project)
    (project / "elsewhere").symlink_to(project / "src")
    found = find_matching([("elsewhere/**/*.ts",), ("*.none",)], root=project)
    assert Nearby() == found


def test_folder_that_is_not_there_matches_nothing(tmp_path: Path) -> None:
    """Nor does one that vanished."""
    assert Nearby() == find_matching([("*",)], root=tmp_path / "gone")
