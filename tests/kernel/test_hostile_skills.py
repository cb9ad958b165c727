"""Skills whose code fights back: the law is that binding never raises (W3)."""

from __future__ import annotations

import inspect
import io
import sys
from typing import Any

import pytest

from prime_skills_ext.kernel.binding import Binder
from prime_skills_ext.kernel.callable_module import CallableSkill, find_run
from prime_skills_ext.kernel.placeholder import UnavailableSkill

RUN = "def run():\n    return 1\n"
MUTE = "class Mute(Exception):\n    def __str__(self):\n        {}\nraise Mute\n"
SPITEFUL = (
    "class Spiteful:\n"
    "    def __getattr__(self, name):\n"
    "        raise RuntimeError(name)\n"
)


@pytest.mark.parametrize("body", ["raise ValueError", "return 5"])
def test_w3_an_error_that_cannot_say_itself_is_one_placeholder(
    body: str, binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """Its type is what is left to tell."""
    mute, good = new_skill("mute", MUTE.format(body)), new_skill("good-one", RUN)
    bindings = binder.bind([mute, good])
    assert bindings.problems[mute.identity].reason == "Mute"
    assert isinstance(user_ns["good_one"], CallableSkill)


@pytest.mark.parametrize("what", ["b'x'", "['x']"])
def test_w3_writing_no_text_at_import_is_pythons_error(
    what: str, binder: Binder, new_skill: Any
) -> None:
    """While output is captured the streams refuse what the real ones refuse."""
    skill = new_skill("writer", f"import sys\nsys.stdout.write({what})\n")
    bindings = binder.bind([skill])
    assert bindings.problems[skill.identity].reason.startswith("TypeError: ")


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_w3_a_skill_takes_no_stream_of_the_kernel_away(
    stream: str, binder: Binder, new_skill: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither closing a stream at import nor removing it reaches the kernel."""
    before = io.StringIO()
    monkeypatch.setattr(sys, stream, before)
    code = f"import sys\nsys.{stream}.close()\nsys.{stream} = None\n"
    binder.bind([new_skill("thief", code)])
    assert getattr(sys, stream) is before
    assert not before.closed


@pytest.mark.parametrize("raised", ["SystemExit(4)", "KeyboardInterrupt", "ValueError"])
def test_w3_a_module_getattr_that_raises_anything_means_no_run(
    raised: str, binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """PEP 562 code of a skill is asked for ``run`` and may answer with anything."""
    skill = new_skill("touchy", f"def __getattr__(name):\n    raise {raised}\n")
    bindings = binder.bind([skill])
    assert bindings.problems == {}
    assert find_run(user_ns["touchy"]) is None


@pytest.mark.parametrize(
    "code", ["del sys.modules[__name__]", "sys.modules[__name__] = None"]
)
def test_w3_a_module_that_removes_itself_fails_until_it_is_repaired(
    code: str, binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """Nothing of it stays behind that would keep the next attempt from working."""
    skill = new_skill("shy", f"import sys\n{code}\n")
    bindings = binder.bind([skill])
    assert bindings.problems[skill.identity].state == "import-failed"
    assert isinstance(user_ns["shy"], UnavailableSkill)
    assert "shy" not in sys.modules
    source = skill.directory / "src" / "shy" / "__init__.py"
    source.write_text(RUN, encoding="utf-8")
    assert binder.bind([skill], reload=True).problems == {}
    assert user_ns["shy"].run() == 1


@pytest.mark.parametrize("place", ["__name__", "'somewhere_else_entirely'"])
def test_w3_objects_that_refuse_every_question_do_not_stop_reload_and_unload(
    place: str,
    binder: Binder,
    user_ns: dict[str, Any],
    new_skill: Any,
) -> None:
    """Anything may lie in ``sys.modules``: test doubles and lazy loaders do."""
    code = f"import sys\n{SPITEFUL}sys.modules[{place}] = Spiteful()\n"
    spiteful = new_skill("spiteful", code)
    good, bad = new_skill("good-one", RUN), new_skill("bad-one", "import nothing_here")
    try:
        bindings = binder.bind([spiteful, good, bad])
        assert [*bindings.problems] == [bad.identity]
        source = good.directory / "src" / "good_one" / "__init__.py"
        source.write_text("def run():\n    return 2\n", encoding="utf-8")
        assert binder.bind([spiteful, good, bad], reload=True).changed == (
            good.identity,
        )
        assert user_ns["good_one"].run() == 2
        binder.unbind()
        assert user_ns == {}
        assert not {"spiteful", "good_one"} & {*sys.modules}
    finally:
        sys.modules.pop("somewhere_else_entirely", None)


@pytest.mark.parametrize(
    "member",
    [
        "def __getattribute__(self, name): raise RuntimeError(name)",
        "__signature__ = property(lambda self: 1 / 0)",
        "__doc__ = property(lambda self: 1 / 0)",
    ],
)
def test_kb04_a_run_that_refuses_to_be_looked_at_has_the_general_signature(
    member: str, binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """``inspect`` and ``help`` of the skill answer whatever ``run`` does."""
    code = f"class Run:\n    {member}\n    def __call__(self): ...\nrun = Run()\n"
    binder.bind([new_skill("veiled", code)])
    module = user_ns["veiled"]
    assert inspect.signature(module) is not None
    assert inspect.getdoc(module) is None or isinstance(inspect.getdoc(module), str)


async def test_re02_a_module_that_replaces_itself_is_imported_anew(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """An object cannot be executed again in place, so an edit gives a new one."""
    code = "import sys\nclass Me:\n    value = {}\nsys.modules[__name__] = Me()\n"
    skill = new_skill("replaced", code.format(1))
    binder.bind([skill])
    old = user_ns["replaced"]
    source = skill.directory / "src" / "replaced" / "__init__.py"
    source.write_text(code.format(2), encoding="utf-8")
    assert binder.bind([skill], reload=True).changed == (skill.identity,)
    assert user_ns["replaced"].value == 2
    new = user_ns["replaced"]
    source.write_text("def run(:", encoding="utf-8")
    broken = binder.bind([skill], reload=True)
    assert broken.problems[skill.identity].state == "stale"
    assert user_ns["replaced"] is new is not old
    source.write_text(code.format(3), encoding="utf-8")
    assert binder.bind([skill], reload=True).problems == {}
    assert user_ns["replaced"].value == 3
