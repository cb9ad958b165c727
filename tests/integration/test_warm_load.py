"""What a load that finds nothing to do leaves alone: structure, not time."""

from __future__ import annotations

import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext import process
from tests.conftest import write_skill

#: Ours that only an install, a reload, a command or a displayed value needs.
COLD = frozenset(
    f"prime_skills_ext.{name}"
    for name in (
        *("check", "commands", "completion", "demo", "doctor", "grammar"),
        *("kernelspec", "login", "process", "switching", "trusting"),
        *("catalog._settings_text", "catalog._worktree", "catalog.check_report"),
        *("catalog.body", "catalog.checking", "catalog.configured", "catalog.content"),
        *("catalog.credential_store", "catalog.nearby", "catalog.patterns"),
        *("catalog.settings_file",),
        *("environment.apply", "environment.assessment", "environment.blame"),
        *("environment.closure", "environment.filling", "environment.generations"),
        *("environment.locking", "environment.plan", "environment.renewal"),
        *("environment.settlement", "environment.uv", "environment.wanted"),
        *("environment.wheel",),
        *("kernel.classes", "kernel.deferring", "kernel.following", "kernel.guarded"),
        *("kernel.reload", "kernel.sources"),
        *("prompt.activation", "prompt.arguments", "prompt.assets", "prompt.block"),
        *("prompt.budget", "prompt.cleaning", "prompt.cutting", "prompt.entry"),
        *("prompt.fork", "prompt.guidance", "prompt.inline_shell", "prompt.listing"),
        *("prompt.markup", "prompt.measuring", "prompt.offer", "prompt.shell_script"),
        *("prompt.strategies", "prompt.substitution", "prompt.tools", "prompt.usage"),
        *("process_async", "prompt.hooks", "prompt.session", "skill.hooks"),
        *("skill._plain", "skill._toml", "skill._yaml", "skill.distributions"),
        *("skill.finding", "skill.frontmatter", "skill.pyproject", "skill.text"),
        "skill.validation",
        "host.bridge",
        *("activating", "slash", "stats"),
        *("options", "spelling", "timeline"),
        *("views.bars", "views.budget", "views.budget_bars", "views.budget_chart"),
        *("views.card", "views.chart", "views.findings", "views.housing"),
        *("views.hypertext", "views.markdown", "views.page", "views.prompting"),
        *("views.report", "views.statistics", "views.text", "views.theme"),
        *("views.timeline", "views.uses", "views.wording"),
    )
)
#: Others' that cost more than all of ours.
HEAVY = frozenset(
    {
        *("filelock", "graphlib", "jupyter_client", "keyring", "markdown_it"),
        *("nbclient", "packaging", "pathspec", "rich", "tomli", "yaml"),
    }
)

#: One shell's life: loads the extension and prints what was loaded and started.
LIFE = """
import json, sys
started = []
def watch(event, arguments):
    if event in {"subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty",
                 "os.exec", "os.spawn", "os.system", "socket.getaddrinfo"}:
        started.append(event)
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config
config = Config()
config.HistoryManager.enabled = False
shell = InteractiveShell(config=config)
before = set(sys.modules)
sys.addaudithook(watch)
if sys.argv[1] == "cold":
    # the files are too young to be remembered, and no test waits
    from prime_skills_ext.catalog import cache
    cache._SAFE_AGE_NS = 0
shell.run_line_magic("load_ext", "prime_skills_ext")
states = {it.name: it.state for it in
          shell.find_line_magic("skill").__self__.manager.catalogue.skills}
loaded = sorted(set(sys.modules) - before)
print(json.dumps({"loaded": loaded, "states": states, "started": started}))
"""


def live(directory: Path, how: str) -> Any:
    """Load in a fresh process."""
    done = process.run(
        [sys.executable, "-c", LIFE, how],
        cwd=directory,
        env=os.environ,
        timeout_s=120,
    )
    return json.loads(done.stdout)


@pytest.mark.integration
def test_warm_load_leaves_the_cold_half_unloaded(project: Path, home: Path) -> None:
    """Python-backed and markdown skills are bound, and nothing else is touched."""
    root = home / ".agents" / "skills"
    write_skill(
        root, "first", python="def run(): return 1", scripts={"one": "first:run"}
    )
    write_skill(root, "second", python="def run(): return 2", dependencies=("first",))
    write_skill(root, "third")

    cold = live(project, "cold")
    # headers are remembered where there is an agent directory, which installing makes
    live(project, "cold")
    warm = live(project, "warm")

    states = {"first": "ready", "second": "ready", "third": "instructions"}
    assert states.items() <= warm["states"].items()
    assert [] == sorted(COLD.intersection(warm["loaded"]))
    assert [] == sorted(HEAVY.intersection(warm["loaded"]))
    assert [] == warm["started"]
    # the watch works, and what a cold load needs is on the list
    assert "subprocess.Popen" in cold["started"]
    assert {"packaging", "tomli"} <= set(cold["loaded"])


@pytest.mark.parametrize("name", sorted(COLD | HEAVY))
def test_each_cold_module_exists(name: str) -> None:
    """A list of names that are out of date would hold nothing."""
    assert find_spec(name) is not None
