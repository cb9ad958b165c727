"""Faults of the surroundings: other projects, other environments, other workspaces."""

from __future__ import annotations

import pytest

from tests.integration.machines import Machine, tree_hash

pytestmark = pytest.mark.integration

DECOYS = ("VIRTUAL_ENV", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT", "PYTHONPATH")


def test_two_projects_with_a_skill_of_one_name_side_by_side(machine: Machine) -> None:
    """Ten switches between them call uv not once, and each has its own answer."""
    projects = [machine.folder / name for name in ("one", "two")]
    for number, project in enumerate(projects):
        (project / ".git").mkdir(parents=True)
        root = project / ".agents" / "skills"
        machine.publish(f"acme-{number}", f"{number}.0")
        machine.user_of("same", f"acme_{number}", f"acme-{number}", root=root)
    with (
        machine.session(projects[0], PRIME_SKILLS_TRUST="all") as one,
        machine.session(projects[1], PRIME_SKILLS_TRUST="all") as two,
    ):
        assert {"same": "0.0"} == one.read()["answers"]
        assert {"same": "1.0"} == two.read()["answers"]
        machine.asked.unlink()
        for _ in range(4):
            assert {"same": "0.0"} == one.ask("reload")["answers"]
            assert {"same": "1.0"} == two.ask("reload")["answers"]
        for number, project in enumerate(projects):
            told = machine.start(project, PRIME_SKILLS_TRUST="all")
            assert {"same": f"{number}.0"} == told["answers"]
        assert [] == machine.calls


def test_decoys_are_not_touched(machine: Machine) -> None:
    """Environments that variables name are neither used nor changed."""
    machine.publish("acme", "1.0")
    environ = {}
    for name in DECOYS:
        decoy = machine.folder / "decoys" / name
        (decoy / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
        (decoy / "pyvenv.cfg").write_text("home = /nowhere\n", encoding="utf-8")
        (decoy / "decoy.py").write_text("version = 'decoy'\n", encoding="utf-8")
        environ[name] = str(decoy)
    before = tree_hash(machine.folder / "decoys")
    environ["PYTHONPATH"] += f":{machine.environ['PYTHONPATH']}"
    machine.user_of("user", "acme", "acme")
    with machine.neighbours():
        machine.skill("built", backend="uv_build", files={"setup.py": ""})
        told = machine.start(**environ)
        assert {"built": "built", "user": "1.0"} == told["answers"]
        assert machine.is_whole(told)
    assert tree_hash(machine.folder / "decoys") == before


@pytest.mark.parametrize("content", ["[tool.uv.workspace]\nmembers = ['x/*']\n", "[["])
def test_in08_broken_workspace_around_everything(
    machine: Machine, content: str
) -> None:
    """Home, project and skills lie in it; both lanes install, and it stays as it is."""
    parent = machine.folder / "pyproject.toml"
    parent.write_text(content, encoding="utf-8")
    (machine.folder / "x" / "empty").mkdir(parents=True)
    machine.publish("acme", "1.0")
    machine.user_of("fast", "acme", "acme")
    with machine.neighbours():
        machine.skill("slow", backend="uv_build", files={"setup.py": ""})
        told = machine.start()
        assert {"fast": "1.0", "slow": "slow"} == told["answers"], told["reasons"]
        assert machine.is_whole(told)
    assert parent.read_text("utf-8") == content
    assert not (machine.folder / "uv.lock").exists()
