"""Reloading: all of an edit takes effect in place, or none of it."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from prime_skills_ext.kernel import trees
from prime_skills_ext.kernel.binding import Binder
from tests.kernel.conftest import Live


async def test_re01_eight_edits_of_one_length_in_one_second_all_show(
    live: Any,
) -> None:
    """Nothing is read from a cache."""
    a = live("def run():\n    return 0\n")
    for number in range(1, 9):
        a.edit(init=f"def run():\n    return {number}\n")
        assert await a.module() == number


async def test_re01_an_edit_within_one_tick_of_the_clock_shows(
    live: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Length, times and inode are what they were; the content is not."""
    monkeypatch.setattr(trees, "_SAFE_AGE_NS", 10**12)  # however long this takes
    a = live("from .core import x\n", core="x = 1\n")
    core = a.package / "core.py"
    a.edit(core="x = 2\n")
    at = core.stat()
    core.write_text("x = 3\n")
    os.utime(core, ns=(at.st_atime_ns, at.st_mtime_ns))
    # the time of change cannot be set: the stamp is made what it would have been
    tree = trees.tree_of("a", src=a.skill.python.src)
    now = core.stat()
    old = tree.stamps[str(core)]
    tree.stamps[str(core)] = (
        now.st_mtime_ns,
        now.st_ctime_ns,
        now.st_size,
        now.st_ino,
        old[4],
    )
    a.reload()
    assert 3 == a.module.x
    assert () == a.reload().changed


async def test_re02_submodules_take_effect(live: Any) -> None:
    """``from .core import run`` follows an edit of ``core.py``."""
    a = live("from .core import run\n", core="def run():\n    return 1\n")
    bindings = a.edit(core="def run():\n    return 2\n")
    assert bindings.changed == (a.skill.identity,)
    assert 2 == await a.module()


async def test_re02_held_names_see_the_new_code(live: Any) -> None:
    """``b = a``, ``from a import run`` and instances."""
    code = (
        "LIMIT = {n}\nclass Thing:\n    def m(self):\n        return {n}\n"
        "def run():\n    return LIMIT\n"
    )
    a = live("from .core import run, Thing\n", core=code.format(n=1))
    alias, run, Thing = a.module, a.module.run, a.module.Thing  # noqa: N806
    thing = Thing()
    method = thing.m
    for number in (2, 3):
        a.edit(core=code.format(n=number))
        assert (await alias(), run(), thing.m(), method()) == (number,) * 4
        assert a.module.Thing is Thing
        assert isinstance(thing, a.module.Thing)
        assert Thing().m() == number


async def test_re02_names_that_are_gone_are_deleted(live: Any) -> None:
    """Helpers can be added and removed, and ``run`` renamed."""
    a = live("def helper():\n    return 1\ndef run():\n    return helper()\n")
    a.edit(init="def other():\n    return 2\ndef run():\n    return other()\n")
    assert 2 == await a.module()
    assert not hasattr(a.module, "helper")
    a.edit(init="def search():\n    return 3\n")
    assert not callable(a.module)
    a.edit(init="def run():\n    return 4\n")
    assert 4 == await a.module()


def test_names_that_statements_do_not_spell_come_and_go(live: Any) -> None:
    """Star imports and ``globals()``: what the new run does not define is gone."""
    a = live("from .core import *\nglobals()['made'] = 1\n", core="x = 1\ny = 2\n")
    a.edit(core="y = 2\n")
    assert (False, 2, 1) == (hasattr(a.module, "x"), a.module.y, a.module.made)


def test_what_the_user_added_to_a_module_stays(live: Any) -> None:
    """Only names that the code defined are deleted; values are those of the code."""
    a = live("LIMIT = 1\n")
    a.module.mine, a.module.LIMIT = "kept", 99
    a.edit(init="LIMIT = 2\n")
    assert ("kept", 2) == (a.module.mine, a.module.LIMIT)


