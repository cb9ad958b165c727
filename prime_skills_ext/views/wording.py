"""What every view says alike: groups and tones of states, clean and short texts.

Pure: values in, values out. No view decides for itself what counts as usable or
how a path is spelled, so that text, HTML and JSON cannot disagree.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal

from prime_skills_ext.catalog.check_report import CheckedSkill, CheckReport
from prime_skills_ext.catalog.status import Catalogue, SkillStatus, State
from prime_skills_ext.environment.inventory import (
    EnvironmentInfo,
    GenerationInfo,
    Pruned,
)
from prime_skills_ext.progress import counted
from prime_skills_ext.skill.finding import Finding
from prime_skills_ext.skill.model import Diagnostic
from prime_skills_ext.skill.text import invisible_places

__all__ = [
    "GROUPS",
    "Group",
    "Tone",
    "bytes_of",
    "cell_width",
    "check_summary",
    "clean",
    "clean_block",
    "counts",
    "first_sentence",
    "group_of",
    "grouped",
    "how_to_use",
    "kept_for_a_while",
    "leads_elsewhere",
    "pad",
    "place_in_skill",
    "place_of",
    "purpose_of",
    "quoted_lines",
    "roles_of",
    "shorten",
    "skills_of",
    "summary",
    "tone_of",
    "what_of",
    "wrap",
]

Group = Literal["ready", "waiting", "resting"]
Tone = Literal["good", "plain", "todo", "bad", "quiet"]

#: Groups in the order in which people read them, with their headings.
GROUPS: Final[tuple[tuple[Group, str], ...]] = (
    ("ready", "Ready to use"),
    ("waiting", "Need something"),
    ("resting", "Not in use"),
)

_THOUSAND: Final = 1000

_TONES: Final[dict[State, Tone]] = {
    "ready": "good",
    "instructions": "plain",
    "stale": "todo",
    "untrusted": "todo",
    "disabled": "quiet",
    "needs-credential": "todo",
    "needs-host": "todo",
    "needs-requirement": "todo",
    "install-failed": "bad",
    "import-failed": "bad",
    "name-taken": "todo",
    "shadowed": "quiet",
    "removed": "quiet",
}
#: Invisible, but part of how words and emoji are written.
_JOINERS: Final = "\u200c\u200d"
#: Of a longer line its beginning is quoted.
_MAX_QUOTED: Final = 400
_READY: Final[frozenset[State]] = frozenset({"ready", "instructions"})


def tone_of(state: State) -> Tone:
    """Return how loudly a state is to be shown."""
    return _TONES[state]


def group_of(status: SkillStatus) -> Group:
    """Return the group of the table in which a skill stands."""
    if status.state in _READY:
        return "ready"
    return "resting" if _TONES[status.state] == "quiet" else "waiting"


def grouped(
    skills: Iterable[SkillStatus],
) -> tuple[tuple[Group, str, tuple[SkillStatus, ...]], ...]:
    """Return the groups that have members: key, heading, members by name."""
    ordered = sorted(skills, key=lambda status: (status.skill.name, status.location))
    found = (
        (key, title, tuple(each for each in ordered if group_of(each) == key))
        for key, title in GROUPS
    )
    return tuple(group for group in found if group[2])


def counts(catalogue: Catalogue) -> tuple[tuple[Group, str], ...]:
    """Return how many stand in each group, in words: ``"1 needs something"``."""
    found: list[tuple[Group, str]] = []
    for key, title, members in grouped(catalogue.skills):
        words = title[0].lower() + title[1:]
        if key == "waiting" and len(members) == 1:
            words = "needs something"
        found.append((key, f"{len(members)} {words}"))
    return tuple(found)


def summary(catalogue: Catalogue) -> str:
    """Return the counts in words: ``"2 ready to use, 1 needs something"``."""
    return ", ".join(words for _, words in counts(catalogue)) or "none"


def how_to_use(status: SkillStatus, *, signature: str = "(…)") -> str | None:
    """Return what to type to use a skill; ``None`` when it cannot be used now."""
    if status.state == "instructions":
        return f"%skill show {status.skill.name}"
    if status.state in {"ready", "stale"} and status.bound_as is not None:
        return f"await {status.bound_as}{signature}"
    return None


def leads_elsewhere(command: str | None, *, status: SkillStatus) -> bool:
    """Whether a command does more than show the skill whose page it would stand on."""
    shown = tuple(f" show {name}" for name in (status.name, status.qualified_name))
    return command is not None and not command.endswith(shown)


def what_of(status: SkillStatus) -> str:
    """Return what a skill does in its own words; hints first at an unusual name."""
    text = first_sentence(status.skill.description)
    if (bound := status.bound_as) is not None and bound != status.skill.import_name:
        return f"call it {bound}. {text}"
    return text


def place_of(diagnostic: Diagnostic, *, catalogue: Catalogue) -> str | None:
    """Return where a diagnostic belongs, as source label and path inside it.

    A path outside every source is told by its last two parts: what is displayed
    must read the same on every machine. ``None`` where the message tells it.
    """
    path = diagnostic.path
    if path is None or str(path) in diagnostic.message:
        return None
    line = "" if diagnostic.line is None else f":{diagnostic.line}"
    for status in catalogue.skills:
        if path.is_relative_to(status.source.directory):
            if status.source.locate(path.parent) in diagnostic.message:
                return None
            return f"{status.source.locate(path)}{line}"
    return Path(*path.parts[-2:]).as_posix().lstrip("/") + line


def check_summary(report: CheckReport) -> str:
    """Return what a check found in words: ``"2 skills, 1 error, 3 warnings"``."""
    counts = [(len(report.skills), "skill")]
    counts += [
        (number, word)
        for word in ("error", "warning")
        if (number := report.count(word))
    ]
    parts = [counted(number, word) for number, word in counts]
    if notes := report.count("info"):
        parts.append(counted(notes, "note"))
    return ", ".join(parts if len(parts) > 1 else [*parts, "no findings"])


def place_in_skill(finding: Finding, *, skill: CheckedSkill) -> str:
    """Return file, line and column of a finding, the file inside the skill's folder."""
    folder = skill.path.parent
    is_inside = finding.path.is_relative_to(folder)
    path = finding.path.relative_to(folder) if is_inside else Path(finding.path.name)
    numbers = [finding.line, finding.column if finding.line else None]
    return ":".join([path.as_posix(), *(str(each) for each in numbers if each)])


