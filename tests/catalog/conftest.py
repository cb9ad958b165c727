"""Places, sources and people for the catalogue's tests."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from prime_skills_ext.catalog.discovery import Candidate, Discovery, discover
from prime_skills_ext.catalog.sources import Source, SourceKind, project_sources
from prime_skills_ext.catalog.trust import TrustStore, is_trusted

#: A user that owns nothing.
NOBODY = 65534

MakeSource = Callable[..., Source]


@pytest.fixture
def make_source() -> MakeSource:
    """A factory: ``make_source(directory, kind="user", label="user")``."""

    def make(
        directory: Path,
        kind: SourceKind = "user",
        *,
        label: str | None = None,
        loose_files: bool = False,
        order: int = 0,
        root: Path | None = None,
    ) -> Source:
        return Source(
            kind=kind,
            label=label or kind,
            directory=directory,
            loose_files=loose_files,
            order=order,
            root=root,
        )

    return make


@pytest.fixture
def found(make_source: MakeSource) -> Callable[..., Discovery]:
    """``found(directory)`` walks one user source."""

    def find(directory: Path, *, loose_files: bool = False) -> Discovery:
        return discover([make_source(directory, loose_files=loose_files)])

    return find


@pytest.fixture
def unprivileged_folder() -> Iterator[Path]:
    """A folder, with this process unable to read what it may not."""
    # not tmp_path: that lies below a folder which only its owner may enter
    folder = Path(tempfile.mkdtemp(prefix="prime-skills-"))
    folder.chmod(0o777)
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        yield folder
    finally:
        if user == 0:
            os.seteuid(user)
        for entry in folder.rglob("*"):
            entry.chmod(0o700)
        shutil.rmtree(folder, ignore_errors=True)


def names(discovery: Discovery) -> list[str]:
    """The names that were found."""
    return [candidate.skill.name for candidate in discovery.candidates]


def codes(discovery: Discovery) -> list[str]:
    """What was reported."""
    return [diagnostic.code for diagnostic in discovery.diagnostics]


def only(discovery: Discovery) -> Candidate:
    """The one candidate that there is."""
    (candidate,) = discovery.candidates
    return candidate


@pytest.fixture
def agent(home: Path) -> Path:
    """The agent directory, not made yet."""
    return home / ".prime" / "agent"


@pytest.fixture
def store(agent: Path) -> TrustStore:
    """The decisions of one user, none made yet."""
    return TrustStore(agent)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The root of a repository."""
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    return root


def skills_of(root: Path) -> list[Candidate]:
    found = discover(project_sources(root, working_directory=root))
    return list(found.candidates)


def trusted_names(root: Path, store: TrustStore) -> list[str]:
    return [
        item.skill.name for item in skills_of(root) if is_trusted(item, store=store)
    ]
