"""A module that is called: one object, one namespace, ``run``'s signature."""

from __future__ import annotations

import asyncio
import copy
import importlib
import inspect
import pickle
import pydoc
import signal
import sys
import threading
import traceback
from pathlib import Path
from types import CoroutineType, ModuleType
from typing import Any

import cloudpickle
import pytest
from IPython.core.interactiveshell import InteractiveShell

from prime_skills_ext import process
from prime_skills_ext.kernel import callable_module
from prime_skills_ext.kernel.binding import Binder
from prime_skills_ext.kernel.callable_module import (
    CallableSkill,
    make_callable,
    make_plain,
    not_started,
    pretty_call,
)

RUN = '''
"""The module's text."""
LIMIT = 5

async def run(query: str, limit: int = 5) -> str:
    """Search for a query."""
    return query * LIMIT
'''

KINDS = {
    "sync": """
        def run(q):
            return q + "!"
    """,
    "async": """
        async def run(q):
            return q + "!"
    """,
    "partial": """
        import functools
        def f(mark, q):
            return q + mark
        run = functools.partial(f, "!")
    """,
    "async partial": """
        import functools
        async def f(mark, q):
            return q + mark
        run = functools.partial(f, "!")
    """,
    "instance": """
        class R:
            def __call__(self, q):
                return q + "!"
        run = R()
    """,
    "async instance": """
        class R:
            async def __call__(self, q):
                return q + "!"
        run = R()
    """,
    "decorated": """
        import functools
        def d(f):
            @functools.wraps(f)
            def inner(*a, **k):
                return f(*a, **k)
            return inner
        @d
        def run(q):
            return q + "!"
    """,
    "cached": """
        import functools
        @functools.lru_cache
        def run(q):
            return q + "!"
    """,
    "builtin": "run = '{}!'.format",
    "overloaded": """
        from typing import overload
        @overload
        def run(q: int) -> int: ...
        @overload
        def run(q: str) -> str: ...
        def run(q):
            return q + "!"
    """,
    "paths": """
        def run(*paths, mark="!"):
            return "".join(paths) + mark
    """,
    "class method": """
        class R:
            @classmethod
            def run(cls, q):
                return q + "!"
        run = R.run
    """,
    "async method": """
        class R:
            async def run(self, q):
                return q + "!"
        run = R().run
    """,
    "async decorated": """
        import functools
        def d(f):
            @functools.wraps(f)
            async def inner(*a, **k):
                return await f(*a, **k)
            return inner
        @d
        async def run(q):
            return q + "!"
    """,
    "async undisguised": """
        def d(f):
            return lambda *a: f(*a)
        @d
        async def run(q):
            return q + "!"
    """,
    "generator-based": """
        import types
        @types.coroutine
        def run(q):
            return q + "!"
            yield
    """,
    "awaitable": """
        class R:
            def __init__(self, q):
                self.q = q
            def __await__(self):
                return self.q + "!"
                yield
        run = R
    """,
    "class": """
        class run(str):
            def __new__(cls, q):
                return str.__new__(cls, q + "!")
    """,
    "future": """
        import asyncio
        def run(q):
            f = asyncio.get_running_loop().create_future()
            f.set_result(q + "!")
            return f
    """,
    "module getattr": """
        def f(q):
            return q + "!"
        def __getattr__(name):
            if name == "run":
                return f
            raise AttributeError(name)
    """,
}


