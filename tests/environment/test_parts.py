"""Record, digests, wheels, closure and uv's words: the small parts, one by one."""

from __future__ import annotations

import email
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement

from prime_skills_ext import process
from prime_skills_ext.environment import closure, wheel
from prime_skills_ext.environment import record as records
from prime_skills_ext.environment.blame import blamed, is_network, mentions, summary
from prime_skills_ext.environment.fingerprint import (
    UNREADABLE,
    fingerprint,
    kernel_paths,
    pyproject_hash,
    signature,
)
from prime_skills_ext.environment.record import Command, Record, SkillRecord
from prime_skills_ext.environment.uv import find_uv, open_uv, scrubbed_environ
from prime_skills_ext.environment.wheel import (
    Wheel,
    editable_wheel,
    own_wheel,
    runtime_wheel,
)
from prime_skills_ext.errors import InstallError, UvNotFoundError
from prime_skills_ext.skill import pyproject


def entry(**values: Any) -> SkillRecord:
    given: dict[str, Any] = {
        "import_name": "a",
        "package_path": "/skills/a",
        "pyproject_path": "/skills/a/pyproject.toml",
        "pyproject_hash": "sha256:0",
        "fingerprint": "sha256:1",
        "state": "installed",
    }
    return SkillRecord(**(given | values))


def test_record_reads_back_what_was_written(tmp_path: Path) -> None:
    """Every field survives, and the names are the reference's."""
    skill = entry(
        extra=("httpx",),
        commands=(Command("a", "rlm.skill:cli", "a"),),
        reason="because",
    )
    record = Record(base="b", kernel="k", site="s", skills={skill.package_path: skill})
    path = tmp_path / ".bootstrap-version"
    records.write(path, record=record)
    assert records.read(path) == record
    data = json.loads(path.read_text(encoding="utf-8"))
    names = {"importName", "packagePath", "pyprojectPath", "pyprojectHash"}
    assert names <= set(data["pythonSkills"][0])
    assert isinstance(data["schema"], int)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"schema": 8}',
        '{"schema": 101, "pythonSkills": [{}]}',
        '{"schema": 101, "pythonSkills": 3, "base": "", "kernel": "", "site": ""}',
        "[" * 100_000,
    ],
)
def test_in01_garbage_is_an_empty_record(tmp_path: Path, text: str) -> None:
    """Whatever lies there, reading never fails."""
    path = tmp_path / "record"
    path.write_text(text, encoding="utf-8")
    assert records.read(path) == Record()


