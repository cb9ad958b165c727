"""Find every environment of ours, say how each stands, and prune them all.

Looks in every directory that may hold some, whoever made them. What carries no marker
of ours is passed over.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from prime_skills_ext.catalog.looking import is_file, is_folder
from prime_skills_ext.catalog.reading import read_file
from prime_skills_ext.environment import record as records
from prime_skills_ext.environment.bases import MARKER
from prime_skills_ext.environment.health import examine, probe
from prime_skills_ext.environment.inventory import (
    EnvironmentInfo,
    GenerationInfo,
    Inventory,
    Pruned,
    Removal,
)
from prime_skills_ext.environment.locking import FILES, locked
from prime_skills_ext.environment.pruning import (
    GRACE_S,
    disk_size,
    prune,
    remove_environment,
)
from prime_skills_ext.environment.usage import is_in_use
from prime_skills_ext.environment.venv import (
    Environment,
    generation_at,
    numbered,
    pointed,
    version_of,
)
from prime_skills_ext.errors import InstallError
from prime_skills_ext.progress import Listener

__all__ = ["prune_all", "take_stock"]

_MAX_BYTES = 1 << 16


def take_stock(
    places: Sequence[Path], *, here: Environment, deep: bool = True
) -> Inventory:
    """Look at every environment in ``places``.

    Args:
        places: Directories that may hold some.
        here: The environment that is used here; told first.
        deep: Measure everything, and start the interpreter of each generation to
            see whether it runs.
    """
    roots = dict.fromkeys(
        path for place in [*places, here.root.parent] for path in _environments(place)
    )
    found = [_look(root, here=here, deep=deep) for root in roots]
    found.sort(key=lambda one: (not one.is_here, str(one.directory)))
    return Inventory(environments=tuple(found), places=tuple(places))


def prune_all(
    places: Sequence[Path],
    *,
    here: Environment,
    everything: bool = False,
    dry_run: bool = False,
    progress: Listener | None = None,
) -> Pruned:
    """Prune every environment in ``places``; remove those that lost their purpose.

    Args:
        places: Directories that may hold some.
        here: The environment that is used here; never removed as a whole.
        everything: As for ``pruning.prune``.
        dry_run: Only say it.
        progress: Told about a wait for a lock.
    """
    removed: list[Removal] = []
    skipped: list[str] = []
    kept = 0
    for one in take_stock(places, here=here, deep=False).environments:
        try:
            with _lock(one.directory, dry_run=dry_run, progress=progress):
                swept = _sweep(one, everything=everything, dry_run=dry_run)
                removed += swept
                kept += _count_kept(one, swept=swept)
        except InstallError as error:
            skipped.append(f"{one.directory}: {error.message}")
        except OSError as error:
            skipped.append(f"{one.directory}: {error.strerror or error}")
    return Pruned(
        removed=tuple(removed), is_dry_run=dry_run, skipped=tuple(skipped), kept=kept
    )


def _lock(
    root: Path, *, dry_run: bool, progress: Listener | None
) -> contextlib.AbstractContextManager[None]:
    # it would have to be made
    if dry_run and not all(is_file(root / name) for name in FILES):
        return contextlib.nullcontext()
    return locked(root, progress=progress)


def _sweep(
    one: EnvironmentInfo, *, everything: bool, dry_run: bool
) -> tuple[Removal, ...]:
    why = one.gone
    if why is None and not one.is_here and _is_empty(one.directory):
        why = "nothing was ever installed in it"
    if why is not None:
        whole = remove_environment(one.directory, why=why, dry_run=dry_run)
        if whole is not None:
            return (whole,)
    return prune(one.directory, everything=everything, dry_run=dry_run)


def _count_kept(one: EnvironmentInfo, *, swept: Sequence[Removal]) -> int:
    """How many more generations would go if nothing were kept for a while."""
    if not is_folder(one.directory) or any(it.kind == "environment" for it in swept):
        return 0
    more = {it.path for it in prune(one.directory, everything=True, dry_run=True)}
    generations = {*numbered(one.directory)}
    return len(more & generations - {it.path for it in swept})


def _is_empty(root: Path) -> bool:
    # one that was just marked is about to be filled
    is_old = time.time() - root.stat().st_mtime > GRACE_S
    return is_old and not numbered(root)


def _environments(place: Path) -> Iterator[Path]:
    try:
        entries = sorted(place.iterdir())
    except OSError:
        return
    for path in entries:
        if is_file(path / MARKER):
            yield path


def _look(root: Path, *, here: Environment, deep: bool) -> EnvironmentInfo:
    facts = _facts(root)
    generations = tuple(_generation(path, deep=deep) for path in numbered(root))
    is_here = root == here.root
    gone = None if is_here else _gone(facts, generations=generations, here=here)
    fix = "%skill env prune" if gone else None
    current = next((one for one in generations if one.is_current), None)
    if is_here and current is not None and current.problem is not None:
        fix = "%skill env rebuild"
    return EnvironmentInfo(
        key=root.name,
        directory=root,
        mode=facts.get("mode"),
        kernel_prefix=_path(facts.get("kernelPrefix")),
        project_root=_path(facts.get("projectRoot")),
        base_prefix=_base_prefix(facts),
        is_here=is_here,
        generations=generations,
        size_bytes=disk_size(root)[0] if deep else 0,
        gone=gone,
        fix=fix,
    )


def _generation(directory: Path, *, deep: bool) -> GenerationInfo:
    version = version_of(directory)
    generation = generation_at(directory, version=version)
    current = pointed(directory.parent)
    skills = records.read(generation.record).skills.values()
    failed = sum(skill.state == "failed" for skill in skills)
    return GenerationInfo(
        directory=directory,
        is_current=current is not None and current.directory == directory,
        is_in_use=is_in_use(directory),
        python=version,
        skills=len(skills) - failed,
        failed=failed,
        size_bytes=disk_size(directory)[0] if deep else 0,
        problem=probe(generation) if deep else examine(generation),
    )


def _gone(
    facts: dict[str, str],
    *,
    generations: Sequence[GenerationInfo],
    here: Environment,
) -> str | None:
    """What an environment was for and is not there any more."""
    base = _base_prefix(facts)
    prefix = _path(facts.get("kernelPrefix"))
    project = _path(facts.get("projectRoot"))
    if base is not None and not is_folder(base):
        return f"its Python is gone: {base}"
    if prefix is not None and not is_folder(prefix):
        return f"the Python of its kernels is gone: {prefix}"
    if prefix is not None and _is_other_python(prefix, facts=facts, here=here):
        return f"its kernels have another Python by now: {prefix}"
    if project is not None and not is_folder(project):
        return f"its project is gone: {project}"
    pythons = [
        generation_at(one.directory, version=one.python).python for one in generations
    ]
    if pythons and not any(is_file(python) for python in pythons):
        return "its interpreter is gone"
    return None


def _is_other_python(prefix: Path, *, facts: dict[str, str], here: Environment) -> bool:
    """Whether the virtual environment of its kernels was made anew for another."""
    if prefix == here.kernel_prefix:
        return facts.get("interpreter") != here.facts["interpreter"]
    there, wanted = version_of(prefix), _wanted(facts)
    return None not in (there, wanted) and there != wanted


def _wanted(facts: dict[str, str]) -> str | None:
    """The version that an environment is for: ``cpython-311`` is ``3.11``."""
    _, tag, _ = _interpreter(facts)
    digits = tag.rpartition("-")[2]
    return f"{digits[0]}.{digits[1:]}" if digits.isdigit() else None


def _base_prefix(facts: dict[str, str]) -> Path | None:
    return _path(_interpreter(facts)[0])


def _interpreter(facts: dict[str, str]) -> tuple[str, str, str]:
    """Prefix, cache tag and ABI of the Python that an environment is made with."""
    words = facts.get("interpreter", "").rsplit(" ", 2)
    # a prefix may hold spaces; a damaged description may hold anything
    if len(words) == len(("prefix", "tag", "abi")) and Path(words[0]).is_absolute():
        return words[0], words[1], words[2]
    return "", "", ""


def _path(text: str | None) -> Path | None:
    return Path(text) if text else None


def _facts(root: Path) -> dict[str, str]:
    try:
        data = json.loads(read_file(root / MARKER, limit=_MAX_BYTES))
    except (OSError, ValueError):
        return {}
    if not isinstance(data, dict):
        return {}
    return {key: value for key, value in data.items() if isinstance(value, str)}
