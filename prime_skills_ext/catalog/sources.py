"""Where skills are looked for, in order of precedence.

Owns the table of sources. Looks at directories but never inside one: what
is found there is discovery's business, and who is believed is trust's.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple, final

from prime_skills_ext.catalog.looking import real_path
from prime_skills_ext.catalog.places import Places, file_type, path_of
from prime_skills_ext.skill.model import Diagnostic
from prime_skills_ext.skill.names import is_skill_file

__all__ = [
    "PROJECT_FOLDERS",
    "RANKS",
    "Source",
    "SourceKind",
    "find_sources",
    "given_source",
    "problem_with",
    "project_sources",
]

SourceKind = Literal[
    "explicit",
    "project-settings",
    "project",
    "user-settings",
    "user",
    "package",
    "builtin",
    "registered",
]

#: Rank 0 wins a name.
RANKS: Final[Mapping[SourceKind, int]] = {
    "explicit": 0,
    "project-settings": 1,
    "project": 2,
    "user-settings": 3,
    "user": 4,
    "package": 5,
    "builtin": 6,
    "registered": 7,
}

_OWN_FOLDER = ".prime/agent/skills"
_SHARED_FOLDER = ".agents/skills"

#: A part of a path that is no name: none at all, `.` or `..`.
_ODD_PART = re.compile(r"(?:^|{0})\.{{0,2}}(?:{0}|$)".format(re.escape(os.sep)))

#: Looked for in the working directory and its ancestors, best first.
PROJECT_FOLDERS: Final = (
    _OWN_FOLDER,
    _SHARED_FOLDER,
    "_agents/skills",
    ".jupyter/skills",
)


@final
class Source(NamedTuple):
    """A place that skills come from.

    Attributes:
        kind: What sort of place, which decides rank and trust.
        label: Short name, the same on every machine, unique among the sources.
        directory: Where the walk starts, as the user spells it.
        file: The one file that counts, when the source is a lone ``.md`` file.
        root: Project root of project kinds: what trust is keyed by.
        loose_files: Lone ``.md`` files directly in ``directory`` count too.
        order: Position among the sources of one rank; lower wins.
    """

    kind: SourceKind
    label: str
    directory: Path
    file: Path | None = None
    root: Path | None = None
    loose_files: bool = False
    order: int = 0

    @property
    def rank(self) -> int:
        """Precedence of its kind; 0 wins."""
        return RANKS[self.kind]

    def inside(self, path: str | os.PathLike[str]) -> str:
        """Return a path inside it, with slashes; the last name for the start itself."""
        given = os.fspath(path)
        name = given.removeprefix(f"{self.directory}{os.sep}")
        # what a walk finds needs no closer look
        if name == given or _ODD_PART.search(name):
            inside = os.path.relpath(given, self.directory)
            name = self.directory.name if inside == os.curdir else inside
        if not name.isascii():
            # one that is not UTF-8 must not break the terminal that it is shown in
            name = os.fsencode(name).decode("utf-8", "replace")
        return name.replace(os.sep, "/")

    def locate(self, path: str | os.PathLike[str]) -> str:
        """Return ``"builtin: edit"``: the same text on every machine."""
        return f"{self.label}: {self.inside(path)}"


def find_sources(
    places: Places,
    *,
    explicit: Sequence[str | os.PathLike[str]] = (),
    registered: Sequence[str | os.PathLike[str]] = (),
    environ: Mapping[str, str],
    only_explicit: bool = False,
) -> tuple[tuple[Source, ...], tuple[Diagnostic, ...]]:
    """List the sources that count here, highest precedence first.

    Those that settings name are added by ``configured``.

    Nothing is remembered: a folder that appears later is found by the next call.

    Args:
        places: What ``find_places`` found.
        explicit: Skill folders, ``SKILL.md`` files, lone ``.md`` files or folders
            of skills that the user named; relative to the working directory.
        registered: The same, named by other extensions.
        environ: ``PRIME_SKILLS_PATH`` adds explicit paths, after ``explicit``.
        only_explicit: Nothing counts but the explicit paths.

    Returns:
        The sources, conventional folders included whether they exist or not, and
        what is wrong with the paths that were given.
    """
    diagnostics: list[Diagnostic] = []
    if file_type(places.working_directory) != stat.S_IFDIR:
        diagnostics.append(_vanished(places.working_directory))
    listed = environ.get("PRIME_SKILLS_PATH", "").split(os.pathsep)
    given = [os.fspath(path) for path in explicit]
    # an empty element comes from a stray separator; nobody meant a path by it
    given += [path for path in listed if path]
    named = [os.fspath(path) for path in registered]
    explicit_sources = tuple(
        _given_sources(given, kind="explicit", places=places, diagnostics=diagnostics)
    )
    if only_explicit:
        return explicit_sources, tuple(diagnostics)
    sources = [
        *explicit_sources,
        *_conventional_sources(places),
        *_given_sources(
            named, kind="registered", places=places, diagnostics=diagnostics
        ),
    ]
    return tuple(sources), tuple(diagnostics)


def project_sources(root: Path, *, working_directory: Path) -> Iterator[Source]:
    """List a project's own folders, those nearest to ``working_directory`` first."""
    order = 0
    for directory in (working_directory, *working_directory.parents):
        inside = directory.relative_to(root).as_posix()
        for folder in PROJECT_FOLDERS:
            path = folder if inside == "." else f"{inside}/{folder}"
            yield Source(
                kind="project",
                label="project" if path == _OWN_FOLDER else f"project:{path}",
                directory=directory / folder,
                root=root,
                loose_files=folder == _OWN_FOLDER,
                order=order,
            )
            order += 1
        if directory == root:
            return