@given(st.binary(max_size=200))
def test_no_bytes_break_the_reader(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    """Not even what is no text."""
    path = tmp_path_factory.mktemp("record") / "record"
    path.write_bytes(data)
    assert records.read(path) == Record()


def test_long_logs_keep_their_end(tmp_path: Path) -> None:
    """The record does not grow with what uv says."""
    skill = entry(log="x" * records.MAX_LOG_CHARS + "end")
    path = tmp_path / "record"
    records.write(path, record=Record(skills={skill.package_path: skill}))
    log = records.read(path).skills[skill.package_path].log
    assert (len(log), log[-3:]) == (records.MAX_LOG_CHARS, "end")


def mark(skill: Any, *inputs: str, extra: tuple[str, ...] = ()) -> str | None:
    package = skill.python
    digest = pyproject_hash(package)
    return fingerprint(package, pyproject_hash=digest, inputs=inputs, extra=extra)


@pytest.mark.parametrize("name", ["pyproject.toml", "setup.py", "setup.cfg", "uv.lock"])
def test_in02_every_input_changes_the_fingerprint(new_skill: Any, name: str) -> None:
    """A file that decides how it is installed counts, when it appears and changes."""
    skill = new_skill("a")
    marks = [mark(skill)]
    for text in ("# one\n", "# two\n"):
        (skill.directory / name).write_text(text, encoding="utf-8")
        marks.append(mark(skill))
    assert len(set(marks)) == 3


def test_in02_declared_files_and_additions_change_the_fingerprint(
    new_skill: Any,
) -> None:
    """So does a file that metadata names, and an added requirement."""
    skill = new_skill("a", files={"needs.txt": "x"})
    marks = {mark(skill), mark(skill, "needs.txt"), mark(skill, extra=("httpx",))}
    assert len(marks) == 3


def test_source_does_not_change_the_fingerprint(new_skill: Any) -> None:
    """Code is imported from where it is: editing it installs nothing."""
    skill = new_skill("a")
    before = mark(skill)
    (skill.python.src / "a" / "__init__.py").write_text("x = 1\n", encoding="utf-8")
    assert mark(skill) == before


def test_in02_unreadable_input_gives_no_fingerprint(new_skill: Any) -> None:
    """What cannot be hashed is never equal."""
    skill = new_skill("a", files={"folder/x": ""})
    assert mark(skill, "folder") is None
    skill.python.pyproject.unlink()
    assert (pyproject_hash(skill.python), mark(skill)) == (UNREADABLE, None)


def test_signature_follows_added_distributions(tmp_path: Path) -> None:
    """Installing something into the kernel is noticed without reading it."""
    marks = [signature([tmp_path]), signature([tmp_path])]
    (tmp_path / "new.dist-info").mkdir()
    marks += [signature([tmp_path]), signature([tmp_path / "missing"])]
    assert (marks[0], len(set(marks))) == (marks[1], 3)


def test_kernel_paths_leave_environments_of_ours_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither an overlay nor the working directory is part of the kernel."""
    mine = tmp_path / "venvs" / "site-packages"
    mine.mkdir(parents=True)
    before = kernel_paths(apart_from=tmp_path / "venvs")
    monkeypatch.setattr(sys, "path", [*sys.path, "", str(tmp_path), str(mine)])
    assert kernel_paths(apart_from=tmp_path / "venvs") == before
    assert mine in kernel_paths(apart_from=tmp_path / "other")


def project_of(skill: Any) -> Any:
    text = skill.python.pyproject.read_text(encoding="utf-8")
    project, _ = pyproject.parse(text, import_name=skill.import_name)
    assert project is not None
    return project


def test_editable_wheel_says_what_the_project_says(
    new_skill: Any, tmp_path: Path
) -> None:
    """Name, version, requirements, Python and commands; and a link to ``src``."""
    text = (
        '[project]\nname = "My.Skill"\nversion = "1.2"\nrequires-python = ">=3.10"\n'
        "dependencies = [\"httpx>=0.2; python_version>'3'\"]\n"
        '[project.optional-dependencies]\nfast = ["numpy; os_name==\'x\'", "rich"]\n'
        '[project.scripts]\ngo = "a:run"\n'
        '[project.entry-points."some.group"]\nplug = "a:plug"\n'
    )
    skill = new_skill("a", pyproject=text)
    made = editable_wheel(project_of(skill), package=skill.python, extra=["attrs"])
    path = made.write(tmp_path)
    assert path.name == "my_skill-1.2-py3-none-any.whl"
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name).decode() for name in archive.namelist()}
    assert files["__editable__.my_skill.pth"] == f"{skill.python.src}\n"
    metadata = email.message_from_string(files["my_skill-1.2.dist-info/METADATA"])
    assert metadata["Requires-Python"] == ">=3.10"
    assert metadata.get_all("Provides-Extra") == ["fast"]
    assert metadata.get_all("Requires-Dist") == [
        'httpx>=0.2; python_version > "3"',
        "attrs",
        'numpy ; (os_name == "x") and extra == "fast"',
        'rich ; extra == "fast"',
    ]
    points = files["my_skill-1.2.dist-info/entry_points.txt"]
    assert "[console_scripts]\ngo = a:run\n" in points
    assert "[some.group]\nplug = a:plug\n" in points


def test_wheel_path_is_decided_by_its_content(new_skill: Any, tmp_path: Path) -> None:
    """Same content, same file, written once; another content, another file."""
    skill = new_skill("a")
    made = editable_wheel(project_of(skill), package=skill.python)
    path = made.write(tmp_path)
    before = path.stat().st_mtime_ns
    assert made.write(tmp_path) == path
    assert path.stat().st_mtime_ns == before
    other = editable_wheel(project_of(skill), package=skill.python, extra=["attrs"])
    assert other.write(tmp_path) != path


def test_link_to_a_path_beyond_ascii_is_ascii(new_skill: Any, tmp_path: Path) -> None:
    """Such files are decoded with the locale, which nobody knows."""
    skill = new_skill("a", root=tmp_path / "é")
    made = editable_wheel(project_of(skill), package=skill.python)
    link = made.files["__editable__.a.pth"]
    assert link.isascii()
    assert b"\\xe9" in link


def test_runtime_wheel_holds_the_module(tmp_path: Path) -> None:
    """The distribution that skills import is complete."""
    made = runtime_wheel()
    assert "rlm/__init__.py" in made.files
    assert "Requires-Dist: tyro" in made.metadata
    assert not [name for name in made.files if "__pycache__" in name]


def test_missing_runtime_is_an_install_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package without its data says so, with a fix."""
    monkeypatch.setattr(wheel, "_RUNTIME", tmp_path)
    with pytest.raises(InstallError, match="runtime") as caught:
        runtime_wheel()
    assert caught.value.fix == "reinstall prime-skills-ext"
    (tmp_path / "pyproject.toml").write_text("[", encoding="utf-8")
    with pytest.raises(InstallError, match="cannot be read"):
        runtime_wheel()


def test_own_wheel_holds_the_running_package() -> None:
    """From an editable install it holds the same files as from a normal one."""
    made = own_wheel()
    assert made.metadata.startswith("Metadata-Version")
    assert "prime_skills_ext/runtime/src/rlm/__init__.py" in made.files
    assert "prime-skills = prime_skills_ext.__main__:main" in made.entry_points


@pytest.mark.integration
def test_own_wheel_can_be_made_from_itself(tmp_path: Path) -> None:
    """A normal install gives the wheel that it was installed from."""
    made = own_wheel()
    venv = tmp_path / "venv"
    uv = open_uv({"PATH": "", "HOME": str(tmp_path)})
    uv.make(venv, python=Path(sys.executable))
    file = made.write(tmp_path / "wheels")
    python = venv / "bin" / "python"
    argv: list[str | Path] = [
        uv.binary,
        "pip",
        "install",
        "--no-deps",
        "--offline",
        "--python",
        python,
    ]
    process.run([*argv, file], cwd=tmp_path, timeout_s=60)
    code = (
        "import sys\n"
        "from prime_skills_ext.environment.wheel import own_wheel\n"
        "print(own_wheel().digest)\n"
    )
    kernel = [path for path in sys.path if path.endswith("site-packages")]
    site = next((venv / "lib").glob("python3*/site-packages"))
    (site / "more.pth").write_text("\n".join(kernel), encoding="utf-8")
    done = process.run([python, "-I", "-c", code], cwd=tmp_path, timeout_s=60)
    assert done.stdout.strip() == made.digest


def test_package_that_was_never_installed_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without metadata there is no wheel to be made."""
    monkeypatch.setattr(wheel, "OWN_NAME", "no-such-dist-xyz")
    with pytest.raises(InstallError, match="without being installed"):
        own_wheel()


def site(tmp_path: Path, name: str, **dists: tuple[str, ...]) -> Path:
    """A directory with distributions: ``a_1_0=("b>=2",)``."""
    folder = tmp_path / name
    for key, requires in dists.items():
        dist, _, version = key.partition("_")
        info = folder / f"{dist}-{version.replace('_', '.')}.dist-info"
        info.mkdir(parents=True)
        lines = [f"Name: {dist}", f"Version: {version.replace('_', '.')}"]
        lines += [f"Requires-Dist: {line}" for line in requires]
        (info / "METADATA").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def told(index: closure.Index, *requirements: str) -> list[tuple[Any, ...]]:
    found = closure.gaps(map(Requirement, requirements), index=index)
    return [
        (str(gap.requirement), gap.chain, gap.found and gap.found.version)
        for gap in found
    ]


def test_closure_is_followed_to_the_end(tmp_path: Path) -> None:
    """A gap names the chain that leads to it."""
    place = site(tmp_path, "env", a_1_0=("b>=2",), b_2_0=("c>=3", "d"), c_1_0=())
    index = closure.index(environment=[place])
    assert told(index, "a") == [
        ("d", ("a 1.0", "b 2.0"), None),
        ("c>=3", ("a 1.0", "b 2.0"), "1.0"),
    ]


def test_the_kernels_version_counts_first(tmp_path: Path) -> None:
    """What the kernel has hides what the environment has."""
    kernel = site(tmp_path, "kernel", a_1_0=())
    place = site(tmp_path, "env", a_2_0=())
    index = closure.index(kernel=[kernel], environment=[place])
    assert told(index, "a>=2") == [("a>=2", (), "1.0")]
    found = index.get("A")
    assert found is not None
    assert found.is_kernels


def test_kernels_own_quarrels_are_not_ours(tmp_path: Path) -> None:
    """What the kernel's packages think of each other was so before."""
    kernel = site(tmp_path, "kernel", a_1_0=("b>=9", "missing"), b_1_0=())
    index = closure.index(kernel=[kernel])
    assert told(index, "a") == [("missing", ("a 1.0",), None)]


def test_extras_and_markers_are_evaluated(tmp_path: Path) -> None:
    """An extra adds what it requires; a marker that does not apply adds nothing."""
    requires = ('x ; extra == "fast"', 'y ; python_version < "3"', "z>=1")
    place = site(tmp_path, "env", a_1_0=requires, z_1_0=())
    index = closure.index(environment=[place])
    assert told(index, "a", 'w ; python_version < "3"') == []
    assert told(index, "a[fast]") == [
        ('x; extra == "fast"', ("a 1.0",), None),
    ]


def test_circles_and_oddities_end(tmp_path: Path) -> None:
    """Dependencies in a circle, prereleases and what is no requirement."""
    place = site(tmp_path, "env", a_1_0rc1=("b", "???"), b_1_0=("a>=0.9",))
    (place / "old.egg-info").mkdir()
    (place / "old.egg-info" / "PKG-INFO").write_text("Name: old\nVersion: 3\n")
    (place / "x.dist-info").mkdir()
    index = closure.index(environment=[place, tmp_path / "missing"])
    assert told(index, "a>=0.5", "old>=2", "b @ https://example.invalid/b.whl") == []
    names = closure.reach([Requirement("a"), Requirement("nothing")], index=index)
    assert names == {"a", "b"}


def test_version_that_is_none_meets_only_an_open_requirement(tmp_path: Path) -> None:
    """Nobody can compare it."""
    place = site(tmp_path, "env", a_what=())
    index = closure.index(environment=[place])
    assert told(index, "a") == []
    assert told(index, "a>=1") == [("a>=1", (), "what")]


_CONFLICT = """\
error: No solution found when resolving dependencies
  cause: Because only sk-2==0.1.0 is available and sk-2==0.1.0 depends on idna<3, we can
         conclude that all versions of sk-2 depend on idna<3.
         And because sk-3==0.1.0 depends on idna>=3.4 and idna==2.10, we can conclude
         that all versions of sk-2 and all versions of sk-3 are incompatible.
"""
_NAME = "`Sk_7 @ file:///somewhere`"
_BUILD = """\
error: Failed to build `Sk_7 @ file:///somewhere`
  cause: The build backend returned an error
  cause: Call to `hatchling.build.build_editable` failed (exit status: 1)

         [stderr]
         Traceback (most recent call last):
         ValueError: sk-2==0.1 is fine
hint: `requests` (v0.14.2) was included because `sk-8` (v0.1.0) depends on `requests<1`
"""


def test_culprits_are_read_from_uvs_words() -> None:
    """Names of ours that uv blames, in the order in which it names them."""
    names = {"sk-2", "sk-3", "sk-7", "sk-8", "idna"}
    assert blamed(_CONFLICT, names=names) == ("sk-2", "sk-3")
    assert blamed(_BUILD, names=names) == ("sk-7", "sk-8")
    assert blamed("error: edit the word", names={"edit", "word"}) == ()


def test_pins_are_recognised_as_a_whole() -> None:
    """A settled version stands in the way only if it is the one that is named."""
    assert mentions(_CONFLICT, pins=["idna==2.10"])
    assert not mentions(_CONFLICT, pins=["idna==2.1", "dna==2.10", "x==1"])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", "uv gave no reason"),
        ("one\ntwo\n", "two"),
        (_CONFLICT, "only sk-2==0.1.0 is available and sk-2==0.1.0 depends on idna<3"),
        (_BUILD, f"Failed to build {_NAME}: The build backend returned an error"),
        ("error: disk full\n", "disk full"),
    ],
)
def test_summary_is_one_sentence(words: str, expected: str) -> None:
    """What the table shows; the log keeps the rest."""
    assert summary(words) == expected


