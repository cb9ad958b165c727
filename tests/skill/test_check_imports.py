"""What a skill imports, and whether it has a ``run``, found without running it."""

from __future__ import annotations

import pytest

from prime_skills_ext.skill.check_imports import (
    Import,
    Slip,
    find_imports,
    has_run,
)


def names(source: str) -> list[str]:
    found = find_imports(source)
    assert isinstance(found, tuple)
    return [item.name for item in found]


@pytest.mark.parametrize(
    "source",
    [
        "try:\n    import x\nexcept ImportError:\n    x = None",
        "try:\n    import x\nexcept (ValueError, ModuleNotFoundError):\n    import y",
        "try:\n    import x\nexcept:\n    pass",
        "if TYPE_CHECKING:\n    import x",
        "import_ = 1\nif typing.TYPE_CHECKING:\n    import x",
        "if sys.version_info < (3, 11):\n    import x\nelse:\n    import y",
        "if sys.platform == 'win32':\n    import x",
        "from . import x\nfrom .y import z",
    ],
)
def test_import_that_may_fail_is_left_out(source: str) -> None:
    """Optional, for type checkers, or for another system."""
    assert [name for name in names(source) if name not in {"sys", "typing"}] == []


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    import x",
        "try:\n    import x\nexcept ValueError:\n    pass",
        "try:\n    a\nexcept ImportError:\n    pass\nelse:\n    import x",
        "try:\n    a\nexcept error.E:\n    pass\nfinally:\n    import x",
        "if a:\n    import x",
        "class A:\n    from x.y import z",
        "with a:\n    import x as b",
    ],
)
def test_import_that_must_not_fail_is_found(source: str) -> None:
    """Wherever it stands."""
    assert names(source) == ["x"]


def test_imports_keep_their_order_and_place() -> None:
    """Line and column count from 1."""
    assert find_imports("import a, b.c\nif x:\n    from d import e") == (
        Import(name="a", line=1, column=1),
        Import(name="b", line=1, column=1),
        Import(name="d", line=3, column=5),
    )


@pytest.mark.parametrize("source", ["(", "a\x00b", "-" * 100000 + "1"])
def test_source_that_is_no_python_is_a_slip(source: str) -> None:
    """Whatever is wrong with it, nothing is raised and nothing printed."""
    assert isinstance(find_imports(source), Slip)


@pytest.mark.filterwarnings("error")
def test_odd_escape_warns_nobody() -> None:
    r"""`"\d"` is the author's business, not that of who checks it."""
    assert find_imports('a = "\\d"') == ()


@pytest.mark.parametrize(
    "source",
    [
        "def run(): pass",
        "async def run(): pass",
        "class run: pass",
        "run = print",
        "run: object = print",
        "a, run = 1, 2",
        "from .a import run",
        "from .a import go as run",
        "from .a import *",
        "import run",
        "if x:\n    def run(): pass",
        "try:\n    pass\nexcept E:\n    from .b import run",
        "with a:\n    run = 1",
        "try:\n    x\nexcept E:\n    y\nexcept F:\n    z\nrun = 1",
        "with a:\n    x\nrun = 1",
        "(",
    ],
)
def test_run_is_found_however_it_is_bound(source: str) -> None:
    """In doubt there is one: a false alarm is worse."""
    assert has_run(source)


@pytest.mark.parametrize(
    "source", ["", "def go(): pass", "x.run = 1", "def f():\n    run = 1"]
)
def test_run_that_is_not_of_the_module_does_not_count(source: str) -> None:
    """A local name or an attribute is not callable as the skill."""
    assert not has_run(source)
