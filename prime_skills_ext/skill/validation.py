"""From frontmatter to a skill: what fields mean and what is wrong with them.

Only a missing description keeps a skill from loading; everything else is a
warning. Lengths are code points. Nothing here touches a disk: whether a skill has
a Python half is for ``catalog.discovery`` to see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeVar

from prime_skills_ext.skill import names
from prime_skills_ext.skill._values import (
    read_boolean,
    read_hint,
    read_items,
    read_requires,
    read_text,
    read_words,
)
from prime_skills_ext.skill.fields import KNOWN_FIELDS
from prime_skills_ext.skill.frontmatter import Frontmatter
from prime_skills_ext.skill.model import (
    NOTHING_REQUIRED,
    Diagnostic,
    Requires,
    Skill,
)
from prime_skills_ext.skill.text import few, folded, invisible_characters

__all__ = [
    "MAX_COMPATIBILITY_CHARS",
    "MAX_DESCRIPTION_CHARS",
    "to_skill",
]

MAX_DESCRIPTION_CHARS = 1024
MAX_COMPATIBILITY_CHARS = 500

#: So long is a value that is shown in a message.
_SHOWN_CHARS = 40

T = TypeVar("T")


def to_skill(
    frontmatter: Frontmatter,
    *,
    path: Path,
    identity: Path | None = None,
    loose: bool = False,
) -> tuple[Skill | None, tuple[Diagnostic, ...]]:
    """Make a markdown skill of what a file says.

    Args:
        frontmatter: What ``frontmatter.parse`` returned for the file.
        path: The file, absolute.
        identity: Its real path; ``None`` means ``path``.
        loose: It is a lone ``.md`` file: it is named after itself, not after its
            folder.

    Returns:
        The skill, ``None`` when it has no description, and everything that
        somebody should know, the findings of ``parse`` included.
    """
    checks = _Checks(frontmatter=frontmatter, path=path)
    description = checks.description()
    if description is None:
        return None, checks.found()
    directory = path.parent
    folder = names.normalized(path.stem if loose else directory.name) or "skill"
    name = checks.name(folder, loose=loose)
    skill = Skill(
        name=name,
        description=description,
        path=path,
        directory=directory,
        identity=path if identity is None else identity,
        import_name=names.import_name(name, fallback=folder)
        or names.slug(name)
        or names.slug(folder)
        or "skill",
        when_to_use=checks.text("when_to_use"),
        license=checks.text("license"),
        compatibility=checks.compatibility(),
        metadata=checks.map("metadata") or {},
        allowed_tools=checks.words("allowed-tools"),
        disallowed_tools=checks.words("disallowed-tools"),
        argument_hint=checks.read("argument-hint", read_hint, "text or a list"),
        arguments=checks.words("arguments"),
        disable_model_invocation=checks.boolean("disable-model-invocation") or False,
        user_invocable=checks.boolean("user-invocable") is not False,
        context=checks.context(),
        agent=checks.text("agent"),
        model=checks.text("model"),
        effort=checks.text("effort"),
        background=checks.boolean("background"),
        hooks=checks.map("hooks"),
        paths=checks.read("paths", read_items, "text or a list") or (),
        shell=checks.shell(),
        requires=checks.requires(),
        extra={
            key: value
            for key, value in frontmatter.fields.items()
            if key not in KNOWN_FIELDS
        },
    )
    checks.hidden_text(skill)
    return skill, checks.found()


@dataclass(slots=True)
class _Checks:
    """Reads one header field by field and collects what is wrong with it."""

    frontmatter: Frontmatter
    path: Path
    # most fields are absent from most headers: asking must cost next to nothing
    fields: Mapping[str, object] = field(init=False)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.fields = self.frontmatter.fields

    def found(self) -> tuple[Diagnostic, ...]:
        earlier = [
            replace(item, path=item.path or self.path)
            for item in self.frontmatter.diagnostics
        ]
        return (*earlier, *self.diagnostics)

    def warn(
        self,
        code: str,
        message: str,
        *,
        fix: str,
        key: str | None = None,
        line: int | None = None,
        severity: Literal["warning", "error"] = "warning",
    ) -> None:
        if key is not None:
            line = self.frontmatter.lines.get(key, 1)
        self.diagnostics.append(
            Diagnostic(
                code=code,
                message=message,
                fix=fix,
                severity=severity,
                path=self.path,
                line=line,
            )
        )

    def read(
        self, key: str, reader: Callable[[object], T | None], wanted: str
    ) -> T | None:
        """Read a field; a value that means nothing is reported and dropped."""
        value = self.fields.get(key)
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        result = reader(value)
        if result is None:
            self.warn(
                "field-type",
                f"`{key}` is {_shown(value)} where {wanted} is expected; "
                "it is left out.",
                fix=f"Write {wanted} behind `{key}:`, or delete the field.",
                key=key,
            )
        return result

    def text(self, key: str) -> str | None:
        return self.read(key, read_text, "text") if key in self.fields else None

    def words(self, key: str) -> tuple[str, ...]:
        if key not in self.fields:
            return ()
        return self.read(key, read_words, "text or a list") or ()

    def boolean(self, key: str) -> bool | None:
        if key not in self.fields:
            return None
        return self.read(key, read_boolean, "true or false")

    def map(self, key: str) -> Mapping[str, object] | None:
        return self.read(key, _read_map, "a map") if key in self.fields else None

    def description(self) -> str | None:
        value = self.fields.get("description")
        text = value.strip() if isinstance(value, str) else ""
        # one fault, one message: a header that cannot be read says so already
        if not text and any(
            item.severity == "error" for item in self.frontmatter.diagnostics
        ):
            return None
        if not text:
            self.warn(
                "description-missing",
                "The description is required and is missing or blank."
                if value is None or isinstance(value, str)
                else f"The description is {_shown(value)} where text is expected.",
                fix="Write `description: …` in the header: what the skill does and "
                "when to use it.",
                line=self.frontmatter.lines.get("description", 1),
                severity="error",
            )
            return None
        if len(text) <= MAX_DESCRIPTION_CHARS:
            return text
        length = len(folded(text))
        if length > MAX_DESCRIPTION_CHARS:
            self.warn(
                "description-length",
                f"The description has {length} of {MAX_DESCRIPTION_CHARS} characters "
                "after folding.",
                fix=f"Shorten it by {length - MAX_DESCRIPTION_CHARS} characters; "
                "details belong below the header.",
                key="description",
            )
        return text

    def name(self, folder: str, *, loose: bool) -> str:
        declared = self.read("name", read_text, "text")
        name = folder if declared is None else names.normalized(declared)
        faults = names.find_faults(name)
        if not faults and (loose or name == folder):
            return name
        better = names.suggested(name) or names.suggested(folder) or "a-name"
        place = "file" if loose else "directory"
        fix = f"Write `name: {better}`."
        if declared is None:
            fix = f"Rename the {place}, which it is taken from, to `{better}`."
        for code, wrong in faults:
            self.warn(code, f"The name `{name}` {wrong}.", fix=fix, key="name")
        # "Web Search" in web-search/: what is wrong has been said
        is_spelling = bool(faults) and names.slug(name) == names.slug(folder)
        if not loose and name != folder and not is_spelling:
            self.warn(
                "name-directory",
                f"The name `{name}` does not match the directory `{folder}`.",
                fix=f"Rename the directory to `{better}`, or write `name: {folder}`.",
                key="name",
            )
        return name

    def compatibility(self) -> str | None:
        text = self.text("compatibility")
        if text is not None and len(text) > MAX_COMPATIBILITY_CHARS:
            self.warn(
                "compatibility-length",
                f"`compatibility` has {len(text)} of {MAX_COMPATIBILITY_CHARS} "
                "characters.",
                fix="Shorten it; details belong below the header.",
                key="compatibility",
            )
        return text

    def context(self) -> Literal["inline", "fork"]:
        if "context" not in self.fields:
            return "inline"
        known: dict[str, Literal["inline", "fork"]]
        known = {"inline": "inline", "fork": "fork"}
        return self.choice("context", known) or "inline"

    def shell(self) -> Literal["bash", "powershell"]:
        if "shell" not in self.fields:
            return "bash"
        known: dict[str, Literal["bash", "powershell"]]
        known = {"bash": "bash", "powershell": "powershell"}
        return self.choice("shell", known) or "bash"

    def choice(self, key: str, known: Mapping[str, T]) -> T | None:
        return self.read(
            key,
            lambda value: known.get(str(value).strip().lower()),
            " or ".join(f"`{word}`" for word in known),
        )

    def requires(self) -> Requires:
        """Join what is required at the top level and by any host's metadata."""
        found = [self.read("requires", read_requires, "a map of `env` and `bins`")]
        metadata = self.fields.get("metadata")
        if isinstance(metadata, dict):
            found.append(read_requires(metadata.get("requires")))
            found += [
                read_requires(value.get("requires"))
                for value in metadata.values()
                if isinstance(value, dict)
            ]
        present = [requires for requires in found if requires is not None]
        if not present:
            return NOTHING_REQUIRED
        return Requires(
            env=_joined(requires.env for requires in present),
            bins=_joined(requires.bins for requires in present),
        )

    def hidden_text(self, skill: Skill) -> None:
        """Report characters that a person does not see and a model reads."""
        shown = [skill.name, skill.description, skill.when_to_use or ""]
        header = invisible_characters("\n".join(shown))
        if header:
            self.warn(
                "invisible-unicode",
                f"The header holds invisible characters ({few(header)}).",
                fix="Delete them, or retype the text around them.",
                key="description",
            )
        body = invisible_characters(self.frontmatter.body)
        if body:
            lines = self.frontmatter.body.split("\n")
            at = next(at for at, line in enumerate(lines) if invisible_characters(line))
            line = self.frontmatter.body_line + at
            self.warn(
                "invisible-unicode",
                f"The instructions hold invisible characters ({few(body)}), "
                f"the first on line {line}.",
                fix="Delete them, or retype the text around them.",
                line=line,
            )


def _read_map(value: object) -> Mapping[str, object] | None:
    return value if isinstance(value, Mapping) else None


def _joined(groups: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for group in groups for item in group))


def _shown(value: object) -> str:
    """Name a value's type, or show it when it is text."""
    if isinstance(value, str):
        return f"`{folded(value)[:_SHOWN_CHARS]}`"
    return "a map" if isinstance(value, Mapping) else "a list"