def test_want_of_a_network_is_told_from_other_failures() -> None:
    """Going online helps only where the network was missing."""
    assert is_network(
        "hint: Packages were unavailable because the network was disabled"
    )
    assert is_network("cause: Failed to fetch: https://host/simple/x/")
    assert not is_network(_CONFLICT)


def test_uv_is_found_in_its_package_first(tmp_path: Path) -> None:
    """PRIME_SKILLS_UV, then the package, whatever PATH holds."""
    assert find_uv({"PATH": ""}).name == "uv"
    named = tmp_path / "my-uv"
    named.touch(mode=0o755)
    assert find_uv({"PRIME_SKILLS_UV": str(named)}) == named


def test_uv_is_found_on_the_path_at_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the package the one on PATH serves; without any it is told where."""
    import uv

    def nothing() -> str:
        raise FileNotFoundError("no uv in the package")

    monkeypatch.setattr(uv, "find_uv_bin", nothing)
    (tmp_path / "uv").touch(mode=0o755)
    assert find_uv({"PATH": str(tmp_path)}) == tmp_path / "uv"
    with pytest.raises(UvNotFoundError) as caught:
        find_uv({"PATH": "/nowhere"})
    assert "looked in: PRIME_SKILLS_UV (not set)" in caught.value.message
    assert "/nowhere" in caught.value.message


def test_uv_may_be_uninstalled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel whose package uv is gone loads; the one on PATH serves, or none."""
    monkeypatch.setitem(sys.modules, "uv", None)
    program = tmp_path / "uv"
    program.touch(mode=0o755)
    assert open_uv({"PATH": str(tmp_path)}).binary == program
    with pytest.raises(UvNotFoundError, match="pip install uv"):
        find_uv({"PATH": "/nowhere"})