def test_the_reload_idiom_works(live: Any) -> None:
    """The namespace is not cleared: state can be carried over on purpose."""
    code = "try:\n    CACHE\nexcept NameError:\n    CACHE = {}\n"
    a = live(code)
    cache = a.module.CACHE
    a.edit(init=code + "# edited\n")
    assert a.module.CACHE is cache


def test_documentation_and_annotations_are_those_of_the_new_text(live: Any) -> None:
    """Also when there are none any more."""
    a = live('"""Old."""\nx: int = 1\n')
    a.edit(init="y = 1\n")
    assert (None, {}) == (a.module.__doc__, a.module.__annotations__)


def test_unchanged_modules_are_not_executed_again(live: Any) -> None:
    """Only what changed and what imports it."""
    a = live(
        "from . import state, leaf\n",
        state="COUNT = []\n",
        leaf="X = 1\n",
    )
    count = a.module.state.COUNT
    a.edit(leaf="X = 2\n")
    assert 2 == a.module.leaf.X
    assert a.module.state.COUNT is count


def test_nothing_changed_executes_nothing(live: Any) -> None:
    """And the bindings say so."""
    a = live("import time\nWHEN = time.perf_counter()\n")
    when = a.module.WHEN
    assert () == a.reload().changed
    assert when == a.module.WHEN


@pytest.mark.parametrize(
    "broken",
    [
        "def run(:\n",
        "x = 2\n1 / 0\n",
        "run = 5\n",
        "import sys\nsys.exit(3)\n",
        "import sys\nclass C(type(sys)): ...\nsys.modules['a'].__class__ = C\n1 / 0\n",
    ],
)
async def test_an_error_rolls_the_whole_tree_back(live: Any, broken: str) -> None:
    """The version before stays callable, is marked stale and recovers."""
    a = live(
        "from .core import helper, Thing\nx = 1\ndef run():\n    return helper()\n",
        core="class Thing:\n    v = 1\n    def m(self):\n        return 1\n"
        "def helper():\n    return 1\n",
    )
    before = {
        name: dict(module.__dict__)
        for name, module in sys.modules.items()
        if name.partition(".")[0] == "a"
    }
    thing = a.module.Thing()
    core = (
        "class Thing:\n    v = 2\n    extra = 1\n    def n(self):\n        return 2\n"
        "def helper():\n    return 2\nnew = 1\n"
    )
    bindings = a.edit(core=core, init="from .core import helper\n" + broken)
    assert "stale" == a.state(bindings)
    assert a.skill.identity in bindings.errors
    assert () == bindings.changed
    assert bindings.names == {a.skill.identity: "a"}
    assert before == {
        name: dict(module.__dict__)
        for name, module in sys.modules.items()
        if name.partition(".")[0] == "a"
    }
    assert (1, 1, 1) == (await a.module(), thing.m(), thing.v)
    assert not hasattr(thing, "extra")
    assert "stale" == a.state(a.reload())
    fixed = a.edit(
        init="from .core import helper, Thing\ndef run():\n    return helper()\n"
    )
    assert a.state(fixed) is None
    assert (2, 2, 2) == (await a.module(), thing.n(), thing.v)


def test_every_source_is_compiled_before_any_code_runs(live: Any) -> None:
    """What ran could not be taken back."""
    a = live("from . import core\n", core="x = 1\n")
    a.module.ran = []
    bindings = a.edit(init="ran.append(2)\nfrom . import core\n", core="def x(:\n")
    assert ("stale", []) == (a.state(bindings), a.module.ran)


