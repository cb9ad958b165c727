"""The cache of headers: what it keeps, and what it never does."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prime_skills_ext.catalog import cache as caches
from prime_skills_ext.catalog import loading, reading
from prime_skills_ext.catalog.cache import CACHE_FILE, SkillCache, stamp
from prime_skills_ext.catalog.discovery import Discovery, discover
from prime_skills_ext.catalog.sources import Source
from prime_skills_ext.catalog.walking import Found
from prime_skills_ext.skill.frontmatter import parse
from prime_skills_ext.skill.validation import to_skill
from tests.catalog.conftest import MakeSource, codes, names
from tests.conftest import MakeSkill

Run = Callable[[], Discovery]

EVERYTHING = """\
---
name: word-count
description: Counts words.
when_to_use: Somebody asks for it.
license: MIT
compatibility: Python
metadata: {author: me, nested: [{a: b}, ~]}
allowed-tools: Read Bash(git add *)
disallowed-tools: [Write]
argument-hint: [file]
arguments: a b
disable-model-invocation: true
user-invocable: false
context: fork
agent: a
model: b
effort: c
background: yes
hooks: {Stop: [{hooks: [{type: command}]}]}
paths: "*.py, *.md"
shell: powershell
requires: {env: [A, B], bins: [git]}
other: [x, {y: z}]
Name: twice
---
"""


@pytest.fixture(autouse=True)
def _everything_is_old_enough(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keep even files that were written just now, but for the tests of that rule."""
    if "youth" not in request.keywords:
        monkeypatch.setattr(caches, "_SAFE_AGE_NS", -(10**18))


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    """A folder for skills."""
    folder = tmp_path / "skills"
    folder.mkdir()
    return folder


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    """An agent directory that nothing has been written to."""
    folder = tmp_path / "agent"
    folder.mkdir()
    return folder


@pytest.fixture
def run(skills: Path, agent: Path, make_source: MakeSource) -> Run:
    """``run()`` discovers with what the cache holds."""
    sources = [make_source(skills, loose_files=True)]
    return lambda: discover(sources, cache=SkillCache(agent))


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the folders whose header was read."""
    seen: list[str] = []

    def read_header(path: str) -> tuple[bytes, os.stat_result]:
        seen.append(Path(path).parent.name)
        return reading.read_header(path)

    monkeypatch.setattr(loading, "read_header", read_header)
    return seen


def test_second_run_reads_no_header(
    run: Run, skills: Path, make_skill: MakeSkill, reads: list[str]
) -> None:
    """What has not changed is not opened again, and the answer is the same."""
    make_skill(skills, "a")
    make_skill(skills, "b", description="x" * 2000)
    (skills / "c").mkdir()
    (skills / "c" / "SKILL.md").write_text("no header")
    (skills / "README.md").write_text("nothing")
    first = run()
    assert ["skills", "a", "b", "c"] == reads
    assert (first, 4) == (run(), len(reads))
    assert ["description-length", "no-frontmatter"] == codes(first)


def test_every_field_survives(run: Run, skills: Path) -> None:
    """A skill from the cache equals the one that was read, types included."""
    (skills / "a").mkdir()
    (skills / "a" / "SKILL.md").write_text(EVERYTHING)
    first, second = run(), run()
    assert first == second
    assert [repr(first)] == [repr(second)]


def test_python_half_is_looked_at_each_time(
    run: Run, skills: Path, make_skill: MakeSkill
) -> None:
    """It lies beside the header, so the header's times say nothing about it."""
    folder = make_skill(skills, "a")
    kinds = [run().candidates[0].skill.kind]
    (folder / "pyproject.toml").write_text("[project]\nname = 'a'\nversion = '1'\n")
    (folder / "src" / "a").mkdir(parents=True)
    (folder / "src" / "a" / "__init__.py").touch()
    kinds.append(run().candidates[0].skill.kind)
    assert ["markdown", "python"] == kinds


def test_changed_content_of_the_same_size_and_time_is_read(
    run: Run, skills: Path, make_skill: MakeSkill
) -> None:
    """A time of modification that somebody put back does not hide a change."""
    file = make_skill(skills, "a", description="one") / "SKILL.md"
    run()
    status = file.stat()
    file.write_text(file.read_text().replace("one", "two"))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (status.st_size, status.st_mtime_ns) == (
        file.stat().st_size,
        file.stat().st_mtime_ns,
    )
    assert ["two"] == [item.skill.description for item in run().candidates]


