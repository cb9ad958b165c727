"""From a file to a skill: its Python half, and how much of it is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from prime_skills_ext.catalog.discovery import Discovery
from tests.catalog.conftest import codes, names, only
from tests.conftest import MakeSkill

Find = Callable[..., Discovery]


# Python halves


def test_python_half_is_found(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """Import name, folder, pyproject and src are known without reading any."""
    folder = make_skill(tmp_path, "word-count", python="1 / 0\n", pyproject="[[broken")
    python = only(found(tmp_path)).skill.python
    assert python is not None
    expected = ("word_count", folder, folder / "pyproject.toml", folder / "src")
    assert expected == (
        python.import_name,
        python.directory,
        python.pyproject,
        python.src,
    )


def test_skill_without_pyproject_is_markdown(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """A ``src`` folder alone means nothing, and nothing is said about it."""
    folder = make_skill(tmp_path, "a", python="")
    (folder / "pyproject.toml").unlink()
    discovery = found(tmp_path)
    assert ("markdown", []) == (only(discovery).skill.kind, codes(discovery))


def test_missing_package_leaves_instructions(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """The message names the file that is missing, the fix writes it."""
    make_skill(tmp_path, "a-b", files={"pyproject.toml": ""})
    discovery = found(tmp_path)
    (diagnostic,) = discovery.diagnostics
    assert "markdown" == only(discovery).skill.kind
    assert (
        "The skill `a-b` counts as instructions only: "
        "`src/a_b/__init__.py` is missing." == diagnostic.message
    )
    assert diagnostic.fix.startswith("Write `src/a_b/__init__.py`")


def test_package_under_another_name_is_to_be_renamed(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """The one package there is, is probably the one that was meant."""
    make_skill(tmp_path, "a", files={"pyproject.toml": "", "src/other/__init__.py": ""})
    (diagnostic,) = found(tmp_path).diagnostics
    assert "Rename `src/other` to `src/a`." == diagnostic.fix


def test_package_file_that_is_a_folder_is_missing(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """``__init__.py`` must be a regular file."""
    folder = make_skill(tmp_path, "a", files={"pyproject.toml": ""})
    (folder / "src/a/__init__.py").mkdir(parents=True)
    assert ["python-package-missing"] == codes(found(tmp_path))


def test_pyproject_that_is_a_folder_leaves_instructions(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """It is there, so somebody should hear why it does not count."""
    folder = make_skill(tmp_path, "a", python="")
    (folder / "pyproject.toml").unlink()
    (folder / "pyproject.toml").mkdir()
    assert ["pyproject-not-a-file"] == codes(found(tmp_path))


@pytest.mark.parametrize("name", ["3d", "a.b"])
def test_name_that_is_no_identifier_leaves_instructions(
    tmp_path: Path, make_skill: MakeSkill, found: Find, name: str
) -> None:
    """It could not be imported under any name."""
    make_skill(tmp_path, name, files={"pyproject.toml": ""})
    discovery = found(tmp_path)
    assert "markdown" == only(discovery).skill.kind
    assert "import-name-invalid" in codes(discovery)


@pytest.mark.parametrize("name", ["email", "class"])
def test_name_of_a_module_or_keyword_is_python_backed(
    tmp_path: Path, make_skill: MakeSkill, found: Find, name: str
) -> None:
    """Formats row 33: whether such a name is bound is the kernel's business."""
    make_skill(tmp_path, name, python="")
    assert "python" == only(found(tmp_path)).skill.kind


def test_title_is_loaded_under_its_folder(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """Formats row 12: a name with capitals or spaces takes the folder's slug."""
    make_skill(
        tmp_path,
        "pdf-tools",
        frontmatter="name: PDF Tools\ndescription: d\n",
        python="",
    )
    discovery = found(tmp_path)
    skill = only(discovery).skill
    assert ("PDF Tools", "pdf_tools", "python") == (
        skill.name,
        skill.import_name,
        skill.kind,
    )
    assert {"warning"} == {item.severity for item in discovery.diagnostics}


def test_odd_hyphens_and_underscores_load_with_a_warning(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """Formats row 13."""
    for name in ("a_b", "c--d"):
        make_skill(tmp_path, name)
    discovery = found(tmp_path)
    assert (["a_b", "c--d"], 2) == (names(discovery), len(discovery.diagnostics))


def test_name_other_than_the_folder_loads_with_a_warning(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """Formats row 14: it loads under its declared name; the warning shows both."""
    make_skill(tmp_path, "folder", frontmatter="name: declared\ndescription: d\n")
    discovery = found(tmp_path)
    (diagnostic,) = discovery.diagnostics
    assert ["declared"] == names(discovery)
    assert "declared" in diagnostic.message
    assert "folder" in diagnostic.message


# Header-only reads


def test_body_is_never_read(tmp_path: Path, make_skill: MakeSkill, found: Find) -> None:
    """Bytes that are no text, behind the header, are nobody's business here."""
    folder = make_skill(tmp_path, "a")
    with (folder / "SKILL.md").open("ab") as file:
        file.write(b"\xff\xfe" * 100_000)
    assert (["a"], []) == (names(found(tmp_path)), codes(found(tmp_path)))


@pytest.mark.parametrize("size", [4000, 4090, 4096, 4100, 30_000, 60_000])
def test_long_header_is_read_whole(
    tmp_path: Path, make_skill: MakeSkill, found: Find, size: int
) -> None:
    """A header may end anywhere within the first 64 KiB."""
    padding = "é" * (size // 2)
    make_skill(tmp_path, "a", frontmatter=f"x: {padding}\nname: a\ndescription: last\n")
    assert "last" == only(found(tmp_path)).skill.description


def test_header_beyond_the_bound_is_one_diagnostic(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """No more than 64 KiB are read for it."""
    make_skill(tmp_path, "a", frontmatter=f"description: {'x' * 70_000}\n")
    assert ["header-too-long"] == codes(found(tmp_path))


@pytest.mark.parametrize(
    "head",
    [
        "\ufeff---\nname: a\ndescription: d\n---\n",
        "---\r\nname: a\r\ndescription: d\r\n---\r\n",
        "---\rname: a\rdescription: d\r---\r",
        "---\nname: a\ndescription: d\n...\n",
        "---\nname: a\ndescription: d\n---",
    ],
)
def test_header_of_any_line_end_is_read(
    tmp_path: Path, make_skill: MakeSkill, found: Find, head: str
) -> None:
    """Byte-order mark, CRLF and CR change nothing, however long the body is."""
    folder = make_skill(tmp_path, "a")
    body = "x\n" * 5000 if head[-1] in "\r\n" else ""
    (folder / "SKILL.md").write_bytes((head + body).encode())
    discovery = found(tmp_path)
    assert ("d", []) == (only(discovery).skill.description, codes(discovery))


def test_many_blank_lines_before_the_header_are_read_over(
    tmp_path: Path, make_skill: MakeSkill, found: Find
) -> None:
    """They are a warning, not the end of the file."""
    folder = make_skill(tmp_path, "a")
    head = "\n" * 5000 + "---\nname: a\ndescription: d\n---\n"
    (folder / "SKILL.md").write_text(head)
    assert ["a"] == names(found(tmp_path))
