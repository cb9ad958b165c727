"""How a skill's code enters: fresh, guarded, captured, or not at all."""

from __future__ import annotations

import importlib
import logging
import os
import signal
import sys
import threading
import time
import warnings
from importlib.util import cache_from_source
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from prime_skills_ext.kernel.binding import Binder
from prime_skills_ext.kernel.placeholder import UnavailableImportError, UnavailableSkill

RUN = "def run(text='x'):\n    return text * 2\n"


def _package(skill: Any) -> Path:
    return Path(skill.python.src, skill.import_name)


def _cached(source: Path) -> Path:
    return Path(cache_from_source(str(source)))


def test_kb11_a_module_made_a_moment_ago_is_found(
    binder: Binder, new_skill: Any
) -> None:
    """No listing of a directory is remembered, fifty times in a row."""
    skill = new_skill("fresh-files", "")
    binder.bind([skill])
    for number in range(50):
        (_package(skill) / f"extra{number}.py").write_text(f"N = {number}\n")
        module = importlib.import_module(f"fresh_files.extra{number}")
        assert number == module.N


def test_re01_a_young_source_leaves_no_bytecode(binder: Binder, new_skill: Any) -> None:
    """A ``.pyc`` cannot tell two edits of one second apart."""
    skill = new_skill("young", RUN)
    binder.bind([skill])
    assert not _cached(_package(skill) / "__init__.py").exists()


def test_re01_bytecode_written_while_the_source_was_young_is_not_trusted(
    binder: Binder, new_skill: Any
) -> None:
    """Whoever wrote it, it may be of an earlier text of the same second."""
    skill = new_skill("poisoned", "WHO = 'old'\n")
    source = _package(skill) / "__init__.py"
    _compile(source)
    when = source.stat()
    source.write_text("WHO = 'new'\n")
    os.utime(source, ns=(when.st_atime_ns, when.st_mtime_ns))
    binder.bind([skill])
    assert binder.skills.poisoned.WHO == "new"  # type: ignore[attr-defined]


def test_bytecode_of_a_settled_source_is_written_and_used(
    binder: Binder, new_skill: Any
) -> None:
    """The cache still works where it can be trusted."""
    skill = new_skill("settled", "WHO = 'new'\n", sub="")
    source = _package(skill) / "__init__.py"
    _age(source)
    binder.bind([skill])
    assert _cached(source).exists()
    stamp = _cached(source).stat().st_mtime_ns
    binder.unbind()
    again = Binder({}, hidden={})
    again.bind([skill])
    again.unbind()
    assert _cached(source).stat().st_mtime_ns == stamp


def test_bytecode_that_never_checks_its_source_is_not_trusted(
    binder: Binder, new_skill: Any
) -> None:
    """An unchecked hash pyc would hide every edit."""
    skill = new_skill("unchecked", "WHO = 'old'\n")
    source = _package(skill) / "__init__.py"
    _age(source)
    _compile(source, mode="UNCHECKED_HASH")
    source.write_text("WHO = 'new'\n")
    _age(source)
    binder.bind([skill])
    assert binder.skills.unchecked.WHO == "new"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("import sys; sys.exit(3)", SystemExit),
        ("raise KeyboardInterrupt", KeyboardInterrupt),
        ("raise GeneratorExit", GeneratorExit),
        ("import no_such_module_at_all", ModuleNotFoundError),
        ("def run(:", SyntaxError),
        ("raise KeyError('x')", KeyError),
        ("raise ValueError", ValueError),
    ],
)
def test_w3_one_skill_that_fails_stops_nothing(
    code: str,
    kind: type[BaseException],
    binder: Binder,
    user_ns: dict[str, Any],
    new_skill: Any,
) -> None:
    """Whatever it raises is kept with its type; the others are bound."""
    bad, good = new_skill("bad-one", code), new_skill("good-one", RUN)
    bindings = binder.bind([bad, good])
    problem = bindings.problems[bad.identity]
    assert problem.state == "import-failed"
    assert problem.reason.startswith(kind.__name__)
    assert isinstance(bindings.errors[bad.identity], kind)
    assert callable(user_ns["good_one"])
    assert isinstance(user_ns["bad_one"], UnavailableSkill)