def test_re01_source_is_read_although_bytecode_fits_it(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """Length and time of modification are those that a trusted ``.pyc`` names."""
    skill = new_skill("a", "def run():\n    return 1\n")
    source = skill.python.src / "a" / "__init__.py"
    os.utime(source, (10**9, 10**9))
    a = Live(binder, skill, user_ns)
    assert Path(cache_from_source(source)).is_file()
    source.write_text("def run():\n    return 2\n")
    os.utime(source, (10**9, 10**9))
    a.reload()
    assert 2 == a.module.run()


def test_an_interrupt_of_a_reload_rolls_back_and_passes(live: Any) -> None:
    """A real one, that is."""
    a = live("x = 1\n")
    with pytest.raises(KeyboardInterrupt):
        a.edit(
            init="x = 2\nimport os, signal, time\n"
            "os.kill(os.getpid(), signal.SIGINT)\ntime.sleep(5)\n"
        )
    assert 1 == a.module.x
    assert sys.modules["a"] is a.module


@pytest.mark.parametrize("name", ["init", "core"])
@pytest.mark.parametrize(
    ("made", "state", "answer"),
    [("None", "stale", (1, 1)), ("Odd()", None, (2, 2)), ("Slotted()", None, (2, 2))],
)
def test_an_edit_that_replaces_its_module_takes_effect_or_not_at_all(
    live: Any, name: str, made: str, state: str | None, answer: tuple[int, int]
) -> None:
    """By something that is no module, even nothing; then it is repaired."""
    code = {
        "init": "from . import core\ndef run():\n    return {n}, core.run()[1]\n",
        "core": "def run():\n    return {n}, {n}\n",
    }
    odd = (
        "import sys\n"
        "class Odd:\n    def run(self):\n        return 2, 2\n"
        "class Slotted(Odd):\n    __slots__ = ()\n"
        f"sys.modules[__name__] = {made}\n"
    )
    a = live(code["init"].format(n=1), core=code["core"].format(n=1))
    text = {key: value.format(n=2) for key, value in code.items()} | {name: odd}
    assert a.state(a.edit(**text)) == state
    assert sys.modules["a"].run() == answer
    text = {key: value.format(n=3) for key, value in code.items()}
    assert a.state(a.edit(**text)) is None
    assert (3, 3) == sys.modules["a"].run()


def test_a_package_that_vanished_leaves_the_old_code_live(live: Any) -> None:
    """The files may be back in a moment: stale, not gone."""
    a = live("x = 1\n")
    bindings = a.edit(init=None)
    assert ("stale", 1) == (a.state(bindings), a.module.x)
    assert a.state(a.edit(init="x = 2\n")) is None
    assert 2 == a.module.x


def test_a_rolled_back_class_has_its_bases_back(live: Any) -> None:
    """Everything that a class statement changed is undone."""
    code = "class A:\n    x = 1\nclass B:\n    x = 2\nclass C({base}):\n    pass\n"
    a = live(code.format(base="A"))
    held = a.module.C
    a.edit(init=code.format(base="B") + "1/0\n")
    assert (held.__bases__, held.x) == ((a.module.A,), 1)


def test_class_statements_that_make_something_else_work(live: Any) -> None:
    """What a metaclass gives, and classes made inside functions, are as written."""
    code = (
        "class Odd(metaclass=lambda *a, **k: {n}):\n    pass\n"
        "def local():\n    class Inner:\n        n = {n}\n    return Inner\n"
        "Local = local()\n"
    )
    a = live(code.format(n=1))
    a.edit(init=code.format(n=2))
    assert (2, 2) == (a.module.Odd, a.module.Local.n)


def test_a_relative_import_that_leaves_the_package_is_pythons_error(live: Any) -> None:
    """Reading the source for its imports does not fail on it."""
    a = live("try:\n    from .... import x\nexcept ImportError:\n    y = 1\n")
    a.edit(init="try:\n    from .... import x\nexcept ImportError:\n    y = 2\n")
    assert 2 == a.module.y


async def test_submodules_can_be_added_and_removed(live: Any) -> None:
    """As in a fresh kernel."""
    a = live("from .core import run\n", core="def run():\n    return 1\n")
    a.edit(init="from .extra import run\n", extra="def run():\n    return 2\n")
    assert 2 == await a.module()
    a.edit(init="def run():\n    return 3\n", core=None, extra=None)
    assert 3 == await a.module()
    assert [] == [name for name in sys.modules if name.startswith("a.")]
    assert not hasattr(a.module, "core")


def test_a_removed_submodule_that_is_still_imported_is_an_error(live: Any) -> None:
    """As in a fresh kernel; the old code stays."""
    a = live("from .core import x\n", core="x = 1\n")
    bindings = a.edit(core=None)
    assert "stale" == a.state(bindings)
    assert 1 == a.module.core.x


def test_a_submodule_that_comes_back_is_the_same_object(live: Any) -> None:
    """What the user took from it follows, and what it lost is gone."""
    code = "class T:\n    n = {n}\ndef f():\n    return {n}\n"
    a = live("from . import core\n", core=code.format(n=1) + "old = 1\n")
    core, held, thing = a.module.core, a.module.core.f, a.module.core.T()
    a.edit(init="", core=None)
    assert "a.core" not in sys.modules
    a.edit(init="from . import core\n", core=code.format(n=2))
    assert a.module.core is core
    assert (2, 2, False) == (held(), thing.n, hasattr(core, "old"))


async def test_a_submodule_that_nothing_imports_any_more_may_be_broken(
    live: Any,
) -> None:
    """As in a fresh kernel; and it is the same module when it is used again."""
    a = live("from . import core\ndef run():\n    return core.x\n", core="x = 1\n")
    core = a.module.core
    bindings = a.edit(init="def run():\n    return 2\n", core="1/0\n")
    assert a.state(bindings) is None
    assert (2, False) == (await a.module(), "a.core" in sys.modules)
    a.edit(init="from . import core\ndef run():\n    return core.x\n", core="x = 3\n")
    assert (3, True, 3) == (await a.module(), a.module.core is core, core.x)


def test_an_optional_submodule_that_appears_is_noticed(live: Any) -> None:
    """Importers of a module that was not there are executed again."""
    a = live("try:\n    from .fast import x\nexcept ImportError:\n    x = 0\n")
    assert 0 == a.module.x
    a.edit(fast="x = 1\n")
    assert 1 == a.module.x


def test_a_module_that_becomes_a_package_is_the_same_object(live: Any) -> None:
    """And back."""
    a = live("from . import core\n", core="x = 1\n")
    core = a.module.core
    (a.package / "core.py").unlink()
    (a.package / "core").mkdir()
    (a.package / "core/__init__.py").write_text("from .deep import x\n")
    (a.package / "core/deep.py").write_text("x = 2\n")
    a.reload()
    assert (a.module.core, core.x) == (core, 2)
    for path in ("core/deep.py", "core/__init__.py"):
        (a.package / path).unlink()
    a.edit(core="x = 3\n")
    assert (a.module.core, core.x, hasattr(core, "__path__")) == (core, 3, False)
    assert "a.core.deep" not in sys.modules


def test_data_beside_the_code_counts(live: Any) -> None:
    """What a module may have read at import is read again."""
    a = live("")
    (a.package / "table.txt").write_text("1")
    a.edit(
        init="from pathlib import Path\n"
        "X = Path(__file__).with_name('table.txt').read_text()\n"
    )
    (a.package / "table.txt").write_text("2")
    a.reload()
    assert "2" == a.module.X


def test_dynamic_imports_count_as_importing_everything(live: Any) -> None:
    """Names that are computed cannot be read from the source."""
    a = live(
        "import importlib\nx = importlib.import_module('.c' + 'ore', __package__).x\n",
        core="x = 1\n",
    )
    a.edit(core="x = 2\n")
    assert 2 == a.module.x


def test_circular_imports_reload_in_the_order_of_a_first_import(live: Any) -> None:
    """A submodule that reads a constant of its package sees the new one."""
    a = live("X = 1\nfrom .core import y\n", core="from . import X\ny = X * 10\n")
    a.edit(init="X = 2\nfrom .core import y\n")
    assert 20 == a.module.y


def test_a_module_imported_late_follows_too(live: Any) -> None:
    """Loaded inside a function, it is no part of the package's own import."""
    a = live("def run():\n    from . import late\n    return late.x\n", late="x = 1\n")
    assert 1 == a.module.run()
    a.edit(late="x = 2\n")
    assert 2 == a.module.run()


def test_other_packages_of_the_src_are_part_of_the_tree(live: Any) -> None:
    """``src/core.py`` beside the package reloads with it."""
    a = live("")
    side = a.package.parent / "side_module.py"
    side.write_text("x = 1\n")
    a.binder.bind([a.skill])
    a.edit(init="from side_module import x\n")
    side.write_text("x = 2\n")
    a.reload()
    assert 2 == a.module.x


def test_a_failed_import_is_tried_again(live: Any, user_ns: dict[str, Any]) -> None:
    """Also when no file changed."""
    a = live("import os\nassert os.environ.get('FIXED_BY_NOW')\n")
    os.environ["FIXED_BY_NOW"] = "1"
    bindings = a.reload()
    del os.environ["FIXED_BY_NOW"]
    assert a.state(bindings) is None
    assert user_ns["a"] is sys.modules["a"]


async def test_a_running_call_finishes_its_own_body(live: Any) -> None:
    """Helpers that it calls later are the new ones."""
    code = (
        "import asyncio\ndef helper():\n    return {n}\n"
        "async def run(go):\n    await go.wait()\n    return {n}, helper()\n"
    )
    a = live(code.format(n=1))
    go = asyncio.Event()
    call = asyncio.create_task(a.module(go))
    await asyncio.sleep(0)
    a.edit(init=code.format(n=2))
    go.set()
    assert (1, 2) == await call


async def test_re06_autoreload_and_reload_live_together(
    shell: InteractiveShell, new_binder: Any, new_skill: Any
) -> None:
    """The module stays callable after ``%autoreload 2`` took an edit."""
    skill = new_skill("a", "def run():\n    return 1\n")
    binder = new_binder(shell.user_ns)
    shell.run_line_magic("load_ext", "autoreload")
    shell.run_line_magic("autoreload", "2")
    a = Live(binder, skill, shell.user_ns)
    shell.run_cell("1")
    source = a.package / "__init__.py"
    source.write_text("def run():\n    return 2\n")
    os.utime(source, (0, source.stat().st_mtime + 10))
    shell.run_cell("1")
    assert 2 == await a.module()
    a.edit(init="def run():\n    return 3\n")
    assert 3 == await a.module()
    shell.run_line_magic("autoreload", "0")


def test_links_that_lead_in_circles_end(live: Any) -> None:
    """A linked folder is read once; hidden files and caches are not read."""
    a = live("x = 1\n")
    (a.package / "loop").symlink_to(a.package)
    (a.package / ".hidden").write_text("")
    a.edit(init="x = 2\n")
    assert 2 == a.module.x
    (a.package / ".hidden").write_text("more")
    assert () == a.reload().changed


def test_re02_a_link_to_nothing_hides_no_edit(live: Any) -> None:
    """Editors leave such links beside a file; the files after them count as well."""
    modules = [f"m{number}" for number in range(8)]
    texts = dict.fromkeys(modules, "x = 1\n")
    a = live("".join(f"from . import {name}\n" for name in modules), **texts)
    for number in range(8):
        (a.package / f"l{number}").symlink_to("nowhere")
        (a.package / f"o{number}").symlink_to(f"o{number}")
    for name in modules:
        a.edit(**{name: "x = 2\n"})
    assert [2] * 8 == [getattr(a.module, name).x for name in modules]


def test_a_reload_may_run_in_a_thread(live: Any) -> None:
    """Nothing depends on the main thread."""
    a = live("x = 1\n")
    thread = threading.Thread(target=lambda: a.edit(init="x = 2\n"))
    thread.start()
    thread.join()
    assert 2 == a.module.x


def test_a_link_to_a_file_does_not_change_it(live: Any, tmp_path: Path) -> None:
    """An environment made from the same files of uv's cache executes nothing again."""
    a = live("def run():\n    return 1\n")
    source = Path(a.module.__file__)
    (tmp_path / "cache").hardlink_to(source)
    a.reload()
    a.module.LIMIT = 99
    (tmp_path / "generation").hardlink_to(source)
    assert () == a.reload().changed
    assert 99 == a.module.LIMIT
