"""Where skills are looked for, in order of precedence.

Owns the words of design section 3 (agent directory, working directory, project
root) and the table of sources. Looks at directories but never inside one: what
is found there is discovery's business, and who is believed is trust's.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, final

from prime_skills_ext.catalog.looking import absolute
from prime_skills_ext.skill.model import Diagnostic

__all__ = [
    "PROJECT_FOLDERS",
    "RANKS",
    "Places",
    "Source",
    "SourceKind",
    "find_places",
    "find_sources",
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

_AGENT_VARIABLES = ("PRIME_AGENT_CODING_AGENT_DIR", "PI_CODING_AGENT_DIR")
_OWN_FOLDER = ".prime/agent/skills"
_SHARED_FOLDER = ".agents/skills"

#: Looked for in the working directory and its ancestors, best first.
PROJECT_FOLDERS: Final = (
    _OWN_FOLDER,
    _SHARED_FOLDER,
    "_agents/skills",
    ".jupyter/skills",
)


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
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
        inside = os.path.relpath(path, self.directory)
        name = self.directory.name if inside == os.curdir else inside
        # a name that is not UTF-8 must not break the terminal that it is shown in
        text = os.fsencode(name).decode("utf-8", "replace")
        return text.replace(os.sep, "/")

    def locate(self, path: str | os.PathLike[str]) -> str:
        """Return ``"builtin: edit"``: the same text on every machine."""
        return f"{self.label}: {self.inside(path)}"


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Places:
    """The directories that everything else is found from.

    Attributes:
        working_directory: The notebook's.
        project_root: See design section 3.
        agent_directory: Where the user's skills, settings and stores live.
        home: The user's home directory, as the user spells it.
        builtin: The skills that ship with this package.
    """

    working_directory: Path
    project_root: Path
    agent_directory: Path
    home: Path
    builtin: Path


def find_places(
    *,
    environ: Mapping[str, str],
    project: str | os.PathLike[str] | None = None,
    home: str | os.PathLike[str] | None = None,
) -> Places:
    """Find the directories that everything else is found from.

    Args:
        environ: The environment variables to go by.
        project: Working directory; ``None`` means that of this process.
        home: Home directory; ``None`` means the environment's.
    """
    home_path = _absolute(home or _home(environ=environ))
    # the way up must be the real one: a link's lexical parents are other folders
    working = Path(
        os.path.realpath(project or _current_directory(environ, home=home_path))
    )
    return Places(
        working_directory=working,
        project_root=_project_root(working, home=home_path),
        agent_directory=_agent_directory(environ, home=home_path),
        home=home_path,
        builtin=Path(__file__).parent.parent / "builtin_skills",
    )


def find_sources(
    places: Places,
    *,
    explicit: Sequence[str | os.PathLike[str]] = (),
    registered: Sequence[str | os.PathLike[str]] = (),
    environ: Mapping[str, str],
) -> tuple[tuple[Source, ...], tuple[Diagnostic, ...]]:
    """List the sources that count here, highest precedence first.

    Nothing is remembered: a folder that appears later is found by the next call.

    Args:
        places: What ``find_places`` found.
        explicit: Skill folders, ``SKILL.md`` files, lone ``.md`` files or folders
            of skills that the user named; relative to the working directory.
        registered: The same, named by other extensions.
        environ: ``PRIME_SKILLS_PATH`` adds explicit paths, after ``explicit``.

    Returns:
        The sources, conventional folders included whether they exist or not, and
        what is wrong with the paths that were given.
    """
    diagnostics: list[Diagnostic] = []
    if _mode(places.working_directory) != stat.S_IFDIR:
        diagnostics.append(_vanished(places.working_directory))
    listed = environ.get("PRIME_SKILLS_PATH", "").split(os.pathsep)
    given = [os.fspath(path) for path in explicit]
    # an empty element comes from a stray separator; nobody meant a path by it
    given += [path for path in listed if path]
    named = [os.fspath(path) for path in registered]
    sources = [
        *_given_sources(given, kind="explicit", places=places, diagnostics=diagnostics),
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
    own = {_real(source.directory) for source in user}
    for source in project_sources(
        places.project_root, working_directory=places.working_directory
    ):
        if _real(source.directory) not in own:
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
        path = _absolute(_expand(text, home=places.home), base=places.working_directory)
        problem = _problem(path, text=text, kind=kind)
        if problem is not None:
            diagnostics.append(problem)
        elif (real := _real(path)) not in seen:
            seen.add(real)
            yield _given(path, kind=kind, order=len(seen) - 1)


def _given(
    path: Path, *, kind: Literal["explicit", "registered"], order: int
) -> Source:
    is_file = _mode(path) == stat.S_IFREG
    lone = is_file and path.name.casefold() != "skill.md"
    return Source(
        kind=kind,
        label=kind if order == 0 else f"{kind}:{order + 1}",
        directory=path.parent if is_file else path,
        file=path if lone else None,
        loose_files=True,
        order=order,
    )


def _problem(path: Path, *, text: str, kind: str) -> Diagnostic | None:
    """Say why a path that was given is no source."""
    mode = _mode(path)
    is_markdown = path.suffix.casefold() == ".md"
    if mode == stat.S_IFDIR or (mode == stat.S_IFREG and is_markdown):
        return None
    if mode is not None:
        return Diagnostic(
            code="source-not-a-skill",
            message=f"The {kind} path `{text}` is neither a folder nor a `.md` file.",
            fix="Name a skill's folder, its SKILL.md, a lone .md file "
            "or a folder that holds skills.",
            severity="error",
            path=path,
        )
    what, fix = "does not exist", "Correct the path, or create it and run "
    fix += "%reload_skills."
    if text.startswith("~") and text[1:2] not in {"", "/", os.sep}:
        fix = "Write the whole path: only `~` and `~/…` are expanded."
    elif os.path.lexists(path):
        what, fix = "is a link to nothing", "Correct the link, or name another path."
    return Diagnostic(
        code="source-missing",
        message=f"The {kind} path `{text}` {what}.",
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


def _mode(path: Path) -> int | None:
    """Return what sort of thing lies there; ``None`` if nothing can be seen."""
    try:
        return stat.S_IFMT(path.stat().st_mode)
    except (OSError, ValueError):
        # ValueError: a null character, which no file has in its name
        return None


def _home(*, environ: Mapping[str, str]) -> str:
    return environ.get("HOME") or environ.get("USERPROFILE") or str(Path.home())


def _current_directory(environ: Mapping[str, str], *, home: Path) -> str:
    try:
        return str(Path.cwd())
    except OSError:
        # the folder was deleted under us; the shell's note of it still tells the way
        # up, and without one the home directory has no project in it
        noted = environ.get("PWD", "")
        return noted if Path(noted).is_absolute() else str(home)


def _agent_directory(environ: Mapping[str, str], *, home: Path) -> Path:
    for variable in _AGENT_VARIABLES:
        value = environ.get(variable, "").strip()
        if value:
            return _absolute(_expand(value, home=home))
    return home / ".prime" / "agent"


def _project_root(working: Path, *, home: Path) -> Path:
    ancestors = (working, *working.parents)
    # the filesystem alone decides: a worktree's .git file ends the search as a
    # directory does, wherever its shared repository lies
    for directory in ancestors:
        if os.path.lexists(directory / ".git"):
            return directory
    real_home = _real(home)
    for directory in ancestors:
        if _mode(directory / ".prime") == stat.S_IFDIR and str(directory) != real_home:
            return directory
    return working


def _expand(text: str, *, home: Path) -> str:
    if text == "~":
        return str(home)
    if text.startswith(("~/", f"~{os.sep}")):
        return str(home / text[2:].lstrip("/" + os.sep))
    return text


def _absolute(path: str | os.PathLike[str], *, base: Path | None = None) -> Path:
    return absolute(path if base is None else base / path)


def _real(path: Path) -> str:
    return os.path.realpath(path)
