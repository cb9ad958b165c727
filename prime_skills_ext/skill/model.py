"""What a skill is, as values. Nothing here reads a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, final

from prime_skills_ext.skill.names import is_skill_file

__all__ = [
    "NOTHING_REQUIRED",
    "Caller",
    "Diagnostic",
    "PythonPackage",
    "Requires",
    "Severity",
    "Skill",
    "SkillKind",
]

Severity = Literal["info", "warning", "error"]
SkillKind = Literal["markdown", "python"]
#: Who calls a skill or uses its instructions: its header may forbid either of them.
Caller = Literal["model", "user"]


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Diagnostic:
    """One thing that somebody should know about a file, with the way out.

    Attributes:
        code: Stable kebab-case name of the rule, such as ``"yaml-colon"``.
        message: What is wrong, in one sentence.
        fix: What to do, as an imperative that can be followed or pasted.
        severity: ``"error"`` when something does not load because of it,
            ``"warning"`` when it loads but somebody should look, else ``"info"``.
        path: The file or directory concerned, if there is one.
        line: 1-based line in that file, if known.
        column: 1-based column in that line, if known.
    """

    code: str
    message: str
    fix: str
    severity: Severity = "warning"
    path: Path | None = None
    line: int | None = None
    column: int | None = None


@final
class PythonPackage(NamedTuple):
    """The Python half of a Python-backed skill.

    Attributes:
        import_name: The identifier that is imported.
        directory: The skill's folder, which holds ``pyproject.toml``.
        pyproject: ``directory / "pyproject.toml"``.
        src: ``directory / "src"``, which holds ``<import_name>/__init__.py``.
    """

    import_name: str
    directory: Path
    pyproject: Path
    src: Path


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Requires:
    """What must be present before a skill is offered: a gate, not an installer."""

    env: tuple[str, ...] = ()
    bins: tuple[str, ...] = ()


#: Of the very many skills that require nothing.
NOTHING_REQUIRED = Requires()


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Skill:
    """A folder with a ``SKILL.md``, as its metadata describes it.

    Attributes:
        name: Declared name, or the folder's where none is declared.
        description: What it does and when to use it; line breaks as written.
        path: Its ``SKILL.md`` (or lone ``.md`` file), absolute, spelled as the
            user knows it.
        directory: ``path.parent``.
        identity: Real path of ``path``: two skills with one identity are one.
        import_name: The identifier it would be bound under.
        python: Its Python half, ``None`` for a markdown skill.
        when_to_use: Trigger text that joins the description in the listing.
        license: As written.
        compatibility: As written; shown to people.
        metadata: As written, scalars as text; nested maps and lists are kept.
        allowed_tools: Tools that the skill pre-approves for a host.
        disallowed_tools: Tools that it asks a host to withhold.
        argument_hint: Shown by completion.
        arguments: Names of positional arguments, for ``$name``.
        disable_model_invocation: The model may neither see nor call it.
        user_invocable: The user may invoke it by name.
        context: ``"fork"`` runs it in an isolated sub-agent.
        agent: For the host.
        model: For the host.
        effort: For the host.
        background: For the host.
        hooks: Event to list of matcher groups, unvalidated; ``None`` without any.
        paths: Globs; offered only while working with matching files.
        shell: Interpreter of inline commands.
        requires: What must be present before it is offered.
        extra: Every other field, as written.
    """

    name: str
    description: str
    path: Path
    directory: Path
    identity: Path
    import_name: str
    python: PythonPackage | None = None
    when_to_use: str | None = None
    license: str | None = None
    compatibility: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)
    allowed_tools: tuple[str, ...] = ()
    disallowed_tools: tuple[str, ...] = ()
    argument_hint: str | None = None
    arguments: tuple[str, ...] = ()
    disable_model_invocation: bool = False
    user_invocable: bool = True
    context: Literal["inline", "fork"] = "inline"
    agent: str | None = None
    model: str | None = None
    effort: str | None = None
    background: bool | None = None
    hooks: Mapping[str, object] | None = None
    paths: tuple[str, ...] = ()
    shell: Literal["bash", "powershell"] = "bash"
    requires: Requires = NOTHING_REQUIRED
    extra: Mapping[str, object] = field(default_factory=dict)

    @property
    def content(self) -> Path:
        """All that is the skill: its folder, or a lone ``.md`` file itself."""
        return self.directory if is_skill_file(self.path.name) else self.path

    @property
    def kind(self) -> SkillKind:
        """``"python"`` when a module backs it, else ``"markdown"``."""
        return "markdown" if self.python is None else "python"
