"""Reloading: all of an edit takes effect in place, or none of it."""

from __future__ import annotations

import asyncio
import builtins
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from prime_skills_ext.kernel.binding import Binder, Bindings
from prime_skills_ext.kernel.reload import ReloadReport


class Live:
    """One bound skill, its files and its reloads."""

    def __init__(self, binder: Binder, skill: Any, user_ns: dict[str, Any]) -> None:
        self.binder = binder
        self.skill = skill
        self.package = Path(skill.python.src) / skill.import_name
        binder.bind([skill])
        self.module: Any = user_ns.get(skill.import_name)

    def edit(self, **modules: str | None) -> Bindings:
        """Write (``None``: delete) modules of the package, then reload."""
        for name, text in modules.items():
            path = self.package / f"{name.replace('init', '__init__')}.py"
            if text is None:
                path.unlink()
            else:
                path.write_text(text)
        return self.reload()

    def reload(self) -> Bindings:
        return self.binder.bind([self.skill], reload=True)

    def state(self, bindings: Bindings) -> str | None:
        problem = bindings.problems.get(self.skill.identity)
        return None if problem is None else problem.state


@pytest.fixture
def live(binder: Binder, user_ns: dict[str, Any], new_skill: Any) -> Any:
    """Write and bind a skill called ``a``."""

    def make(python: str, **modules: str) -> Live:
        return Live(binder, new_skill("a", python, **modules), user_ns)

    return make


async def test_re01_eight_edits_of_one_length_in_one_second_all_show(
    live: Any,
) -> None:
    """Nothing is read from a cache."""
    a = live("def run():\n    return 0\n")
    for number in range(1, 9):
        a.edit(init=f"def run():\n    return {number}\n")
        assert await a.module() == number


async def test_re02_submodules_take_effect(live: Any) -> None:
    """``from .core import run`` follows an edit of ``core.py``."""
    a = live("from .core import run\n", core="def run():\n    return 1\n")
    bindings = a.edit(core="def run():\n    return 2\n")
    assert bindings.changed == (a.skill.identity,)
    assert await a.module() == 2


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
    assert await a.module() == 2
    assert not hasattr(a.module, "helper")
    a.edit(init="def search():\n    return 3\n")
    assert not callable(a.module)
    a.edit(init="def run():\n    return 4\n")
    assert await a.module() == 4


def test_names_that_statements_do_not_spell_come_and_go(live: Any) -> None:
    """Star imports and ``globals()``: what the new run does not define is gone."""
    a = live("from .core import *\nglobals()['made'] = 1\n", core="x = 1\ny = 2\n")
    a.edit(core="y = 2\n")
    assert (hasattr(a.module, "x"), a.module.y, a.module.made) == (False, 2, 1)


def test_what_the_user_added_to_a_module_stays(live: Any) -> None:
    """Only names that the code defined are deleted; values are those of the code."""
    a = live("LIMIT = 1\n")
    a.module.mine, a.module.LIMIT = "kept", 99
    a.edit(init="LIMIT = 2\n")
    assert (a.module.mine, a.module.LIMIT) == ("kept", 2)


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
    assert (a.module.__doc__, a.module.__annotations__) == (None, {})


def test_unchanged_modules_are_not_executed_again(live: Any) -> None:
    """Only what changed and what imports it."""
    a = live(
        "from . import state, leaf\n",
        state="COUNT = []\n",
        leaf="X = 1\n",
    )
    count = a.module.state.COUNT
    a.edit(leaf="X = 2\n")
    assert a.module.leaf.X == 2
    assert a.module.state.COUNT is count


def test_nothing_changed_executes_nothing(live: Any) -> None:
    """And the bindings say so."""
    a = live("import time\nWHEN = time.perf_counter()\n")
    when = a.module.WHEN
    assert a.reload().changed == ()
    assert when == a.module.WHEN