def clean(text: str) -> str:
    """Return text on one line: white space folded, control characters gone."""
    return " ".join(_visible(text).split())


def clean_block(text: str) -> str:
    """Return text with its lines and indents, without control characters.

    What a stranger's file says must neither move the cursor of a terminal nor turn
    the direction in which it is read.
    """
    return "\n".join(_visible(line).rstrip() for line in text.strip("\n").splitlines())


def _visible(text: str) -> str:
    return "".join(
        each
        for each in text
        if each.isspace()
        or each in _JOINERS
        or unicodedata.category(each) not in {"Cc", "Cf", "Cs"}
    )


def quoted_lines(text: str) -> tuple[str, ...]:
    """Return a stranger's lines as they are, what cannot be seen as ``<U+200B>``."""
    hidden = {at for at, _ in invisible_places(text)}
    shown = "".join(
        f"<U+{ord(each):04X}>" if at in hidden or _is_control(each) else each
        for at, each in enumerate(text)
    )
    return tuple(
        line if len(line) <= _MAX_QUOTED else f"{line[:_MAX_QUOTED]}…"
        for line in shown.split("\n")
    )


def _is_control(character: str) -> bool:
    kinds = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    return (
        character not in f"\n\t{_JOINERS}" and unicodedata.category(character) in kinds
    )


def first_sentence(text: str) -> str:
    """Return the first sentence of a text on one line, its full stop dropped."""
    line = clean(text)
    head, stop, rest = line.partition(". ")
    # "e.g. " and other one-letter words before a full stop end no sentence
    if stop and rest and len(head.rpartition(" ")[2].rpartition(".")[2]) > 1:
        return head
    return line.removesuffix(".")


def bytes_of(count: int) -> str:
    """Return a number of bytes as people read it: ``"12.3 MB"``."""
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < _THOUSAND:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= _THOUSAND
    return f"{size:.1f} GB"


def roles_of(generation: GenerationInfo) -> str:
    """Return what a generation is to kernels, in words."""
    first = "current" if generation.is_current else "superseded"
    return f"{first}, in use" if generation.is_in_use else first


def skills_of(generation: GenerationInfo) -> str:
    """Return how many skills are in a generation, and how many failed."""
    failed = f", {generation.failed} failed" if generation.failed else ""
    return f"{generation.skills}{failed}"


def purpose_of(environment: EnvironmentInfo) -> str:
    """Return for whom an environment is, in one phrase."""
    if environment.mode == "own":
        who = "the kernel Prime Skills"
    elif environment.kernel_prefix is not None:
        who = f"kernels of {environment.kernel_prefix}"
    else:
        who = "nobody knows whom: its description is damaged"
    project = environment.project_root
    return who if project is None else f"{who}, in the project {project}"


def cell_width(text: str) -> int:
    """Return how many terminal columns a text takes."""
    return sum(_columns(character) for character in text)


def pad(text: str, *, width: int) -> str:
    """Return text filled with spaces to a width in columns."""
    return text + " " * max(0, width - cell_width(text))


def shorten(text: str, *, width: int) -> str:
    """Return text cut at a word to a width in columns, with an ellipsis."""
    if cell_width(text) <= width:
        return text
    kept = _fitting(text, width=width - 1)
    words, space, _ = kept.rpartition(" ")
    return (words if space and len(words) > width // 2 else kept).rstrip(" ,;:") + "…"


def wrap(text: str, *, width: int) -> tuple[str, ...]:
    """Return text as lines of a width in columns, at least one.

    Words are never broken: a longer one is a path or a name that somebody copies.
    """
    lines: list[str] = []
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if not line or cell_width(longer) <= width:
            line = longer
        else:
            lines.append(line)
            line = word
    return (*lines, line)


def _fitting(text: str, *, width: int) -> str:
    used = 0
    for index, character in enumerate(text):
        used += _columns(character)
        if used > width:
            return text[:index]
    return text


def _columns(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def kept_for_a_while(pruned: Pruned) -> tuple[str, ...]:
    """Say what pruning left though `env list` calls it superseded, if it left any."""
    if not pruned.kept:
        return ()
    one = pruned.kept == 1
    count = counted(pruned.kept, "generation")
    told = f"{count} {'is' if one else 'are'} kept for a while, --all removes "
    return (told + ("it" if one else "them"),)