def test_another_file_in_its_place_is_read(
    run: Run, skills: Path, make_skill: MakeSkill
) -> None:
    """Path, size and time alone are no identity: the inode counts."""
    file = make_skill(skills, "a", description="one") / "SKILL.md"
    other = file.with_name("other")
    other.write_text(file.read_text().replace("one", "two"))
    status = file.stat()
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    run()
    other.replace(file)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert ["two"] == [item.skill.description for item in run().candidates]


def test_moved_skill_is_named_by_its_new_folder(
    run: Run, skills: Path, make_skill: MakeSkill
) -> None:
    """An answer holds for one path only, even where the file is the same."""
    folder = make_skill(skills, "a")
    run()
    folder.rename(skills / "b")
    found = run()
    assert (["a"], ["name-directory"]) == (names(found), codes(found))


def test_link_that_points_elsewhere_is_read(
    run: Run, skills: Path, tmp_path: Path, make_skill: MakeSkill
) -> None:
    """What a path leads to counts, not what it led to."""
    make_skill(tmp_path / "one", "a", description="one")
    make_skill(tmp_path / "two", "a", description="two")
    (skills / "a").symlink_to(tmp_path / "one" / "a")
    run()
    (skills / "a").unlink()
    (skills / "a").symlink_to(tmp_path / "two" / "a")
    (found,) = run().candidates
    assert ("two", tmp_path / "two" / "a" / "SKILL.md") == (
        found.skill.description,
        found.skill.identity,
    )


def test_removed_skill_is_gone(run: Run, skills: Path, make_skill: MakeSkill) -> None:
    """What the cache remembers makes no skill."""
    file = make_skill(skills, "a") / "SKILL.md"
    run()
    file.unlink()
    assert [] == names(run())


def test_unreadable_file_is_reported(
    unprivileged_folder: Path, make_skill: MakeSkill, make_source: MakeSource
) -> None:
    """Whoever may not read a file any more is not told what was in it."""
    skills, agent = unprivileged_folder / "skills", unprivileged_folder / "agent"
    agent.mkdir()
    file = make_skill(skills, "a") / "SKILL.md"
    found = [discover([make_source(skills)], cache=SkillCache(agent))]
    file.chmod(0)
    found.append(discover([make_source(skills)], cache=SkillCache(agent)))
    assert [[], ["unreadable"]] == [codes(item) for item in found]


