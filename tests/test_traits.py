"""What ``SkillManager``'s traits do, set in a profile or with ``%config``."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

from prime_skills_ext.errors import CallTimeoutError
from prime_skills_ext.kernel import terms
from tests.conftest import MakeSkill, Run

pytestmark = pytest.mark.usefixtures("place")

LATE = "import asyncio\nasync def run():\n    await asyncio.Event().wait()\n"


def test_a_limit_that_a_profile_sets_holds_from_the_load_on(
    home: Path, shell: InteractiveShell, run: Run, make_skill: MakeSkill
) -> None:
    """And no longer than the extension."""
    make_skill(home / ".agents" / "skills", "never-ends", python=LATE)
    shell.config.SkillManager.call_timeout_s = 0.01
    run("%load_ext prime_skills_ext")
    with pytest.raises(CallTimeoutError, match=r"never_ends\(\) did not end"):
        run("held = never_ends\nawait never_ends()")
    run("%unload_ext prime_skills_ext")
    assert terms.terms_of(run("held")) is None


def test_lazy_imports_wait_for_the_first_use(
    home: Path, shell: InteractiveShell, run: Run, make_skill: MakeSkill
) -> None:
    """The table shows them as ready; a reload leaves them alone."""
    skills = home / ".agents" / "skills"
    make_skill(skills, "late-one", python="def run():\n    return 1\n")
    shell.config.SkillManager.imports = "lazy"
    run("%load_ext prime_skills_ext")
    states = {item.name: item.state for item in run("%skill").skills}
    assert "ready" == states["late-one"]
    assert run("%reload_skills") is None
    assert "late_one" not in sys.modules
    assert 1 == run("await late_one()")
    assert run("%reload_skills") is None


def test_imports_can_be_changed_while_the_kernel_runs(
    home: Path, run: Run, make_skill: MakeSkill
) -> None:
    """From the next reload on."""
    skills = home / ".agents" / "skills"
    run("%load_ext prime_skills_ext\n%config SkillManager.imports = 'lazy'")
    make_skill(skills, "late-two", python="def run():\n    return 2\n")
    assert "+1 late-two" == repr(run("%reload_skills"))
    assert "late_two" not in sys.modules
    run("held = late_two\n%config SkillManager.imports = 'eager'")
    run("%reload_skills")
    assert run("held is late_two") is True
    assert "late_two" in sys.modules
    assert 2 == run("await held()")
