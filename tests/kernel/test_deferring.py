"""Lazy imports: code runs at its first use, and the skill is then like any other."""

from __future__ import annotations

import asyncio
import copy
import importlib
import inspect
import pickle
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.errors import SkillUnavailableError
from prime_skills_ext.kernel.binding import Binder
from prime_skills_ext.kernel.bindings import Bindings
from prime_skills_ext.kernel.callable_module import CallableSkill
from prime_skills_ext.progress import ProgressEvent

CODE = '''
import sys
sys.ran = [*getattr(sys, "ran", []), __name__]
LIMIT = {n}
async def run(q: str = "a") -> str:
    """Repeat."""
    return q * LIMIT
'''


class Bound:
    """A skill called ``late``, bound and not used yet, and its edits."""

    def __init__(self, binder: Binder, skill: Any, user_ns: dict[str, Any]) -> None:
        self.binder, self.skill, self.names = binder, skill, user_ns
        self.source: Path = skill.python.src / skill.import_name / "__init__.py"
        self.told: list[ProgressEvent] = []
        binder.bind([skill], lazy=True, tell=self.told.append)

    @property
    def module(self) -> Any:
        return self.names["late"]

    def reload(self, text: str | None = None) -> Bindings:
        if text is not None:
            self.source.write_text(text)
        tell = self.told.append
        return self.binder.bind([self.skill], lazy=True, reload=True, tell=tell)

    def state(self, bindings: Bindings) -> str | None:
        problem = bindings.problems.get(self.skill.identity)
        return None if problem is None else problem.state


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """The skills whose code has run."""
    monkeypatch.setattr(sys, "ran", [], raising=False)
    return lambda: sys.ran  # type: ignore[attr-defined]


@pytest.fixture
def bound(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any, ran: object
) -> Callable[..., Bound]:
    def make(code: str = CODE.format(n=2), **modules: str) -> Bound:
        return Bound(binder, new_skill("late", code, **modules), user_ns)

    return make


def test_binding_looking_and_reloading_run_nothing(
    bound: Callable[..., Bound], ran: Callable[[], list[str]]
) -> None:
    """What displays, probes and compares leaves a skill alone; so does a reload."""
    late = bound()
    module = late.module
    assert (module, "late") == (late.binder.skills["late"], module.__name__)
    assert f"<module 'late' from '{late.source}'>" == repr(module)
    assert inspect.ismodule(module)
    assert callable(module)
    assert not hasattr(module, "_repr_html_")
    assert not hasattr(module, "__wrapped__")
    assert late.reload(CODE.format(n=3)).changed == ()
    assert module is late.module
    assert ([], [], None) == (ran(), late.told, sys.modules.get("late"))


def _import(module: Any) -> object:
    return importlib.import_module("late")


def _import_run(module: Any) -> object:
    from late import run  # type: ignore[import-not-found]

    return run


USES: dict[str, Callable[[Any], object]] = {
    "await": lambda module: asyncio.run(module("a")),
    "attribute": lambda module: module.LIMIT,
    "private attribute": lambda module: getattr(module, "_limit", None),
    "import": _import,
    "from import": _import_run,
    "submodule": lambda _: importlib.import_module("late.core"),
    "dir": dir,
    "signature": inspect.signature,
    "documentation": inspect.getdoc,
    "pickle": pickle.dumps,
    "copy": copy.deepcopy,
}


@pytest.mark.parametrize("use", USES)
def test_any_first_use_runs_the_code_once_in_the_module_that_was_bound(
    use: str, bound: Callable[..., Bound], ran: Callable[[], list[str]]
) -> None:
    """One object, one namespace; afterwards it is like every other skill."""
    late = bound(core="x = 1\n")
    module = late.module
    USES[use](module)
    assert ["late"] == ran()
    assert sys.modules["late"] is module
    assert type(module) is CallableSkill
    assert vars(module)["__loader__"] is vars(module)["__spec__"].loader
    assert "aa" == asyncio.run(module("a"))
    assert "(q: str = 'a') -> str" == str(inspect.signature(module))
    assert "Repeat." == module.__doc__
    assert pickle.loads(pickle.dumps(module)) is module
    assert ["late"] == ran()
    assert (None, ()) == (late.state(late.reload()), late.reload().changed)


def test_an_edit_before_the_first_use_and_one_after_it_are_in_effect(
    bound: Callable[..., Bound],
) -> None:
    """Also when an import statement was the first use, of which nobody is told."""
    late = bound()
    late.source.write_text(CODE.format(n=3))
    _import(None)
    assert "aaa" == asyncio.run(late.module())
    assert (late.skill.identity,) == late.reload(CODE.format(n=4)).changed
    assert "aaaa" == asyncio.run(late.module())


def test_code_that_fails_says_so_at_its_first_use_and_is_not_run_again(
    bound: Callable[..., Bound], ran: Callable[[], list[str]]
) -> None:
    """Nothing half made is left; the next reload has a placeholder, or the skill."""
    late = bound(CODE.format(n=2) + "1 / 0\n")
    module = late.module
    for use in ("await", "attribute", "from import", "pickle"):
        with pytest.raises(SkillUnavailableError) as caught:
            USES[use](module)
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
        assert "import-failed" in str(caught.value)
    assert not hasattr(module, "LIMIT")
    assert ([], ["late"]) == ([key for key in dir(module) if key[0] != "_"], ran())
    assert "import-failed" == late.state(late.reload())
    assert "not usable" in repr(late.module)
    assert late.state(late.reload(CODE.format(n=3))) is None
    assert late.module is module
    assert "aaa" == asyncio.run(module())


def test_a_module_without_run_is_a_plain_one_once_it_is_used(
    bound: Callable[..., Bound],
) -> None:
    """Nobody can tell before."""
    late = bound("X = 1\n")
    assert (1, False) == (late.module.X, callable(late.module))


def test_a_skill_that_asks_for_itself_while_it_runs_gets_pythons_error(
    bound: Callable[..., Bound],
) -> None:
    """As in any circular import."""
    late = bound("import late\nseen = hasattr(late, 'run')\ndef run(): return seen\n")
    assert False is asyncio.run(late.module())


def test_two_threads_that_use_it_first_run_it_once(
    bound: Callable[..., Bound], ran: Callable[[], list[str]]
) -> None:
    """Each gets the answer of code that has run to its end."""
    late = bound("import time\ntime.sleep(0.1)\n" + CODE.format(n=2))
    answers: list[str] = []
    threads = [
        threading.Thread(target=lambda: answers.append(asyncio.run(late.module())))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (["aa"] * 8, ["late"]) == (answers, ran())


def test_what_was_never_used_is_unavailable_after_unload_and_back_after_load(
    bound: Callable[..., Bound], new_binder: Callable[..., Binder]
) -> None:
    """No module of that name from elsewhere answers for it."""
    late = bound()
    module = late.module
    late.binder.unbind()
    with pytest.raises(SkillUnavailableError, match="removed"):
        _ = module.LIMIT
    with pytest.raises(ModuleNotFoundError):
        _import(None)
    new_binder(late.names).bind([late.skill], lazy=True)
    assert late.module is module
    assert 2 == module.LIMIT


def test_a_private_skill_waits_as_well(
    binder: Binder, new_skill: Any, ran: Callable[[], list[str]]
) -> None:
    """``skills["json"]``."""
    binder.bind([new_skill("json", CODE.format(n=2))], lazy=True)
    skill: Any = binder.skills["json"]
    assert [] == ran()
    assert "aa" == asyncio.run(skill())
    assert [skill.__name__] == ran()