def _conventional_sources(places: Places) -> Iterator[Source]:
    user = (
        Source(
            kind="user",
            label="user",
            directory=places.agent_directory / "skills",
            loose_files=True,
        ),
        Source(
            kind="user",
            label=f"user:{_SHARED_FOLDER}",
            directory=places.home / _SHARED_FOLDER,
            order=1,
        ),
    )
    # met on the way up, the user's own folders stay the user's: else a home that
    # is a repository would put its owner's skills up for trust
    own = {real_path(source.directory) for source in user}
    for source in project_sources(
        places.project_root, working_directory=places.working_directory
    ):
        if real_path(source.directory) not in own:
            yield source
    yield from user
    yield Source(
        kind="builtin", label="builtin", directory=places.builtin, loose_files=True
    )


def _given_sources(
    paths: Iterable[str],
    *,
    kind: Literal["explicit", "registered"],
    places: Places,
    diagnostics: list[Diagnostic],
) -> Iterator[Source]:
    seen: set[str] = set()
    for text in paths:
        if not text.strip():
            diagnostics.append(_blank(kind))
            continue
        path = path_of(text, home=places.home, base=places.working_directory)
        problem = problem_with(path, text=text, what=f"{kind} path `{text}`")
        if problem is not None:
            diagnostics.append(problem)
        elif (real := real_path(path)) not in seen:
            seen.add(real)
            yield given_source(path, kind=kind, order=len(seen) - 1)


def given_source(
    path: Path, *, kind: SourceKind, order: int, root: Path | None = None
) -> Source:
    """Make a source of a folder, a ``SKILL.md`` or a lone file that was named.

    Args:
        path: It exists; see ``problem_with``.
        kind: What sort of source.
        order: Position among those of its kind, from 0; part of its label.
        root: What trust is keyed by.
    """
    is_file = file_type(path) == stat.S_IFREG
    lone = is_file and not is_skill_file(path.name)
    return Source(
        kind=kind,
        label=kind if order == 0 else f"{kind}:{order + 1}",
        directory=path.parent if is_file else path,
        file=path if lone else None,
        root=root,
        loose_files=True,
        order=order,
    )


def problem_with(path: Path, *, text: str, what: str) -> Diagnostic | None:
    """Say why a path that was named is no source; ``None`` if it is one.

    Args:
        path: The path.
        text: As written.
        what: What to call it in a message.
    """
    mode = file_type(path)
    is_markdown = path.suffix.casefold() == ".md"
    if mode == stat.S_IFDIR or (mode == stat.S_IFREG and is_markdown):
        return None
    if mode is not None:
        return Diagnostic(
            code="source-not-a-skill",
            message=f"The {what} is neither a folder nor a `.md` file.",
            fix="Name a skill's folder, its SKILL.md, a lone .md file "
            "or a folder that holds skills.",
            severity="error",
            path=path,
        )
    lack, fix = "does not exist", "Correct the path, or create it and run "
    fix += "%reload_skills."
    if text.startswith("~") and text[1:2] not in {"", "/", os.sep}:
        fix = "Write the whole path: only `~` and `~/…` are expanded."
    elif os.path.lexists(path):
        lack, fix = "is a link to nothing", "Correct the link, or name another path."
    return Diagnostic(
        code="source-missing",
        message=f"The {what} {lack}.",
        fix=fix,
        severity="error",
        path=path,
    )


def _blank(kind: str) -> Diagnostic:
    return Diagnostic(
        code="source-blank",
        message=f"One of the {kind} paths is blank.",
        fix="Name a folder, or write `.` for the working directory.",
        severity="error",
    )


def _vanished(directory: Path) -> Diagnostic:
    return Diagnostic(
        code="working-directory-missing",
        message="The working directory no longer exists.",
        fix="Create it again or change to another one (%cd), then run %reload_skills.",
        path=directory,
    )
