"""Skills that packages bring along."""

from __future__ import annotations

import os
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import pytest
from uv import find_uv_bin

from prime_skills_ext import process
from prime_skills_ext.catalog import package_sources
from prime_skills_ext.catalog._package_memory import PackageMemory
from prime_skills_ext.catalog.discovery import discover
from prime_skills_ext.catalog.package_sources import (
    PackageDirectory,
    find_package_sources,
    site_directories,
)
from tests.conftest import MakeSkill

Names = list[str]
SKILL = "---\nname: {0}\ndescription: d\n---\n"


def distribution(site: Path, name: str, *recorded: str, version: str = "1.0") -> Path:
    """Write what an installer leaves behind."""
    info = site / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    lines = [*recorded, f"{info.name}/METADATA,sha256=x,3", f"{info.name}/RECORD,,"]
    (info / "RECORD").write_text("\n".join(lines))
    return info


def found(*sites: Path) -> list[tuple[str, str]]:
    return [
        (source.label, source.directory.relative_to(sites[0].parent).as_posix())
        for source in find_package_sources(sites=sites)
    ]


def test_folder_of_skills_in_a_distribution_is_a_source(tmp_path: Path) -> None:
    """Named like the distribution, in canonical form, whatever else it holds."""
    site = tmp_path / "site"
    distribution(
        site,
        "Big_Library",
        "big/__init__.py,sha256=a,0",
        "big/.agents/skills/one/SKILL.md,sha256=b,9",
        "big/.agents/skills/two/SKILL.md,sha256=c,9",
    )
    distribution(site, "other", "other/__init__.py,,", "other/skills/x/SKILL.md,,")
    assert [("package:big-library", "site/big/.agents/skills")] == found(site)


@pytest.mark.parametrize(
    "line",
    [
        "../../etc/.agents/skills/a/SKILL.md,,",
        "/etc/.agents/skills/a/SKILL.md,,",
        "big/not.agents/skills/a/SKILL.md,,",
        "big/.agents/skills,,",
        "big/x.py,sha256=.agents/skills/,0",
    ],
)
def test_what_lies_elsewhere_is_no_source(tmp_path: Path, line: str) -> None:
    """Neither above the environment nor by a name that only looks like it."""
    distribution(tmp_path / "site", "big", line)
    assert [] == found(tmp_path / "site")


def test_quoted_names_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    """Both occur in real lists."""
    info = distribution(tmp_path / "site", "big")
    (info / "RECORD").write_bytes(
        b'x.py,,\r\n"big/.agents/skills/a, b/SKILL.md",sha256=x,1\r\n'
    )
    assert [("package:big", "site/big/.agents/skills")] == found(tmp_path / "site")


def test_each_source_has_a_label_of_its_own(tmp_path: Path) -> None:
    """Two packages in one distribution, one folder of two distributions."""
    site = tmp_path / "site"
    distribution(
        site,
        "big",
        "a/.agents/skills/x/SKILL.md,,",
        "b/.agents/skills/x/SKILL.md,,",
        ".agents/skills/y/SKILL.md,,",
    )
    distribution(site, "small", ".agents/skills/z/SKILL.md,,")
    assert [
        ("package:big", "site/.agents/skills"),
        ("package:big/a", "site/a/.agents/skills"),
        ("package:big/b", "site/b/.agents/skills"),
    ] == found(site)


def test_installing_and_removing_is_noticed(tmp_path: Path) -> None:
    """What was found is kept only as long as the folder did not change."""
    site = tmp_path / "site"
    site.mkdir()
    assert [] == found(site)
    info = distribution(site, "big", "big/.agents/skills/a/SKILL.md,,")
    assert [("package:big", "site/big/.agents/skills")] == found(site)
    (info / "RECORD").unlink()  # not read again: the site itself is as it was
    assert [("package:big", "site/big/.agents/skills")] == found(site)
    info.rename(tmp_path / "gone")
    assert [] == found(site)


@pytest.mark.parametrize("odd", ["missing", "file", "fifo", "folder"])
def test_odd_places_have_no_skills(tmp_path: Path, odd: str) -> None:
    """And stop nothing."""
    site = tmp_path / "site"
    if odd == "file":
        site.touch()
    elif odd != "missing":
        info = site / "big-1.0.dist-info"
        info.mkdir(parents=True)
        make = os.mkfifo if odd == "fifo" else os.mkdir
        make(info / "RECORD")
    assert [] == found(site)


