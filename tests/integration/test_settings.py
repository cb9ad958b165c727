"""Settings in a real kernel: what is off stays off from one start to the next."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import write_skill
from tests.integration.drivers import Kernel

pytestmark = pytest.mark.integration


def test_disabled_skill_stays_off_until_enabled(project: Path, home: Path) -> None:
    """Its code is never imported, its name explains itself."""
    write_skill(
        home / ".agents/skills", "noisy", python="print('up')\ndef run(): return 1"
    )
    settings = home / ".prime/agent/settings.json"
    with Kernel(project) as kernel:
        kernel.run("%load_ext prime_skills_ext")
        assert kernel.run("print(await noisy())").stdout == "1\n"
        kernel.run("%skill disable noisy")
        settings.write_text(settings.read_text().replace("]", ",]"))
    with Kernel(project) as kernel:
        loaded = kernel.run("%load_ext prime_skills_ext")
        assert loaded.stdout == "Skills: 1 warning. See %skill doctor\n"
        kernel.run("import sys")
        assert kernel.run("print('noisy' in sys.modules)").stdout == "False\n"
        outcome = kernel.run("await noisy()")
        assert "%skill enable noisy" in str(outcome.error)
        settings.write_text(settings.read_text().replace(",]", "]"))
        kernel.run("%skill enable noisy")
        assert kernel.run("print(await noisy())").stdout == "1\n"
        assert not settings.exists()
