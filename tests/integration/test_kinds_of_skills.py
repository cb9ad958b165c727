"""Good and bad skills of every build backend, in every kind of shell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import write_skill
from tests.integration.drivers import Driver

pytestmark = [pytest.mark.integration, pytest.mark.network]

ANSWER = """
    async def run(text: str) -> str:
        "Shout a text."
        return text.upper() + "!"
"""
SOUP = """
    from bs4 import BeautifulSoup

    def run(text: str) -> str:
        "Take the text out of a page."
        return BeautifulSoup(text, "html.parser").get_text()
"""
PROBE = """
import json

async def probe(skill, argument):
    try:
        return {"answer": await skill(argument)}
    except RuntimeError as error:
        return {
            "error": type(error).__name__,
            "cause": type(error.__cause__).__name__,
            "says": str(error),
        }
"""


@pytest.fixture
def skills(home: Path, project: Path) -> Path:
    """Seven skills of the user: four that answer, three that cannot."""
    root = home / ".agents" / "skills"
    write_skill(root, "by-hatchling", python=ANSWER)
    write_skill(root, "by-setuptools", python=ANSWER, backend="setuptools")
    write_skill(root, "by-uv-build", python=ANSWER, backend="uv_build")
    write_skill(root, "with-soup", python=SOUP, dependencies=("beautifulsoup4",))
    write_skill(
        root,
        "wants-nothing-real",
        python=ANSWER,
        dependencies=("no-such-dist-prime-skills-xyz",),
    )
    write_skill(root, "bad-syntax", python="def run(:\n")
    write_skill(root, "leaves", python="import sys\nsys.exit(3)\n")
    (project / "probe.py").write_text(PROBE, encoding="utf-8")
    return root


def test_good_skills_answer_and_bad_ones_explain_themselves(
    shell: Driver, skills: Path
) -> None:
    """Four answer, three are placeholders, the kernel lives, the table says why."""
    shell.run("%run -i probe.py")
    loaded = shell.run("%load_ext prime_skills_ext")
    assert loaded.error is None

    def ask(name: str, argument: str = "hi") -> dict[str, Any]:
        outcome = shell.run(f"print(json.dumps(await probe({name}, {argument!r})))")
        line = next(x for x in outcome.stdout.splitlines() if x.startswith("{"))
        answer: dict[str, Any] = json.loads(line)
        return answer

    for name in ("by_hatchling", "by_setuptools", "by_uv_build"):
        assert {"answer": "HI!"} == ask(name), name
    assert {"answer": "soup"} == ask("with_soup", "<b>soup</b>")

    missing = ask("wants_nothing_real")
    assert "SkillUnavailableError" == missing["error"]
    assert "no-such-dist-prime-skills-xyz" in missing["says"]
    syntax = ask("bad_syntax")
    assert ("SkillUnavailableError", "SyntaxError") == (
        syntax["error"],
        syntax["cause"],
    )
    left = ask("leaves")
    assert ("SkillUnavailableError", "SystemExit") == (left["error"], left["cause"])
    assert "3" in left["says"]

    listed = shell.run(
        "print(json.dumps({s['name']: [s['state'], s['fix']] "
        "for s in get_ipython().run_line_magic('skill', 'list --json')['skills']}))"
    )
    line = next(x for x in listed.stdout.splitlines() if x.startswith("{"))
    states = json.loads(line)
    assert {
        "by-hatchling": "ready",
        "by-setuptools": "ready",
        "by-uv-build": "ready",
        "with-soup": "ready",
        "wants-nothing-real": "install-failed",
        "bad-syntax": "import-failed",
        "leaves": "import-failed",
        "edit": "ready",
        "skill-creator": "instructions",
        "websearch": "needs-credential",
    } == {name: state for name, (state, _) in states.items()}
    assert all(
        fix for state, fix in states.values() if state not in ("ready", "instructions")
    )
    assert "alive" in shell.run("print('alive')").stdout
