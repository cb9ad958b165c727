"""The kernel of the kernelspec: own mode, from the launcher that Jupyter starts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conftest import write_skill
from tests.integration.drivers import Kernel

pytestmark = [pytest.mark.integration, pytest.mark.network]

LAUNCHER = [
    sys.executable,
    "-m",
    "prime_skills_ext.launcher",
    "-f",
    "{connection_file}",
]
SHOW_PATH = "import sys; print([p for p in sys.path if 'skills/first' in p])"


def test_a_kernel_of_its_own_has_skills_bound_and_no_stray_paths(
    project: Path, home: Path
) -> None:
    """It runs inside the environment; the finder alone brings skills in."""
    root = home / ".agents" / "skills"
    first = write_skill(root, "first", python="def run(): return 'first'")
    with Kernel(project, argv=LAUNCHER) as kernel:
        assert kernel.run("print(await first())").stdout == "first\n"
        where = kernel.run("import sys; print(sys.prefix)").stdout
        assert str(home / ".prime" / "agent" / "prime-skills") in where
        assert kernel.run(SHOW_PATH).stdout == "[]\n"
        again = kernel.run("%load_ext prime_skills_ext")
        assert "already loaded" in again.stdout
    # still recorded in the environment, but not a skill of this kernel any more
    first.rename(first.parents[3] / "elsewhere")
    first.parent.joinpath("second").mkdir()
    write_skill(root, "second", python="def run(): return 'second'")
    with Kernel(project, argv=LAUNCHER) as kernel:
        assert kernel.run("print(await second())").stdout == "second\n"
        assert "ModuleNotFoundError" in (kernel.run("import first").error or "")


def test_a_recorded_skill_that_is_not_selected_cannot_be_imported(
    project: Path, home: Path, tmp_path: Path
) -> None:
    """What another selection installed is refused here, with the reason."""
    extra = tmp_path / "extra"
    write_skill(extra, "first", python="def run(): return 'first'")
    with Kernel(
        project, argv=LAUNCHER, environ={"PRIME_SKILLS_PATH": str(extra)}
    ) as kernel:
        assert kernel.run("print(await first())").stdout == "first\n"
    with Kernel(project, argv=LAUNCHER) as kernel:
        refused = kernel.run("import first")
        assert "no skill of this kernel has that name" in (refused.error or "")


def test_what_the_kernel_holds_of_a_namesake_keeps_no_name(
    project: Path, tmp_path: Path
) -> None:
    """A project's skill is bound, though the kernel's environment links another."""
    extra = tmp_path / "extra"
    write_skill(extra, "first", python="def run(): return 'another'")
    with Kernel(
        project, argv=LAUNCHER, environ={"PRIME_SKILLS_PATH": str(extra)}
    ) as kernel:
        assert "another\n" == kernel.run("print(await first())").stdout
    write_skill(
        project / ".agents" / "skills", "first", python="def run(): return 'first'"
    )
    with Kernel(project, argv=LAUNCHER) as kernel:
        assert "~1 first" == kernel.run("%skill trust").result
        assert "first\n" == kernel.run("print(await first())").stdout
    other = tmp_path / "other"
    write_skill(other, "first", python="def run(): return 'other'")
    with Kernel(
        project, argv=LAUNCHER, environ={"PRIME_SKILLS_TRUST": "none"}
    ) as kernel:
        kernel.run(f"%skill add {other}")
        assert "other\n" == kernel.run("print(await first())").stdout


#: Imported by every Python at its start: notes each process that is started.
WATCH = """
import os, sys
def watch(event, arguments):
    if event in {"subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty",
                 "os.exec", "os.spawn", "os.system", "socket.getaddrinfo"}:
        if arguments[:1] == ("uname",):
            return  # debugpy's, in every ipykernel
        with open(os.environ["STARTED"], "a") as log:
            log.write(event + "\\n")
sys.addaudithook(watch)
"""


def test_a_warm_start_becomes_the_kernel_and_starts_nothing_else(
    project: Path, home: Path, tmp_path: Path
) -> None:
    """One exec, from the launcher to the kernel; a third-party skill included."""
    write_skill(
        home / ".agents" / "skills",
        "with-soup",
        python="import bs4\ndef run(): return bs4.__name__",
        dependencies=("beautifulsoup4",),
    )
    (tmp_path / "watch").mkdir()
    (tmp_path / "watch" / "sitecustomize.py").write_text(WATCH, encoding="utf-8")
    logs = []
    for name in ("cold", "warm"):
        log = tmp_path / name
        environ = {"PYTHONPATH": str(tmp_path / "watch"), "STARTED": str(log)}
        with Kernel(project, argv=LAUNCHER, environ=environ) as kernel:
            assert "bs4\n" == kernel.run("print(await with_soup())").stdout
            assert kernel.run("%reload_skills").result is None
            logs.append(log.read_text(encoding="utf-8").split())
    cold, warm = logs
    assert "subprocess.Popen" in cold
    assert ["os.exec"] == warm


def test_kernel_starts_next_in_what_was_rebuilt(project: Path, home: Path) -> None:
    """The launcher, too, is done with the one that somebody wanted anew."""
    where = "import sys; print(sys.prefix)"
    with Kernel(project, argv=LAUNCHER) as kernel:
        before = kernel.run(where).stdout
        assert kernel.run("%skill env rebuild").error is None
        assert before == kernel.run(where).stdout
    with Kernel(project, argv=LAUNCHER) as kernel:
        after = kernel.run(where).stdout
        assert (str(Path(before).parent), True) == (
            str(Path(after).parent),
            before != after,
        )
