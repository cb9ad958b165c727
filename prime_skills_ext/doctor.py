"""The check-up behind ``%skill doctor``: what is wrong, where, and what fixes it.

It reads the manager's snapshot, so that it cannot disagree with the table, and the
few facts of the surroundings that no skill owns. It changes nothing.
"""

from __future__ import annotations

import sys
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

from prime_skills_ext import timeline
from prime_skills_ext.catalog.status import FAILED, SkillStatus
from prime_skills_ext.environment import record as records
from prime_skills_ext.environment.bases import places
from prime_skills_ext.environment.drift import find_drift
from prime_skills_ext.environment.fingerprint import package_path
from prime_skills_ext.environment.health import probe
from prime_skills_ext.environment.stocktaking import take_stock
from prime_skills_ext.environment.uv import find_uv
from prime_skills_ext.errors import UvNotFoundError
from prime_skills_ext.manager import SkillManager
from prime_skills_ext.progress import counted
from prime_skills_ext.prompt.listing import full_text
from prime_skills_ext.skill.model import Diagnostic, Skill
from prime_skills_ext.views.report import Check, Doctor, Message
from prime_skills_ext.views.timeline import duration

__all__ = ["examine", "tell_log"]

#: States that are nobody's fault and need nothing done.
_FINE = frozenset({"ready", "instructions", "shadowed"})
#: More of one kind are counted: thirty names with a colon are one thing to know.
_SAME_KIND_SHOWN = 3
_SLOWEST_SHOWN = 3
_SLOW_IMPORT_S = 1.0


def examine(manager: SkillManager, *, everything: bool = False) -> Doctor:
    """Look at everything that decides whether skills work here.

    Args:
        manager: Whose snapshot is read.
        everything: Name every diagnostic, also the fourth and later of one kind.
    """
    checks = (
        *_python(manager),
        *_environments(manager),
        *_uv(manager.environ),
        *_sources(manager),
        *_skills(manager),
        *_cuts(manager, everything=everything),
        *_times(manager),
        *_diagnostics(
            manager.catalogue.diagnostics + _nesting(manager), everything=everything
        ),
    )
    causes = [check.detail for check in checks if check.title in {"uv", "kernelspec"}]
    return Doctor(
        checks=tuple(
            check
            for check in checks
            # told by what it comes from
            if check.title != "environment"
            or not any(check.detail in cause for cause in causes)
        )
    )


def tell_log(manager: SkillManager, name: str) -> Message:
    """Say everything that uv said about a skill, or how its import ended.

    Raises:
        UnknownSkillError: There is no skill of that name.
    """
    status = manager.catalogue.get(name)
    identity, package = status.skill.identity, status.skill.python
    installed = manager.snapshot.installed
    failure = installed.failed.get(identity)
    log = "" if failure is None else failure.log
    if failure is None and package is not None and installed.generation is not None:
        # what works without its command has failed in part
        known = records.read(installed.generation.record).skills
        entry = known.get(package_path(package))
        log = "" if entry is None else entry.log
    error = manager.snapshot.bindings.errors.get(identity)
    if not log and error is not None:
        log = "".join(traceback.format_exception(error))
    if not log and failure is not None:
        told = f"it failed before uv was asked: {failure.reason}"
        return Message(text=f"{name} left no log: {told}", fix=failure.fix)
    if not log:
        return Message(text=f"{name} left no log: nothing of it failed to install")
    return Message(text=log.rstrip(), fix=status.fix)


def _python(manager: SkillManager) -> Iterator[Check]:
    environment = manager.snapshot.environment
    yield Check(
        title="kernel",
        state="ok",
        detail=f"{sys.executable} ({environment.mode} mode)",
    )
    generation = manager.snapshot.installed.generation
    if generation is not None:
        yield Check(title="environment", state="ok", detail=str(generation.directory))
    problem = manager.snapshot.installed.problem
    if problem is not None:
        yield Check(
            title="environment",
            state="problem",
            detail=problem.reason,
            fix=problem.fix,
        )
    told = manager.environ.get("PRIME_SKILLS_LAUNCH_ERROR")
    if told:
        reason, _, fix = told.partition("\nFix: ")
        yield Check(
            title="kernelspec",
            state="problem",
            detail=f"this kernel does not run in its own environment: {reason}",
            fix=fix or "restart the kernel",
        )
    for name in manager.snapshot.installed.restart:
        yield Check(
            title=name,
            state="note",
            detail=f"this kernel has another version of {name} loaded",
            fix="restart the kernel",
        )


def _environments(manager: SkillManager) -> Iterator[Check]:
    """What is wrong with installed things, though a load found nothing to do."""
    snapshot = manager.snapshot
    generation = snapshot.installed.generation
    if generation is not None:
        problem = probe(generation)
        if problem is not None:
            yield Check(
                title="environment",
                state="problem",
                detail=f"{problem} ({generation.directory})",
                fix="%skill env rebuild",
            )
        failed = snapshot.installed.failed
        for drift in find_drift(
            [one for one in snapshot.wanted if one.identity not in failed],
            environment=snapshot.environment,
            generation=generation,
        ):
            yield Check(
                title=drift.skill, state="problem", detail=drift.reason, fix=drift.fix
            )
    everywhere = places(manager.places.agent_directory, environ=manager.environ)
    found = take_stock(everywhere, here=snapshot.environment, deep=False)
    for one in found.environments:
        if one.gone is not None:
            yield Check(
                title="left over",
                state="note",
                detail=f"{one.gone} ({one.directory})",
                fix=one.fix,
            )