def test_uv_that_is_not_installed_stops_no_load() -> None:
    """Nothing of this package needs the package uv to be imported."""
    code = "import sys; sys.modules['uv'] = None; import prime_skills_ext.magics"
    done = process.run([sys.executable, "-c", code], cwd=Path.cwd(), timeout_s=60)
    assert (done.stderr, done.returncode) == ("", 0)


def test_environment_of_uv_is_scrubbed() -> None:
    """Only index, cache and certificates come through; colours do not."""
    given = {
        "PATH": "/bin",
        "SSL_CERT_FILE": "/certs",
        "UV_CACHE_DIR": "/cache",
        "UV_INDEX_URL": "https://host/simple",
        "UV_DEFAULT_INDEX": "https://host/simple",
        "UV_PROJECT_ENVIRONMENT": "/decoy",
        "UV_NO_BUILD_ISOLATION": "1",
        "VIRTUAL_ENV": "/decoy",
        "CONDA_PREFIX": "/decoy",
        "PIP_INDEX_URL": "x",
        "PYTHONPATH": "/decoy",
        "FORCE_COLOR": "1",
    }
    kept = ["PATH", "SSL_CERT_FILE", "UV_CACHE_DIR", "UV_INDEX_URL", "UV_DEFAULT_INDEX"]
    expected = {name: given[name] for name in kept} | {"NO_COLOR": "1"}
    assert scrubbed_environ(given) == expected


@pytest.mark.parametrize(
    ("value", "expected"), [("1", True), ("0", False), ("", False)]
)
def test_offline_is_what_the_variables_say(value: str, *, expected: bool) -> None:
    """PI_OFFLINE and uv's own variable, read as people write them."""
    assert open_uv({"PI_OFFLINE": value}).offline is expected
    assert open_uv({"UV_OFFLINE": value}).offline is expected


def test_identity_of_another_uv_is_its_file(tmp_path: Path) -> None:
    """A uv that is not the package's is known by path, size and time."""
    path = tmp_path / "uv"
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    identity = open_uv({"PRIME_SKILLS_UV": str(path)}).identity
    assert identity.startswith(f"{path}:10:")
    assert open_uv({}).identity != identity


def test_wheel_without_entry_points_has_no_such_file() -> None:
    """An empty file would be noise."""
    made = Wheel(name="a", version="1", metadata="", files={})
    assert made.entry_points == ""