@pytest.mark.youth
def test_file_that_was_changed_a_moment_ago_is_not_kept(
    run: Run,
    agent: Path,
    skills: Path,
    make_skill: MakeSkill,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It can change again within one tick of the clock, and nobody would see it."""
    file = make_skill(skills, "a") / "SKILL.md"
    now = file.stat().st_mtime_ns + 10**9
    monkeypatch.setattr(time, "time_ns", lambda: now)
    run()
    assert not (agent / CACHE_FILE).exists()


@pytest.mark.youth
def test_file_from_the_future_is_not_kept(
    run: Run,
    agent: Path,
    skills: Path,
    make_skill: MakeSkill,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A clock that was set back makes no file old."""
    make_skill(skills, "a")
    monkeypatch.setattr(time, "time_ns", lambda: 10**18)
    run()
    assert not (agent / CACHE_FILE).exists()


@pytest.mark.youth
def test_file_of_some_age_is_kept(
    run: Run,
    agent: Path,
    skills: Path,
    make_skill: MakeSkill,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Three seconds are old enough."""
    make_skill(skills, "a")
    later = time.time_ns() + 3 * 10**9
    monkeypatch.setattr(time, "time_ns", lambda: later)
    run()
    assert (agent / CACHE_FILE).exists()


def test_file_is_private_json(
    run: Run, agent: Path, skills: Path, make_skill: MakeSkill
) -> None:
    """Nobody else may read it, it is one JSON document, and nothing else is left."""
    make_skill(skills, "a")
    run()
    file = agent / CACHE_FILE
    assert 0o600 == file.stat().st_mode & 0o777
    assert 0o700 == file.parent.stat().st_mode & 0o777
    assert [str(skills / "a" / "SKILL.md")] == list(
        json.loads(file.read_text())["skills"]
    )
    assert [file] == list(file.parent.iterdir())


def test_unchanged_cache_is_not_written_again(
    run: Run, agent: Path, skills: Path, make_skill: MakeSkill
) -> None:
    """A warm run writes nothing."""
    make_skill(skills, "a")
    run()
    before = (agent / CACHE_FILE).stat().st_ino
    run()
    assert before == (agent / CACHE_FILE).stat().st_ino


def test_cache_that_others_can_change_is_not_believed(
    run: Run, agent: Path, skills: Path, make_skill: MakeSkill, reads: list[str]
) -> None:
    """It is read anew and written anew, for ourselves alone."""
    make_skill(skills, "a")
    run()
    (agent / CACHE_FILE).chmod(0o666)
    run()
    assert (["a", "a"], 0o600) == (reads, (agent / CACHE_FILE).stat().st_mode & 0o777)


def test_cache_of_other_code_is_not_believed(
    run: Run,
    skills: Path,
    make_skill: MakeSkill,
    reads: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A newer reader may see more in the same header."""
    make_skill(skills, "a")
    run()
    monkeypatch.setattr(caches, "_made_by", lambda: "other")
    run()
    assert ["a", "a"] == reads


@pytest.mark.parametrize("place", ["agent", "prime-skills", "headers.json"])
def test_place_that_cannot_be_written_only_costs_time(
    place: str, run: Run, agent: Path, skills: Path, make_skill: MakeSkill
) -> None:
    """Something else lies where the cache or its folder should."""
    make_skill(skills, "a")
    file = agent / CACHE_FILE
    blocked = {"agent": agent, "prime-skills": file.parent, "headers.json": file}[place]
    blocked.parent.mkdir(parents=True, exist_ok=True)
    if place == "headers.json":
        (blocked / "x").mkdir(parents=True)
    else:
        if place == "agent":
            agent.rmdir()
        blocked.write_text("")
    assert [["a"], ["a"]] == [names(run()), names(run())]


def test_cache_that_is_a_fifo_does_not_block(
    run: Run, agent: Path, skills: Path, make_skill: MakeSkill
) -> None:
    """It is replaced like any other damage."""
    make_skill(skills, "a")
    (agent / CACHE_FILE).parent.mkdir(parents=True)
    os.mkfifo(agent / CACHE_FILE)
    assert ["a"] == names(run())
    assert (agent / CACHE_FILE).is_file()


@given(
    st.one_of(
        st.binary(max_size=300),
        st.integers(0, 400),
        st.tuples(st.integers(0, 400), st.integers(1, 255)),
    )
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
def test_damage_is_an_empty_cache(
    tmp_path_factory: pytest.TempPathFactory,
    make_skill: MakeSkill,
    make_source: MakeSource,
    damage: bytes | int | tuple[int, int],
) -> None:
    """Other bytes, a cut, a flipped bit: the answer is the one of no cache."""
    folder = tmp_path_factory.mktemp("damage")
    make_skill(folder / "skills", "a")
    sources = [make_source(folder / "skills")]
    expected = discover(sources, cache=SkillCache(folder))
    file = folder / CACHE_FILE
    data = bytearray(file.read_bytes())
    if isinstance(damage, bytes):
        data = bytearray(damage)
    elif isinstance(damage, int):
        del data[damage:]
    else:
        at, bits = damage
        data[at % len(data)] ^= bits
    file.write_bytes(data)
    assert expected == discover(sources, cache=SkillCache(folder))


def test_cache_is_bounded(
    agent: Path,
    tmp_path: Path,
    make_skill: MakeSkill,
    make_source: MakeSource,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What this run met stays; of what others met only so much does."""
    monkeypatch.setattr(caches, "_MAX_CURRENT", 3)
    monkeypatch.setattr(caches, "_MAX_EARLIER", 2)
    for place in ("p", "q"):
        for number in range(4):
            make_skill(tmp_path / place, f"{place}{number}")
        discover([make_source(tmp_path / place)], cache=SkillCache(agent))
    kept = json.loads((agent / CACHE_FILE).read_text())["skills"]
    assert ["q0", "q1", "q2", "p0", "p1"] == [Path(path).parent.name for path in kept]


def test_cache_is_bounded_in_bytes(
    run: Run,
    agent: Path,
    skills: Path,
    make_skill: MakeSkill,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither one long header nor many make it large."""
    monkeypatch.setattr(caches, "_MAX_BYTES", 1000)
    monkeypatch.setattr(caches, "_BATCH", 1)
    make_skill(skills, "a-long-one", description="x" * 9000)
    for number in range(30):
        make_skill(skills, f"s{number}")
    run()
    text = (agent / CACHE_FILE).read_text()
    kept = [Path(path).parent.name for path in json.loads(text)["skills"]]
    assert ["s0", "s1"] == kept[:2]
    assert len(text) < 1200


def test_nothing_is_kept_where_the_code_cannot_be_named(
    run: Run,
    agent: Path,
    skills: Path,
    make_skill: MakeSkill,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A package inside an archive has no files whose times would tell."""
    make_skill(skills, "a")
    monkeypatch.setattr(caches, "__file__", str(agent / "x.zip" / "catalog" / "y.py"))
    assert (["a"], []) == (names(run()), list(agent.iterdir()))


def test_nothing_is_kept_where_there_is_no_agent_directory(
    run: Run, agent: Path, skills: Path, make_skill: MakeSkill
) -> None:
    """Looking at skills makes nobody a home."""
    make_skill(skills, "a")
    agent.rmdir()
    assert (["a"], False) == (names(run()), agent.exists())


def test_file_that_vanishes_while_it_is_asked_for_is_no_answer(
    agent: Path, skills: Path, run: Run, make_skill: MakeSkill
) -> None:
    """The walk saw it, the cache does not: reading it will say why."""
    file = make_skill(skills, "a") / "SKILL.md"
    run()
    file.unlink()
    found = Found(path=str(file), identity=str(file))
    assert SkillCache(agent).get(found, path=file, identity=file) is None


def test_name_that_is_read_two_ways_is_kept_apart(
    skills: Path, agent: Path, make_skill: MakeSkill
) -> None:
    """A lone file is named after itself, a folder's after the folder."""
    path = make_skill(skills, "a") / "SKILL.md"
    found = Found(path=str(path), identity=str(path))
    cache = SkillCache(agent)
    outcome = to_skill(parse(path.read_bytes(), path=path), path=path)
    cache.put(found, outcome, stamp=stamp(path.stat()), size=1)
    cache.save()
    again = SkillCache(agent)
    assert again.get(found._replace(loose=True), path=path, identity=path) is None
    assert outcome == SkillCache(agent).get(found, path=path, identity=path)


PLACES = ("a/SKILL.md", "b/SKILL.md", "c.md", "d/skill.md", "e/deep/SKILL.md")
TEXTS = (
    "---\nname: a\ndescription: one\n---\n",
    "---\nname: a\ndescription: two\n---\n",
    "---\nname: b\ndescription: a: b\npaths: [x]\n---\nBody\n",
    "---\ndescription: >-\n  folded\nName: c\n---\n",
    "---\nname: [\n---\n",
    "no header",
    "",
)
edits = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(PLACES), st.sampled_from(TEXTS)),
    st.tuples(st.just("replace"), st.sampled_from(PLACES), st.sampled_from(TEXTS)),
    st.tuples(st.just("move"), st.sampled_from(PLACES), st.sampled_from(PLACES)),
    st.tuples(st.just("link"), st.sampled_from(PLACES), st.sampled_from(PLACES)),
    st.tuples(st.just("swap"), st.just("a"), st.sampled_from(["b", "d", "e/deep"])),
    st.tuples(st.just("remove"), st.sampled_from(PLACES), st.just("")),
    st.tuples(st.just("python"), st.sampled_from(["a", "b"]), st.just("")),
    st.tuples(st.just("discover"), st.just(""), st.just("")),
)


def edit(folder: Path, what: str, where: str, how: str) -> None:
    """Change a folder as people and programs do; times are set back each time."""
    place = folder / where
    place.parent.mkdir(parents=True, exist_ok=True)
    match what:
        case "write" if place.exists() or not place.is_symlink():
            place.write_text(how)
            os.utime(place, ns=(0, 0))
        case "replace":
            draft = folder / "draft.txt"
            draft.write_text(how)
            os.utime(draft, ns=(0, 0))
            draft.replace(place)
        case "move" if place.exists() and not (folder / how).is_dir():
            (folder / how).parent.mkdir(parents=True, exist_ok=True)
            place.replace(folder / how)
        case "link" if where != how and not place.exists():
            place.unlink(missing_ok=True)
            place.symlink_to(folder / how)
        case "swap" if place.is_dir() and (folder / how).is_dir():
            place.rename(folder / "draft")
            (folder / how).rename(place)
            (folder / "draft").rename(folder / how)
        case "remove":
            place.unlink(missing_ok=True)
        case "python":
            (place / "src" / "a").mkdir(parents=True, exist_ok=True)
            (place / "src" / "a" / "__init__.py").touch()
            (place / "pyproject.toml").touch()
        case _:
            pass  # it does not apply here


@given(changes=st.lists(edits, max_size=12))
@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_no_edit_makes_a_cached_answer_differ_from_a_cold_one(
    changes: list[tuple[str, str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Skills and diagnostics alike, whatever was read and kept between the edits."""
    folder = tmp_path_factory.mktemp("place")
    skills, agent = folder / "skills", folder / "agent"
    skills.mkdir()
    agent.mkdir()
    source = Source(kind="user", label="user", directory=skills, loose_files=True)
    for what, where, how in [*changes, ("discover", "", ""), ("discover", "", "")]:
        if what == "discover":
            warm = discover([source], cache=SkillCache(agent))
            assert discover([source]) == warm
        else:
            edit(skills, what, where, how)