def _uv(environ: Mapping[str, str]) -> Iterator[Check]:
    try:
        yield Check(title="uv", state="ok", detail=str(find_uv(environ)))
    except UvNotFoundError as error:
        yield Check(title="uv", state="problem", detail=error.message, fix=error.fix)


def _nesting(manager: SkillManager) -> tuple[Diagnostic, ...]:
    from prime_skills_ext.kernel.nesting import find_problem  # noqa: PLC0415

    found = manager.nesting_problem or find_problem()
    return () if found is None else (found,)


def _sources(manager: SkillManager) -> Iterator[Check]:
    found = Counter(item.source.label for item in manager.catalogue.skills)
    for source in manager.snapshot.sources:
        count = found[source.label]
        if count:
            yield Check(
                title=source.label,
                state="ok",
                detail=f"{counted(count, 'skill')} in {source.directory}",
            )


def _skills(manager: SkillManager) -> Iterator[Check]:
    states = Counter(item.state for item in manager.catalogue.skills)
    if states:
        told = ", ".join(f"{count} {state}" for state, count in states.most_common())
        yield Check(title="skills", state="ok", detail=told)
    for item in manager.catalogue.skills:
        if item.state not in _FINE:
            yield _skill(item)


def _skill(item: SkillStatus) -> Check:
    return Check(
        title=item.skill.name,
        state="problem" if item.state in FAILED else "note",
        detail=f"{item.state}: {item.reason} ({_at_fault(item)})",
        fix=item.fix,
    )


def _at_fault(item: SkillStatus) -> Path:
    """Where somebody has to look: what it needs and what it does has a place each."""
    package = item.skill.python
    if package is None or item.state not in FAILED:
        return item.skill.path
    return package.pyproject if item.state == "install-failed" else package.src


def _cuts(manager: SkillManager, *, everything: bool) -> Iterator[Check]:
    """What a model does not get to read, with the budget that is set."""
    report = manager.budget()
    cap = report.budget.entry_chars
    # what one skill is too long for is for its author; what all are, for the user
    long = [
        (item, length)
        for item in manager.catalogue.skills
        if cap is not None
        and item.state not in ("shadowed", "removed")
        and (length := len(full_text(item.skill.description, item.skill.when_to_use)))
        > cap
    ]
    for item, length in long if everything else long[:_SAME_KIND_SHOWN]:
        yield Check(
            title=item.name,
            state="note",
            detail=f"a listing shows {cap} of the {length} characters of its "
            f"description ({item.skill.path})",
            fix=f"say what and when within {cap} characters",
        )
    if not everything and len(long) > _SAME_KIND_SHOWN:
        yield _others(len(long) - _SAME_KIND_SHOWN, title="description")
    if report.listing.is_over_budget:
        told = "; ".join(report.cuts)
        yield Check(
            title="listing",
            state="note",
            detail=f"the budget of the listing is too small: {told}\n"
            "`%skill budget` draws it",
            fix=report.fix,
        )


def _listed(skill: Skill) -> str:
    return full_text(skill.description, skill.when_to_use)


def _times(manager: SkillManager) -> Iterator[Check]:
    """Where the time of the load went; in a terminal, that of a look."""
    course = timeline.tell(manager).courses[0]
    stages = ", ".join(
        f"{span.kind} {duration(span.seconds)}"
        for span in course.spans
        if span.skill is None
    )
    told = f"{course.title.lower()} {duration(course.seconds)}: {stages}"
    slowest = ", ".join(
        f"{span.skill} {duration(span.seconds)}"
        for span in course.slowest[:_SLOWEST_SHOWN]
    )
    if slowest:
        told = f"{told}\nslowest imports: {slowest}\n`%skill timeline` draws it"
    yield Check(title="time", state="ok", detail=told)
    for span in course.slowest:
        if span.skill is not None and span.seconds > _SLOW_IMPORT_S:
            yield Check(
                title=span.skill,
                state="note",
                detail=f"its import takes {duration(span.seconds)} of every load",
                fix="import what is heavy inside of `run`, where it is used",
            )


def _diagnostics(
    diagnostics: tuple[Diagnostic, ...], *, everything: bool
) -> Iterator[Check]:
    ordered = sorted(diagnostics, key=lambda item: (item.severity, item.code))
    for code, group in groupby(ordered, key=lambda item: item.code):
        same = list(group)
        shown = same if everything else same[:_SAME_KIND_SHOWN]
        for item in shown:
            yield Check(
                title=code,
                state="problem" if item.severity == "error" else "note",
                detail=f"{item.message}{_place(item)}",
                fix=item.fix,
            )
        if len(same) > len(shown):
            yield _others(len(same) - len(shown), title=code)


def _others(count: int, *, title: str) -> Check:
    return Check(
        title=title,
        state="note",
        detail=f"and {count} more of this kind",
        fix="%skill doctor --all",
    )


def _place(item: Diagnostic) -> str:
    if item.path is None or str(item.path) in item.message:
        return ""
    return f" ({item.path}{'' if item.line is None else f':{item.line}'})"