def test_package_manager_comes_before_distributions(
    tmp_path: Path, make_skill: MakeSkill
) -> None:
    """In the order that it gives; its provenance is the label."""
    make_skill(tmp_path / "one", "same")
    make_skill(tmp_path / "two", "same")
    site = tmp_path / "site"
    make_skill(site / "big" / ".agents" / "skills", "same")
    distribution(site, "big", "big/.agents/skills/same/SKILL.md,,")
    packages = [
        PackageDirectory(directory=tmp_path / "two", provenance="git-two"),
        PackageDirectory(directory=tmp_path / "one", provenance="npm-one"),
        PackageDirectory(directory=tmp_path / "one", provenance="again"),
    ]
    sources = find_package_sources(packages, sites=[site])
    assert ["package:git-two", "package:npm-one", "package:big"] == [
        candidate.source.label for candidate in discover(sources).candidates
    ]
    assert {("package", 5)} == {(source.kind, source.rank) for source in sources}


def test_sites_are_those_of_this_environment() -> None:
    """Where the packages of the running interpreter are, each once."""
    import packaging

    sites = site_directories()
    assert Path(packaging.__file__).parents[1] in sites
    assert len(sites) == len(set(sites))


def test_sites_do_not_grow_with_the_search_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment of the skills is appended to it."""
    before = site_directories()
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    assert before == site_directories()


def test_wheel_that_uv_installed_brings_its_skills(tmp_path: Path) -> None:
    """A real wheel, a real installer, a real list."""
    wheel = tmp_path / "big_library-1.0-py3-none-any.whl"
    info = "big_library-1.0.dist-info"
    files = {
        "big/__init__.py": "",
        "big/.agents/skills/tuning/SKILL.md": SKILL.format("tuning"),
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: big-library\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\n"
        "Tag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(name, text)
    site = tmp_path / "site"
    words = ["pip", "install", "--quiet", "--offline", "--no-deps"]
    process.run(
        [find_uv_bin(), *words, "--target", str(site), str(wheel)],
        cwd=Path(tempfile.gettempdir()),
        timeout_s=120,
    )
    discovery = discover(find_package_sources(sites=[site]))
    assert ["package:big-library: tuning"] == [
        candidate.location for candidate in discovery.candidates
    ]


class TestMemory:
    """What one process found out, the next one knows."""

    @pytest.fixture(autouse=True)
    def agent(self, tmp_path: Path) -> Path:
        agent = tmp_path / "agent"
        agent.mkdir()
        return agent

    def look(self, site: Path, agent: Path, monkeypatch: pytest.MonkeyPatch) -> Names:
        """Look as a new process does."""
        monkeypatch.setattr(package_sources, "_FOUND", {})
        memory = PackageMemory(agent)
        return [it.label for it in find_package_sources(sites=[site], memory=memory)]

    def aged(self, site: Path, *, seconds: int = 10) -> None:
        then = time.time() - seconds
        os.utime(site, (then, then))

    def test_folder_that_did_not_change_is_not_looked_through(
        self, tmp_path: Path, agent: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Not one list of files is opened, whether or not it names skills."""
        site = tmp_path / "site"
        info = distribution(site, "big", "big/.agents/skills/one/SKILL.md,,")
        self.aged(site)
        assert ["package:big"] == self.look(site, agent, monkeypatch)
        (info / "RECORD").unlink()
        assert ["package:big"] == self.look(site, agent, monkeypatch)

    def test_what_was_installed_since_is_found(
        self, tmp_path: Path, agent: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It adds an entry to the folder."""
        site = tmp_path / "site"
        distribution(site, "other", "other/__init__.py,,")
        self.aged(site)
        assert [] == self.look(site, agent, monkeypatch)
        distribution(site, "big", "big/.agents/skills/one/SKILL.md,,")
        assert ["package:big"] == self.look(site, agent, monkeypatch)

    def test_folder_that_changed_just_now_is_not_remembered(
        self, tmp_path: Path, agent: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It could change again without its time moving."""
        site = tmp_path / "site"
        distribution(site, "other", "other/__init__.py,,")
        self.look(site, agent, monkeypatch)
        assert [] == list(agent.iterdir())

    @pytest.mark.parametrize(
        "text",
        ["", "[", "[]", '{"schema": 9}', '{"schema": 1, "sites": {"SITE": 3}}'],
    )
    def test_damaged_memory_knows_nothing(
        self, tmp_path: Path, agent: Path, monkeypatch: pytest.MonkeyPatch, text: str
    ) -> None:
        """It is written anew."""
        site = tmp_path / "site"
        distribution(site, "big", "big/.agents/skills/one/SKILL.md,,")
        self.aged(site)
        file = PackageMemory(agent).path
        file.parent.mkdir()
        file.write_text(text.replace("SITE", str(site)))
        assert ["package:big"] == self.look(site, agent, monkeypatch)
        assert "big" in file.read_text()

    def test_memory_that_others_can_write_does_not_count(
        self, tmp_path: Path, agent: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """They would say where code is loaded from."""
        site = tmp_path / "site"
        info = distribution(site, "big", "big/.agents/skills/one/SKILL.md,,")
        self.aged(site)
        self.look(site, agent, monkeypatch)
        PackageMemory(agent).path.chmod(0o666)
        (info / "RECORD").unlink()
        assert [] == self.look(site, agent, monkeypatch)