@pytest.mark.parametrize(
    "broken",
    ["def run(:\n", "x = 2\n1 / 0\n", "run = 5\n", "import sys\nsys.exit(3)\n"],
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
    assert a.state(bindings) == "stale"
    assert a.skill.identity in bindings.errors
    assert bindings.changed == ()
    assert bindings.names == {a.skill.identity: "a"}
    assert before == {
        name: dict(module.__dict__)
        for name, module in sys.modules.items()
        if name.partition(".")[0] == "a"
    }
    assert (await a.module(), thing.m(), thing.v) == (1, 1, 1)
    assert not hasattr(thing, "extra")
    assert a.state(a.reload()) == "stale"
    fixed = a.edit(
        init="from .core import helper, Thing\ndef run():\n    return helper()\n"
    )
    assert a.state(fixed) is None
    assert (await a.module(), thing.n(), thing.v) == (2, 2, 2)


def test_an_interrupt_of_a_reload_rolls_back_and_passes(live: Any) -> None:
    """A real one, that is."""
    a = live("x = 1\n")
    with pytest.raises(KeyboardInterrupt):
        a.edit(
            init="x = 2\nimport os, signal, time\n"
            "os.kill(os.getpid(), signal.SIGINT)\ntime.sleep(5)\n"
        )
    assert a.module.x == 1
    assert sys.modules["a"] is a.module


def test_a_package_that_vanished_leaves_the_old_code_live(live: Any) -> None:
    """The files may be back in a moment: stale, not gone."""
    a = live("x = 1\n")
    bindings = a.edit(init=None)
    assert (a.state(bindings), a.module.x) == ("stale", 1)
    assert a.state(a.edit(init="x = 2\n")) is None
    assert a.module.x == 2


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
    assert (a.module.Odd, a.module.Local.n) == (2, 2)


def test_a_relative_import_that_leaves_the_package_is_pythons_error(live: Any) -> None:
    """Reading the source for its imports does not fail on it."""
    a = live("try:\n    from .... import x\nexcept ImportError:\n    y = 1\n")
    a.edit(init="try:\n    from .... import x\nexcept ImportError:\n    y = 2\n")
    assert a.module.y == 2


async def test_submodules_can_be_added_and_removed(live: Any) -> None:
    """As in a fresh kernel."""
    a = live("from .core import run\n", core="def run():\n    return 1\n")
    a.edit(init="from .extra import run\n", extra="def run():\n    return 2\n")
    assert await a.module() == 2
    a.edit(init="def run():\n    return 3\n", core=None, extra=None)
    assert await a.module() == 3
    assert [name for name in sys.modules if name.startswith("a.")] == []
    assert not hasattr(a.module, "core")


def test_a_removed_submodule_that_is_still_imported_is_an_error(live: Any) -> None:
    """As in a fresh kernel; the old code stays."""
    a = live("from .core import x\n", core="x = 1\n")
    bindings = a.edit(core=None)
    assert a.state(bindings) == "stale"
    assert a.module.core.x == 1


def test_a_submodule_that_comes_back_is_the_same_object(live: Any) -> None:
    """What the user took from it follows, and what it lost is gone."""
    code = "class T:\n    n = {n}\ndef f():\n    return {n}\n"
    a = live("from . import core\n", core=code.format(n=1) + "old = 1\n")
    core, held, thing = a.module.core, a.module.core.f, a.module.core.T()
    a.edit(init="", core=None)
    assert "a.core" not in sys.modules
    a.edit(init="from . import core\n", core=code.format(n=2))
    assert a.module.core is core
    assert (held(), thing.n, hasattr(core, "old")) == (2, 2, False)


async def test_a_submodule_that_nothing_imports_any_more_may_be_broken(
    live: Any,
) -> None:
    """As in a fresh kernel; and it is the same module when it is used again."""
    a = live("from . import core\ndef run():\n    return core.x\n", core="x = 1\n")
    core = a.module.core
    bindings = a.edit(init="def run():\n    return 2\n", core="1/0\n")
    assert a.state(bindings) is None
    assert (await a.module(), "a.core" in sys.modules) == (2, False)
    a.edit(init="from . import core\ndef run():\n    return core.x\n", core="x = 3\n")
    assert (await a.module(), a.module.core is core, core.x) == (3, True, 3)


def test_an_optional_submodule_that_appears_is_noticed(live: Any) -> None:
    """Importers of a module that was not there are executed again."""
    a = live("try:\n    from .fast import x\nexcept ImportError:\n    x = 0\n")
    assert a.module.x == 0
    a.edit(fast="x = 1\n")
    assert a.module.x == 1


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
    assert a.module.X == "2"


def test_dynamic_imports_count_as_importing_everything(live: Any) -> None:
    """Names that are computed cannot be read from the source."""
    a = live(
        "import importlib\nx = importlib.import_module('.c' + 'ore', __package__).x\n",
        core="x = 1\n",
    )
    a.edit(core="x = 2\n")
    assert a.module.x == 2


def test_circular_imports_reload_in_the_order_of_a_first_import(live: Any) -> None:
    """A submodule that reads a constant of its package sees the new one."""
    a = live("X = 1\nfrom .core import y\n", core="from . import X\ny = X * 10\n")
    a.edit(init="X = 2\nfrom .core import y\n")
    assert a.module.y == 20


def test_a_module_imported_late_follows_too(live: Any) -> None:
    """Loaded inside a function, it is no part of the package's own import."""
    a = live("def run():\n    from . import late\n    return late.x\n", late="x = 1\n")
    assert a.module.run() == 1
    a.edit(late="x = 2\n")
    assert a.module.run() == 2


def test_other_packages_of_the_src_are_part_of_the_tree(live: Any) -> None:
    """``src/core.py`` beside the package reloads with it."""
    a = live("")
    side = a.package.parent / "side_module.py"
    side.write_text("x = 1\n")
    a.binder.bind([a.skill])
    a.edit(init="from side_module import x\n")
    side.write_text("x = 2\n")
    a.reload()
    assert a.module.x == 2


def test_a_failed_import_is_tried_again(live: Any, user_ns: dict[str, Any]) -> None:
    """Also when no file changed."""
    a = live("import os\nassert os.environ.get('FIXED_BY_NOW')\n")
    os.environ["FIXED_BY_NOW"] = "1"
    bindings = a.reload()
    del os.environ["FIXED_BY_NOW"]
    assert a.state(bindings) is None
    assert user_ns["a"] is sys.modules["a"]


async def test_re06_a_held_function_never_becomes_another(live: Any) -> None:
    """``f = foo`` edited to ``f = bar``: a held ``foo`` stays ``foo``."""
    code = "def foo():\n    return 'foo{n}'\ndef bar():\n    return 'bar{n}'\nf = {f}\n"
    a = live(code.format(n=1, f="foo"))
    held = a.module.f
    a.edit(init=code.format(n=2, f="bar"))
    assert (held(), a.module.f(), a.module.foo(), a.module.bar()) == (
        "foo2",
        "bar2",
        "foo2",
        "bar2",
    )


def test_re06_functions_of_one_decorator_are_not_mixed_up(live: Any) -> None:
    """Closures that share a name keep their own function inside."""
    code = (
        "def deco(f):\n    def inner():\n        return f() + '{n}'\n    return inner\n"
        "@deco\ndef one():\n    return 'one{n}'\n"
        "@deco\ndef two():\n    return 'two{n}'\n"
    )
    a = live(code.format(n=1))
    one, two = a.module.one, a.module.two
    a.edit(init=code.format(n=2))
    assert (one()[:4], two()[:4]) == ("one2", "two2")


def test_held_functions_follow_through_decorators(live: Any) -> None:
    """Wrapped, cached, partial, bound in a property or class."""
    code = """
import functools
def deco(f):
    @functools.wraps(f)
    def inner(*a):
        return f(*a)
    return inner
@deco
def wrapped():
    return {n}
@functools.lru_cache
def cached():
    return {n}
def base(x):
    return {n}
part = functools.partial(base, 1)
class Thing:
    @staticmethod
    def static():
        return {n}
    @classmethod
    def made(cls):
        return {n}
    @property
    def prop(self):
        return {n}
    @prop.setter
    def prop(self, value):
        self.value = value + {n}
    @functools.cached_property
    def lazy(self):
        return {n}
    class Inner:
        def m(self):
            return {n}
"""
    a = live(code.format(n=1))
    module = a.module
    thing, inner = module.Thing(), module.Thing.Inner()
    held = [
        module.wrapped,
        module.part,
        module.Thing.static,
        module.Thing.made,
        inner.m,
        lambda: thing.prop,
        lambda: thing.lazy,
    ]
    cached = module.cached
    cached()
    a.edit(init=code.format(n=2))
    assert [call() for call in held] == [2] * 7
    thing.prop = 1
    assert thing.value == 3
    assert cached() == 2


def test_a_held_function_follows_when_a_decorator_comes_or_goes(live: Any) -> None:
    """The number of its cells changes: it calls the new one."""
    deco = (
        "import functools\ndef deco(f):\n    @functools.wraps(f)\n"
        "    def inner(*a, **k):\n        return f(*a, **k) + 100\n    return inner\n"
    )
    a = live("def f(x=1):\n    'One.'\n    return x\n")
    held = a.module.f
    a.edit(init=deco + "@deco\ndef f(x=2):\n    'Two.'\n    return x\n")
    assert (held(), held(5), held.__doc__) == (102, 105, "Two.")
    decorated = a.module.f
    a.edit(init="def f(x=3):\n    return x\n")
    assert (held(), held(5), decorated(5), decorated()) == (3, 5, 5, 3)


def test_a_function_takes_over_defaults_and_attributes(live: Any) -> None:
    """Everything that makes a call different."""
    a = live("def f(x: int = 1, *, y=1):\n    return x, y\nf.mark = 1\n")
    held = a.module.f
    a.edit(init="def f(x: str = 'a', *, y=2):\n    return x, y\nf.mark = 2\n")
    assert (held(), held.mark, held.__annotations__) == (("a", 2), 2, {"x": str})


def test_a_function_that_is_gone_keeps_its_last_body(live: Any) -> None:
    """There is nothing to follow."""
    a = live("def f():\n    return 1\n")
    held = a.module.f
    a.edit(init="g = 1\n")
    assert held() == 1


def test_held_exceptions_are_still_caught(live: Any) -> None:
    """A class keeps its identity, so ``except`` and subclasses work."""
    code = (
        "class Base(Exception):\n    pass\nclass Oops(Base):\n    n = {n}\n"
        "def run():\n    raise Oops\n"
    )
    a = live(code.format(n=1))
    base, oops = a.module.Base, a.module.Oops
    a.edit(init=code.format(n=2))
    with pytest.raises(oops) as caught:
        a.module.run()
    assert (caught.value.n, isinstance(caught.value, base)) == (2, True)


def test_super_works_in_a_class_that_kept_its_identity(live: Any) -> None:
    """``super()`` and ``__class__`` mean the class that stayed."""
    code = (
        "import functools\n"
        "class Base:\n    def m(self):\n        return {n}\n"
        "class Child(Base):\n"
        "    def m(self):\n        return super().m() + 10\n"
        "    @functools.cached_property\n    def c(self):\n        return __class__\n"
        "    @classmethod\n    def k(cls):\n        return __class__\n"
    )
    a = live(code.format(n=1))
    held = a.module.Child()
    a.edit(init=code.format(n=2))
    assert (held.m(), held.c, held.k()) == (12, a.module.Child, a.module.Child)


def test_bases_of_a_held_class_can_change(live: Any) -> None:
    """When Python allows it, the class stays itself."""
    code = "class A:\n    x = 1\nclass B:\n    x = 2\nclass C({base}):\n    pass\n"
    a = live(code.format(base="A"))
    held = a.module.C()
    a.edit(init=code.format(base="B"))
    assert (held.x, type(held) is a.module.C) == (2, True)


def test_instances_move_when_a_class_cannot_stay(live: Any) -> None:
    """Other bases or another metaclass: a new class takes over its instances."""
    code = (
        "class Meta(type):\n    pass\n"
        "class Thing(metaclass=Meta):\n    def m(self):\n        return {n}\n"
        "class Late{base}:\n    def m(self):\n        return {n}\n"
    )
    a = live(code.format(n=1, base=""))
    thing, late = a.module.Thing(), a.module.Late()
    a.edit(init=code.format(n=2, base="(Exception)"))
    assert (thing.m(), isinstance(thing, a.module.Thing)) == (2, True)
    assert late.m() in {1, 2}  # an object cannot become an exception


def test_dataclasses_slots_enums_and_abcs_reload(live: Any) -> None:
    """Class decorators and metaclasses see what they expect."""
    code = """
import abc, dataclasses, enum, typing
@dataclasses.dataclass
class Data:
    x: int = {n}
@dataclasses.dataclass(slots=True)
class Slotted:
    x: int = {n}
    def m(self):
        return {n}
class Plain:
    __slots__ = ("y",)
    def m(self):
        return {n}
class Color(enum.Enum):
    RED = {n}
class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...
class Square(Shape):
    def area(self):
        return {n}
class Pair(typing.NamedTuple):
    x: int = {n}
"""
    a = live(code.format(n=1))
    module = a.module
    data, slotted, plain, square = (
        module.Data(),
        module.Slotted(),
        module.Plain(),
        module.Square(),
    )
    a.edit(init=code.format(n=2))
    assert (type(data) is module.Data, module.Data().x, data.x) == (True, 2, 1)
    assert (slotted.m(), plain.m(), square.area()) == (2, 2, 2)
    assert (module.Color.RED.value, module.Pair().x) == (2, 2)
    assert isinstance(square, module.Shape)
    with pytest.raises(TypeError, match="abstract"):
        module.Shape()


def test_a_class_of_another_thread_is_not_touched(live: Any) -> None:
    """While a reload runs, class statements elsewhere are Python's own."""
    code = (
        "import threading\nclass Mine:\n    pass\n"
        "def make():\n    global Other\n    class Other:\n        pass\n"
        "thread = threading.Thread(target=make)\nthread.start()\nthread.join()\n"
    )
    a = live(code)
    other, mine = a.module.Other, a.module.Mine
    original = builtins.__build_class__
    a.edit(init=code + "# edited\n")
    assert a.module.Mine is mine
    assert a.module.Other is not other
    assert builtins.__build_class__ is original


def test_classes_of_other_modules_are_left_alone(live: Any) -> None:
    """A helper elsewhere that makes classes gets what it made."""
    a = live("import collections\nP = collections.namedtuple('P', 'x')\n")
    a.edit(init="import collections\nP = collections.namedtuple('P', 'x y')\n")
    assert a.module.P._fields == ("x", "y")


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
    assert await call == (1, 2)


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
    assert await a.module() == 2
    a.edit(init="def run():\n    return 3\n")
    assert await a.module() == 3
    shell.run_line_magic("autoreload", "0")


def test_links_that_lead_in_circles_end(live: Any) -> None:
    """A linked folder is read once; hidden files and caches are not read."""
    a = live("x = 1\n")
    (a.package / "loop").symlink_to(a.package)
    (a.package / ".hidden").write_text("")
    a.edit(init="x = 2\n")
    assert a.module.x == 2
    (a.package / ".hidden").write_text("more")
    assert a.reload().changed == ()


def test_a_reload_may_run_in_a_thread(live: Any) -> None:
    """Nothing depends on the main thread."""
    a = live("x = 1\n")
    thread = threading.Thread(target=lambda: a.edit(init="x = 2\n"))
    thread.start()
    thread.join()
    assert a.module.x == 2


def test_re03_a_report_is_one_line_with_names() -> None:
    """Added, changed, removed and failed, in a fixed order."""
    report = ReloadReport.between(
        {"edit": 1, "gone": 1, "same": 1, "was-fine": 1, "still-broken": 1},
        {"edit": 1, "same": 1, "new": 1, "b": 1, "was-fine": 2, "still-broken": 1},
        changed=["edit"],
        failing=["was-fine", "still-broken"],
    )
    assert repr(report) == "+2 b, new ~1 edit -1 gone !1 was-fine"
    assert bool(report)


def test_re03_nothing_changed_is_an_empty_report() -> None:
    """So that the magic can return ``None``."""
    report = ReloadReport.between({"a": 1}, {"a": 1}, failing=["a"])
    assert not report
    assert repr(report) == ""