def test_a_failed_import_is_rolled_back(binder: Binder, new_skill: Any) -> None:
    """Neither submodules nor modules that it put there by hand remain."""
    import colorsys as real

    before = set(sys.modules)
    code = (
        "import sys, types\n"
        "from failing.part import x\n"
        "sys.modules['made_by_hand'] = types.ModuleType('made_by_hand')\n"
        "sys.modules['colorsys'] = types.ModuleType('fake')\n"
        "sys.modules.pop('cmd', None)\n"
        "1/0\n"
    )
    binder.bind([new_skill("failing", code, part="x = 1\n")])
    assert set(sys.modules) - before == set()
    assert sys.modules["colorsys"] is real


def test_w14_a_failed_import_is_not_executed_again(
    binder: Binder, new_skill: Any, tmp_path: Path
) -> None:
    """Importing it says what the placeholder says, with the original chained."""
    log = tmp_path / "log"
    skill = new_skill(
        "runs-once", f"open({str(log)!r}, 'a').write('x')\nraise KeyError('k')\n"
    )
    binder.bind([skill])
    binder.bind([skill])
    for _ in range(2):
        with pytest.raises(UnavailableImportError) as caught:
            import runs_once  # type: ignore[import-not-found]  # noqa: F401
        assert isinstance(caught.value.__cause__, KeyError)
        assert caught.value.name == "runs_once"
    assert log.read_text() == "x"
    binder.bind([skill], reload=True)
    assert log.read_text() == "xx"


def test_the_chained_traceback_begins_in_the_skill(
    binder: Binder, new_skill: Any
) -> None:
    """Import machinery, ours included, is not what the author wants to read."""
    skill = new_skill("traced", "def f():\n    1/0\nf()\n")
    error = binder.bind([skill]).errors[skill.identity]
    files = []
    traceback = error.__traceback__
    while traceback is not None:
        files.append(traceback.tb_frame.f_code.co_filename)
        traceback = traceback.tb_next
    assert files == [str(_package(skill) / "__init__.py")] * 2


def test_a_skill_that_imports_a_broken_one_says_which(
    binder: Binder, new_skill: Any
) -> None:
    """And the broken one is reported for itself."""
    user = new_skill("a-user", "import b_broken\n")
    broken = new_skill("b-broken", "1/0\n")
    problems = binder.bind([user, broken]).problems
    assert "b_broken" in problems[user.identity].reason
    assert problems[broken.identity].reason == "ZeroDivisionError: division by zero"


def test_a_skill_that_imports_another_gets_it(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """Order does not matter; each is executed once."""
    user = new_skill("a-client", "import b_server\nrun = b_server.run\n")
    server = new_skill("b-server", RUN)
    binder.bind([user, server])
    assert user_ns["a_client"].run is user_ns["b_server"].run


def test_a_real_interrupt_passes(binder: Binder, new_skill: Any) -> None:
    """And leaves nothing half imported behind."""
    code = (
        "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(5)\n"
    )
    skill = new_skill("slow-one", code)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        binder.bind([skill])
    assert "slow_one" not in sys.modules
    assert signal.getsignal(signal.SIGINT) is before


def test_importing_works_in_a_thread(binder: Binder, new_skill: Any) -> None:
    """There no signal is handled, so an interrupt can only be the skill's own."""
    skill = new_skill("threaded-one", "raise KeyboardInterrupt\n")
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(binder.bind([skill])))
    thread.start()
    thread.join()
    assert results[0].problems[skill.identity].reason == "KeyboardInterrupt"


def test_with_interrupts_ignored_an_interrupt_counts_as_real(
    binder: Binder, new_skill: Any
) -> None:
    """Nobody can tell, and swallowing a real one would be worse."""
    skill = new_skill("ignoring", "raise KeyboardInterrupt\n")
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with pytest.raises(KeyboardInterrupt):
            binder.bind([skill])
    finally:
        signal.signal(signal.SIGINT, before)