@pytest.mark.parametrize("kind", KINDS)
async def test_kb12_every_kind_of_run_can_be_awaited(
    kind: str, binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """Only what can be awaited is awaited."""
    binder.bind([new_skill("kind-of-run", KINDS[kind])])
    assert await user_ns["kind_of_run"]("a") == "a!"


async def test_kb12_an_async_generator_is_returned_as_is(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """``async for x in await skill(q)``."""
    binder.bind(
        [new_skill("streaming", "async def run(q):\n    yield q\n    yield 2\n")]
    )
    assert [item async for item in await user_ns["streaming"](1)] == [1, 2]


async def test_kb12_a_generator_is_returned_as_is(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """Nobody runs it but who asked for it."""
    binder.bind([new_skill("yielding", "def run(q):\n    yield q\n    yield 2\n")])
    assert [1, 2] == list(await user_ns["yielding"](1))


async def test_kb12_a_coroutine_function_that_is_returned_is_not_called(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """One ``await`` is for one call."""
    code = "async def inner():\n    return 1\ndef run():\n    return inner\n"
    binder.bind([new_skill("handing-out", code)])
    assert user_ns["handing_out"].inner is await user_ns["handing_out"]()


@pytest.mark.parametrize(
    ("code", "state"),
    [("LIMIT = 1", None), ("run = 3", "import-failed"), ("run = None", None)],
)
def test_kb12_without_a_run_that_can_be_called_nothing_is_callable(
    code: str,
    state: str | None,
    binder: Binder,
    user_ns: dict[str, Any],
    new_skill: Any,
) -> None:
    """A plain module, or a placeholder that says what ``run`` is."""
    skill = new_skill("not-callable", code)
    problems = binder.bind([skill]).problems
    found = problems.get(skill.identity)
    assert state == (found and found.state)
    if state is None:
        assert not callable(user_ns["not_callable"])


async def test_w1_patching_a_module_attribute_changes_what_run_sees(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any, monkeypatch: Any
) -> None:
    """The module is the namespace that ``run`` reads."""
    binder.bind([new_skill("searching", RUN)])
    monkeypatch.setattr("searching.LIMIT", 2)
    assert await user_ns["searching"]("a") == "aa"
    assert user_ns["searching"].run.__globals__ is user_ns["searching"].__dict__


def test_kb04_signature_and_documentation_are_those_of_run(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """``inspect.signature``, ``__doc__`` and ``help``; ``run`` itself is unchanged."""
    binder.bind([new_skill("documented", RUN)])
    module = user_ns["documented"]
    assert str(
        inspect.signature(module)
    ) == "(query: 'str', limit: 'int' = 5) -> 'str'" or (
        str(inspect.signature(module)) == "(query: str, limit: int = 5) -> str"
    )
    assert module.__doc__ == "Search for a query."
    assert "documented - Search for a query." in pydoc.render_doc(module)
    assert (module.run.__module__, module.run.__qualname__) == ("documented", "run")


def test_signature_and_documentation_are_read_when_asked_for(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """Whoever replaces ``run`` is seen."""
    binder.bind([new_skill("live-doc", RUN)])
    module = user_ns["live_doc"]

    def run(other: int) -> None:
        """Something else."""

    module.run = run
    assert list(inspect.signature(module).parameters) == ["other"]
    assert module.__doc__ == "Something else."
    run.__doc__ = None
    assert module.__doc__ == "The module's text."
    module.__doc__ = "Set by hand."
    assert module.__dict__["__doc__"] == "Set by hand."


def test_documentation_of_a_partial_is_that_of_its_function(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """Not the text of the class ``partial``."""
    code = "import functools\ndef f(a, b):\n    'Add.'\nrun = functools.partial(f, 1)\n"
    binder.bind([new_skill("partially", code)])
    assert user_ns["partially"].__doc__ == "Add."


def test_the_class_describes_itself(binder: Binder) -> None:
    """Descriptors that speak for a module are silent on the class."""
    assert "``run`` is called by calling the module" in (CallableSkill.__doc__ or "")
    with pytest.raises(AttributeError):
        _ = CallableSkill.__signature__


def test_a_run_without_a_signature_gives_the_general_one(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """Some builtins have none."""
    binder.bind(
        [new_skill("unsigned", "run = print.__class__.__call__\nrun = dict.fromkeys\n")]
    )
    assert str(inspect.signature(user_ns["unsigned"])) in {
        "(iterable, value=None, /)",
        "(*args: 'Any', **kwargs: 'Any') -> 'Any'",
    }
    binder.bind([new_skill("unsigned-too", "run = iter\n")])
    assert str(inspect.signature(user_ns["unsigned_too"])) == (
        "(*args: 'Any', **kwargs: 'Any') -> 'Any'"
    )


def test_kb04_question_mark_shows_runs_signature(
    shell: InteractiveShell, new_binder: Any, new_skill: Any
) -> None:
    """``skill?`` in a real shell."""
    new_binder(shell.user_ns).bind([new_skill("asked-about", RUN)])
    shown = shell.object_inspect_mime("asked_about")["text/plain"]
    assert "asked_about(query: str, limit: int = 5) -> str" in shown
    assert "Search for a query." in shown


async def test_an_argument_called_self_is_the_skills(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """``skill(self=4)`` reaches ``run``."""
    binder.bind([new_skill("selfish", "def run(**k):\n    return k\n")])
    assert await user_ns["selfish"](self=4) == {"self": 4}


@pytest.mark.parametrize("module", ["classic", "json"])
def test_kb09_pickles_and_copies_are_the_same_object(
    module: str, binder: Binder, new_skill: Any
) -> None:
    """pickle, cloudpickle, copy and deepcopy; private skills too."""
    binder.bind([new_skill(module, RUN)])
    value = binder.skills[module]
    assert pickle.loads(pickle.dumps(value)) is value
    assert cloudpickle.loads(cloudpickle.dumps(value)) is value
    assert copy.copy(value) is value
    assert copy.deepcopy({"m": value})["m"] is value


async def test_kb09_a_function_that_mentions_a_skill_can_be_sent(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """And works where the skill was never loaded: it is imported by its ``src``."""
    binder.bind([new_skill("sent-away", RUN), new_skill("json", RUN)])
    skill, private = user_ns["sent_away"], binder.skills["json"]
    data = cloudpickle.dumps(lambda: (skill, private))
    binder.unbind()
    received, received_private = cloudpickle.loads(data)()
    assert received is not skill
    assert await received("a", limit=1) == "aaaaa"
    assert await received_private("b") == "bbbbb"
    for name in (received.__name__, received_private.__name__):
        del sys.modules[name]


def test_kb09_a_skill_can_be_sent_to_a_new_process(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any, tmp_path: Path
) -> None:
    """One that a pool spawns loaded no skill; ``skill.run`` goes with its module."""
    binder.bind([new_skill("sent-far", RUN)])
    data = pickle.dumps(user_ns["sent_far"]).hex()
    code = (
        "import asyncio, pickle, sys; "
        "skill = pickle.loads(bytes.fromhex(sys.argv[1])); "
        "print(asyncio.run(skill('a')), pickle.loads(pickle.dumps(skill.run)).__name__)"
    )
    done = process.run([sys.executable, "-c", code, data], cwd=tmp_path, timeout_s=60)
    assert "aaaaa run\n" == done.stdout


def test_kb13_it_stays_a_module_to_every_tool(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """Import statements, inspect, spec and loader."""
    binder.bind([new_skill("protocol", RUN)])
    module = user_ns["protocol"]
    namespace: dict[str, Any] = {}
    exec(
        "import protocol as b\nfrom protocol import *\nfrom protocol import run",
        namespace,
    )
    assert namespace["b"] is module
    assert namespace["LIMIT"] == 5
    assert inspect.ismodule(module)
    assert isinstance(sys.modules["protocol"], ModuleType)
    assert inspect.getmodule(module.run) is module
    assert module.__dict__["__spec__"].loader is module.__loader__
    assert inspect.getsource(module.run).startswith("async def run")


def test_kb13_importlib_reload_keeps_object_and_class(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """Also after an error."""
    skill = new_skill("reloadable", RUN)
    binder.bind([skill])
    module = user_ns["reloadable"]
    assert importlib.reload(module) is module
    assert callable(module)
    source = skill.python.src / "reloadable/__init__.py"
    source.write_text("1/0\n")
    with pytest.raises(ImportError, match="division by zero"):
        importlib.reload(module)
    source.write_text("def run():\n    return 1\n")
    assert importlib.reload(module).run() == 1


def test_coroutine_checks_answer_truthfully(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """For frameworks that ask before they call."""
    binder.bind([new_skill("checked", RUN)])
    module = user_ns["checked"]
    assert inspect.iscoroutinefunction(module.__call__)
    if sys.version_info < (3, 14):
        assert asyncio.iscoroutinefunction(module)
    if sys.version_info >= (3, 12):
        assert inspect.iscoroutinefunction(module)


async def test_calls_are_real_coroutines(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """Tasks, gather and other threads take them."""
    binder.bind([new_skill("tasked", "async def run(q):\n    return q\n")])
    skill = user_ns["tasked"]
    assert await asyncio.create_task(skill(1)) == 1
    assert await asyncio.gather(*(skill(n) for n in range(24))) == list(range(24))
    loop, results = asyncio.get_running_loop(), []
    thread = threading.Thread(
        target=lambda: results.append(
            asyncio.run_coroutine_threadsafe(skill(3), loop).result()
        )
    )
    thread.start()
    await asyncio.to_thread(thread.join)
    assert results == [3]


async def test_as07_an_unstarted_call_can_be_explained(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """A displayed call says what is missing; nothing ran yet."""
    code = "calls = []\nasync def run(q):\n    calls.append(q)\n"
    binder.bind([new_skill("forgotten", code), new_skill("json", RUN)])
    call = user_ns["forgotten"]("q")
    assert not_started(call) == "forgotten(...) not started: put `await` before it"
    assert user_ns["forgotten"].calls == []
    await call
    assert not_started(call) is None
    private = binder.skills["json"]("q")  # type: ignore[operator]
    assert not_started(private) == "json(...) not started: put `await` before it"
    private.close()


def test_as07_a_displayed_call_shows_what_is_missing(
    shell: InteractiveShell, new_binder: Any, new_skill: Any
) -> None:
    """In a real shell, through the formatter of coroutines."""
    new_binder(shell.user_ns).bind([new_skill("shown", RUN)])
    assert shell.display_formatter is not None
    plain = shell.display_formatter.formatters["text/plain"]
    plain.for_type(CoroutineType, pretty_call)
    call = shell.user_ns["shown"]("q")
    assert plain(call) == "shown(...) not started: put `await` before it"
    call.close()
    assert plain(call) == repr(call)


async def test_as07_other_objects_are_not_explained() -> None:
    """Somebody else's coroutine, or anything, is not ours."""

    async def other() -> None:
        pass

    coroutine = other()
    assert not_started(coroutine) is None
    assert not_started(5) is None
    await coroutine


@pytest.mark.parametrize(
    "code",
    [KINDS["sync"], KINDS["async"], KINDS["decorated"], KINDS["instance"]],
)
async def test_a_wrong_call_names_the_skill_and_its_signature(
    code: str, binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """It is Python's own TypeError with better words."""
    binder.bind([new_skill("wrongly-called", code)])
    with pytest.raises(TypeError) as caught:
        await user_ns["wrongly_called"](1, 2, 3)
    assert str(caught.value) == (
        "wrongly_called(): too many positional arguments\nSignature: wrongly_called(q)"
    )


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            {"limt": 1},
            "got an unexpected keyword argument 'limt', did you mean 'limit'?",
        ),
        ({"zzz": 1}, "got an unexpected keyword argument 'zzz'"),
        ({}, "missing a required argument: 'query'"),
    ],
)
async def test_a_misspelled_argument_gets_a_suggestion(
    wrong: dict[str, int],
    said: str,
    binder: Binder,
    user_ns: dict[str, Any],
    new_skill: Any,
) -> None:
    """Among the parameters that can be given by name."""
    code = "def run(query, /, limit=5):\n    return limit\n"
    binder.bind([new_skill("misspelled", code)])
    args = ["q"] if wrong else []
    with pytest.raises(TypeError) as caught:
        await user_ns["misspelled"](*args, **wrong)
    signature = "misspelled(query, /, limit=5)"
    assert f"misspelled(): {said}\nSignature: {signature}" == str(caught.value)


INNER = {
    "sync": "def run(q):\n    {body}\n",
    "async": "async def run(q):\n    {body}\n",
    "decorated": """
        import functools
        def d(f):
            @functools.wraps(f)
            def inner(*a, **k):
                return f("extra", *a, **k)
            return inner
        @d
        def run(extra, q):
            {body}
    """,
}


@pytest.mark.parametrize("kind", INNER)
@pytest.mark.parametrize(
    "body", ["1 + 'a'", "raise TypeError('own words')", "(lambda a: a)(1, 2)"]
)
async def test_a_type_error_inside_run_is_left_alone(
    kind: str, body: str, binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """Only a wrong call is explained."""
    code = INNER[kind].replace("{body}", body)
    binder.bind([new_skill("inner-error", code)])
    with pytest.raises(TypeError) as caught:
        await user_ns["inner_error"](1)
    assert "Signature" not in str(caught.value)


async def test_a_type_error_of_a_builtin_is_left_alone(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """Without a signature there is nothing to add."""
    binder.bind([new_skill("built-in", "run = iter\n")])
    with pytest.raises(TypeError, match="not iterable"):
        await user_ns["built_in"](5)


async def test_a_traceback_has_one_frame_of_ours(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """The caller's, one of ours, the skill's."""
    binder.bind([new_skill("raising", "async def run():\n    raise ValueError\n")])
    with pytest.raises(ValueError, match=r"^$") as caught:
        await user_ns["raising"]()
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names[1:] == ["__call__", "run"]


@pytest.mark.parametrize("kind", INNER)
async def test_every_kind_of_run_has_one_frame_of_ours(
    kind: str, binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """And the error is the skill's own object."""
    code = INNER[kind].replace("{body}", "raise q")
    binder.bind([new_skill("framed", code)])
    error = ValueError("own")
    with pytest.raises(ValueError, match="own") as caught:
        await user_ns["framed"](error)
    assert error is caught.value
    trace = traceback.extract_tb(error.__traceback__)
    assert [callable_module.__file__] == [
        frame.filename for frame in trace if "prime_skills_ext" in frame.filename
    ]


async def test_24_concurrent_awaits_of_one_skill_and_of_ten_give_their_own_answers(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """Calls of one skill share nothing but its module."""
    code = """
        import asyncio
        async def run(n):
            for _ in range(n % 5):
                await asyncio.sleep(0)
            return n, __name__
    """
    names = [f"one_of_{number}" for number in range(10)]
    binder.bind([new_skill(name.replace("_", "-"), code) for name in names])
    before = signal.getsignal(signal.SIGINT)
    one = await asyncio.gather(*(user_ns[names[0]](n) for n in range(24)))
    assert [(n, names[0]) for n in range(24)] == one
    called = [(n, names[n % 10]) for n in range(24)]
    assert called == await asyncio.gather(*(user_ns[name](n) for n, name in called))
    assert before is signal.getsignal(signal.SIGINT)


async def test_a_module_class_of_its_own_is_mixed_in_and_put_back() -> None:
    """What the author's class can do remains."""

    class Own(ModuleType):
        answer = 42

    module: Any = Own("own")
    module.run = lambda: 1
    assert make_callable(module)
    assert (await module(), module.answer, isinstance(module, Own)) == (1, 42, True)
    assert not make_callable(module)
    make_plain(module)
    assert type(module) is Own


def test_a_module_that_its_author_made_callable_is_left_alone() -> None:
    """Its own ``__call__`` wins."""

    class Own(ModuleType):
        def __call__(self) -> int:
            return 7

    module: Any = Own("own")
    module.run = lambda: 1
    assert not make_callable(module)
    assert module() == 7


def test_a_module_class_that_refuses_stays_plain() -> None:
    """Nothing breaks when its author forbids subclasses."""

    class Own(ModuleType):
        def __init_subclass__(cls) -> None:
            raise RuntimeError("no")

    module: Any = Own("own")
    module.run = lambda: 1
    assert not make_callable(module)
    make_plain(module)
    assert type(module) is Own


def test_a_module_getattr_that_raises_means_no_run() -> None:
    """A forwarding module may raise anything for a name it does not know."""
    module: Any = ModuleType("forwarding")

    def forward(name: str) -> None:
        raise RuntimeError(name)

    module.__getattr__ = forward
    assert not make_callable(module)
