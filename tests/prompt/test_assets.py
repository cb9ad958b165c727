"""A built-in skill's files are copied to where nobody else can have a hand in it."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prime_skills_ext.catalog.places import find_places
from prime_skills_ext.errors import PrimeSkillsError
from prime_skills_ext.process import run
from prime_skills_ext.prompt import assets
from tests.conftest import write_skill


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder for temporary files, as others can see it."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assets._remove_all()


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    """A skill with something of every sort beside its instructions."""
    files: dict[str, Any] = {
        "references/deep/more.md": b"more\r\n\x00",
        "scripts/run.sh": "#!/bin/sh\n",
        "__pycache__/x.pyc": b"x",
    }
    folder = write_skill(tmp_path / "builtin", "guide", files=files)
    (folder / "scripts/run.sh").chmod(0o755)
    return folder


def listed(folder: Path) -> dict[str, tuple[int, bytes | None]]:
    """Mode and content of everything below a folder."""
    return {
        str(path.relative_to(folder)): (
            stat.S_IMODE(path.lstat().st_mode),
            path.read_bytes() if path.is_file() else None,
        )
        for path in folder.rglob("*")
    }


def guess(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let the next names be known, as if somebody had guessed them."""
    waiting = iter(names)
    real = secrets.token_urlsafe
    monkeypatch.setattr(
        secrets, "token_urlsafe", lambda size: next(waiting, None) or real(size)
    )


def test_copy_is_whole_and_for_its_owner_alone(temporary: Path, skill: Path) -> None:
    """Bytes as they are, programs stay programs, nobody else reads."""
    copied = assets.extract(skill)
    assert {
        "SKILL.md": (0o600, (skill / "SKILL.md").read_bytes()),
        "references": (0o700, None),
        "references/deep": (0o700, None),
        "references/deep/more.md": (0o600, b"more\r\n\x00"),
        "scripts": (0o700, None),
        "scripts/run.sh": (0o700, b"#!/bin/sh\n"),
    } == listed(copied)
    assert ("guide", temporary) == (copied.name, copied.parent.parent)
    assert 0o700 == stat.S_IMODE(copied.parent.stat().st_mode)


def test_copy_is_made_once(temporary: Path, skill: Path) -> None:
    """On first use; later ones point to the same place."""
    assert [] == list(temporary.iterdir())
    assert assets.extract(skill) == assets.extract(skill)
    assert 1 == len(list(temporary.iterdir()))


def test_name_cannot_be_guessed(temporary: Path, skill: Path, tmp_path: Path) -> None:
    """As many bits as a key, and never the same ones."""
    other = write_skill(tmp_path / "builtin", "other", files={"a.md": "a"})
    names = [assets.extract(folder).parent.name for folder in (skill, other)]
    tokens = [name.removeprefix("prime-skills-") for name in names]
    assert [32, 32] == [len(token) for token in tokens]
    assert tokens[0] != tokens[1]


@pytest.mark.parametrize("plant", ["folder", "link", "link-to-nothing", "file"])
def test_planted_name_is_left_alone(
    temporary: Path,
    skill: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    plant: str,
) -> None:
    """Even a guessed name wins nothing: what is there is never used or followed."""
    trap = tmp_path / "trap"
    if plant != "link-to-nothing":
        trap.mkdir()
    planted = temporary / "prime-skills-known"
    if plant == "folder":
        planted.mkdir()
    elif plant == "file":
        planted.write_text("")
    else:
        planted.symlink_to(trap)
    guess(monkeypatch, "known")

    copied = assets.extract(skill)
    assert planted not in copied.parents
    assert "more.md" in {path.name for path in copied.rglob("*")}
    assert not trap.exists() or [] == list(trap.iterdir())
    if plant == "folder":
        assert [] == list(planted.iterdir())


def test_attacker_who_knows_every_name_stops_it_and_wins_nothing(
    temporary: Path, skill: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gives up with a way out instead of taking what is there."""
    (temporary / "prime-skills-known").mkdir()
    guess(monkeypatch, *["known"] * 100)
    with pytest.raises(PrimeSkillsError, match="guide cannot be copied") as info:
        assets.extract(skill)
    assert "TMPDIR" in info.value.fix
    assert [] == list((temporary / "prime-skills-known").iterdir())


@pytest.mark.parametrize(
    "where", ["root", "guide", "guide/references", "guide/references/deep/more.md"]
)
def test_link_planted_after_the_copy_is_noticed(
    temporary: Path, skill: Path, tmp_path: Path, where: str
) -> None:
    """What was put in the place of a copy is never pointed to."""
    first = assets.extract(skill)
    victim = first.parent if where == "root" else first.parent / where
    trap = tmp_path / "trap"
    victim.rename(trap)
    victim.symlink_to(trap)

    second = assets.extract(skill)
    assert first.parent not in second.parents
    assert b"more\r\n\x00" == (second / "references/deep/more.md").read_bytes()


def test_folder_planted_after_the_copy_is_noticed(
    temporary: Path, skill: Path, tmp_path: Path
) -> None:
    """One with the same files is still not the one that we made."""
    first = assets.extract(skill)
    first.parent.rename(tmp_path / "moved")
    shutil.copytree(tmp_path / "moved", first.parent)
    assert first != assets.extract(skill)


def test_copy_that_a_cleaner_thinned_out_is_made_anew(
    temporary: Path, skill: Path
) -> None:
    """Temporary files are removed by age, one by one."""
    first = assets.extract(skill)
    (first / "references/deep/more.md").unlink()
    second = assets.extract(skill)
    assert first != second
    assert (second / "references/deep/more.md").exists()


def test_links_of_the_skill_are_not_followed(
    temporary: Path, skill: Path, tmp_path: Path
) -> None:
    """Neither to files nor to folders; what they lead to is not the skill's."""
    (tmp_path / "secret").write_text("key")
    (skill / "key").symlink_to(tmp_path / "secret")
    (skill / "all").symlink_to(tmp_path)
    names = {path.name for path in assets.extract(skill).rglob("*")}
    assert {"key", "all"}.isdisjoint(names)


def test_copy_goes_with_its_process_and_not_with_a_child(
    tmp_path: Path, skill: Path
) -> None:
    """A forked child that ends leaves its parent's files; the parent takes them."""
    script = """
import os, sys
from pathlib import Path
from prime_skills_ext.prompt import assets
skill = Path(sys.argv[1])
mine = assets.extract(skill)
if (child := os.fork()) == 0:
    print("child", assets.extract(skill) == mine, flush=True)
    sys.exit()
os.waitpid(child, 0)
print("parent", (mine / "SKILL.md").exists(), assets.extract(skill) == mine)
"""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    done = run(
        [sys.executable, "-c", script, skill],
        cwd=tmp_path,
        timeout_s=60,
        env={**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": str(Path.cwd())},
    )
    assert ["child False", "parent True True"] == done.stdout.splitlines()
    assert [] == list(temporary.iterdir())


def test_built_ins_that_ship_have_assets_where_they_refer_to_some() -> None:
    """Folders of Python skills hold what the kernel uses, which is none."""
    builtin = find_places(environ={}).builtin
    assert {"skill-creator"} == {
        folder.name for folder in builtin.iterdir() if assets.has_assets(folder)
    }