def test_output_of_an_import_is_captured(
    binder: Binder,
    new_skill: Any,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Standard output, standard error and warnings, in order."""

    def show(message: Any, category: Any, *_: Any, **__: Any) -> None:
        # pytest collects warnings; this is what they are without it
        print(f"{category.__name__}: {message}", file=sys.stderr)  # noqa: T201

    monkeypatch.setattr(warnings, "showwarning", show)
    code = (
        "import sys, warnings\n"
        "print('out')\n"
        "print('err', file=sys.stderr, flush=True)\n"
        "warnings.simplefilter('always')\n"
        "warnings.warn('careful')\n"
        "assert sys.stdout.writable()\n"
    )
    skill = new_skill("noisy", code)
    lines = binder.bind([skill]).output[skill.identity].splitlines()
    assert lines[:2] == ["out", "err"]
    assert "UserWarning: careful" in lines[2]
    assert capsys.readouterr() == ("", "")


def test_a_log_handler_made_at_import_writes_to_the_real_stream_later(
    binder: Binder, new_skill: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Capturing ends with the import, whoever kept the stream."""
    code = (
        "import logging, sys\n"
        "handler = logging.StreamHandler(sys.stderr)\n"
        "logging.getLogger('logging-skill').addHandler(handler)\n"
    )
    skill = new_skill("logging-skill", code)
    binder.bind([skill])
    logging.getLogger("logging-skill").warning("later")
    logging.getLogger("logging-skill").handlers.clear()
    assert capsys.readouterr().err == "later\n"


def test_output_of_other_threads_is_not_captured(
    binder: Binder, new_skill: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only the thread that imports is recorded."""
    code = (
        "import threading\n"
        "thread = threading.Thread(target=print, args=('elsewhere',))\n"
        "thread.start()\n"
        "thread.join()\n"
    )
    skill = new_skill("with-thread", code)
    assert binder.bind([skill]).output == {}
    assert capsys.readouterr().out == "elsewhere\n"


def test_a_stream_that_a_skill_installs_stays(
    binder: Binder, new_skill: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it did on purpose is not undone."""
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    skill = new_skill(
        "redirecting", "import io, sys\nsys.stdout = mine = io.StringIO()\n"
    )
    binder.bind([skill])
    assert sys.stdout is binder.skills.redirecting.mine  # type: ignore[attr-defined]


def test_ordinary_modules_are_served_too(binder: Binder, tmp_path: Path) -> None:
    """``rlm`` comes from the same finder, no skill of that name needed."""
    (tmp_path / "rlm_like").mkdir()
    (tmp_path / "rlm_like/__init__.py").write_text("HERE = True\n")
    binder.bind([], modules={"rlm_like": tmp_path})
    import rlm_like  # type: ignore[import-not-found]

    assert rlm_like.HERE


def test_other_packages_in_src_are_served_last(
    binder: Binder,
    user_ns: dict[str, Any],
    new_skill: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Top-level names beside the skill's own work, where nobody else has them."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "of_others.py").write_text("WHO = 'others'\n")
    monkeypatch.syspath_prepend(elsewhere)
    skill = new_skill(
        "with-core",
        "from own_core.deep import VALUE\nimport single\nfrom of_others import WHO\n"
        "def run():\n    import installed_since\n    return installed_since.WHO\n",
    )
    for name in ("of_others", "installed_since"):
        (Path(skill.python.src) / f"{name}.py").write_text("WHO = 'mine'\n")
    core = Path(skill.python.src) / "own_core"
    core.mkdir()
    (core / "__init__.py").write_text("")
    (core / "deep.py").write_text("VALUE = 7\n")
    (core.parent / "single.py").write_text("")
    (core.parent / "with_core.egg-info").mkdir()
    bindings = binder.bind([skill])
    assert (7, "others") == (user_ns["with_core"].VALUE, user_ns["with_core"].WHO)
    assert ["module-clash"] == [item.code for item in bindings.diagnostics]
    (elsewhere / "installed_since.py").write_text("WHO = 'others'\n")
    importlib.invalidate_caches()
    assert "others" == user_ns["with_core"].run()


def test_pr03_clashes_of_other_packages_are_reported(
    binder: Binder, new_skill: Any
) -> None:
    """Between two skills, with a skill, and with the kernel's environment."""
    one = new_skill("clash-one", "from shared_name import WHO\n")
    two = new_skill("clash-two", "from shared_name import WHO\n")
    for skill, who in ((one, 1), (two, 2)):
        (Path(skill.python.src) / "shared_name.py").write_text(f"WHO = {who}\n")
    (Path(two.python.src) / "clash_one.py").write_text("")
    (Path(two.python.src) / "pytest.py").write_text("")
    messages = [d.message for d in binder.bind([one, two]).diagnostics]
    assert messages == [
        f"`import {name}` gives the module of {holder}, not the skill's own"
        for name, holder in (
            ("clash_one", "the skill 'clash-one'"),
            ("pytest", "this kernel's environment"),
            ("shared_name", "the skill 'clash-one'"),
        )
    ]


def test_a_namespace_package_inside_a_skill_works(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """A folder without ``__init__.py`` is a package too."""
    skill = new_skill("with-namespace", "from with_namespace.data.inner import X\n")
    inner = _package(skill) / "data/inner.py"
    inner.parent.mkdir()
    inner.write_text("X = 3\n")
    binder.bind([skill])
    assert user_ns["with_namespace"].X == 3


def test_a_skill_whose_package_is_gone_is_not_replaced_by_another(
    binder: Binder, new_skill: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No folder on ``sys.path`` takes its place."""
    skill = new_skill("hollow", RUN)
    (_package(skill) / "__init__.py").unlink()
    (tmp_path / "hollow.py").write_text("run = print\n")
    monkeypatch.setattr(sys, "path", [*sys.path, ""])
    monkeypatch.chdir(tmp_path)
    problem = binder.bind([skill]).problems[skill.identity]
    assert "holds no package" in problem.reason


def test_a_missing_submodule_is_an_ordinary_error(
    binder: Binder, new_skill: Any
) -> None:
    """``ModuleNotFoundError`` with the name, as for any package."""
    binder.bind([new_skill("incomplete", RUN)])
    with pytest.raises(ModuleNotFoundError, match=r"incomplete\.nothing"):
        importlib.import_module("incomplete.nothing")


def test_a_module_that_replaces_itself_is_bound_as_it_wishes(
    binder: Binder, user_ns: dict[str, Any], new_skill: Any
) -> None:
    """Some libraries put an object into ``sys.modules`` in their place."""
    code = "import sys\nclass Me:\n    x = 1\nsys.modules[__name__] = Me()\n"
    binder.bind([new_skill("replaced", code)])
    assert not isinstance(user_ns["replaced"], ModuleType)
    assert user_ns["replaced"].x == 1


def _age(path: Path) -> None:
    old = time.time() - 100
    os.utime(path, (old, old))


def _compile(source: Path, mode: str = "TIMESTAMP") -> None:
    import py_compile

    py_compile.compile(
        str(source), invalidation_mode=py_compile.PycInvalidationMode[mode]
    )


@pytest.mark.parametrize(
    ("python", "reason"),
    [
        ("from . import nothing", "(most likely due to a circular import)"),
        ("open(__file__ + '.x')", "'a/__init__.py.x'"),
        ("def run(:", "SyntaxError: invalid syntax (__init__.py, line 1)"),
    ],
)
def test_nb06_reasons_name_files_as_seen_from_the_skill(
    python: str, reason: str, binder: Binder, new_skill: Any
) -> None:
    """No place of this machine; the chained error has the whole path."""
    skill = new_skill("a", python)
    problem = binder.bind([skill]).problems[skill.identity]
    assert problem.reason.endswith(reason)
    assert "import-failed" == problem.state


def test_nb06_a_stale_skill_says_it_alike(binder: Binder, new_skill: Any) -> None:
    """An edit that fails names the file as the first import would."""
    skill = new_skill("a", "def run(): ...")
    binder.bind([skill])
    (skill.directory / "src/a/__init__.py").write_text("open(__file__ + '.x')")
    problem = binder.bind([skill], reload=True).problems[skill.identity]
    assert "stale" == problem.state
    assert problem.reason.endswith("'a/__init__.py.x'")
